"""What the plugs for frameworks share.

A plug never makes its host worse. If the cache fails, or a framework's hook has changed, it says so in one sentence and
the framework does what it does without the plug.
"""

from __future__ import annotations

import functools
import hashlib
import os
import struct
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from ._cache import Cache, Turn
from ._cache import may_load_code as _may_load_code_now
from ._errors import Miss
from ._key import FieldValue, Key

Function = TypeVar("Function", bound=Callable[..., Any])

_lock = threading.Lock()
_cache: Cache | None = None
_told: set[str] = set()


class PlugWarning(RuntimeWarning):
    """A framework does not use Ingot, or not for everything."""


def tell(sentence: str) -> None:
    """Warns, once per process and sentence. Where warnings are exceptions, it writes to standard error instead."""
    if sentence not in _told:
        _told.add(sentence)
        try:
            warnings.warn(f"ingot_cache: {sentence}", PlugWarning, stacklevel=3)
        except PlugWarning as warning:
            print(f"{PlugWarning.__name__}: {warning}", file=sys.stderr)


def tell_changed(framework: str, hook: str) -> None:
    """Warns that a framework's hook is not as it was."""
    tell(f"{hook} of {framework} has changed, so {framework} keeps its own cache")


def fits(base: Any, **methods: tuple[str, ...]) -> bool:
    """True if a framework's class has these methods with these first parameters, and no other abstract ones."""
    import inspect

    for name, parameters in methods.items():
        try:
            found = list(inspect.signature(getattr(base, name)).parameters)
        except (AttributeError, TypeError, ValueError):
            return False
        if found[1 : len(parameters) + 1] != list(parameters):
            return False
    return set(getattr(base, "__abstractmethods__", ())) <= set(methods)


def cache() -> Cache:
    """Returns the process's cache, which the environment describes (INGOT_PERSIST_DIR and others)."""
    global _cache
    if _cache is None:
        with _lock:
            if _cache is None:
                _cache = Cache()
    return _cache


def set_cache(new: Cache | None) -> None:
    """Makes all plugs of this process use a Cache; None: the one that the environment describes."""
    global _cache
    with _lock:
        _cache = new


def _renew_lock() -> None:
    """In a forked child: another thread of the parent may have held the lock."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)


def may_load_code(framework: str, *, is_installing: bool = False) -> bool:
    """True if values that can run code on the host may come from the process's cache.

    The cache decided that when it was opened. A plug that is installed before asks what it would decide now.
    """
    opened = _cache if is_installing else cache()
    may = _may_load_code_now() if opened is None else opened.may_load_code
    if not may:
        tell(
            f"values of {framework} can run code on the host, so they come from a server only with "
            f'INGOT_PERSIST_TRUST=require (or trust="require"); {framework} keeps its own cache'
        )
    return may


def get(key: Key) -> bytes | None:
    """Returns a value without a turn, or None: then the framework makes it. Raises Miss if it may not."""
    value = cache().get(key)
    if value is None and cache().fails_on_miss:
        cache().begin(key, wait=0)  # raises Miss with the reason
    return value


def guarded(function: Function) -> Function:
    """Makes an exception of the cache a miss (None) and a warning. Miss goes on to the framework."""

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except Miss:
            raise
        except Exception as error:
            tell(f"{type(error).__name__} in {function.__qualname__}: {error}")
            return None

    return cast(Function, call)


class Flights:
    """The turns between a framework's get, which finds nothing, and its put."""

    def __init__(self) -> None:
        self._turns: dict[Key, Turn] = {}
        self._local = threading.local()

    def get(self, key: Key, wait: float | None = None) -> Turn:
        """Begins a turn, or returns the value. Who asks twice without a put had no success in between."""
        held = self._turns.get(key)
        if held is not None and held.is_owned():
            self.drop(key)
        turn = cache().begin(key, wait=wait)
        if turn.value is None:
            self._turns[key] = turn
            begun = getattr(self._local, "begun", None)
            if begun is not None:
                begun.append(key)
        return turn

    def put(self, key: Key, value: bytes | Mapping[str, bytes], label: str | None = None) -> None:
        """Ends the turn with the value, or stores the value if there is no turn."""
        turn = self._turns.pop(key, None)
        if turn is not None and turn.is_open:
            turn.finish(value, label=label)
        else:
            cache().put(key, value, label=label)

    def drop(self, key: Key, turn: Turn | None = None) -> None:
        """Abandons a key's turn, if there is one, or if it is this one."""
        held = self._turns.get(key)
        if held is not None and (turn is None or held is turn):
            del self._turns[key]
            held.abandon()

    def drop_own(self) -> None:
        """Abandons all turns of the task, greenlet or thread that runs."""
        for key in [key for key, turn in list(self._turns.items()) if turn.is_owned()]:
            self.drop(key)

    @property
    def is_scoped(self) -> bool:
        """True within scope()."""
        return getattr(self._local, "begun", None) is not None

    def scoped(self, function: Function) -> Function:
        """Makes a function run in a scope()."""

        @functools.wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            with self.scope():
                return function(*arguments, **named)

        call._ingot = True  # type: ignore[attr-defined]
        return cast(Function, call)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Abandons at the end of the block what this thread began in it and did not finish."""
        outer = getattr(self._local, "begun", None)
        begun: list[Key] = []
        self._local.begun = begun
        try:
            yield
        finally:
            self._local.begun = outer
            for key in begun:
                self.drop(key)


def is_distributed() -> bool:
    """True in a distributed job of torch. Its processes may exchange data while they compile, so they take no turns."""
    torch = sys.modules.get("torch.distributed")
    return bool(torch and torch.is_available() and torch.is_initialized() and torch.get_world_size() > 1)


def write_file(path: str, data: bytes, mode: int) -> None:
    """Makes a file have this content, in one step."""
    number, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix="tmp.ingot.")
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def key(kind: str, fields: Mapping[str, FieldValue]) -> Key:
    """Returns a framework's key, with the fields that all plugs add."""
    return Key(kind, {**fields, "plug": PLUG_VERSION})


#: Changes if a plug stores other bytes under the same key.
PLUG_VERSION = "1"


@functools.cache
def build_of(path: str) -> str:
    """Returns what identifies the build of a library: its build id, or a digest of its size, begin and end."""
    with open(path, "rb") as file:
        identity = _build_id(file)
        if identity:
            return identity
        size = file.seek(0, 2)
        digest = hashlib.sha256(str(size).encode())
        file.seek(0)
        digest.update(file.read(1 << 20))
        file.seek(max(0, size - (1 << 20)))
        digest.update(file.read())
        return f"sha256:{digest.hexdigest()[:40]}"


def _build_id(file: Any) -> str | None:
    """Reads the build id of a 64-bit little-endian ELF file."""
    header = file.read(64)
    if len(header) < 64 or header[:6] != b"\x7fELF\x02\x01":
        return None
    offset, entry_size, count = struct.unpack_from("<32xQ14xHH", header)
    for index in range(count):
        file.seek(offset + index * entry_size)
        entry = file.read(56)
        kind, begin, size = struct.unpack_from("<I4xQ16xQ", entry)
        if kind != 4 or size > 1 << 20:  # PT_NOTE
            continue
        file.seek(begin)
        notes = file.read(size)
        at = 0
        while at + 12 <= len(notes):
            name_size, data_size, note = struct.unpack_from("<III", notes, at)
            data = at + 12 + (name_size + 3 & ~3)
            if note == 3 and notes[at + 12 : at + 15] == b"GNU":
                return bytes(notes[data : data + data_size]).hex()
            at = data + (data_size + 3 & ~3)
    return None


@functools.cache
def processor() -> str:
    """Returns what identifies the kind of this machine's processor, for code that runs on the host."""
    import platform

    wanted = ("vendor_id", "cpu family", "model", "model name", "flags", "Features", "CPU part")
    found: dict[str, str] = {}
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                name, colon, value = line.partition(":")
                if colon and name.strip() in wanted:
                    found.setdefault(name.strip(), " ".join(sorted(value.split())))
    except OSError:
        pass
    text = repr(sorted(found.items()))
    return f"{platform.machine()} {hashlib.sha256(text.encode()).hexdigest()[:16]}"


@functools.cache
def host() -> str:
    """Returns what identifies the host's C library and Python, for shared libraries that are loaded on the host."""
    import platform
    import sysconfig

    return f"{platform.machine()} {'-'.join(platform.libc_ver())} {sysconfig.get_config_var('EXT_SUFFIX')}"
