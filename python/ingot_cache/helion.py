"""Helion's tuning results: INGOT_PYTHON=helion, or HELION_REMOTE_CACHE_BACKEND=ingot_cache.helion.Backend.

Helion asks its remote cache only with HELION_AUTOTUNE_CACHE=RemoteAutotuneCache, or StrictRemoteAutotuneCache.
INGOT_PYTHON sets the former. One process tunes a kernel while the others wait, except in a distributed job.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterable
from importlib import metadata

from helion.autotuner import base_cache
from helion.autotuner.remote_cache import RemoteCacheBackend

from . import _plug
from ._key import Key

KIND = "helion"
_RECENT = _plug.key(KIND, {"recent": "results"})  # of all versions: Helion only begins its search with them
_RECENT_COUNT = 64
_flights = _plug.Flights()


@functools.cache
def _toolchain() -> dict[str, str]:
    return {
        name: "".join(each.version for each in metadata.distributions(name=name))
        for name in ("helion", "torch", "triton")
    }


def _key(key: str) -> Key:
    return _plug.key(KIND, {"key": key, **_toolchain()})


class Backend(RemoteCacheBackend):  # type: ignore[misc]
    """Helion makes one for each kernel that it tunes."""

    def __init__(self) -> None:
        cache = base_cache.AutotuneCacheBase
        if not hasattr(cache.autotune, "_ingot"):
            cache.autotune = _flights.scoped(cache.autotune)
        self._refuse_misses()

    @_plug.guarded
    def _refuse_misses(self) -> None:
        """Helion ignores exceptions of its cache, and this variable refuses to tune."""
        if _plug.cache().fails_on_miss:
            os.environ["HELION_ASSERT_CACHE_HIT"] = "1"

    @_plug.guarded
    def get(self, key: str) -> str | None:
        takes_turns = _flights.is_scoped and not _plug.is_distributed()
        value = _flights.get(_key(key)).value if takes_turns else _plug.get(_key(key))
        return None if value is None else value.decode()

    @_plug.guarded
    def put(self, key: str, data: str) -> None:
        _flights.put(_key(key), data.encode())
        recent = [
            data,
            *(each for each in self.list() if each != data),
        ]  # who stores at the same moment may be left out
        _plug.cache().put(_RECENT, json.dumps(recent[:_RECENT_COUNT]).encode(), label="recent results")

    def list(self, max_results: int | None = None) -> Iterable[str]:
        return (_recent() or [])[:max_results]


@_plug.guarded
def _recent() -> list[str] | None:
    value = _plug.cache().get(_RECENT)
    return None if value is None else [str(each) for each in json.loads(value)]


def install() -> None:
    """Makes this process's Helion use Ingot's store, unless the environment has chosen another cache."""
    methods = {"get": ("key",), "put": ("key", "data"), "list": ("max_results",)}
    if not _plug.fits(RemoteCacheBackend, **methods) or not hasattr(base_cache.AutotuneCacheBase, "autotune"):
        _plug.tell_changed("Helion", "RemoteCacheBackend")
        return
    os.environ.setdefault("HELION_REMOTE_CACHE_BACKEND", f"{__name__}.Backend")
    os.environ.setdefault("HELION_AUTOTUNE_CACHE", "RemoteAutotuneCache")
