"""Triton's plug, with Triton's own compiler and ptxas."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kernels
import pytest
from conftest import Spawn, together
from triton import knobs
from triton.runtime.cache import FileCacheManager

from ingot_cache import Busy, Cache, Miss, _plug
from ingot_cache import triton as plug


@pytest.fixture
def events(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bool]]:
    """For each kernel from now on, whether it came from the cache."""
    seen: list[bool] = []
    monkeypatch.setenv("TRITON_CACHE_MANAGER", "ingot_cache.triton:CacheManager")
    _plug.set_cache(cache)
    knobs.compilation.listener = lambda **named: seen.append(named["cache_hit"])
    yield seen
    knobs.compilation.listener = None
    _plug.set_cache(None)


def test_a_kernel_comes_from_the_store(events: list[bool], tmp_path: Path) -> None:
    made = kernels.compile_add(128)
    shutil.rmtree(tmp_path / "triton")  # Triton's own directory is not what counts
    found = kernels.compile_add(128)
    assert events == [False, True]
    assert found.asm["cubin"] == made.asm["cubin"]
    assert found.metadata == made.metadata


def test_a_damaged_file_is_replaced(events: list[bool], tmp_path: Path) -> None:
    made = kernels.compile_add(128)
    (cubin,) = (tmp_path / "triton").rglob("*.cubin")
    damaged = bytearray(cubin.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    for content in (bytes(damaged), bytes(damaged[:-3000]), b""):
        cubin.write_bytes(content)
        assert kernels.compile_add(128).asm["cubin"] == made.asm["cubin"]
    assert events == [False, True, True, True]


def test_a_kernel_that_does_not_compile_ends_its_turn(events: list[bool]) -> None:
    kept: list[Any] = []
    for _ in range(2):  # the exception keeps the first manager, and so its turn, alive
        with pytest.raises(Exception, match="not_defined") as raised:
            kernels.compile_broken()
        kept.append(raised)
    assert len(kept) == 2


def test_one_process_compiles_a_kernel(spawn: Spawn, store: Path) -> None:
    program = """
        import sys
        sys.path.insert(0, sys.argv[1])
        import kernels
        from triton import knobs
        hits = []
        knobs.compilation.listener = lambda **named: hits.append(named["cache_hit"])
        sys.stdin.readline()
        for block in (64, 128):
            kernels.compile_add(block)
        print(hits.count(False))
    """
    here = str(Path(__file__).parent)
    processes = [
        spawn(program, here, INGOT_PYTHON="triton", TRITON_CACHE_DIR=str(store.parent / f"triton{number}"))
        for number in range(4)
    ]
    assert sum(map(int, together(processes))) == 2


def test_tuning_and_modules_are_single_files(cache: Cache, tmp_path: Path, events: list[bool]) -> None:
    first = plug.CacheManager("KEY")
    assert first.get_file("best.json") is None
    path = first.put("{}", "best.json", binary=False)
    assert Path(path).read_text() == "{}"
    Path(path).unlink()
    found = plug.CacheManager("KEY").get_file("best.json")
    assert found == path
    assert Path(path).read_text() == "{}"


def test_a_group_is_stored_when_it_is_whole(cache: Cache, events: list[bool]) -> None:
    """The group has the name of one of its files, and is not there before put_group."""
    maker = plug.CacheManager("KEY")
    assert maker.get_group("add.json") is None
    group = {name: maker.put(name, name, binary=False) for name in ("add.ptx", "add.json")}
    with pytest.raises(Busy):
        cache.begin(plug._key("KEY", "add.json", plug.GROUP), wait=0)
    maker.put_group("add.json", group)
    assert plug.CacheManager("KEY").get_group("add.json") == group


def test_overrides_and_dumps_are_triton_s_own(cache: Cache, tmp_path: Path, events: list[bool]) -> None:
    dump = plug.CacheManager("KEY", dump=True)
    dump.put("text", "file.ttir", binary=False)
    assert dump.get_group("file.json") is None
    assert cache.stats()["put"] == 0


def test_a_server_s_code_is_refused_though_the_variables_change(
    redis: str, tmp_path: Path, events: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What counts is what they said when the cache was opened."""
    with Cache(tmp_path / "other", remote=redis) as other:
        other.put(plug._key("KEY", "launcher.so", plug.FILE), {"launcher.so": b"unsealed"})
        other.flush()
    monkeypatch.setenv("INGOT_PERSIST_REMOTE", redis)
    opened = Cache()
    _plug.set_cache(opened)
    assert not opened.may_load_code
    monkeypatch.setenv("INGOT_PERSIST_TRUST", "require")
    _plug._told.clear()
    with pytest.warns(_plug.PlugWarning, match="Triton's C modules can run code"):
        assert plug.CacheManager("KEY").get_file("launcher.so") is None
    monkeypatch.delenv("INGOT_PERSIST_REMOTE")
    assert plug.CacheManager("KEY").get_file("launcher.so") is None


def test_a_name_with_a_folder_is_refused(cache: Cache, events: list[bool], tmp_path: Path) -> None:
    cache.put(plug._key("KEY", "evil.json", plug.GROUP), {"../../evil": b"x"})
    with pytest.warns(_plug.PlugWarning, match="not the name of a file"):
        assert plug.CacheManager("KEY").get_group("evil.json") is None
    assert not (tmp_path / "evil").exists()


def test_installs_unless_another_manager_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITON_CACHE_MANAGER", raising=False)
    plug.install()
    assert knobs.cache.manager_class is plug.CacheManager
    del knobs.cache.manager_class
    knobs.cache.manager_class = FileCacheManager
    plug.install()
    assert knobs.cache.manager_class is FileCacheManager
    del knobs.cache.manager_class


def test_tells_when_the_hook_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knobs, "cache", object())
    _plug._told.clear()
    with pytest.warns(_plug.PlugWarning, match="knob .* Triton keeps its own cache"):
        plug.install()


@pytest.mark.parametrize("name", ["get_file", "put", "get_group", "put_group", "_make_path", "__init__"])
def test_tells_when_the_interface_has_changed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delenv("TRITON_CACHE_MANAGER", raising=False)
    monkeypatch.setattr(FileCacheManager, name, lambda self, other: None)
    _plug._told.clear()
    with pytest.warns(_plug.PlugWarning, match="interface .* Triton keeps its own cache"):
        plug.install()
    assert knobs.cache.manager_class is not plug.CacheManager


def test_compiles_nothing_if_a_miss_must_fail(
    events: list[bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels.compile_add(16)
    shutil.rmtree(tmp_path / "triton")
    monkeypatch.setenv("INGOT_ON_MISS", "fail")
    _plug.set_cache(Cache())
    kernels.compile_add(16)
    assert events == [False, True]
    with pytest.raises(Miss, match=r"^miss: nearest is .*key"):
        kernels.compile_add(32)
    assert events == [False, True]
