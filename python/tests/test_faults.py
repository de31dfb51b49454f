"""Processes that die, and entries that are damaged."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from conftest import Spawn, entry_files

from ingot_cache import BUILD, Cache

HOLD = """
    import sys, ingot_cache
    turn = ingot_cache.Cache().begin("key")
    assert turn.value is None
    print("mine", flush=True)
    sys.stdin.read()
"""

TRIALS = int(os.environ.get("INGOT_TEST_TRIALS", "20"))


def test_a_maker_that_is_killed_passes_its_turn_on(cache: Cache, spawn: Spawn) -> None:
    """Two wait for a maker. When it is killed, one of them gets the turn, and the other gets the value."""
    program = """
        import ingot_cache
        print("waiting", flush=True)
        value, origin = ingot_cache.Cache().get_or_create("key", lambda: b"value")
        print(value.decode(), origin, flush=True)
    """
    for _ in range(TRIALS):
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
