"""Processes that die, and full disks. Damaged entries and servers that lie are tested in C
(tests/unit/front/artifact_store_test.cpp and artifact_remote_test.cpp)."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import Spawn

from ingot_cache import BUILD, Cache

HOLD = """
    import sys, ingot_cache
    turn = ingot_cache.Cache().begin("key")
    assert turn.value is None
    print("mine", flush=True)
    sys.stdin.read()
"""

#: A short sample in CI; 500 by hand.
TRIALS = int(os.environ.get("INGOT_TEST_TRIALS", "20"))


def _fork(work: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(1)
    return child


def test_many_makers_that_are_killed(cache: Cache) -> None:
    """Three wait for a maker. When it is killed, one of them gets the turn, and the others get the value.

    The processes are forked, because new interpreters take a hundred times as long.
    """
    for trial in range(TRIALS):
        key = f"key {trial}"
        said, saying = os.pipe()

        def hold(key: str = key, saying: int = saying) -> None:
            turn = cache.begin(key)
            assert turn.value is None
            os.write(saying, b"H")
            signal.pause()
            turn.abandon()

        def wait(key: str = key, saying: int = saying) -> None:
            os.write(saying, b"W")
            value, origin = cache.get_or_create(key, lambda: b"value")
            os.write(saying, b"B" if (value, origin) == (b"value", BUILD) else b"S" if value == b"value" else b"X")
            os._exit(0)

        holder = _fork(hold)
        assert os.read(said, 1) == b"H"
        waiters = [_fork(wait) for _ in range(3)]
        for _ in waiters:
            assert os.read(said, 1) == b"W"
        os.kill(holder, signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(holder, 0)[1]) == -signal.SIGKILL
        assert sorted(os.read(said, 1) for _ in waiters) == [b"B", b"S", b"S"]
        for waiter in waiters:
            assert os.waitstatus_to_exitcode(os.waitpid(waiter, 0)[1]) == 0
        os.close(said)
        os.close(saying)


def test_an_interpreter_that_exits_passes_its_turn_on(cache: Cache, spawn: Spawn) -> None:
    program = """
        import sys, threading, ingot_cache
        cache = ingot_cache.Cache()
        turn = cache.begin("key")
        for _ in range(4):
            threading.Thread(target=cache.begin, args=("key",), daemon=True).start()
        print("exits", flush=True)
        sys.exit(0)
    """
    for _ in range(5):
        process = spawn(program)
        assert process.communicate()[0] == "exits\n"
        assert process.returncode == 0
        with cache.begin("key") as turn:
            assert turn.value is None


def test_a_maker_that_is_stopped_and_goes_on_still_finishes(
    cache: Cache, spawn: Spawn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INGOT_PERSIST_BUILD_WAIT", "50ms")
    program = HOLD + "    turn.finish(b'late'); print('finished', flush=True)\n"
    for _ in range(max(1, TRIALS // 10)):
        holder = spawn(program)
        assert holder.stdout and holder.stdout.readline() == "mine\n"
        holder.send_signal(signal.SIGSTOP)
        os.waitpid(holder.pid, os.WUNTRACED)
        made = Cache().get_or_create("key", lambda: b"early")
        holder.send_signal(signal.SIGCONT)
        assert holder.communicate()[0] == "finished\n"
        assert made == (b"early", BUILD)
        assert cache.get("key") == b"late"
        del cache["key"]


# ---- full disks


def test_a_full_disk_costs_nothing_but_the_entry(cache: Cache, spawn: Spawn) -> None:
    """A limit on the size of files stands in for a full disk: each write beyond it fails."""
    program = """
        import resource, ingot_cache
        cache = ingot_cache.Cache()
        cache.put("before", b"value")
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, resource.RLIM_INFINITY))
        import os
        large = os.urandom(100000)
        for _ in range(3):
            assert cache.get_or_create("key", lambda: large) == (large, "build")
        try:
            cache.put("key", large)
        except ingot_cache.StoreError as error:
            print(type(error).__name__, bool(str(error)))
        assert cache.get("before") == b"value"
        assert cache.get_or_create("small", lambda: b"small") == (b"small", "build")
        assert cache.stats()["not_stored"] == 3
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        cache.put("key", large)
        print(cache.get("key") == large)
    """
    process = spawn(program)
    assert process.communicate()[0].splitlines()[1:] == ["True"]
    assert process.returncode == 0
    assert len(cache.get("key") or b"") == 100000


# ---- ends of processes


def test_an_interpreter_that_exits_while_threads_make_and_store(cache: Cache, spawn: Spawn) -> None:
    program = """
        import os, sys, threading, time, ingot_cache
        cache = ingot_cache.Cache()
        begun = threading.Barrier(9)
        def work(number):
            value = os.urandom(100000)
            begun.wait()
            while True:
                cache.get_or_create(f"key {number} {time.monotonic_ns()}", lambda: value)
        for number in range(8):
            threading.Thread(target=work, args=(number % 4,), daemon=True).start()
        begun.wait()
        print("exits", flush=True)
    """
    for _ in range(max(3, TRIALS // 10)):
        process = spawn(program)
        assert process.communicate()[0] == "exits\n"
        assert process.returncode == 0
    assert cache.get_or_create("after", lambda: b"value") == (b"value", BUILD)


@contextmanager
def slow_way_to(server: str, directory: Path, seconds: float) -> Iterator[str]:
    """Runs a proxy that takes this long for each piece of what is sent to a server, and returns its URL."""
    path = directory / "slow"
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(path))
    listening.listen()

    def pass_on(source: socket.socket, target: socket.socket, seconds: float) -> None:
        try:
            while piece := source.recv(1 << 20):
                time.sleep(seconds)
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            target.close()

    def accept() -> None:
        while True:
            try:
                client = listening.accept()[0]
            except OSError:
                return
            behind = socket.socket(socket.AF_UNIX)
            behind.connect(server.removeprefix("redis+unix://"))
            for each in ((client, behind, seconds), (behind, client, 0)):
                threading.Thread(target=pass_on, args=each, daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"redis+unix://{path}"
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()


def test_what_waits_is_uploaded_when_the_interpreter_ends(spawn: Spawn, redis: str, tmp_path: Path) -> None:
    program = """
        import atexit, sys, threading, time
        atexit.register(lambda: print(cache.get("key 0")))  # the last one that runs
        from ingot_cache import Cache
        cache = Cache(sys.argv[1], remote=sys.argv[2])
        threading.Thread(target=lambda _: time.sleep(60), args=(cache,), daemon=True).start()
        for number in range(10):
            cache.put(f"key {number}", b"value")
    """
    with slow_way_to(redis, tmp_path, 0.03) as url:
        process = spawn(program, str(tmp_path / "first"), url)
        assert process.communicate()[0] == "b'value'\n"
        assert process.returncode == 0
    other = Cache(tmp_path / "second", remote=redis)
    assert [other.get(f"key {number}") for number in range(10)] == [b"value"] * 10
