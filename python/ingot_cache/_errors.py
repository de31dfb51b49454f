"""Exceptions for the statuses of libingot-cache. Their text is the library's own sentence."""

from __future__ import annotations

BUSY = 18
DEADLOCK = 20
NOT_FOUND = 5


class IngotError(Exception):
    """A call failed. ``status`` is the status's name, such as ``"INGOT_NO_SPACE"``."""

    def __init__(self, sentence: str, status: str = "") -> None:
        super().__init__(sentence)
        self.status = status


class InvalidArguments(IngotError, ValueError):
    """An argument is wrong."""


class Busy(IngotError, TimeoutError):
    """Another maker still has the turn."""


class Deadlock(IngotError, RuntimeError):
    """A task, greenlet or thread asks for the value that it is making itself."""


class Miss(IngotError, LookupError):
    """A value would have to be made, which INGOT_ON_MISS=fail or ``on_miss="fail"`` forbids."""


class StoreError(IngotError, OSError):
    """The value was not stored, or not removed."""

    def __str__(self) -> str:
        return str(self.args[0])


class ReadOnly(StoreError):
    """The store cannot be written."""


class NoSpace(StoreError):
    """The disk or a quota is full, or the value is larger than the store's limit."""


class Untrusted(StoreError):
    """A file is open to other users, or a seal is refused."""


class LibraryMissing(IngotError, ImportError):
    """libingot-cache cannot be loaded."""


_CLASSES: dict[int, type[IngotError]] = {
    2: InvalidArguments,
    NOT_FOUND: Miss,
    15: StoreError,
    16: ReadOnly,
    17: NoSpace,
    BUSY: Busy,
    DEADLOCK: Deadlock,
    19: Untrusted,
}


def error_for(status: int, name: str, sentence: str) -> Exception:
    """Returns the exception for a status, with the library's sentence."""
    if status == 1:
        return MemoryError(sentence or name)
    return _CLASSES.get(status, IngotError)(sentence or name, name)
