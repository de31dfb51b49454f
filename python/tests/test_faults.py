"""Processes that die, and entries that are damaged."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import Spawn, entry_files

from ingot_cache import BUILD, STORAGE, Cache

ROOT = Path(__file__).parents[2]

HOLD = """
    import sys, ingot_cache
    turn = ingot_cache.Cache().begin("key")
    assert turn.value is None
    print("mine", flush=True)
    sys.stdin.read()
"""

#: A short sample in CI; 500 by hand.
TRIALS = int(os.environ.get("INGOT_TEST_TRIALS", "20"))


def test_a_maker_that_is_killed_passes_its_turn_on(cache: Cache, spawn: Spawn) -> None:
    """Two wait for a maker. When it is killed, one of them gets the turn, and the other gets the value."""
    program = """
        import ingot_cache
        print("waiting", flush=True)
        value, origin = ingot_cache.Cache().get_or_create("key", lambda: b"value")
        print(value.decode(), origin, flush=True)
    """
    for _ in range(3):
        holder = spawn(HOLD)
        assert holder.stdout and holder.stdout.readline() == "mine\n"
        waiters = [spawn(program) for _ in range(2)]
        for waiter in waiters:
            assert waiter.stdout and waiter.stdout.readline() == "waiting\n"
        holder.kill()
        holder.wait()
        said = sorted(waiter.communicate()[0] for waiter in waiters)
        assert said == ["value build\n", "value storage\n"]
        del cache["key"]


def _fork(work: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(1)
    return child


def test_many_makers_that_are_killed(cache: Cache) -> None:
    """As above, with forked processes, because new interpreters take a hundred times as long."""
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


def test_no_byte_that_is_changed_gives_a_wrong_value(cache: Cache, store: Path) -> None:
    value = b"a small value"
    cache.put("key", value)
    (file,) = (each for each in entry_files(store) if value in each.read_bytes())
    whole = file.read_bytes()
    for at in range(len(whole)):
        damaged = bytearray(whole)
        damaged[at] ^= 0x55
        file.write_bytes(damaged)
        assert Cache().get("key") in (None, value)
        assert Cache().get_or_create("key", lambda: value)[0] == value
        assert cache.get("key") == value
        if not file.exists():
            (file,) = (each for each in entry_files(store) if value in each.read_bytes())


@pytest.mark.parametrize("size", [0, 1, 20, 100])
def test_a_cut_entry_is_made_again(cache: Cache, store: Path, size: int) -> None:
    value = b"a small value"
    cache.put("key", value)
    (file,) = (each for each in entry_files(store) if value in each.read_bytes())
    os.truncate(file, size)
    assert Cache().get_or_create("key", lambda: value) == (value, BUILD)
    assert cache.get("key") == value


def test_a_maker_that_is_stopped_costs_a_bounded_time(spawn: Spawn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_PERSIST_BUILD_WAIT", "200ms")
    holder = spawn(HOLD)
    assert holder.stdout and holder.stdout.readline() == "mine\n"
    holder.send_signal(signal.SIGSTOP)
    try:
        assert Cache().get_or_create("key", lambda: b"value") == (b"value", BUILD)
    finally:
        holder.send_signal(signal.SIGCONT)
        holder.communicate()


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


def test_a_full_volume(tmp_path: Path) -> None:
    """A real small volume, in a mount namespace of its own."""
    program = """
        import os, subprocess, sys, ingot_cache
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", sys.argv[1]], check=True)
        cache = ingot_cache.Cache(sys.argv[1] + "/store")
        stored = 0
        for number in range(20):
            value = os.urandom(60000)
            got, origin = cache.get_or_create(f"key {number}", lambda: value)
            assert (got, origin) == (value, "build")
            stored += cache.get(f"key {number}") == value
            assert cache.get(f"key {number}") in (None, value)
        print(0 < stored, cache.stats()["not_stored"] + stored >= 20)
    """
    volume = tmp_path / "volume"
    volume.mkdir()
    unshare = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
    child = subprocess.run(
        [*unshare, sys.executable, "-c", textwrap.dedent(program), str(volume)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout == "True True\n"


# ---- servers


@contextmanager
def _server(answer: bytes) -> Iterator[str]:
    """A Redis that answers everything with the same bytes, and closes the connection after an empty answer."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(connection: socket.socket) -> None:
        with connection:
            try:
                while connection.recv(65536) and answer:
                    connection.sendall(answer)
            except OSError:
                pass

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.close()


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"+OK\r\n",
        b":1\r\n",
        b"$5\r\nvalue\r\n",
        b"$-1\r\n",
        b"-ERR no\r\n",
        b"*2\r\n$3\r\nkey\r\n$5\r\nvalue\r\n",
        b"$4000000000\r\nvalue",
        b"HTTP/1.1 200 OK\r\n\r\nvalue",
    ],
)
def test_a_lying_server_gives_no_value(store: Path, answer: bytes) -> None:
    with _server(answer) as url, Cache(store, remote=url) as cache:
        assert cache.get("key") is None
        assert cache.get_or_create("key", lambda: b"mine") == (b"mine", BUILD)
        assert cache.get_or_create("key", lambda: b"other") == (b"mine", STORAGE)


def test_a_server_that_answers_with_another_key_s_value_gives_none(redis: str, tmp_path: Path) -> None:
    with Cache(tmp_path / "one", remote=redis) as cache:
        cache.put("a", b"value of a")
        cache.put("b", b"value of b")
        cache.flush()
    ask = ["redis-cli", "-s", redis.removeprefix("redis+unix://")]
    one, other = subprocess.run([*ask, "keys", "*"], capture_output=True, check=True, text=True).stdout.split()
    for names in ((one, "kept"), (other, one), ("kept", other)):
        subprocess.run([*ask, "rename", *names], check=True, stdout=subprocess.DEVNULL)
    with Cache(tmp_path / "two", remote=redis) as cache:
        assert cache.get("a") is None
        assert cache.get_or_create("a", lambda: b"made") == (b"made", BUILD)
        assert cache.get_or_create("b", lambda: b"made") == (b"made", BUILD)
    with Cache(tmp_path / "three", remote=redis) as cache:
        assert cache.get("a") == cache.get("b") == b"made"  # the server's objects were replaced


# ---- values


def _magics() -> list[bytes]:
    """The first bytes of Ingot's formats, from their descriptions."""
    found = set()
    for page in (ROOT / "doc").glob("*-format.md"):
        text = page.read_text()
        found |= {word.encode() for word in re.findall(r"magic:? `(INGOT[A-Z]+)", text)}
        found |= {bytes.fromhex(word) for word in re.findall(r"magic: `((?:[0-9A-F]{2} ){3,}[0-9A-F]{2})`", text)}
    return sorted(found)


def test_a_value_may_begin_with_any_magic_of_ingot(store: Path) -> None:
    magics = _magics()
    assert len(magics) >= 10
    for magic in magics:
        for value in (magic, magic + b"\0" * 200, magic + os.urandom(200)):
            with Cache(store) as cache:
                cache.put("key", value)
            with Cache(store) as cache:
                assert cache.get("key") == value
                assert cache.get_or_create("key", lambda: b"other") == (value, STORAGE)
                cache.put("parts", {"one": value, "two": magic})
                assert cache.get_parts("parts") == {"one": value, "two": magic}


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
