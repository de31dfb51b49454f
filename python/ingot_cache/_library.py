"""Finds libingot-cache and gives its functions their types.

The wheel has the library inside the package. In a development tree, INGOT_CACHE_LIBRARY names the file. The library is
loaded at the first use, not at import.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, Structure, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any

from . import __version__
from ._errors import LibraryMissing, error_for

VARIABLE = "INGOT_CACHE_LIBRARY"

READ_ONLY = 1  # INGOT_CACHE_OPEN_READ_ONLY
REPORT_MISSES = 8
FAIL_ON_MISS = 16
COMPILE_MISSES = 32


class Buffer(Structure):
    """ingot_buffer_t. Releases its bytes at the latest when it is garbage-collected, as after an interrupt."""

    _fields_ = [("size", c_size_t), ("bytes", c_void_p), ("release", c_void_p), ("owner", c_void_p)]

    def __del__(self) -> None:
        release(self)


RELEASE = ctypes.CFUNCTYPE(None, POINTER(Buffer))


def release(buffer: Buffer) -> None:
    """Releases a buffer, at most once."""
    address = buffer.release
    if address:
        buffer.release = None
        RELEASE(address)(ctypes.byref(buffer))


class Field(Structure):
    """ingot_artifact_field_t"""

    _fields_ = [("name", c_char_p), ("size", c_size_t), ("value", c_char_p)]


class KeyStruct(Structure):
    """ingot_artifact_key_t"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("kind", c_char_p),
        ("field_count", c_size_t),
        ("fields", POINTER(Field)),
    ]


class Part(Structure):
    """ingot_artifact_part_t"""

    _fields_ = [("name", c_char_p), ("size", c_uint64)]


class Info(Structure):
    """ingot_artifact_info_t"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("label", c_char_p),
        ("make_time_ms", c_uint64),
        ("part_count", c_size_t),
        ("parts", POINTER(Part)),
        ("kind", c_char_p),
        ("made_at_unix_ms", c_uint64),
    ]


class CacheInfo(Structure):
    """ingot_cache_info_t"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("directory", c_char_p),
        ("name_space", c_char_p),
        ("remote", c_char_p),
        ("max_bytes", c_uint64),
        ("on_event", c_void_p),
        ("on_event_user", c_void_p),
        ("flags", c_uint32),
    ]


class Trust(Structure):
    """ingot_persist_trust_t"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("policy", c_int),
        ("key_files", c_char_p),
        ("next_key", c_void_p),
        ("user", c_void_p),
    ]


# The fields of ingot_persist_stats_t after struct_size, all of 64 bits.
# fmt: off
STATS = (
    "hits", "misses", "stores", "refused", "evictions", "failures", "bytes", "read_only", "no_space",
    "lock_timeouts", "untrusted", "corrupt", "other_versions", "io_errors", "out_of_memory", "not_kept", "expired",
    "unstamped", "rejected", "waiting", "leftovers", "awaited", "wait_timeouts", "distrusted",
)
# fmt: on


class Stats(Structure):
    """ingot_persist_stats_t"""

    _fields_ = [("struct_size", c_size_t)] + [(name, c_uint64) for name in STATS]


_PROTOTYPES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "ingot_status_name": (c_char_p, (c_int,)),
    "ingot_last_error_detail": (c_char_p, ()),
    "ingot_last_error_code": (c_int64, ()),
    "ingot_cache_open": (c_int, (POINTER(c_void_p), POINTER(CacheInfo))),
    "ingot_cache_release": (None, (c_void_p,)),
    "ingot_cache_flush": (c_int, (c_void_p, c_uint64)),
    "ingot_cache_get_storage": (c_int, (c_void_p, POINTER(c_void_p))),
    "ingot_storage_release": (None, (c_void_p,)),
    "ingot_persist_get_stats": (c_int, (c_void_p, POINTER(Stats))),
    "ingot_persist_set_trust": (c_int, (c_void_p, POINTER(Trust))),
    "ingot_artifact_get": (c_int, (c_void_p, POINTER(KeyStruct), POINTER(Buffer))),
    "ingot_artifact_put": (c_int, (c_void_p, POINTER(KeyStruct), POINTER(Info), c_size_t, c_char_p)),
    "ingot_artifact_remove": (c_int, (c_void_p, POINTER(KeyStruct))),
    "ingot_artifact_begin": (c_int, (c_void_p, POINTER(KeyStruct), c_uint64, POINTER(Buffer), POINTER(c_void_p))),
    "ingot_artifact_get_info": (c_int, (POINTER(Buffer), POINTER(Info))),
    "ingot_turn_finish": (c_int, (c_void_p, POINTER(Info), c_size_t, c_char_p)),
    "ingot_turn_abandon": (None, (c_void_p, c_int)),
}

_library: Any = None


def soname() -> str:
    """Returns the library's name for the system's loader."""
    return f"libingot-cache.so.{__version__.split('.')[0]}"


def path() -> str:
    """Returns the path that the variable names, or that of the wheel's library, or the name for the system's loader."""
    named = os.environ.get(VARIABLE)
    if named:
        return named
    file = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", soname())
    return file if os.path.exists(file) else soname()


def load() -> Any:
    """Returns the library with its functions typed.

    Raises LibraryMissing if it cannot be loaded or lacks a function.
    """
    global _library
    if _library is None:
        file = path()
        try:
            library = ctypes.CDLL(file)
            for name, (result, arguments) in _PROTOTYPES.items():
                function = getattr(library, name)
                function.restype = result
                function.argtypes = arguments
        except (OSError, AttributeError) as error:
            raise LibraryMissing(f"{file} cannot be used: {error}; {VARIABLE} may name another file") from None
        _library = library
    return _library


def text(value: str, what: str) -> bytes:
    """Returns a text for C, which would cut it at a null character."""
    return whole(value.encode("utf-8", "surrogateescape"), what)


def whole(value: bytes, what: str) -> bytes:
    """Returns bytes that C takes as a text."""
    if b"\0" in value:
        raise ValueError(f"{what} has a null character: {value!r}")
    return value


def check(library: Any, status: int) -> None:
    """Raises the exception for a status that is not a success. Call it in the thread that got the status."""
    if status != 0:
        name = library.ingot_status_name(status).decode()
        raise error_for(status, name, library.ingot_last_error_detail().decode(errors="replace"))


def take(library: Any, buffer: Buffer) -> bytes:
    """Copies a buffer's bytes and releases it."""
    value = ctypes.string_at(buffer.bytes, buffer.size) if buffer.size else b""
    release(buffer)
    return value


def drop(library: Any, buffer: Buffer) -> bool:
    """Releases a buffer that was only asked for. Returns True."""
    release(buffer)
    return True


def parts_of(library: Any, buffer: Buffer) -> dict[str, bytes]:
    """Copies a buffer's parts and releases it.

    An old value may have equal names. A later one gets an apostrophe, so that no bytes are missing.
    """
    info = Info(ctypes.sizeof(Info))
    check(library, library.ingot_artifact_get_info(ctypes.byref(buffer), ctypes.byref(info)))
    parts: dict[str, bytes] = {}
    begin = buffer.bytes or 0
    for part in info.parts[: info.part_count]:
        name = part.name.decode(errors="surrogateescape")
        while name in parts:
            name += "'"
        parts[name] = ctypes.string_at(begin, part.size) if part.size else b""
        begin += part.size
    release(buffer)
    return parts
