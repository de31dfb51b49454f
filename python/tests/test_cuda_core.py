"""cuda.core's plug, with NVRTC. A cubin needs no driver."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import Spawn, entry_files, together
from cuda.core import Program, ProgramOptions, _program
from cuda.core.utils import make_program_cache_key

from ingot_cache import Cache, _plug
from ingot_cache import cuda_core as plug

SOURCE = 'extern "C" __global__ void set(int *a) { *a = %d; }'


def program(source: str) -> Any:
    return Program(source, "c++", ProgramOptions(arch="sm_90"))


@pytest.fixture
def compiled(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What NVRTC compiles from now on."""
    seen: list[str] = []
    plain = _program._program_compile_uncached

    def count(*arguments: Any) -> Any:
        seen.append(arguments[1])
        return plain(*arguments)

    monkeypatch.setattr(_program, "_program_compile_uncached", count)
    yield seen
    _plug.set_cache(None)


def test_a_program_comes_from_the_store(cache: Cache, compiled: list[str]) -> None:
    made = program(SOURCE % 1).compile("cubin", cache=plug.ProgramCache(cache))
    found = program(SOURCE % 1).compile("cubin", cache=plug.ProgramCache(Cache()))
    assert found.code == made.code
    assert compiled == ["cubin"]
    program(SOURCE % 2).compile("cubin", cache=plug.ProgramCache(cache))
    assert compiled == ["cubin", "cubin"]


def test_opens_the_store_when_it_is_made(store: Path) -> None:
    """So the first program does not wait for that."""
    _plug.set_cache(None)
    plug.ProgramCache()
    assert store.is_dir()
    _plug.set_cache(None)


def test_a_missing_library_is_a_warning(spawn: Spawn) -> None:
    program = """
        import warnings
        from ingot_cache.cuda_core import ProgramCache
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            programs = ProgramCache()
        print(len(caught), "LibraryMissing" in str(caught[0].message), programs.get("key"))
    """
    output, _ = spawn(program, INGOT_CACHE_LIBRARY="/nonexistent").communicate()
    assert output == "1 True None\n"


def test_is_a_mapping(cache: Cache) -> None:
    programs = plug.ProgramCache(cache)
    assert programs
    assert len(programs) == 0
    with pytest.raises(KeyError):
        programs["key"]
    programs["key"] = b"cubin"
    assert programs["key"] == programs[b"key"] == b"cubin"
    assert programs.get("other", b"none") == b"none"
    assert len(programs) == 1
    del programs["key"]
    with pytest.raises(KeyError):
        del programs["key"]
    programs.update({"a": b"1", "b": b"2"})
    programs.clear()
    assert programs.get("a") is programs.get("b") is None
    _plug.set_cache(None)


def test_a_program_that_does_not_compile_ends_its_turn(cache: Cache, compiled: list[str]) -> None:
    programs = plug.ProgramCache(cache)
    for _ in range(2):
        with ThreadPoolExecutor(1) as pool, pytest.raises(Exception, match="NVRTC"):
            pool.submit(program("not C++").compile, "cubin", cache=programs).result()
    assert len(compiled) == 2


def test_threads_compile_once(cache: Cache, compiled: list[str]) -> None:
    programs = plug.ProgramCache(cache)
    barrier = threading.Barrier(8)

    def compile_one(_: int) -> bytes:
        mine = program(SOURCE % 3)
        barrier.wait()
        return bytes(mine.compile("cubin", cache=programs).code)

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(compile_one, range(8)))) == 1
    assert len(compiled) == 1


ZERO_CODE = """
    import os, sys
    from cuda.core import Program, ProgramOptions, _program
    seen = []
    plain = _program._program_compile_uncached
    _program._program_compile_uncached = lambda *arguments: seen.append(1) or plain(*arguments)
    options = ProgramOptions(arch="sm_90")
    def compile(source, **named):
        return bytes(Program(source, "c++", options).compile("cubin", **named).code)
    text = 'extern "C" __global__ void set(int *a) { *a = 1; }'
    assert compile(text) == compile(text)
    print(len(seen), end=" ")
    template = "template<int N> __global__ void set(int *a) { *a = N; }"
    for _ in range(2):
        compile(template, name_expressions=("set<3>",))
    print(len(seen), end=" ")
    for value in (1, 2):
        with open("value.h", "w") as header:
            header.write(f"#define VALUE {value}")
        compile('#include "value.h"\\nextern "C" __global__ void set(int *a) { *a = VALUE; }')
    print(len(seen), isinstance(Program(text, "c++", options), Program))
"""


def test_without_code_only_what_cannot_change_the_result(spawn: Spawn) -> None:
    output, _ = spawn(ZERO_CODE, INGOT_PYTHON="cuda.core").communicate()
    assert output == "1 3 5 True\n"
    output, _ = spawn(ZERO_CODE, INGOT_PYTHON="all").communicate()
    assert output == "0 2 4 True\n"
    output, _ = spawn(ZERO_CODE).communicate()
    assert output == "2 4 6 True\n"


def test_a_path_is_read_when_it_is_stored(cache: Cache, tmp_path: Path) -> None:
    class Code:
        code = str(tmp_path / "file.cubin")
        name = "file"

    (tmp_path / "file.cubin").write_bytes(b"cubin")
    programs = plug.ProgramCache(cache)
    programs["key"] = Code()
    assert programs["key"] == b"cubin"
    _plug.set_cache(None)


def test_tells_when_the_hook_has_changed(spawn: Spawn) -> None:
    program = """
        import abc, warnings
        from unittest.mock import patch
        from cuda import core
        from cuda.core import _program
        from ingot_cache import _plug, cuda_core
        plain = core.Program

        class Abstract(cuda_core.ProgramCache):
            @abc.abstractmethod
            def evict(self, key): ...

        for owner, name, new in ((_program, "_program_compile_uncached", None), (cuda_core, "ProgramCache", Abstract)):
            _plug._told.clear()
            with patch.object(owner, name, new), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                if new is None:
                    delattr(owner, name)
                cuda_core.install()
            assert len(caught) == 1 and "cuda.core keeps its own cache" in str(caught[0].message), (name, caught)
        print(core.Program is plain)
    """
    output, _ = spawn(program).communicate()
    assert output == "True\n"


def test_what_is_begun_is_compiled_meanwhile(cache: Cache, compiled: list[str]) -> None:
    plug.ProgramCache(cache)
    pending = [plug.begin(program(SOURCE % i), "cubin") for i in range(6)]
    assert pending[5].wait(60) and pending[5].ready()
    codes = [bytes(each.take().code) for each in pending]
    assert codes == [bytes(program(SOURCE % i).compile("cubin", cache=plug.ProgramCache()).code) for i in range(6)]
    assert compiled == ["cubin"] * 6
    assert codes[0] == plug.begin(program(SOURCE % 0), "cubin").take().code
    names = plug.begin(program("template<int N> __global__ void set(int *a) { *a = N; }"), "cubin", ("set<3>",))
    assert names.take().get_kernel and len(compiled) == 7


def test_a_task_awaits_programs_and_the_compiler_s_errors(cache: Cache, compiled: list[str]) -> None:
    async def compile_two() -> bytes:  # asyncio shows results, and cuda.core needs a driver to show an ObjectCode
        good, bad = plug.begin(program(SOURCE % 1), "cubin"), plug.begin(program("not C++"), "cubin")
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(good, 0)
        with pytest.raises(Exception, match="NVRTC"):
            await bad
        return bytes((await good).code)

    plug.ProgramCache(cache)
    assert asyncio.run(compile_two()) == plug.begin(program(SOURCE % 1), "cubin").take().code
    assert len(compiled) == 2


def test_take_needs_no_thread(cache: Cache, compiled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that waits for another process compiles what else is begun."""
    monkeypatch.setattr(plug, "_workers", 1000)  # as if there were enough
    plug.ProgramCache(cache)
    key = make_program_cache_key(
        code=SOURCE % 0, code_type="c++", options=ProgramOptions(arch="sm_90"), target_type="cubin"
    )
    with Cache().begin(plug._key(key)) as turn:
        elsewhere, here = (plug.begin(program(SOURCE % i), "cubin") for i in range(2))
        assert not elsewhere.wait(0.01)
        with ThreadPoolExecutor(1) as pool:
            taken = pool.submit(elsewhere.take)
            assert here.wait(60) and not elsewhere.ready()
            turn.finish(b"elsewhere")
            assert taken.result().code == b"elsewhere"
    assert len(compiled) == 1


def test_processes_share_what_they_begin(spawn: Spawn) -> None:
    begun = """
        import sys
        from cuda.core import Program, ProgramOptions, _program
        from ingot_cache.cuda_core import begin
        seen, plain = [], _program._program_compile_uncached
        _program._program_compile_uncached = lambda *arguments: seen.append(1) or plain(*arguments)
        text = 'extern "C" __global__ void set(int *a) { *a = %d; }'
        sys.stdin.readline()
        pending = [begin(Program(text % i, "c++", ProgramOptions(arch="sm_90")), "cubin") for i in range(12)]
        print(len({bytes(each.take().code) for each in pending}), len(seen))
    """
    processes = [spawn(begun) for _ in range(3)]
    seen = [words.split() for words in together(processes)]
    assert [each[0] for each in seen] == ["12"] * 3
    assert sum(int(each[1]) for each in seen) == 12


def test_the_interpreter_ends_with_begun_programs(spawn: Spawn, store: Path) -> None:
    begun = """
        from cuda.core import Program, ProgramOptions
        from ingot_cache.cuda_core import begin
        text = 'extern "C" __global__ void set(int *a) { *a = %d; }'
        for i in range(1000):
            begin(Program(text % i, "c++", ProgramOptions(arch="sm_90")), "cubin")
        print("end")
    """
    process = spawn(begun)
    assert process.communicate() == ("end\n", None) and process.returncode == 0
    assert len(entry_files(store)) < 1000


def test_what_the_driver_links_is_made_by_begin() -> None:
    class Linked:
        backend = "driver"

        def compile(self, target_type: str, name_expressions: Any) -> int:
            return threading.get_ident()

    assert plug.begin(Linked(), "cubin").take() == threading.get_ident()
