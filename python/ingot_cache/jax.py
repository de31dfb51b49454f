"""JAX's compilation cache: INGOT_PYTHON=jax, or ``ingot_cache.jax.install()`` before the first compilation.

JAX has no setter for its cache, so this replaces compilation_cache.get_file_cache. JAX gets a value in one function
and puts it in another; both run within compiler.compile_or_get_cached, so a turn that begins in it ends with it.
Processes of one distributed program take no turns: they compile together and may need each other to do so.
"""

from __future__ import annotations

import functools
import os
import pathlib
from typing import Any

from . import _plug
from ._key import Key

KIND = "jax"
_flights = _plug.Flights()
_SETTINGS = (
    "jax_compilation_cache_dir",
    "jax_persistent_cache_min_compile_time_secs",
    "jax_raise_persistent_cache_errors",
)


def _extension() -> Any:
    """Returns jaxlib's library, which had another name before version 0.6."""
    from jax._src import lib

    return lib._jax if hasattr(lib, "_jax") else lib.xla_extension


@functools.cache
def _toolchain() -> dict[str, str]:
    import jax
    import jaxlib
    from jax._src import xla_bridge

    backend = xla_bridge.get_backend()
    fields = {
        "jax": jax.__version__,
        "jaxlib": jaxlib.__version__,
        "build": _plug.build_of(_extension().__file__),
        "platform": f"{backend.platform} {backend.platform_version}",
        "device": ", ".join(sorted({device.device_kind for device in backend.devices()})),
    }
    if backend.platform == "cpu":
        fields["processor"] = _plug.processor()
    return fields


def _key(key: str) -> Key:
    return _plug.key(KIND, {"key": key, "program": _name(key), **_toolchain()})


def _name(key: str) -> str:
    """Returns the name of a program, which is the first part of JAX's key. As a field, it makes another version of the
    same program the nearest for `ingot explain`."""
    return key.rpartition("-")[0] or key


def _takes_turns() -> bool:
    from jax._src import distributed

    return _flights.is_scoped and (distributed.global_state.num_processes or 1) == 1


def _make_class(interface: Any) -> Any:
    class IngotCache(interface):  # type: ignore[misc]
        """JAX's CacheInterface."""

        def __init__(self, path: str) -> None:
            self._path = pathlib.Path(path)

        @_plug.guarded
        def get(self, key: str) -> bytes | None:
            if not _plug.may_load_code("JAX"):
                return None
            if not _takes_turns():
                return _plug.get(_key(key))
            return _flights.get(_key(key)).value

        @_plug.guarded
        def put(self, key: str, value: bytes) -> None:
            _flights.put(_key(key), value, label=_name(key))

    return IngotCache


def install() -> None:
    """Makes this process's JAX use Ingot's store, whatever jax_compilation_cache_dir is."""
    import jax

    try:  # all that the plug needs, before it replaces anything
        from jax._src import compilation_cache, compiler, distributed, xla_bridge
        from jax._src.compilation_cache_interface import CacheInterface

        if getattr(compilation_cache, "_ingot", False):
            return
        plain, compile_ = compilation_cache.get_file_cache, compiler.compile_or_get_cached
        parameters = plain.__code__.co_varnames[: plain.__code__.co_argcount]
        is_known = parameters == ("path",) and _plug.fits(CacheInterface, get=("key",), put=("key", "value"))
        _ = _extension().__file__, xla_bridge.get_backend, distributed.global_state.num_processes
        _ = compilation_cache.reset_cache, [getattr(jax.config, name) for name in _SETTINGS]
    except (ImportError, AttributeError):
        is_known = False
    if not is_known:
        _plug.tell_changed("JAX", "compilation_cache.get_file_cache")
        return
    if not _plug.may_load_code("JAX", is_installing=True):
        return
    cache_class = _make_class(CacheInterface)

    def get_file_cache(path: str) -> tuple[Any, str]:
        return cache_class(path), path

    compilation_cache.get_file_cache = get_file_cache
    compiler.compile_or_get_cached = _flights.scoped(compile_)
    compilation_cache._ingot = True
    compilation_cache.reset_cache()
    _configure(jax)


@_plug.guarded
def _fails_on_miss() -> bool:
    return _plug.cache().fails_on_miss


def _configure(jax: Any) -> None:
    """JAX has no cache without a directory, and puts nothing that took less than a second.

    XLA's own caches lie in the directory, and its path is then a part of JAX's key, so they are off.
    """
    if not jax.config.jax_compilation_cache_dir:
        jax.config.update("jax_compilation_cache_dir", os.path.expanduser("~/.cache/ingot-jax"))
    has_xla_caches = hasattr(jax.config, "jax_persistent_cache_enable_xla_caches")  # since version 0.4.36
    if has_xla_caches and "JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES" not in os.environ:
        jax.config.update("jax_persistent_cache_enable_xla_caches", "none")
    if _fails_on_miss():
        jax.config.update("jax_raise_persistent_cache_errors", True)
    if "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS" not in os.environ:
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)


def initialize() -> None:
    """The entry point of the group jax_plugins: does what INGOT_PYTHON asks for."""
    from . import _startup

    _startup.start()
