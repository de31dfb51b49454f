"""Keys: a kind, and fields with names."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ._library import Field, KeyStruct, text

FieldValue: TypeAlias = "str | bytes | int | float | bool | None"
KeyLike: TypeAlias = "str | bytes | Mapping[str, FieldValue] | Key"

KIND = "python"
_SIZE = ctypes.sizeof(KeyStruct)


#: How a value of each type is written. A bool is an int, too, so it comes first.
_TYPES: tuple[tuple[type, Callable[[Any], bytes]], ...] = (
    (str, lambda value: value.encode("utf-8", "surrogateescape")),
    (bytes, bytes),
    (bool, lambda value: repr(value).encode()),
    (int, lambda value: int.__repr__(value).encode()),
    (float, lambda value: float.__repr__(value).encode()),
    (type(None), lambda value: b"None"),
)


def _encode(name: str, value: FieldValue) -> tuple[str, bytes]:
    """Returns a field's name and value for C. The name ends in the value's type, such as "n (int)".

    A str has none, unless its name ends as if it had one.
    """
    for kind, write in _TYPES:
        if isinstance(value, kind) and isinstance(name, str):
            named = name if kind is str and not name.endswith(")") else f"{name} ({kind.__name__})"
            return named, write(value)
    raise TypeError(f"a key's field is a str, bytes, int, float, bool or None, not {type(value).__name__}")


class Key:
    """A key of a kind other than that of applications, such as ``Key("tuning", kernel="matmul", n=4096)``.

    The kind names the framework or application. ``ingot ls`` and ``ingot explain`` show it and the fields, each with
    the type of a value that is not a str: 1, 1.0, "1" and b"1" are four values. Make a Key once if it is used often.
    """

    __slots__ = ("_fields", "_struct", "fields", "kind")

    def __init__(self, kind: str, mapping: Mapping[str, FieldValue] | None = None, /, **fields: FieldValue) -> None:
        given = {**(mapping or {}), **fields}
        if not given or "" in given:
            raise ValueError("a key needs at least one field, and each field a name")
        self._set(kind, dict(_encode(*each) for each in given.items()))

    def _set(self, kind: str, named: dict[str, bytes]) -> None:
        self.kind = kind
        self.fields = named
        items = [(text(name, "the name of a key's field"), value) for name, value in named.items()]
        self._fields = (Field * len(items))(*[Field(name, len(value), value) for name, value in items])
        self._struct = KeyStruct(_SIZE, text(kind, "the kind of a key"), len(items), self._fields)

    def __reduce__(self) -> tuple[Any, tuple[str, dict[str, bytes]]]:
        return _restore, (self.kind, self.fields)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self.kind == other.kind and self.fields == other.fields

    def __hash__(self) -> int:
        return hash((self.kind, frozenset(self.fields.items())))

    def __repr__(self) -> str:
        return f"Key({self.kind!r}, {self.fields!r})"


def _restore(kind: str, named: dict[str, bytes]) -> Key:
    """Returns a pickled Key."""
    key = Key.__new__(Key)
    key._set(kind, named)
    return key


def key_of(key: KeyLike) -> Key:
    """Returns the Key for what a caller gave: a str or bytes (one field, "key"), names and values, or a Key."""
    if isinstance(key, Key):
        return key
    if isinstance(key, Mapping):
        return Key(KIND, key)
    if isinstance(key, (str, bytes, bytearray, memoryview)):
        return Key(KIND, {"key": key if isinstance(key, str) else bytes(key)})
    raise TypeError(f"a key is a str, bytes, or a mapping of names and values, not {type(key).__name__}")
