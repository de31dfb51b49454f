"""torch.compile (Inductor): INGOT_PYTHON=torch, or ``ingot_cache.inductor.install()`` before the first compilation.

Two plugs. Inductor's remote caches, which hold its graphs as pickles, get a backend; they are on by default then. And
CppBuilder.build, by which Inductor calls the C++ compiler, takes its result from the store.

One process makes a graph while the others wait, except in a distributed job: its processes may exchange data while they
compile, so they take no turns.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shlex
import sys
from typing import Any

from . import _plug, _startup
from ._key import Key

KIND = "inductor"
KIND_CPP = "inductor-cpp"
REMOTE_CACHES = (
    "RemoteFxGraphCache",
    "RemoteAOTAutogradCache",
    "RemoteAutotuneCache",
    "RemoteBundledAutotuneCache",
    "RemoteDynamoPGOCache",
)
_flights = _plug.Flights()


@functools.cache
def _toolchain() -> dict[str, str]:
    import torch

    fields = {
        "torch": torch.__version__,
        "build": str(torch.version.git_version),
        "cuda": str(torch.version.cuda),
        "host": _plug.host(),
        "processor": _plug.processor(),
    }
    triton = sys.modules.get("triton")
    fields["triton"] = str(getattr(triton, "__version__", None))
    if torch.cuda.is_available():
        count = torch.cuda.device_count()
        fields["device"] = ", ".join(sorted({torch.cuda.get_device_name(i) for i in range(count)}))
    return fields


def _key(key: str) -> Key:
    return _plug.key(KIND, {"key": key, **_toolchain()})


def _make_backend(base: Any) -> Any:
    class IngotBackend(base):  # type: ignore[misc]
        """A RemoteCacheBackend."""

        @_plug.guarded
        def _get(self, key: str) -> bytes | None:
            if not _plug.may_load_code("Inductor"):
                return None
            # A graph is made and put before compile_fx returns. Other values may be put much later, or never.
            if "fx-graph" in key:
                takes_turns = _flights.is_scoped and not _plug.is_distributed()
                return _flights.get(_key(key)).value if takes_turns else _plug.get(_key(key))
            return _plug.cache().get(_key(key))

        @_plug.guarded
        def _put(self, key: str, data: bytes) -> None:
            _flights.put(_key(key), data, label=key.partition("::")[0])

    return IngotBackend


def _install_graphs() -> None:
    try:  # all that the plug needs, before it replaces anything
        from torch._functorch import config as autograd
        from torch._inductor import config as inductor
        from torch._inductor import remote_cache

        base = remote_cache.RemoteCacheBackend
        classes = [getattr(remote_cache, name) for name in REMOTE_CACHES]
        is_known = all(hasattr(each, "backend_override_cls") for each in classes)
        is_known = is_known and _plug.fits(base, _get=("key",), _put=("key", "data"))
    except (ImportError, AttributeError):
        is_known = False
    if not is_known:
        _plug.tell_changed("Inductor", "RemoteCache.backend_override_cls")
        return
    backend = _make_backend(base)
    for each in classes:
        if each.backend_override_cls is None:
            each.backend_override_cls = backend
    # Turns the remote caches on where neither the environment nor the application has chosen, except for the bundles of
    # autotuning results: without a GPU, torch fails if they are on.
    for config, name in (
        (inductor, "fx_graph_remote_cache"),
        (inductor, "autotune_remote_cache"),
        (autograd, "enable_remote_autograd_cache"),
    ):
        if getattr(config, name, False) is None:
            setattr(config, name, True)


def install_scope() -> None:
    """Lets one process make a graph while the others wait. Needs the module that compiles, which torch imports late."""
    from torch._inductor import compile_fx

    if not _plug.may_load_code("Inductor", is_installing=True):
        return
    compile_ = getattr(compile_fx, "_compile_fx_inner", None)
    if compile_ is None:
        _plug.tell("_compile_fx_inner of Inductor has changed, so processes do not wait for each other's graphs")
    if compile_ is None or hasattr(compile_, "_ingot"):
        return

    compile_fx._compile_fx_inner = _flights.scoped(compile_)


# ---- C++


def _install_builder() -> None:
    try:
        from torch._inductor.cpp_builder import CppBuilder as builder

        plain = builder.build
        is_known = _plug.fits(builder, build=(), get_command_line=(), get_target_file_path=())
    except (ImportError, AttributeError):
        is_known = False
    if not is_known:
        _plug.tell_changed("Inductor", "CppBuilder.build")
        return
    if hasattr(plain, "_ingot"):
        return

    @functools.wraps(plain)
    def build(self: Any) -> None:
        key = _cpp_key(self)
        if key is None:
            plain(self)
        else:
            _build(self, key, plain)

    build._ingot = True  # type: ignore[attr-defined]
    builder.build = build


@_flights.scoped
def _build(builder: Any, key: Key, plain: Any) -> None:
    target = builder.get_target_file_path()
    value = _find(key)
    if value is not None and _write(target, value):
        return
    plain(builder)
    _keep(key, target)


@_plug.guarded
def _find(key: Key) -> bytes | None:
    if not _plug.may_load_code("Inductor"):
        return None
    return _flights.get(key).value


@_plug.guarded
def _keep(key: Key, target: str) -> None:
    with open(target, "rb") as file:
        _flights.put(key, file.read(), label=os.path.basename(target))


@_plug.guarded
def _write(target: str, value: bytes) -> bool:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    _plug.write_file(target, value, 0o755)
    return True


@_plug.guarded
def _cpp_key(builder: Any) -> Key | None:
    """Returns the key of what a builder makes, or None if the key could not contain all that it depends on.

    Headers are those of torch, which its version identifies, and of the system and the compiler. So a torch that is
    built from a working tree is left to itself, and so is the preprocessor's output, which is made to see its headers.
    """
    import torch

    if "+git" in torch.__version__ or getattr(builder, "_preprocessing", True) or getattr(builder, "_aot_mode", True):
        return None
    if getattr(builder, "_use_relative_path", False):
        return None
    command = builder.get_command_line()
    target = builder.get_target_file_path()
    words = shlex.split(command)
    inputs = _inputs(words, target, _places())
    if inputs is None:
        return None
    fields = {**_toolchain(), **inputs, "compiler": _compiler(words[0])}
    return _plug.key(KIND_CPP, fields)


def _places() -> dict[str, str]:
    """Returns the directories that the versions of torch and Python identify, wherever they lie, with their names."""
    import sysconfig

    import torch

    python = {"include": sysconfig.get_path("include"), "platinclude": sysconfig.get_path("platinclude")}
    python["LIBDIR"] = sysconfig.get_config_var("LIBDIR")
    places = {os.path.dirname(torch.__file__): "TORCH"}
    places.update({path: f"PYTHON-{name}" for name, path in python.items() if path})
    return places


def _without_place(word: str, places: dict[str, str]) -> str:
    """Returns a -I or -L with the name of the directory in place of its path: what it finds there is the same."""
    option, path = word[:2], word[2:]
    if option in ("-I", "-L"):
        for place, name in places.items():
            if path == place or path.startswith(place + os.sep):
                return option + name + path[len(place) :]
    return word


def _inputs(words: list[str], target: str, places: dict[str, str]) -> dict[str, str] | None:
    """Returns the command with digests in place of the names of its own files, which differ between users.

    Nor do the directories of torch and Python matter, unless the result contains them: debuggers read them, and so does
    the loader of libraries, which has options of its own.
    """
    from torch._inductor.runtime.cache_dir_utils import cache_dir

    own = os.path.join(os.path.realpath(cache_dir()), "")
    if any(word.startswith("-g") for word in words):
        places = {}
    digest = hashlib.sha256()
    command = []
    for word in words:
        real = os.path.realpath(word) if word.startswith("/") else word
        if word == target:
            command.append("TARGET")
        elif os.path.isfile(real):
            with open(real, "rb") as file:
                content = file.read()
            digest.update(hashlib.sha256(content).digest())
            command.append(f"FILE{os.path.splitext(real)[1]}")
        elif own in word:
            return None
        else:
            command.append(_without_place(word, places))
    return {"command": shlex.join(command), "inputs": digest.hexdigest()}


@functools.cache
def _compiler(name: str) -> str:
    import shutil
    import subprocess

    path = shutil.which(name) or name
    text = subprocess.run([path, "-v"], capture_output=True, text=True, check=True).stderr
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def install_caches() -> None:
    """Installs what the module of the remote caches needs."""
    if _plug.may_load_code("Inductor", is_installing=True):
        _install_graphs()
        _install_builder()


def install() -> None:
    """Makes this process's Inductor use Ingot's store."""
    install_caches()
    _startup.when_imported("torch._inductor.compile_fx", "inductor:install_scope")
