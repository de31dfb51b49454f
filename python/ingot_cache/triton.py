"""Triton's cache: TRITON_CACHE_MANAGER=ingot_cache.triton:CacheManager, or INGOT_PYTHON=triton.

Triton wants files. They lie where its own cache has them (TRITON_CACHE_DIR), but what counts is the artifact in Ingot's
store: each file is compared with it before Triton gets the path, and replaced in one step if it differs. All files of a
kernel are one artifact with named parts.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from typing import Any

import triton
from triton.runtime.cache import FileCacheManager

from . import _plug
from ._cache import Turn
from ._key import Key

KIND = "triton"

# What an artifact is: one file, or all files of a kernel. It is the name of a field of the key.
FILE = "file"
GROUP = "group"


@functools.cache
def _toolchain() -> dict[str, str]:
    from triton._C import libtriton

    return {"triton": triton.__version__, "libtriton": _plug.build_of(libtriton.__file__)}


@functools.cache
def _device() -> str:
    """Returns what identifies the device for tuning. Triton's own key has only its architecture."""
    from triton.runtime import driver

    active = driver.active
    properties = active.utils.get_device_properties(active.get_current_device())
    return repr(sorted(properties.items()))


def _key(key: str, name: str, kind: str) -> Key:
    fields = {"key": key, kind: name, **_toolchain()}
    if name.endswith(".so"):
        fields["host"] = _plug.host()
    elif name.endswith(".autotune.json"):
        fields["device"] = _device()
    return _plug.key(KIND, fields)


class CacheManager(FileCacheManager):  # type: ignore[misc]
    """Triton makes one for each kernel."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        super().__init__(key, override=override, dump=dump)
        self._is_plain = override or dump
        self._turns: dict[tuple[str, str], Turn] = {}
        self._data: dict[str, bytes] = {}

    def get_file(self, filename: str) -> str | None:
        if self._is_plain or filename in self._data:
            return _none_or_str(super().get_file(filename))
        files = self._find(filename, FILE)
        return files.get(filename) if files else None

    def get_group(self, filename: str) -> dict[str, str] | None:
        if self._is_plain:
            group: dict[str, str] | None = super().get_group(filename)
            return group
        return self._find(filename, GROUP)

    def put(self, data: Any, filename: str, binary: bool = True) -> str:
        path = str(super().put(data, filename, binary=binary))
        if not self._is_plain:
            self._data[filename] = data if isinstance(data, bytes) else str(data).encode()
            if (filename, FILE) in self._turns:  # asked for by get_file, so it is not a part of a group
                self._store(filename, FILE, {filename: self._data[filename]})
        return path

    def put_group(self, filename: str, group: Mapping[str, str]) -> Any:
        if self._is_plain:
            return super().put_group(filename, group)
        parts = self._collect(group)
        if parts is not None:
            self._store(filename, GROUP, parts)
        self._data.clear()
        return self._make_path(filename)

    def __del__(self) -> None:
        for (name, kind), turn in getattr(self, "_turns", {}).items():
            _flights.drop(_key(self.key, name, kind), turn)

    @_plug.guarded
    def _find(self, name: str, kind: str) -> dict[str, str] | None:
        """Returns the paths of an artifact's files, or None: then the turn to make it has begun."""
        if name.endswith(".so") and not _plug.may_load_code("Triton's C modules"):
            return None
        turn = _flights.get(_key(self.key, name, kind))
        if turn.parts is None:
            self._turns[name, kind] = turn
            return None
        return {part: self._extract(part, data) for part, data in turn.parts.items()}

    @_plug.guarded
    def _store(self, name: str, kind: str, parts: Mapping[str, bytes]) -> None:
        self._turns.pop((name, kind), None)
        _flights.put(_key(self.key, name, kind), parts, label=name)

    def _collect(self, group: Mapping[str, str]) -> dict[str, bytes] | None:
        parts = {}
        for name, path in group.items():
            data = self._data.get(name)
            if data is None:
                try:
                    with open(path, "rb") as file:
                        data = file.read()
                except OSError:
                    return None
            parts[name] = data
        return parts

    def _extract(self, name: str, data: bytes) -> str:
        """Makes a file have this content, and returns its path."""
        path = str(self._make_path(name))
        if os.path.basename(name) != name:
            raise ValueError(f"{name!r} is not the name of a file")
        try:
            with open(path, "rb") as file:
                if file.read(len(data) + 1) == data:
                    return path
        except OSError:
            pass
        _plug.write_file(path, data, 0o644)
        return path


_flights = _plug.Flights()
_METHODS = {
    "__init__": ("key", "override", "dump"),
    "get_file": ("filename",),
    "put": ("data", "filename", "binary"),
    "get_group": ("filename",),
    "put_group": ("filename", "group"),
    "_make_path": ("filename",),
}


def _none_or_str(path: Any) -> str | None:
    return None if path is None else str(path)


def install() -> None:
    """Makes this process's Triton use the class above, unless another manager was chosen."""
    try:
        from triton import knobs
        from triton._C import libtriton

        _ = libtriton.__file__
    except (ImportError, AttributeError):
        _plug.tell_changed("Triton", "the knob for the cache manager")
        return
    if "manager_class" not in vars(type(knobs.cache)):
        _plug.tell_changed("Triton", "the knob for the cache manager")
    elif not _plug.fits(FileCacheManager, **_METHODS):
        _plug.tell_changed("Triton", "the interface of cache managers")
    elif knobs.cache.manager_class is None:
        knobs.cache.manager_class = CacheManager
