"""Cache and Turn.

A Cache keeps no lock and no thread of its own. Each call holds a reference to the handle, so close() in one thread
does not free what another thread uses. No function of Python is ever called from a thread of the library.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import sys
import threading
import time
import types
import weakref
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, cast

from . import _library
from ._errors import BUSY, DEADLOCK, NOT_FOUND, Busy, Deadlock, IngotError, StoreError
from ._key import Key, KeyLike, key_of

if TYPE_CHECKING:
    import asyncio

Value: TypeAlias = bytes | bytearray | memoryview
Parts: TypeAlias = Mapping[str, Value]

#: Where get_or_create found a value.
STORAGE = "storage"
BUILD = "build"

_POLICIES = {"none": 0, "verify": 1, "require": 2}
_ON_MISS = {
    None: 0,
    "compile": _library.COMPILE_MISSES,
    "report": _library.REPORT_MISSES,
    "fail": _library.FAIL_ON_MISS,
}
_SLICE_MS = 50  # An interrupt ends a wait within this time.
_LONG_SLICE_MS = 1000  # In other threads than the main one, which gets no interrupts.
_LONGEST_PAUSE = 0.05  # seconds
_LONGEST_MS = 1 << 53
_LONGEST_LABEL = 1023  # bytes
_ENDED = -1  # no status of the library


class _Handle:
    """An open ingot_cache_t. The last reference releases it.

    What the environment says about trust and misses is read here, once, as the library reads it.
    """

    __slots__ = ("__weakref__", "_release", "fails_on_miss", "library", "may_load_code", "pid", "pointer", "storage")

    def __init__(self, library: Any, info: _library.CacheInfo, trust: _library.Trust | None) -> None:
        pointer, storage = ctypes.c_void_p(), ctypes.c_void_p()
        self.library = library
        self.pid = os.getpid()
        self.storage: int | None = None
        self.pointer: int | None = None
        self.may_load_code = may_load_code(info.remote, None if trust is None else trust.policy)
        says_fail = os.environ.get("INGOT_ON_MISS", "").lower() not in ("", "compile", "report", "later")
        overrides = info.flags & (_library.REPORT_MISSES | _library.COMPILE_MISSES)
        self.fails_on_miss = bool(info.flags & _library.FAIL_ON_MISS) or (says_fail and not overrides)
        self._release = library.ingot_cache_release
        _library.check(library, library.ingot_cache_open(ctypes.byref(pointer), ctypes.byref(info)))
        self.pointer = pointer.value
        if library.ingot_cache_get_storage(pointer, ctypes.byref(storage)) == 0:
            self.storage = storage.value
        if trust is not None and self.storage is not None:
            _library.check(library, library.ingot_persist_set_trust(self.storage, ctypes.byref(trust)))

    def __del__(self) -> None:
        if self.pointer is not None and self.pid == os.getpid():
            pointer, self.pointer = self.pointer, None
            self._release(pointer)


def may_load_code(remote: object = None, policy: int | None = None) -> bool:
    """True if values that can run code on the host, such as pickles, may come from a cache that is opened now.

    A local store belongs to the user alone. A server's values are accepted only with seals.
    """
    if policy is None:
        policy = _POLICIES.get(os.environ.get("INGOT_PERSIST_TRUST", "").lower(), 0)
    return policy == _POLICIES["require"] or not (remote or os.environ.get("INGOT_PERSIST_REMOTE"))


def current_owner() -> Any:
    """Returns what a turn belongs to: the task, the greenlet or the thread that runs."""
    asyncio, greenlet = sys.modules.get("asyncio"), sys.modules.get("greenlet")
    if asyncio is not None and asyncio._get_running_loop() is not None:
        return asyncio.current_task() or threading.current_thread()
    return threading.current_thread() if greenlet is None else greenlet.getcurrent()


#: One for each turn of this process that may be open.
_turns: set[weakref.ref[Turn]] = set()


class Turn:
    """The permission to make a value while others wait, or the value that was found.

    ``value`` is the found value, or None if the caller has to make it. Then the caller ends the turn with finish() or
    abandon(), in any thread. As a context manager, a turn that has not ended at the end of the block is abandoned, and
    so is one that is garbage-collected.
    """

    # An interrupt can come between any two steps of Python, but not within a call of C. So one call, of map's iterator,
    # takes the pointer and gives it to the library. What ends a forgotten turn is such a call, too, and not __del__.

    __slots__ = (
        "__weakref__", "_claim", "_handle", "_key", "_last_resort", "_left", "_owner", "_pid", "_pointer", "_thread",
        "parts", "value",
    )  # fmt: skip

    def __init__(self, handle: _Handle, key: Key) -> None:
        self._handle = handle
        self._key = key
        self._pid = handle.pid
        self._owner: Callable[[], Any] = _nobody
        self._thread = 0
        self._pointer = ctypes.c_void_p()  # Cache.begin lets the library set it
        self._left = [None, self._pointer]
        self._claim = iter(self._left.pop, None)  # the pointer, once
        self.value: bytes | None = None
        self.parts: dict[str, bytes] | None = None
        abandoning = map(handle.library.ingot_turn_abandon, self._claim, (1,))
        self._last_resort = weakref.ref(self, functools.partial(next, abandoning))
        _turns.add(self._last_resort)

    def is_owned(self) -> bool:
        """True if the turn belongs to the task, greenlet or thread that runs."""
        return self._owner() is current_owner()

    def _belong_to(self, owner: Any) -> None:
        self._owner, self._thread = weakref.ref(owner), threading.get_ident()

    def _end(self, function: Any, *arguments: Any) -> Any:
        """Calls a function of the library with the turn and these arguments, or returns _ENDED if it has ended."""
        if self._pid != os.getpid():
            return _ENDED
        status = next(map(function, self._claim, *((each,) for each in arguments)), _ENDED)
        _turns.discard(self._last_resort)
        return status

    @property
    def is_open(self) -> bool:
        """True if the caller still has to end the turn."""
        return len(self._left) == 2 and self._pointer.value is not None and self._pid == os.getpid()

    def finish(self, value: Value | Parts, *, label: str | None = None) -> None:
        """Stores the value and ends the turn. Everybody who waits gets the value.

        Raises StoreError if the value was not stored; the turn has ended also then.
        """
        data, info, keep = _describe(value, label)
        library = self._handle.library
        status = self._end(library.ingot_turn_finish, ctypes.byref(info), len(data), data) if self.is_open else _ENDED
        del keep
        if status == _ENDED:
            raise ValueError("the turn has ended, or a value was found")
        _library.check(library, status)

    def abandon(self, *, may_others_take: bool = True) -> None:
        """Ends the turn without a value. Does nothing if it has ended.

        One of the others who wait gets the turn next. If making the value would fail for them, too, pass
        may_others_take=False: then nobody waits for this value for some time.
        """
        self._end(self._handle.library.ingot_turn_abandon, int(may_others_take))

    def __enter__(self) -> Turn:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.abandon()


def _nobody() -> None:
    """The owner of a turn that nobody has."""


def _open_turn(handle: _Handle, key: Key) -> Turn | None:
    """Returns this process's turn for a key."""
    for last_resort in list(_turns):
        turn = last_resort()
        if turn is None:  # an interrupt left it here
            _turns.discard(last_resort)
        elif turn._handle is handle and turn._key == key and turn.is_open:
            return turn
    return None


def _fail_deadlock() -> NoReturn:
    raise Deadlock("the value would be made by the task, greenlet or thread that asks for it", "INGOT_DEADLOCK")


def _milliseconds(seconds: float) -> int:
    """Returns a time for the library, in which 0 would be no limit."""
    return int(min(max(1, seconds * 1000), _LONGEST_MS))


def _bytes_of(value: Value) -> bytes:
    """Returns a value's bytes. bytes() would make a number that many null bytes."""
    if isinstance(value, bytes):
        return value
    if not isinstance(value, (bytearray, memoryview)):
        raise TypeError(f"a value is bytes, or a mapping of names and bytes, not {type(value).__name__}")
    return bytes(value)


def _describe(value: Value | Parts, label: str | None) -> tuple[bytes, _library.Info, object]:
    """Returns a value's bytes, its description, and what the description points to."""
    info = _library.Info(ctypes.sizeof(_library.Info))
    if label is not None:
        info.label = label.encode("utf-8", "replace")[:_LONGEST_LABEL].decode(errors="ignore").encode()
    if not isinstance(value, Mapping):
        return _bytes_of(value), info, None
    pieces = {name: _bytes_of(piece) for name, piece in value.items()}
    names = [_library.text(name, "the name of a part") for name in pieces]
    parts = (_library.Part * len(pieces))(
        *[_library.Part(*each) for each in zip(names, map(len, pieces.values()), strict=True)]
    )
    info.part_count = len(pieces)
    info.parts = ctypes.cast(parts, ctypes.POINTER(_library.Part))
    return b"".join(pieces.values()), info, (parts, names)


def _make_in_thread(turn: Turn, make: Callable[[], Any]) -> Any:
    """Makes a value in this thread, to which its turn belongs meanwhile."""
    turn._belong_to(current_owner())
    return make()


def _abandon_late(begun: asyncio.Task[Turn]) -> None:
    """Ends a turn whose task was cancelled before it got the turn."""
    if not begun.cancelled() and begun.exception() is None:
        begun.result().abandon()


_caches: weakref.WeakSet[Cache] = weakref.WeakSet()


def _path(path: str | os.PathLike[str] | None) -> bytes | None:
    return None if path is None else _library.whole(os.fsencode(path), "a path")


class Cache:
    """Values under keys, in a store on disk and, if asked for, on a server that machines share.

    What is not given here comes from the environment (INGOT_PERSIST_DIR and others), as for all of Ingot. A store that
    cannot be used makes a cache that finds and stores nothing; INGOT_TRACE=1 shows why. Any number of threads may use a
    Cache at once. A child that was forked has its own, opened at its first use.

    directory: the store's root. namespace: separates what would otherwise share keys. remote: the URL of a server.
    max_bytes: the store's limit. read_only: never writes. on_miss: "compile"; "report" also writes a line to standard
    error for each value that has to be made; "fail" raises Miss instead of letting anybody make one (begin,
    get_or_create), with the reason. None: INGOT_ON_MISS. trust: "none", "verify" or "require", what to do about seals,
    with the files of ``keys``. A pickled Cache is opened with the same arguments.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str] | None = None,
        *,
        namespace: str | None = None,
        remote: str | None = None,
        max_bytes: int | None = None,
        read_only: bool = False,
        on_miss: str | None = None,
        trust: str | None = None,
        keys: str | os.PathLike[str] | list[str | os.PathLike[str]] | None = None,
    ) -> None:
        if on_miss not in _ON_MISS:
            raise ValueError(f'on_miss is "compile", "report" or "fail", not {on_miss!r}')
        if trust is not None and trust not in _POLICIES:
            raise ValueError(f'trust is "none", "verify" or "require", not {trust!r}')
        if max_bytes is not None and max_bytes < 1:
            raise ValueError("max_bytes is at least 1")
        info = _library.CacheInfo(ctypes.sizeof(_library.CacheInfo))
        info.directory = _path(directory)
        info.name_space = None if namespace is None else _library.text(namespace, "the namespace")
        info.remote = None if remote is None else _library.text(remote, "the URL of the server")
        info.max_bytes = max_bytes or 0
        info.flags = (_library.READ_ONLY if read_only else 0) | _ON_MISS[on_miss]
        self._arguments: dict[str, Any] = {
            "directory": directory, "namespace": namespace, "remote": remote, "max_bytes": max_bytes,
            "read_only": read_only, "on_miss": on_miss, "trust": trust, "keys": keys,
        }  # fmt: skip
        self._info = info
        self._trust = self._make_trust(trust, keys)
        self._closed = False
        self._counts = dict.fromkeys(("found", "missed", "made", "put", "waited", "not_stored"), 0)
        self._handle: _Handle | None = _Handle(_library.load(), info, self._trust)
        _caches.add(self)

    @staticmethod
    def _make_trust(
        trust: str | None, keys: str | os.PathLike[str] | list[str | os.PathLike[str]] | None
    ) -> _library.Trust | None:
        if trust is None:
            if keys is not None:
                raise ValueError('keys without trust protect nothing: pass trust="require"')
            return None
        files = [keys] if isinstance(keys, (str, os.PathLike)) else (keys or [])
        if any(":" in os.fspath(file) for file in files):
            raise ValueError("the path of a key file may not contain a colon")
        joined = b":".join(_library.whole(os.fsencode(file), "a path") for file in files)
        return _library.Trust(ctypes.sizeof(_library.Trust), _POLICIES[trust], joined or None)

    def _open(self) -> _Handle:
        if self._closed:
            raise ValueError("the cache is closed")
        handle = self._handle
        if handle is None:
            handle = self._handle = _Handle(_library.load(), self._info, self._trust)
        return handle

    # ---- single values

    def get(self, key: KeyLike) -> bytes | None:
        """Returns the value, or None."""
        return cast("bytes | None", self._load(key, _library.take))

    def get_parts(self, key: KeyLike) -> dict[str, bytes] | None:
        """Returns the parts of a value that was stored as a mapping of names and bytes, or None."""
        return cast("dict[str, bytes] | None", self._load(key, _library.parts_of))

    def _load(self, key: KeyLike, taken: Callable[[Any, _library.Buffer], Any]) -> Any:
        handle = self._open()
        buffer = _library.Buffer()
        name = key_of(key)
        status = handle.library.ingot_artifact_get(handle.pointer, ctypes.byref(name._struct), ctypes.byref(buffer))
        if status == NOT_FOUND:
            self._counts["missed"] += 1
            return None
        _library.check(handle.library, status)
        self._counts["found"] += 1
        return taken(handle.library, buffer)

    def put(self, key: KeyLike, value: Value | Parts, *, label: str | None = None) -> None:
        """Stores or replaces a value: bytes, or a mapping of names and bytes. Lists show the label to people.

        Raises StoreError if it was not stored.
        """
        handle = self._open()
        data, info, keep = _describe(value, label)
        name = key_of(key)
        status = handle.library.ingot_artifact_put(
            handle.pointer, ctypes.byref(name._struct), ctypes.byref(info), len(data), data
        )
        del keep
        _library.check(handle.library, status)
        self._counts["put"] += 1

    def __contains__(self, key: KeyLike) -> bool:
        return self._load(key, _library.drop) is not None

    def __delitem__(self, key: KeyLike) -> None:
        handle = self._open()
        name = key_of(key)
        status = handle.library.ingot_artifact_remove(handle.pointer, ctypes.byref(name._struct))
        if status == NOT_FOUND:
            raise KeyError(key)
        _library.check(handle.library, status)

    # ---- one maker per key

    def begin(self, key: KeyLike, *, wait: float | None = None) -> Turn:
        """Returns the value, or the turn to make it. Waits while another thread, process or machine has the turn.

        wait: how many seconds at most; None: as long as the other maker needs, but for a maker that was stopped only
        INGOT_PERSIST_BUILD_WAIT; 0: not at all. Raises Busy if the other maker still has the turn. Raises Deadlock if
        waiting would never end, because the task, greenlet or thread that asks has the turn itself.
        """
        return self._begin(key_of(key), wait, current_owner())

    def _begin(self, key: Key, wait: float | None, owner: Any) -> Turn:
        handle = self._open()
        turn, buffer = Turn(handle, key), _library.Buffer()
        try:
            _library.check(handle.library, self._wait(handle, key, wait, owner, buffer, turn))
            if turn.is_open:
                turn._belong_to(owner)
                self._counts["missed"] += 1
            else:
                self._counts["found"] += 1
                turn.parts = _library.parts_of(handle.library, buffer)
                turn.value = b"".join(turn.parts.values())
                _turns.discard(turn._last_resort)
            return turn
        except BaseException:  # such as an interrupt just after the turn was taken
            turn.abandon()
            raise

    def _wait(
        self, handle: _Handle, key: Key, wait: float | None, owner: Any, buffer: _library.Buffer, turn: Turn
    ) -> int:
        """Begins a turn and returns the status. Waits in slices, because a thread in C gets no interrupts.

        Where time.sleep is not Python's own, it lets other greenlets of the thread run, and a wait in C does not.
        """
        until = float("inf") if wait is None else time.monotonic() + wait
        step = _SLICE_MS if threading.current_thread() is threading.main_thread() else _LONG_SLICE_MS
        has_greenlets = not isinstance(time.sleep, types.BuiltinFunctionType)
        begin = handle.library.ingot_artifact_begin
        rest = ctypes.byref(buffer), ctypes.byref(turn._pointer)
        slice_ms, pause, has_waited = 0, 0.001, False
        while True:
            status: int = begin(handle.pointer, ctypes.byref(key._struct), slice_ms, *rest)
            left = until - time.monotonic()
            if status not in (BUSY, DEADLOCK) or left <= 0:
                break
            held = _open_turn(handle, key)
            if held is not None and (
                held._owner() is owner or (held._thread == threading.get_ident() and not has_greenlets)
            ):
                _fail_deadlock()
            if has_greenlets or status == DEADLOCK:  # the library knows only which thread began the turn
                time.sleep(min(pause, left))
                pause = min(2 * pause, _LONGEST_PAUSE)
            else:
                slice_ms = int(min(step, left * 1000))
            has_waited = True
        self._counts["waited"] += has_waited
        return BUSY if status == DEADLOCK else status

    def get_or_create(self, key: KeyLike, make: Callable[[], Value], *, label: str | None = None) -> tuple[bytes, str]:
        """Returns the value and its origin: "storage", or "build" if this call made it by make().

        Only one thread of one process on one machine makes it, and the others wait. If make() raises an exception, the
        next one who waits makes it. A value that cannot be stored is returned all the same.
        """
        with self.begin(key) as turn:
            if turn.value is not None:
                return turn.value, STORAGE
            return self._finish(turn, make(), label), BUILD

    def _finish(self, turn: Turn, value: Value, label: str | None) -> bytes:
        with turn:
            data = _bytes_of(value)
            self._counts["made"] += 1
            try:
                turn.finish(data, label=label)
            except (StoreError, Busy):
                self._counts["not_stored"] += 1
            return data

    async def aget_or_create(
        self, key: KeyLike, make: Callable[[], Value | Awaitable[Value]], *, label: str | None = None
    ) -> tuple[bytes, str]:
        """get_or_create for asyncio. make is a coroutine function, or a function that runs in another thread.

        Neither the event loop nor a thread is occupied while somebody else makes the value. If the task is cancelled
        while the value is made, somebody else makes it; a value that has been made is stored.
        """
        import asyncio
        import inspect

        name, task = key_of(key), current_owner()
        pause = 0.002
        while True:
            begun = asyncio.ensure_future(asyncio.to_thread(self._begin, name, 0, task))
            try:
                turn = await asyncio.shield(begun)
                break
            except asyncio.CancelledError:
                begun.add_done_callback(_abandon_late)
                raise
            except Busy:
                held = _open_turn(self._open(), name)
                if held is not None and held._owner() is task:
                    _fail_deadlock()
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
        try:
            if turn.value is not None:
                return turn.value, STORAGE
            made = make() if inspect.iscoroutinefunction(make) else await asyncio.to_thread(_make_in_thread, turn, make)
            turn._belong_to(task)
            value = cast("Value", await made if inspect.isawaitable(made) else made)
        except BaseException:
            turn.abandon()
            raise
        # Not a task, which the end of the loop would cancel.
        storing = asyncio.get_running_loop().run_in_executor(None, self._finish, turn, value, label)
        return await asyncio.shield(storing), BUILD

    # ---- the cache itself

    def stats(self) -> dict[str, int]:
        """Returns counts of this object (found, missed, made, put, waited, not_stored) and, with the prefix "store_",
        of its store in this process (doc/python.md)."""
        handle = self._open()
        counts = dict(self._counts)
        stats = _library.Stats(ctypes.sizeof(_library.Stats))
        if handle.storage is not None:
            _library.check(handle.library, handle.library.ingot_persist_get_stats(handle.storage, ctypes.byref(stats)))
        counts.update({f"store_{name}": int(getattr(stats, name)) for name in _library.STATS})
        return counts

    @property
    def fails_on_miss(self) -> bool:
        """True if nothing may be made."""
        return self._open().fails_on_miss

    @property
    def may_load_code(self) -> bool:
        """True if values that can run code, such as pickles, may come from this cache: a server's only with seals."""
        return self._open().may_load_code

    @property
    def is_usable(self) -> bool:
        """False if there is no store, so that nothing is found and nothing is stored."""
        return self._open().storage is not None

    def flush(self, timeout: float = 10.0) -> None:
        """Waits at most this many seconds until everything is stored, on the server, too."""
        handle = self._open()
        _library.check(handle.library, handle.library.ingot_cache_flush(handle.pointer, _milliseconds(timeout)))

    def close(self) -> None:
        """Releases the cache. Turns that have begun can still be ended."""
        self._closed = True
        self._handle = None

    def __reduce__(self) -> tuple[Any, tuple[()]]:
        return functools.partial(type(self), **self._arguments), ()

    def __bool__(self) -> bool:
        return True

    def __enter__(self) -> Cache:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        directory = self._info.directory
        where = "the environment's store" if directory is None else os.fsdecode(directory)
        return f"<ingot_cache.Cache of {where}{', closed' if self._closed else ''}>"


def _forget_parent() -> None:
    """In a forked child: the parent's handle is not the child's. It is never released here."""
    for cache in list(_caches):
        cache._handle = None


def _release_handles() -> None:
    """When the interpreter ends, before exit(): uploads that wait get a second (ingot_cache_release), and end.

    exit() does not wait for them, and it frees what OpenSSL uses if the application has used OpenSSL before Ingot. What
    still uses a cache, such as an earlier handler of atexit, opens another handle.
    """
    for cache in list(_caches):
        cache._handle = None


os.register_at_fork(after_in_child=_forget_parent)
atexit.register(_release_handles)

__all__ = ["BUILD", "STORAGE", "Cache", "IngotError", "Turn"]
