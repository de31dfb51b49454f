"""cuda.core's program cache.

    from ingot_cache.cuda_core import ProgramCache

    object_code = Program(source, "c++", options).compile("cubin", cache=ProgramCache())

With INGOT_PYTHON=cuda_core, Program.compile uses it without ``cache=``, too, where that cannot change the result:
see _may_cache. begin() compiles in other threads:

    pending = begin(Program(source, "c++", options), "cubin")
    object_code = pending.take()
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from concurrent import futures
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

    _is_patient = True

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
        if isinstance(value, Busy):
            raise value
        if value is None:
            raise KeyError(key)
        return value

    @_plug.guarded
    def _get(self, key: bytes | str) -> bytes | Busy | None:
        try:
            return _flights.get(_key(key), LONGEST_WAIT if self._is_patient else 0).value
        except Busy as busy:
            return None if self._is_patient else busy

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
                return _compile(super().compile, target_type, _shared())
            return super().compile(target_type, name_expressions, logs, cache=cache)

    Program.__module__, Program.__qualname__ = plain.__module__, plain.__qualname__
    core.Program = Program


_shared = functools.cache(ProgramCache)


def _compile(compile_: Callable[..., Any], target_type: Any, cache: ProgramCache) -> Any:
    """Compiles a program with the cache, if cuda.core can make a key for its options."""
    try:
        return compile_(target_type, cache=cache)
    except ValueError:
        return compile_(target_type)  # a wrong argument fails again


# ---- programs that are begun


class _Impatient(ProgramCache):
    """Raises Busy if another thread or process is compiling the program."""

    _is_patient = False


_impatient = functools.cache(_Impatient)


class Pending:
    """A program that was begun. For asyncio, ``await pending`` is take().

    Any thread may call its functions, but not a child that was forked after begin().
    """

    def __init__(self, program: Any, target_type: Any, name_expressions: Any) -> None:
        self._program, self._arguments = program, (target_type, name_expressions)
        self._claim = threading.Lock()  # held by the thread that compiles it
        self._future: futures.Future[Any] = futures.Future()
        self._pid = os.getpid()
        self._late_at = float("inf")  # when it is no longer worth waiting for somebody else

    def ready(self) -> bool:
        """True if take() returns at once: the program was loaded or compiled, or does not compile."""
        return self._future.done()

    def wait(self, timeout: float | None = None) -> bool:
        """Waits at most this many seconds (None: any time) without compiling in this thread. Returns ready()."""
        futures.wait([self._future], timeout)
        return self.ready()

    def take(self) -> Any:
        """Returns the ObjectCode, or raises the compiler's error.

        If nobody compiles the program yet, this thread does. If somebody does, this thread compiles others that are
        begun meanwhile.
        """
        if self._pid != os.getpid():
            raise RuntimeError("the program was begun by the parent of this process")
        while not self._try():
            if not _try_next():
                self.wait(_PAUSE)
        return self._future.result()

    def __await__(self) -> Generator[Any, None, Any]:
        import asyncio

        return asyncio.shield(asyncio.wrap_future(self._future)).__await__()

    def _try(self) -> bool:
        """Loads or compiles the program, unless another thread or process does. Returns ready()."""
        if not self.ready() and self._claim.acquire(blocking=False):
            try:
                if not self.ready():
                    self._future.set_result(self._compile())
            except Busy:
                self._late_at = min(self._late_at, time.monotonic() + LONGEST_WAIT)
            except Exception as error:
                self._future.set_exception(error.with_traceback(None))  # whose frames would keep this object
            finally:
                if self.ready():
                    self._program = None
                self._claim.release()
        return self.ready()

    def _compile(self) -> Any:
        target_type, name_expressions = self._arguments
        if name_expressions or time.monotonic() > self._late_at:
            return self._program.compile(target_type, name_expressions)
        return _compile(self._program.compile, target_type, _impatient())


_PAUSE = 0.01  # seconds, between questions whether somebody else has compiled a program
_lock = threading.Lock()
_begun: deque[Pending] = deque()  # what is not ready
_workers = 0


def begin(program: Any, target_type: Any, name_expressions: Any = ()) -> Pending:
    """Begins to load or compile a cuda.core.Program in other threads, and returns at once.

    There is a thread for each processor but one, and at least one. Threads, processes and machines that begin the same
    programs share the work. Programs with name expressions are not cached, nor is what the driver links, which begin()
    itself does. The end of the interpreter waits for what is being compiled then, and drops the rest.
    """
    pending = Pending(program, target_type, name_expressions)
    if program.backend == "driver":  # the driver's linker needs the context of this thread
        pending._late_at = 0.0
        pending._try()
    else:
        _append(pending, max(1, (os.cpu_count() or 1) - 1))
    return pending


def _append(pending: Pending, thread_count: int = 1) -> None:
    """Has a program tried later, by one of so many threads."""
    global _workers
    with _lock:
        _begun.append(pending)
        is_one_missing = _workers < thread_count
        _workers += is_one_missing
    try:
        if is_one_missing:
            threading.Thread(target=_work, name="ingot_cache.begin").start()
    except RuntimeError:  # there can be no more threads; take() needs none
        with _lock:
            _workers -= 1


def _work() -> None:
    """Compiles what is begun, until there is nothing left or the interpreter ends."""
    global _workers
    while True:
        with _lock:
            if not _begun or not threading.main_thread().is_alive():
                _workers -= 1
                return
        if not _try_next():
            time.sleep(_PAUSE)


def _try_next() -> bool:
    """Tries the program that was begun first or tried last. Returns True if that made it ready."""
    with _lock:
        pending = _begun.popleft() if _begun else None
    if pending is None or pending.ready():
        return pending is not None
    is_ready = False
    try:
        is_ready = pending._try()
    finally:
        if not is_ready:
            _append(pending)
    return is_ready


def _forget_parent() -> None:
    """In a forked child: it has no threads but this one."""
    global _lock, _workers
    _lock, _workers = threading.Lock(), 0
    _begun.clear()


os.register_at_fork(after_in_child=_forget_parent)
