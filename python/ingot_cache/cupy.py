"""CuPy's kernel cache: INGOT_PYTHON=cupy, or ``ingot_cache.cupy.install()``."""

from __future__ import annotations

import functools
from typing import Any

from . import _plug
from ._key import Key

KIND = "cupy"
_flights = _plug.Flights()


@functools.cache
def _toolchain() -> dict[str, str]:
    import cupy
    from cupy_backends.cuda.libs import nvrtc

    return {
        "cupy": cupy.__version__,
        "nvrtc": ".".join(map(str, nvrtc.getVersion())),
        "build": _plug.build_of(_path_of("libnvrtc.so")),
    }


def _path_of(library: str) -> str:
    """Returns the path of a library that this process has loaded."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            path = line[line.find("/") :].rstrip("\n")
            if f"/{library}" in path:
                return path
    raise FileNotFoundError(f"{library} is not loaded")


def _key(name: str) -> Key:
    return _plug.key(KIND, {"key": name, **_toolchain()})


def install() -> None:
    """Makes this process's CuPy use Ingot's store."""
    from cupy.cuda import compiler

    if getattr(compiler, "_ingot", False):
        return
    try:  # all that the plug needs, before it replaces anything
        from cupy.cuda._compiler_cache import KernelCacheBackend
        from cupy_backends.cuda.libs import nvrtc

        setter, compile_ = compiler._set_kernel_cache_backend, compiler._compile_with_cache_cuda
        is_known = _plug.fits(KernelCacheBackend, load=("name",), save=("name", "cubin", "source"))
        _ = nvrtc.getVersion
    except (ImportError, AttributeError):
        is_known = False
    if not is_known:
        _plug.tell_changed("CuPy", "_set_kernel_cache_backend")
        return
    setter(_make_class(KernelCacheBackend)())

    compiler._compile_with_cache_cuda = _flights.scoped(compile_)
    compiler._ingot = True


def _make_class(interface: Any) -> Any:
    class Backend(interface):  # type: ignore[misc]
        """CuPy's KernelCacheBackend."""

        @_plug.guarded
        def load(self, name: str) -> bytes | None:
            if not _flights.is_scoped:
                return _plug.get(_key(name))
            return _flights.get(_key(name)).value

        @_plug.guarded
        def save(self, name: str, cubin: bytes, source: str) -> None:
            _flights.put(_key(name), cubin, label=name)

    return Backend
