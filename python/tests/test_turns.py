"""Interrupts at every step, and waits that would never end."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Any

import pytest
from conftest import Spawn

import ingot_cache
from ingot_cache import BUILD, STORAGE, Busy, Cache, Deadlock

PACKAGE = os.path.dirname(ingot_cache.__file__)


def interrupted_at(step: int, work: Callable[[], object]) -> bool:
    """Interrupts the package before one of its steps: one operation of the interpreter. Returns False if there are not
    so many."""
    steps = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal steps
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            steps += 1
            if steps == step:
                raise KeyboardInterrupt
        return trace

    def run() -> None:
        sys.settrace(trace)
        try:
            work()
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)

    # In a thread of its own, since an exception that is raised between the steps of a `with` stays the one that the
    # thread handles. Real interrupts do not come there.
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return steps >= step


def make_and_finish(cache: Cache, key: str) -> None:
    cache.get_or_create(key, lambda: b"value")


def begin_and_finish(cache: Cache, key: str) -> None:
    with cache.begin(key) as turn:
        turn.finish({"part": b"value"}, label="label")


def begin_and_forget(cache: Cache, key: str) -> None:
    cache.begin(key)


def fail_to_make(cache: Cache, key: str) -> None:
    with suppress(LookupError):
        cache.get_or_create(key, lambda: {}["value"])


@pytest.mark.parametrize("work", [make_and_finish, begin_and_finish, begin_and_forget, fail_to_make])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_at_any_step_leaves_no_turn(cache: Cache, work: Callable[[Cache, str], None]) -> None:
    step = 1
    while interrupted_at(step, partial(work, cache, f"key {step}")):
        cache.begin(f"key {step}", wait=0).abandon()  # raises Busy if the turn is lost
        step += 1
    assert step > 100


# ---- who asks for what it makes itself


def test_a_thread_that_asks_for_what_it_makes_fails_at_once(cache: Cache) -> None:
    with pytest.raises(Deadlock) as raised:
        cache.get_or_create("key", lambda: cache.get_or_create("key", lambda: b"inner")[0])
    assert raised.value.status == "INGOT_DEADLOCK"
    turn = cache.begin("key")
    with pytest.raises(Deadlock):
        cache.begin("key")
    with pytest.raises(Busy):
        cache.begin("key", wait=0)
    with ThreadPoolExecutor(1) as pool, pytest.raises(Busy):  # another one waits
        pool.submit(cache.begin, "key", wait=0.01).result()
    turn.finish(b"value")
    assert cache.get_or_create("key", lambda: b"") == (b"value", STORAGE)


def test_a_task_that_asks_for_what_it_makes_fails_at_once(cache: Cache) -> None:
    async def make() -> bytes:
        return (await cache.aget_or_create("key", lambda: b"inner"))[0]

    def make_in_thread() -> bytes:
        return cache.get_or_create("key", lambda: b"inner")[0]

    async def main() -> None:
        for maker in (make, make_in_thread):
            with pytest.raises(Deadlock):
                await cache.aget_or_create("key", maker)
        assert await cache.aget_or_create("key", lambda: b"value") == (b"value", BUILD)

    asyncio.run(main())


def test_a_call_that_would_block_the_loop_of_the_task_that_makes_fails(cache: Cache) -> None:
    async def main() -> None:
        begun, asked = asyncio.Event(), asyncio.Event()

        async def make() -> bytes:
            begun.set()
            await asked.wait()
            return b"value"

        making = asyncio.ensure_future(cache.aget_or_create("key", make))
        await begun.wait()
        with pytest.raises(Deadlock):
            cache.begin("key")
        waiting = asyncio.ensure_future(asyncio.to_thread(cache.get_or_create, "key", lambda: b""))
        asked.set()
        assert await waiting == (b"value", STORAGE)
        assert await making == (b"value", BUILD)

    asyncio.run(main())


GREENLETS = """
    from gevent import monkey
    monkey.patch_all()
    import sys
    import gevent
    import ingot_cache
    cache = ingot_cache.Cache()
"""


def test_greenlets_wait_for_each_other(cache: Cache, spawn: Spawn) -> None:
    program = """
    made = []
    def make():
        made.append(1)
        gevent.sleep(0.01)
        return b"value"
    asking = [gevent.spawn(cache.get_or_create, "key", make) for _ in range(20)]
    print(*sorted(each.get()[1] for each in asking), len(made))
    def ask_again():
        try:
            cache.get_or_create("again", lambda: cache.get_or_create("again", make))
        except ingot_cache.Deadlock:
            print("deadlock")
    gevent.spawn(ask_again).join()
    """
    output, _ = spawn(GREENLETS + program).communicate(timeout=60)
    assert output.splitlines() == [" ".join([BUILD, *(19 * [STORAGE]), "1"]), "deadlock"]


def test_a_greenlet_that_waits_for_another_process_lets_others_run(cache: Cache, spawn: Spawn) -> None:
    program = """
    waiting = gevent.spawn(cache.get_or_create, "key", lambda: b"")
    for _ in range(100):
        gevent.sleep(0.001)
    print("others ran", waiting.dead, flush=True)
    print(*waiting.get())
    """
    turn = cache.begin("key")
    child = spawn(GREENLETS + program)
    assert child.stdout and child.stdout.readline() == "others ran False\n"
    turn.finish(b"value")
    assert child.communicate(timeout=60)[0] == "b'value' storage\n"
