"""A storm: machines (stores) that share a Redis, whose processes make, wait, read, replace, remove, and are killed.

Each process writes a line when a call begins and when it ends. So two makers of one key, of which none was killed, must
have a removal between them; a reader must find what was stored before and not removed since, and nothing older; and no
call may take longer than its limit. As a program, test_storm.py SECONDS [SEED [PROCESSES [KEYS]]] prints what was done
and what was wrong.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import count, islice, pairwise
from pathlib import Path

from conftest import redis_server

from ingot_cache import Busy, Cache

MACHINES = 3
THREADS, TASKS = 3, 5  # of a process
LONGEST_MAKE = 0.3
LIMIT = 60.0  # for a call, with waiting for makers, on a machine with a load
SECOND = 10**9  # of the times in logs
FOREVER = 1 << 62
#: The leases of makers that were killed end after ten seconds instead of two minutes.
END_LEASES = "for _, key in ipairs(redis.call('KEYS', '*:lease')) do redis.call('PEXPIRE', key, 10000, 'LT') end"
MISSED, BUSY, FAILED = "missed", "busy", "failed"
# What the reasons of events have.
PAUSED, RESUMED, NO_TIME_LEFT, LOST_LEASE = "is not asked until", "so the tier asks it", "took all the time", "was lost"


class Event(ctypes.Structure):
    """The first fields of ingot_event_t."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t), ("kind", ctypes.c_int), ("status", ctypes.c_int),
        ("duration_ns", ctypes.c_uint64), ("bytes", ctypes.c_size_t),
        ("group", ctypes.c_char_p), ("name", ctypes.c_char_p), ("reason", ctypes.c_char_p),
    ]  # fmt: skip


STORAGE_DEGRADED = 10  # of ingot_event_kind_t
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.POINTER(Event), ctypes.c_void_p)


class Storming:
    """What the threads and tasks of one process do until it is killed, or told to end."""

    def __init__(self, store: Path, redis: str, log: Path, seed: str, keys: int) -> None:
        self.cache = Cache(store, remote=redis)
        self.callback = CALLBACK(self.note_event)
        self.cache._info.on_event = ctypes.cast(self.callback, ctypes.c_void_p).value
        self.cache._handle = None  # the first call opens another one, with the callback
        self.name, self.seed, self.keys = log.name, seed, keys
        self.log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.numbers, self.lock, self.is_over = count(), threading.Lock(), threading.Event()
        self.not_stored: dict[int, int] = {}

    def write(self, *words: object) -> None:
        os.write(self.log, (f"{time.monotonic_ns()} " + " ".join(map(str, words)) + "\n").encode())

    def note_event(self, event: ctypes._Pointer[Event], _: object) -> None:
        if event.contents.kind == STORAGE_DEGRADED:
            reason = event.contents.reason.decode(errors="replace").replace("\n", " ")
            self.write("event", event.contents.status, reason)

    def begin(self, action: str, key: str) -> int:
        with self.lock:
            number = next(self.numbers)
        self.write("begin", number, action, key)
        self.not_stored[number] = self.cache.stats()["not_stored"]
        return number

    def key(self, rng: random.Random) -> str:
        return f"key{rng.randrange(self.keys if rng.random() < 0.9 else 2)}"  # two are wanted more often

    def make(self, rng: random.Random, key: str, number: int) -> bytes:
        self.write("make", number)
        time.sleep(rng.random() * LONGEST_MAKE)
        return self.value(rng, key, number)

    def value(self, rng: random.Random, key: str, number: int) -> bytes:
        return f"{key} {self.name}.{number} ".encode() + rng.randbytes(rng.randint(100, 20000))

    def end(self, number: int, key: str, value: bytes | None) -> None:
        named, name, *_ = (key, MISSED) if value is None else value[:100].decode(errors="replace").split(" ")
        is_known = self.cache.stats()["not_stored"] == self.not_stored.pop(number)  # get_or_create does not tell
        self.write("end", number, FAILED if not is_known else name if named == key else f"of-{named}")

    def thread(self, number: int) -> None:
        rng = random.Random(f"{self.seed} thread {number}")
        while not self.is_over.is_set():
            key = self.key(rng)
            actions = {self.create: 40, self.poll: 10, self.get: 35, self.put: 7, self.remove: 3, self.flush: 5}
            rng.choices([*actions], [*actions.values()])[0](rng, key)
            time.sleep(rng.random() * 0.05)

    def create(self, rng: random.Random, key: str) -> None:
        number = self.begin("create", key)
        self.end(number, key, self.cache.get_or_create(key, lambda: self.make(rng, key, number))[0])

    def poll(self, rng: random.Random, key: str) -> None:
        """Polls several keys in turn, as an event loop without threads does."""
        left = {key, *(self.key(rng) for _ in range(4))}
        while left and not self.is_over.is_set():
            for each in sorted(left):
                number = self.begin("create", each)
                try:
                    with self.cache.begin(each, wait=0.02) as turn:
                        left.discard(each)
                        value = turn.value or self.make(rng, each, number)
                        if turn.is_open and rng.random() < 0.1:
                            self.write("end", number, FAILED)
                            continue  # abandons the turn
                        if turn.is_open:
                            turn.finish(value)
                    self.end(number, each, value)
                except Busy:
                    self.write("end", number, BUSY)

    def get(self, rng: random.Random, key: str) -> None:
        number = self.begin("get", key)
        self.end(number, key, self.cache.get(key))

    def put(self, rng: random.Random, key: str) -> None:
        number = self.begin("put", key)
        value = self.value(rng, key, number)
        try:
            self.cache.put(key, value)
            self.end(number, key, value)
        except Busy:
            self.write("end", number, BUSY)

    def remove(self, rng: random.Random, key: str) -> None:
        number = self.begin("remove", key)
        try:
            del self.cache[key]
            self.write("end", number, "done")
        except (KeyError, Busy) as error:
            self.write("end", number, MISSED if isinstance(error, KeyError) else BUSY)

    def flush(self, rng: random.Random, key: str) -> None:
        number = self.begin("flush", key)
        self.cache.flush(LIMIT)
        self.write("end", number, "done")

    async def task(self, name: int) -> None:
        rng = random.Random(f"{self.seed} task {name}")
        while not self.is_over.is_set():
            key = self.key(rng)
            number = self.begin("create", key)

            async def make(number: int = number, key: str = key) -> bytes:
                self.write("make", number)
                await asyncio.sleep(rng.random() * LONGEST_MAKE)
                return self.value(rng, key, number)

            impatience = LONGEST_MAKE if rng.random() < 0.05 else None
            try:
                self.end(number, key, (await asyncio.wait_for(self.cache.aget_or_create(key, make), impatience))[0])
            except (asyncio.TimeoutError, TimeoutError):
                self.write("end", number, FAILED)
            await asyncio.sleep(rng.random() * 0.05)

    async def tasks(self, _: int) -> None:
        await asyncio.gather(*map(self.task, range(TASKS)))

    def guarded(self, function: Callable[[int], object], number: int) -> None:
        try:
            function(number)
        except BaseException as error:
            where = [each.name for each in traceback.extract_tb(error.__traceback__)]
            self.write("error", f"{error!r} in {' > '.join(where)}")
            os._exit(1)

    def run(self) -> None:
        signal.signal(signal.SIGTERM, lambda *_: self.is_over.set())
        every = [*[self.thread] * THREADS, lambda number: asyncio.run(self.tasks(number))]
        threads = [threading.Thread(target=self.guarded, args=each[::-1]) for each in enumerate(every)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()


def storm(directory: Path, seconds: int, seed: int, processes: int, keys: int) -> tuple[Counter[str], list[str]]:
    """Returns counts of what was done, and what was wrong."""
    rng, generations = random.Random(seed), count()
    running: dict[int, tuple[int, Path]] = {}  # for each process, its place and its log
    logs: list[Path] = []
    killed: dict[str, int] = {}
    died: dict[str, int] = {}
    wrong: list[str] = []

    def start(place: int) -> None:
        log = directory / f"{place % MACHINES}.{place}.{next(generations)}"
        child = os.fork()
        if child == 0:
            try:
                Storming(directory / f"store{place % MACHINES}", redis, log, f"{seed} {log.name}", keys).run()
            finally:
                os._exit(0)
        running[child] = place, log
        logs.append(log)

    def end(child: int) -> int:
        place, log = running.pop(child)
        if os.waitpid(child, os.WNOHANG)[0] == 0:
            killed[log.name] = time.monotonic_ns()
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        died[log.name] = time.monotonic_ns()
        return place

    with redis_server(directory) as redis:
        for place in range(processes):
            start(place)
        for _ in range(seconds):
            time.sleep(1)
            start(end(rng.choice([*running])))
            subprocess.run(
                ["redis-cli", "-s", redis.split("//")[1], "EVAL", END_LEASES, "0"], stdout=subprocess.DEVNULL
            )
        for child in running:
            os.kill(child, signal.SIGTERM)
        until = time.monotonic() + min(LIMIT, seconds / 2)
        for child in [*running]:
            while time.monotonic() < until and not os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                time.sleep(0.01)
            end(child)
    return _judge(logs, killed, died, wrong), wrong


class Call:
    """A call, which did its work between two times. If it was cut off, it has done it or not."""

    def __init__(self, log: str, number: str, action: str, key: str, begin: int) -> None:
        self.log, self.name, self.machine = log, f"{log}.{number}", log[0]
        self.action, self.key, self.begin = action, key, begin
        self.end, self.flushed, self.settled = FOREVER, FOREVER, FOREVER  # settled: on the server, too, or never
        self.is_served = True  # False: slow or failing answers have made the process ask the server less
        self.made = begin if action == "put" else FOREVER  # when the value did not exist yet
        self.result = ""

    def __str__(self) -> str:
        made = f", made from {self.made / SECOND:.4f}" if self.made < FOREVER else ""
        what = f"{self.action} by {self.name} from {self.begin / SECOND:.4f}{made} to {self.end / SECOND:.4f}"
        return f"{what}: {self.result or 'cut off'}"


def _read(log: Path, died: int, wrong: list[str]) -> list[Call]:
    calls: dict[str, Call] = {}
    pauses: list[tuple[int, int]] = []  # in which the process asks the server less
    for line in log.read_text().splitlines() if log.exists() else ():
        at, what, number, *words = line.split(" ")
        if what == "error":
            wrong.append(f"{log.name}: {number} {' '.join(words)}")
        elif what == "event" and RESUMED in line:
            pauses = [(begin, int(at) if end == FOREVER else end) for begin, end in pauses]
        elif what == "event":
            ends = {PAUSED: FOREVER, NO_TIME_LEFT: FOREVER + 1, LOST_LEASE: int(at)}
            pauses += [(int(at) - SECOND // 100, end) for reason, end in ends.items() if reason in line]
        elif what == "begin":
            calls[number] = Call(log.name, number, words[0], words[1], int(at))
        elif what == "make":
            calls[number].made = int(at)
        elif what == "end":
            calls[number].end, calls[number].result = int(at), words[0]
    flushes = sorted((each.begin, each.end) for each in calls.values() if each.action == "flush" and each.result)
    for each in calls.values():
        after = bisect_left(flushes, (each.end, 0))
        each.flushed = flushes[after][1] if after < len(flushes) else FOREVER
        each.end, each.settled = min(each.end, died), min(each.flushed, died)
        each.is_served = all(end < each.begin or begin > each.end for begin, end in pauses)
        if each.end - each.begin > LIMIT * SECOND:
            wrong.append(f"{each.key} took more than {LIMIT:.0f} s: {each}")
    return list(calls.values())


class Key:
    """All calls for a key."""

    def __init__(self, calls: list[Call], killed: dict[str, int]) -> None:
        self.calls, self.killed = calls, killed
        self.removals = [each for each in calls if each.action == "remove"]
        self.values = {each.name: each for each in calls if each.made < FOREVER}
        misses = (each for each in calls if each.action == "get" and each.result == MISSED and each.is_served)
        self.misses = [each for each in misses if not self.hides(each)]
        self.stored = sorted((each for each in calls if each.result == each.name), key=lambda each: each.made)

    def hides(self, miss: Call) -> bool:
        """True if that process has removed the value and the server may still have it, so that only others find it."""
        every = (each for each in self.removals if each.log == miss.log)
        return any(each.begin < miss.end and each.settled > miss.begin for each in every)

    def is_removed(self, begin: int, end: int, machine: str | None) -> bool:
        """True if that is possible, on a machine or, if None, on the server, to which removals go later."""
        every = (each for each in self.removals if machine in (None, each.machine))
        return any(each.begin < end and (each.end if machine else each.settled) > begin for each in every)

    def judge(self) -> Iterator[str]:
        for each in self.calls:
            if each.action == "create" and each.made < FOREVER:
                yield from self.judge_reader(each, each.made, MISSED)
            elif each.action in ("get", "create") and each.result not in ("", BUSY, FAILED):
                yield from self.judge_reader(each, each.end, each.result)
        for machine in (None, *map(str, range(MACHINES))):
            makers = [each for each in self.stored if each.action == "create" and machine in (None, each.machine)]
            for first, second in pairwise(makers):
                died = self.killed.get(first.log, FOREVER) if first.is_served and second.is_served else 0
                is_known = first.machine == second.machine or died > min(second.made, first.flushed)
                if is_known and not self.is_removed(first.made, second.made, machine):
                    yield f"made twice: {first}; {second}"

    def judge_reader(self, reader: Call, end: int, name: str) -> Iterator[str]:
        """It must find the last value that was stored before on this machine, or a later one, or one of the server."""
        machine, found = reader.machine, self.values.get(name)
        here = [each for each in self.stored if each.machine == machine and each.end < reader.begin]
        shared = [each for each in self.stored if each.flushed < reader.begin]
        if name != MISSED and found is None:
            yield f"a wrong value: {reader}"
        elif here and not self.is_removed(here[-1].made, end, machine):
            if found is None or found.machine != machine or found.end <= here[-1].made:
                yield f"{'an older value' if found else 'missed'}: {reader}; {here[-1]}; {found or ''}"
        elif found is None and reader.is_served and shared and not self.is_removed(shared[-1].made, end, None):
            yield f"missed on the server: {reader}; {shared[-1]}"
        for miss in self.misses if found is not None else ():
            if miss.machine == machine and found.flushed < miss.begin and miss.end < reader.begin:
                during = (each for each in self.calls if each.begin < miss.end and each.end > miss.begin)
                if not any(each.machine == machine and self.may_bring_back(each, name) for each in during):
                    yield f"a removed value came back: {reader}; {found}; {miss}"

    def may_bring_back(self, call: Call, name: str) -> bool:
        """True if the call may have loaded the value while another process, of which it does not know, removed it."""
        others = (each for each in self.removals if each.log != call.log)
        is_during = any(each.begin < call.end and each.settled > call.begin for each in others)
        return call.result in (name, "") and is_during


def _judge(logs: list[Path], killed: dict[str, int], died: dict[str, int], wrong: list[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    keys: dict[str, list[Call]] = defaultdict(list)
    for log in logs:
        for each in _read(log, died[log.name], wrong):
            keys[each.key].append(each)
            known = {each.name: "stored", "": "cut off", MISSED: MISSED, BUSY: BUSY, FAILED: FAILED}
            counts[f"{each.action}: {known.get(each.result, 'found')}"] += 1
            counts["without the server"] += not each.is_served
    for key, calls in keys.items():
        wrong.extend(f"{key}: {each}" for each in islice(Key(calls, killed).judge(), 3))
    return counts


def test_storm(tmp_path: Path) -> None:
    counts, wrong = storm(tmp_path, 6, 1, 6, 40)
    assert not wrong, "\n".join([f"{len(wrong)} things are wrong, in {dict(counts)}:", *wrong[:20]])
    assert counts["create: stored"] > 20 and counts["get: found"] > 20


if __name__ == "__main__":
    directory = Path(tempfile.mkdtemp(prefix="storm-"))
    done, wrong = storm(directory, *map(int, [*sys.argv[1:], *(60, 1, 8, 200)[len(sys.argv) - 1 :]]))
    for what, number in sorted(done.items()):
        print(f"{number:9} {what}")
    print("\n".join(wrong[:100]))
    print(f"{len(wrong)} things were wrong" + (f"; {directory} has the logs" if wrong else ""))
    if not wrong:
        shutil.rmtree(directory)
    sys.exit(bool(wrong))
