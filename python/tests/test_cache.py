"""Cache and Turn."""

from __future__ import annotations

import asyncio
import ctypes
import os
import pickle
import shutil
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import Spawn

import ingot_cache
from ingot_cache import (
    BUILD,
    STORAGE,
    Busy,
    Cache,
    IngotError,
    InvalidArguments,
    Key,
    Miss,
    StoreError,
    Turn,
    _library,
    _plug,
)
from ingot_cache._cache import _describe
from ingot_cache._key import KeyLike


def test_puts_and_gets_bytes(cache: Cache) -> None:
    assert cache.get("key") is None
    cache.put("key", b"value", label="a label")
    assert cache.get("key") == b"value"
    assert Cache().get("key") == b"value"


def test_keeps_empty_and_large_values_and_those_that_begin_with_a_magic(cache: Cache) -> None:
    for value in (b"", os.urandom(3 << 20), b"INGOTART" + b"x", b"INGOTSEAL", b"INGOT\0\1\2"):
        cache.put("key", value)
        assert cache.get("key") == value


def test_keys_are_equal_if_their_fields_are(cache: Cache) -> None:
    cache.put({"a": 1, "b": b"\0\xff", "c": None}, b"value")
    assert cache.get({"c": None, "b": b"\0\xff", "a": 1}) == b"value"
    assert cache.get({"a": 1, "b": b"\0\xff"}) is None
    assert cache.get({"a": 2, "b": b"\0\xff", "c": None}) is None
    assert cache.get(Key("other", {"a": 1, "b": b"\0\xff", "c": None})) is None
    assert Key("k", a=1) == Key("k", {"a": 1}) != Key("k", a=2)


def test_keys_differ_if_the_types_of_their_values_do(cache: Cache) -> None:
    names = ("a", "a (int)", "a (str)", "a (int) (str)")
    values = (None, "None", True, "True", 1, 1.0, "1", "1.0", b"1", b"1.0", b"None", "")
    keys: list[KeyLike] = [{name: value} for name in names for value in values]
    keys += ["key", b"key"]
    for number, key in enumerate(keys):
        cache.put(key, str(number).encode())
    assert [cache.get(key) for key in keys] == [str(number).encode() for number in range(len(keys))]


@pytest.mark.parametrize(
    "key", [{}, 5, None, {"": 1}, {5: "a"}, {"a": object()}, {"a": [1]}, {"a": {"b": 1}}, Key("no/kind", a=1)]
)
def test_refuses_other_keys(cache: Cache, key: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        cache.get(key)  # type: ignore[arg-type]


def test_keeps_named_parts(cache: Cache) -> None:
    parts = {"a.json": b"{}", "b.cubin": b"\0\1", "empty": b""}
    cache.put("key", parts)
    assert cache.get_parts("key") == parts
    assert cache.get("key") == b"{}\0\1"
    assert cache.get_parts("other") is None


def test_refuses_equal_names_of_parts(cache: Cache) -> None:
    """Two texts of Python may be the same bytes."""
    parts = {"é": b"one", "\udcc3\udca9": b"two"}
    with pytest.raises(InvalidArguments, match="twice"):
        cache.put("key", parts)
    with cache.begin("key") as turn, pytest.raises(InvalidArguments, match="twice"):
        turn.finish(parts)
    assert "key" not in cache


def test_an_old_value_with_equal_names_has_the_same_bytes_by_every_call(cache: Cache) -> None:
    """Old versions stored such values. Here, the library's answer about the parts is changed."""
    value, parts = b"onetwothree", (_library.Part * 3)((b"a", 3), (b"a", 3), (b"a'", 5))
    cache.put("key", value)
    handle = cache._open()
    library = handle.library

    class Old:
        def __getattr__(self, name: str) -> object:
            return getattr(library, name)

        def ingot_artifact_get_info(self, buffer: object, info: Any) -> int:
            info._obj.part_count = 3
            info._obj.parts = ctypes.cast(parts, ctypes.POINTER(_library.Part))
            return 0

    handle.library = Old()
    assert cache.get("key") == value
    assert cache.get_or_create("key", lambda: b"") == (value, STORAGE)
    assert cache.begin("key").value == value
    assert cache.get_parts("key") == {"a": b"one", "a'": b"two", "a''": b"three"}


def test_knows_what_it_contains_and_removes_it(cache: Cache) -> None:
    assert "key" not in cache
    cache.put("key", b"value")
    assert "key" in cache
    del cache["key"]
    assert "key" not in cache
    with pytest.raises(KeyError):
        del cache["key"]


def test_is_true_and_closes(store: Path) -> None:
    with Cache(store, namespace="one", max_bytes=1 << 30) as cache:
        assert cache
        assert cache.is_usable
        cache.put("key", b"value")
        cache.flush()
    assert cache
    with pytest.raises(ValueError, match="closed"):
        cache.get("key")
    assert Cache(store, namespace="two").get("key") is None
    assert Cache(store, namespace="one").get("key") == b"value"


def test_reads_a_store_without_writing_it(cache: Cache, store: Path) -> None:
    cache.put("key", b"value")
    reader = Cache(store, read_only=True)
    assert reader.get("key") == b"value"
    with pytest.raises(StoreError) as raised:
        reader.put("other", b"value")
    assert raised.value.status == "INGOT_READ_ONLY"
    assert str(raised.value)
    assert reader.get_or_create("other", lambda: b"made") == (b"made", BUILD)
    assert reader.stats()["not_stored"] == 1


def test_a_store_that_cannot_be_used_makes_a_cache_that_keeps_nothing(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("not a directory")
    cache = Cache(file)
    assert not cache.is_usable
    assert cache.get("key") is None
    assert cache.get_or_create("key", lambda: b"value") == (b"value", BUILD)
    assert cache.get("key") is None
    assert cache.stats()["store_hits"] == 0


def test_errors_have_the_library_s_sentence(tmp_path: Path) -> None:
    with pytest.raises(InvalidArguments) as raised:
        Cache(tmp_path / "store", namespace="a/b")
    assert raised.value.status == "INGOT_INVALID_ARGUMENTS"
    assert "a/b" in str(raised.value)
    assert isinstance(raised.value, (IngotError, ValueError))
    with pytest.raises(ValueError, match="trust"):
        Cache(trust="maybe")
    with pytest.raises(ValueError, match="protect nothing"):
        Cache(keys="file")
    with pytest.raises(IngotError):
        Cache(tmp_path / "store", trust="require", keys=tmp_path / "missing.key")


def test_requires_seals(store: Path, tmp_path: Path) -> None:
    from ingot_cache import _library

    file = tmp_path / "key"
    create = _library.load().ingot_persist_key_create
    create.argtypes = (_library.c_char_p, _library.c_int, _library.c_void_p)
    assert create(os.fsencode(file), 1, None) == 0
    Cache(store).put("unsealed", b"value")
    with Cache(store, trust="require", keys=file) as sealed:
        assert sealed.get("unsealed") is None
        sealed.put("sealed", b"value")
        assert sealed.get("sealed") == b"value"
        assert sealed.get_or_create("unsealed", lambda: b"new") == (b"new", BUILD)
    assert Cache(store, trust="require", keys=[file]).get("unsealed") == b"new"


def test_counts(cache: Cache) -> None:
    cache.get("key")
    cache.get_or_create("key", lambda: b"value")
    cache.get_or_create("key", lambda: b"value")
    counts = cache.stats()
    assert (counts["found"], counts["missed"], counts["made"]) == (1, 2, 1)
    assert counts["store_stores"] == 1


# ---- turns


def test_makes_once(cache: Cache) -> None:
    assert cache.get_or_create("key", lambda: b"one") == (b"one", BUILD)
    assert cache.get_or_create("key", lambda: b"two") == (b"one", STORAGE)


def test_a_maker_that_fails_ends_its_turn(cache: Cache) -> None:
    def fail() -> bytes:
        raise LookupError("no such kernel")

    with pytest.raises(LookupError):
        cache.get_or_create("key", fail)
    assert cache.get_or_create("key", lambda: b"value") == (b"value", BUILD)


def test_a_turn_ends_once_in_any_thread(cache: Cache) -> None:
    turn = cache.begin("key")
    assert turn.is_open
    assert turn.value is None
    with pytest.raises(Busy):
        cache.begin("key", wait=0)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(turn.finish, b"value").result()
    assert not turn.is_open
    turn.abandon()
    with pytest.raises(ValueError, match="has ended"):
        turn.finish(b"again")
    assert cache.begin("key").value == b"value"


def test_a_turn_may_be_abandoned(cache: Cache) -> None:
    with cache.begin("key"):
        pass
    turn = cache.begin("key", wait=0)
    del turn
    cache.begin("key", wait=0).abandon(may_others_take=False)
    assert cache.begin("key", wait=0).value is None


def test_50_threads_make_once(cache: Cache) -> None:
    made: list[int] = []
    barrier = threading.Barrier(50)

    def make(number: int) -> bytes:
        made.append(number)
        return str(number).encode()

    def ask(number: int) -> list[bytes]:
        barrier.wait()
        return [cache.get_or_create({"key": key}, lambda: make(number))[0] for key in range(20)]

    with ThreadPoolExecutor(50) as pool:
        values = list(pool.map(ask, range(50)))
    assert len(made) == 20
    assert all(value == values[0] for value in values)


def test_close_in_one_thread_leaves_others_working(store: Path) -> None:
    cache = Cache(store)
    cache.put("key", b"value")
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            try:
                assert cache.get("key") == b"value"
            except ValueError:
                return

    with ThreadPoolExecutor(8) as pool:
        asking = [pool.submit(ask) for _ in range(8)]
        while cache.stats()["found"] < 1000:
            pass
        cache.close()
        stop.set()
    assert all(each.exception() is None for each in asking)


# ---- asyncio


def test_asyncio_makes_once_and_does_not_block(cache: Cache) -> None:
    made = []

    async def make() -> bytes:
        made.append(1)
        await asyncio.sleep(0)
        return b"value"

    async def ask() -> list[tuple[bytes, str]]:
        held = cache.begin("key")
        asking = [asyncio.ensure_future(cache.aget_or_create("key", make)) for _ in range(100)]
        for _ in range(100):  # the loop goes on while all of them wait
            await asyncio.sleep(0)
        assert not any(each.done() for each in asking)
        held.abandon()
        return await asyncio.gather(*asking)

    results = asyncio.run(ask())
    assert len(made) == 1
    assert sorted(origin for _, origin in results) == [BUILD] + 99 * [STORAGE]


def test_asyncio_abandons_what_is_cancelled(cache: Cache) -> None:
    async def main() -> None:
        making = asyncio.Event()

        async def make() -> bytes:
            making.set()
            await asyncio.sleep(3600)
            return b"never"

        task = asyncio.ensure_future(cache.aget_or_create("key", make))
        await making.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert cache.get_or_create("key", lambda: b"value") == (b"value", BUILD)


def test_asyncio_takes_plain_functions_also_those_that_return_something_to_await(cache: Cache) -> None:
    async def make(value: bytes) -> bytes:
        return value

    assert asyncio.run(cache.aget_or_create("other", lambda: make(b"value"))) == (b"value", BUILD)
    assert asyncio.run(cache.aget_or_create("key", lambda: b"value")) == (b"value", BUILD)


def test_asyncio_keeps_a_value_that_was_made_when_its_task_was_cancelled(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancelled = threading.Event()
    finish = cache._finish

    def finish_later(turn: Turn, value: bytes, label: str | None) -> bytes:
        cancelled.wait()
        return finish(turn, value, label)

    monkeypatch.setattr(cache, "_finish", finish_later)

    async def main() -> None:
        loop = asyncio.get_running_loop()

        def cancel() -> None:
            task.cancel()
            loop.call_soon(cancelled.set)  # after the task has got its exception

        async def make() -> bytes:
            loop.call_soon(cancel)
            return b"value"

        task = asyncio.ensure_future(cache.aget_or_create("key", make))
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert cache.get("key") == b"value"


# ---- processes


def test_a_forked_child_uses_the_cache_and_not_its_parent_s_turns(cache: Cache) -> None:
    stop = threading.Event()
    cache.put("known", b"value")

    def ask() -> None:
        while not stop.is_set():
            cache.get("known")

    with ThreadPoolExecutor(4) as pool:
        for _ in range(4):
            pool.submit(ask)
        turn = cache.begin("turn")
        for number in range(10):
            child = os.fork()
            if child == 0:
                try:
                    assert cache.get("known") == b"value"
                    assert cache.get_or_create(f"new {number}", lambda: b"new") == (b"new", BUILD)
                    turn.abandon()  # does nothing: it is the parent's
                    with pytest.raises(Busy):
                        cache.begin("turn", wait=0)
                    os._exit(0)
                except BaseException as error:
                    print(repr(error), file=sys.stderr, flush=True)
                    os._exit(1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        stop.set()
    turn.finish(b"parent's")
    assert cache.get("turn") == b"parent's"
    assert cache.get("new 9") == b"new"


def _child_ends(work: Callable[[], object]) -> bool:
    """True if a forked child does the work within ten seconds."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(10)
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_child_needs_no_lock_that_another_thread_held_when_it_was_forked(cache: Cache) -> None:
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with _plug._lock:
            held.set()
            done.wait()

    _plug.set_cache(None)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(hold)
        held.wait()
        try:
            assert _child_ends(_plug.cache)
        finally:
            done.set()


def test_an_interrupt_ends_a_wait(cache: Cache, spawn: Spawn) -> None:
    turn = cache.begin("key")
    waiting = spawn(
        """
        import signal, ingot_cache
        signal.signal(signal.SIGINT, signal.default_int_handler)  # the tests may run with SIGINT ignored
        cache = ingot_cache.Cache()
        try:
            print("waiting", flush=True)
            cache.begin("key")
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """
    )
    assert waiting.stdout
    assert waiting.stdout.readline() == "waiting\n"
    waiting.send_signal(signal.SIGINT)
    assert waiting.stdout.readline() == "interrupted\n"  # though the turn has not ended
    assert waiting.wait() == 0
    turn.abandon()


def test_a_wait_in_the_main_thread_lets_interrupts_in(cache: Cache) -> None:
    """An interrupt is an exception once the call in C returns, so no call may take longer than the promised 100 ms."""
    with ThreadPoolExecutor(1) as pool:
        turn = pool.submit(cache.begin, "key").result()
    handle = cache._open()
    library, waits = handle.library, []

    class Recording:
        def __getattr__(self, name: str) -> object:
            return getattr(library, name)

        def ingot_artifact_begin(self, pointer: int, key: object, wait_ms: int, *rest: object) -> int:
            waits.append(wait_ms)
            return int(library.ingot_artifact_begin(pointer, key, wait_ms, *rest))

    handle.library = Recording()
    with pytest.raises(Busy):
        cache.begin("key", wait=0.3)
    handle.library = library
    assert max(waits) <= 100
    turn.abandon()


def test_import_loads_no_library(spawn: Spawn) -> None:
    program = 'import sys, ingot_cache; print("asyncio" in sys.modules or "ssl" in sys.modules)'
    output, _ = spawn(program, INGOT_CACHE_LIBRARY="/nonexistent").communicate()
    assert output == "False\n"


def test_a_missing_library_is_an_import_error(spawn: Spawn) -> None:
    program = """
    import ingot_cache
    try:
        ingot_cache.Cache()
    except ImportError as error:
        print(error)
    """
    output, _ = spawn(program, INGOT_CACHE_LIBRARY="/nonexistent").communicate()
    assert "/nonexistent" in output
    assert "INGOT_CACHE_LIBRARY" in output


def test_the_system_s_library_is_found_without_the_wheel_s(spawn: Spawn, tmp_path: Path) -> None:
    """So CMake's name of the library is the package's."""
    package = Path(ingot_cache.__file__).parent
    shutil.copytree(package, tmp_path / "ingot_cache", ignore=shutil.ignore_patterns("lib", "bin", "__pycache__"))
    program = """
        import ingot_cache
        from ingot_cache import _library
        assert _library.path() == _library.soname()
        print(ingot_cache.Cache().get_or_create("key", lambda: b"value"))
    """
    folder = os.path.dirname(_library.path())
    paths = {"PYTHONPATH": str(tmp_path), "LD_LIBRARY_PATH": folder, _library.VARIABLE: ""}
    output, _ = spawn(program, **paths).communicate()
    assert output == "(b'value', 'build')\n"


def test_version_is_the_project_s() -> None:
    header = Path(__file__).parents[2] / "include/ingot/ingot.h"
    numbers = [
        line.split()[-1] for line in header.read_text().splitlines() if line.startswith("#define INGOT_VERSION_")
    ]
    assert ingot_cache.__version__ == ".".join(numbers[:3])


def test_makes_nothing_if_a_miss_must_fail(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.put({"a": 1}, b"value")
    strict = Cache(on_miss="fail")
    made: list[int] = []
    assert strict.get_or_create({"a": 1}, lambda: b"") == (b"value", STORAGE)
    with pytest.raises(Miss, match=r'^miss: nearest is .*wanted "2", stored "1"') as raised:
        strict.get_or_create({"a": 2}, lambda: made.append(1) or b"")
    assert raised.value.status == "INGOT_NOT_FOUND"
    assert strict.get({"a": 2}) is None and not made
    assert strict.fails_on_miss and not cache.fails_on_miss
    monkeypatch.setenv("INGOT_ON_MISS", "fail")
    with pytest.raises(Miss):
        Cache().begin({"a": 2})
    with pytest.raises(ValueError, match="on_miss"):
        Cache(on_miss="ignore")


@pytest.mark.parametrize("on_miss", ["compile", "report"])
def test_an_argument_overrides_what_the_environment_says_about_misses(
    store: Path, monkeypatch: pytest.MonkeyPatch, on_miss: str
) -> None:
    monkeypatch.setenv("INGOT_ON_MISS", "fail")
    cache = Cache(on_miss=on_miss)
    assert cache.get_or_create("key", lambda: b"value") == (b"value", BUILD)
    assert not cache.fails_on_miss and Cache().fails_on_miss


def test_what_the_environment_says_counts_when_the_cache_is_opened(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    strict = Cache(on_miss="fail")
    assert cache.may_load_code
    monkeypatch.setenv("INGOT_PERSIST_REMOTE", "redis://127.0.0.1:1")
    monkeypatch.setenv("INGOT_ON_MISS", "fail")
    remote = Cache()
    monkeypatch.setenv("INGOT_PERSIST_TRUST", "require")
    monkeypatch.delenv("INGOT_ON_MISS")
    assert cache.may_load_code and not remote.may_load_code and Cache().may_load_code
    assert strict.fails_on_miss and remote.fails_on_miss and not cache.fails_on_miss


def test_a_pickled_cache_is_opened_with_its_arguments(store: Path, tmp_path: Path) -> None:
    cache = Cache(tmp_path / "other", namespace="one", read_only=True, on_miss="fail")
    Cache(tmp_path / "other", namespace="one").put({"a": 1}, b"value")
    cache.close()
    copy, key = pickle.loads(pickle.dumps((cache, Key("python", a=1))))
    assert copy.get(key) == b"value"
    assert copy.fails_on_miss
    with pytest.raises(StoreError):
        copy.put("key", b"value")


def test_reports_misses(cache: Cache, capfd: pytest.CaptureFixture[str]) -> None:
    reporting = Cache(on_miss="report")
    reporting.get_or_create({"a": 1}, lambda: b"value")
    reporting.get_or_create({"a": 1}, lambda: b"value")
    assert capfd.readouterr().err.count("ingot: miss: ") == 1


# ---- arguments that would be cut or converted silently


def test_refuses_text_that_c_would_cut(cache: Cache, store: Path) -> None:
    cache.put({"a": 1}, b"of another key")
    with pytest.raises(ValueError, match="null character"):
        cache.get({"a\0b": 1})
    with pytest.raises(ValueError, match="null character"):
        Key("kind\0of", a=1)
    with pytest.raises(ValueError, match="null character"):
        cache.put("key", {"one\0": b"", "two\0": b""})
    for named in ({"namespace": "a\0b"}, {"remote": "redis://a\0b"}, {"trust": "require", "keys": "a\0b"}):
        with pytest.raises(ValueError, match="null character"):
            Cache(store, **named)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="null character"):
        Cache(f"{store}\0b")


@pytest.mark.parametrize("value", [5, "text", [1, 2], {"part": 5}, {"part": "text"}, None])
def test_takes_no_other_types_as_bytes(cache: Cache, value: object) -> None:
    """bytes(5) would be five null bytes."""
    cache.put("other", memoryview(bytearray(b"value")))
    assert cache.get("other") == b"value"
    with pytest.raises(TypeError, match="bytes"):
        cache.put("key", value)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="bytes"):
        cache.get_or_create("key", lambda: value)  # type: ignore[arg-type,return-value]
    assert cache.begin("key", wait=0).value is None  # the turn has ended, and nothing was stored


def test_a_long_label_ends_with_a_whole_character(cache: Cache) -> None:
    cache.put("key", b"value", label="xx" + 600 * "é")
    assert cache.get("key") == b"value"
    assert _describe(b"", "xx" + 600 * "é")[1].label.decode() == "xx" + 510 * "é"


def test_a_time_may_be_nothing_or_endless(cache: Cache) -> None:
    cache.flush(0)
    cache.flush(float("inf"))
    cache.flush(-1)
    with cache.begin("key", wait=float("inf")), pytest.raises(Busy):
        cache.begin("key", wait=-1)
