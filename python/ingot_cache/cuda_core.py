"""cuda.core's program cache.

    from ingot_cache.cuda_core import ProgramCache

    object_code = Program(source, "c++", options).compile("cubin", cache=ProgramCache())

With INGOT_PYTHON=cuda_core, Program.compile uses it without ``cache=``, too, where that cannot change the result:
see _may_cache.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
from typing import Any

from cuda import core
from cuda.core.utils import ProgramCacheResource

from . import _plug
from ._cache import Cache
from ._errors import Busy
from ._key import Key

KIND = "cuda.core"
LONGEST_WAIT = 60.0  # Seconds. Another caller may have asked for a program, and then neither compiled nor stored it.
_flights = _plug.Flights()


@functools.cache
def _toolchain() -> dict[str, str]:
    from cuda import bindings

    fields = {"cuda.core": core.__version__, "cuda.bindings": bindings.__version__}
    nvrtc = _path_of_library("nvrtc")
    # Loading nvJitLink takes 30 ms or more, and a program that is in the store does not need it.
    linker = re.sub(r"libnvrtc\.so(?=[.\d]*$)", "libnvJitLink.so", nvrtc or "")
    if linker == nvrtc or not os.path.exists(linker):
        linker = _path_of_library("nvJitLink") or ""
    fields["nvrtc"] = _plug.build_of(nvrtc) if nvrtc else "none"
    fields["nvJitLink"] = _plug.build_of(linker) if linker else "none"
    return fields


def _path_of_library(name: str) -> str | None:
    from cuda.pathfinder import load_nvidia_dynamic_lib

    try:
        return str(load_nvidia_dynamic_lib(name).abs_path)
    except Exception:  # not installed
        return None


def _key(key: bytes | str) -> Key:
    raw = key.encode() if isinstance(key, str) else bytes(key)
    return _plug.key(KIND, {"key": raw.hex() if len(raw) == 32 else raw, **_toolchain()})


class ProgramCache(ProgramCacheResource):  # type: ignore[misc]
    """A ProgramCacheResource in Ingot's store. One thread of one process compiles a program while the others wait."""

    def __init__(self, cache: Cache | None = None) -> None:
        if cache is not None:
            _plug.set_cache(cache)
        self._stored: set[Key] = set()
        _install_seam()
        self._open()

    @_plug.guarded
    def _open(self) -> None:
        """Loads the library and opens the store, as cuda.core's own cache opens its directory when it is made."""
        _plug.cache()

    def __getitem__(self, key: bytes | str) -> bytes:
        value = self._get(key)
        if value is None:
            raise KeyError(key)
        return value

    @_plug.guarded
    def _get(self, key: bytes | str) -> bytes | None:
        try:
            return _flights.get(_key(key), LONGEST_WAIT).value
        except Busy:
            return None

    def __setitem__(self, key: bytes | str, value: Any) -> None:
        data = value.code if hasattr(value, "code") else value
        if isinstance(data, str):
            with open(data, "rb") as file:
                data = file.read()
        self._put(key, bytes(data), getattr(value, "name", None))

    @_plug.guarded
    def _put(self, key: bytes | str, data: bytes, name: str | None) -> None:
        _flights.put(_key(key), data, label=name)
        self._stored.add(_key(key))

    def __delitem__(self, key: bytes | str) -> None:
        self._stored.discard(_key(key))
        del _plug.cache()[_key(key)]

    def __len__(self) -> int:
        """The number of programs that this object stored. Others in the store are not counted (ingot stats does)."""
        return len(self._stored)

    def __bool__(self) -> bool:
        return True

    def clear(self) -> None:
        """Removes the programs that this object stored. `ingot evict` removes others."""
        for key in list(self._stored):
            try:
                del _plug.cache()[key]
            except KeyError:
                pass
        self._stored.clear()


def _install_seam() -> None:
    """Abandons the turns of a program that does not compile."""
    from cuda.core import _program

    compile_ = getattr(_program, "_program_compile_uncached", None)
    if compile_ is None or getattr(compile_, "_ingot", False):
        return  # others then wait for LONGEST_WAIT

    @functools.wraps(compile_)
    def uncached(*arguments: Any, **named: Any) -> Any:
        try:
            return compile_(*arguments, **named)
        except BaseException:
            _flights.drop_own()
            raise

    uncached._ingot = True  # type: ignore[attr-defined]
    _program._program_compile_uncached = uncached


def _may_cache(code: Any) -> bool:
    """True if a program's result depends only on what cuda.core's key contains.

    NVRTC finds included files in the working directory, which the key does not contain. So a text that may include or
    embed a file is left alone.
    """
    if not isinstance(code, str):
        return False
    text = code.replace("\\\r\n", "").replace("\\\n", "")
    return not any(word in text for word in ("include", "embed", "import", "??/"))


def install() -> None:
    """Makes cuda.core.Program cache without ``cache=``, except for programs with includes, names or a log."""
    from cuda.core import _program

    plain = core.Program
    if getattr(plain, "_ingot", False):
        return
    is_known = hasattr(_program, "_program_compile_uncached") and "cache" in (plain.compile.__doc__ or "")
    if not is_known or inspect.isabstract(ProgramCache):  # the interface has a new method
        _plug.tell_changed("cuda.core", "Program.compile")
        return

    class Program(plain):  # type: ignore[misc, valid-type]
        _ingot = True
        __doc__ = plain.__doc__

        def __init__(self, code: Any, code_type: Any, options: Any = None) -> None:
            super().__init__(code, code_type, options)
            self._may_cache = _may_cache(code)

        def compile(self, target_type: Any, name_expressions: Any = (), logs: Any = None, *, cache: Any = None) -> Any:
            if cache is None and self._may_cache and not name_expressions and logs is None:
                try:
                    return super().compile(target_type, cache=_shared())
                except ValueError:
                    pass  # cuda.core cannot make a key for these options; a wrong argument fails again below
            return super().compile(target_type, name_expressions, logs, cache=cache)

    Program.__module__, Program.__qualname__ = plain.__module__, plain.__qualname__
    core.Program = Program


@functools.cache
def _shared() -> ProgramCache:
    return ProgramCache()
