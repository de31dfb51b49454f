"""Ingot for Python: one cache of compiled GPU programs for Triton, torch, JAX, cuda.core, CuPy, and for applications.

    from ingot_cache import Cache

    cache = Cache()
    value, origin = cache.get_or_create({"kernel": source, "compiler": version}, compile)

doc/python.md describes the plugs for frameworks.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._cache import BUILD, STORAGE, Cache, Turn
    from ._errors import (
        Busy,
        Deadlock,
        IngotError,
        InvalidArguments,
        LibraryMissing,
        Miss,
        NoSpace,
        ReadOnly,
        StoreError,
        Untrusted,
    )
    from ._key import Key

__version__ = "1.0.0"

__all__ = [
    "BUILD",
    "STORAGE",
    "Busy",
    "Cache",
    "Deadlock",
    "IngotError",
    "InvalidArguments",
    "Key",
    "LibraryMissing",
    "Miss",
    "NoSpace",
    "ReadOnly",
    "StoreError",
    "Turn",
    "Untrusted",
]


def __getattr__(name: str) -> object:
    """Imports the classes at their first use, because each interpreter that INGOT_PYTHON concerns imports this file."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _cache, _errors, _key

    for module in (_cache, _errors, _key):
        if hasattr(module, name):
            value: object = getattr(module, name)
            globals()[name] = value
            return value
    raise AttributeError(name)
