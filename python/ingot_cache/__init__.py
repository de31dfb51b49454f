"""Ingot for Python: one cache of compiled GPU programs for Triton, torch, JAX, cuda.core, CuPy, and for applications.

    from ingot_cache import Cache

    cache = Cache()
    value, origin = cache.get_or_create({"kernel": source, "compiler": version}, compile)

doc/python.md describes the plugs for frameworks.
"""

from ._cache import BUILD, STORAGE, Cache, Turn
from ._errors import Busy, IngotError, InvalidArguments, LibraryMissing, NoSpace, ReadOnly, StoreError, Untrusted
from ._key import Key

__version__ = "0.2.0"

__all__ = [
    "BUILD",
    "STORAGE",
    "Busy",
    "Cache",
    "IngotError",
    "InvalidArguments",
    "Key",
    "LibraryMissing",
    "NoSpace",
    "ReadOnly",
    "StoreError",
    "Turn",
    "Untrusted",
]
