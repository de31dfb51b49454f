"""Zero code: INGOT_PYTHON=all, or a list of names, makes frameworks use Ingot.

The wheel's ingot_cache.pth calls start() when the interpreter starts, if the variable is set. The entry points of
torch, JAX and vLLM call it as well, for interpreters that read no such file. A plug is installed when its framework has
been imported, so nothing is imported that the application does not import itself. Nothing here raises an exception.
"""

from __future__ import annotations

import importlib
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

VARIABLE = "INGOT_PYTHON"

#: A name in INGOT_PYTHON, the module whose import is waited for, and the plug's function.
PLUGS = (
    ("triton", "triton", "triton:install"),
    ("jax", "jax", "jax:install"),
    ("torch", "torch._inductor.remote_cache", "inductor:install_caches"),
    ("torch", "torch._inductor.compile_fx", "inductor:install_scope"),
    ("cuda_core", "cuda.core", "cuda_core:install"),
    ("cupy", "cupy", "cupy:install"),
    ("helion", "helion", "helion:install"),
)
_OTHER_NAMES = {"inductor": "torch", "cuda.core": "cuda_core"}
_NAMES = {name for name, _, _ in PLUGS} | {"vllm"}

_waiting: dict[str, str] = {}


def wanted(text: str) -> set[str]:
    """Returns the frameworks that a value of the variable names."""
    names = {word.strip().lower() for word in text.split(",")} - {""}
    if names & {"all", "1", "on", "yes", "true"}:
        return set(_NAMES)
    names = {_OTHER_NAMES.get(name, name) for name in names - {"0", "off", "no", "false", "none"}}
    unknown = names - _NAMES
    if unknown:
        from . import _plug

        _plug.tell(f"{VARIABLE}: {', '.join(sorted(unknown))} is not one of all, {', '.join(sorted(_NAMES))}")
    names &= _NAMES
    return names | {"torch", "triton"} if "vllm" in names else names


def start() -> None:
    """Installs the plugs that the variable names: now, or once their framework is imported."""
    text = os.environ.get(VARIABLE)
    if not text or sys.flags.ignore_environment:
        return
    try:
        names = wanted(text)
        for name, module, function in PLUGS:
            if name in names and module not in _waiting:
                when_imported(module, function)
    except Exception as error:
        _tell(error)


def when_imported(module: str, function: str) -> None:
    """Calls a plug's function now if the module has been imported, or else once it has been."""
    _waiting[module] = function
    loaded = sys.modules.get(module)
    if loaded is not None and not getattr(getattr(loaded, "__spec__", None), "_initializing", False):
        _install(module)
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def _install(module: str) -> None:
    """Calls the function that waits for a module, once."""
    plug, _, function = _waiting.get(module, "").partition(":")
    if plug:
        _waiting[module] = ""
        try:
            getattr(importlib.import_module(f"{__package__}.{plug}"), function)()
        except Exception as error:
            _tell(error)


def _tell(error: Exception) -> None:
    try:
        from . import _plug

        _plug.tell(f"a plug was left out: {type(error).__name__}: {error}")
    except Exception:  # a warning that is an error (python -W error)
        pass


class _Finder:
    """Finds modules as the other finders do, and installs a plug after its framework has been executed."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if not _waiting.get(name):
            return None
        for finder in sys.meta_path:
            if isinstance(finder, _Finder) or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                _follow(spec)
                return spec
        return None


def _follow(spec: ModuleSpec) -> None:
    loader: Any = spec.loader
    execute = getattr(loader, "exec_module", None)
    if execute is None:
        return

    def exec_module(module: ModuleType) -> None:
        loader.__dict__.pop("exec_module", None)
        execute(module)
        _install(spec.name)

    try:
        loader.exec_module = exec_module
    except AttributeError as error:  # a loader without attributes of its own
        _tell(error)
