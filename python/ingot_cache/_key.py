"""Keys: a kind, and fields with names."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import TypeAlias

from ._library import Field, KeyStruct, text

FieldValue: TypeAlias = "str | bytes | int | float | bool | None"
KeyLike: TypeAlias = "str | bytes | Mapping[str, FieldValue] | Key"

KIND = "python"
_SIZE = ctypes.sizeof(KeyStruct)


def _encode(value: FieldValue) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape")
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value).encode()
    raise TypeError(f"a key's field is a str, bytes, int, float, bool or None, not {type(value).__name__}")


class Key:
    """A key of a kind other than that of applications, such as ``Key("tuning", kernel="matmul", n=4096)``.

    The kind names the framework or application. ``ingot ls`` and ``ingot explain`` show it and the fields. A value that
    is not bytes becomes its text, so 1 and "1" are the same value. Make a Key once if it is used often.
    """

    __slots__ = ("_fields", "_struct", "fields", "kind")

    def __init__(self, kind: str, mapping: Mapping[str, FieldValue] | None = None, /, **fields: FieldValue) -> None:
        named = {name: _encode(value) for name, value in {**(mapping or {}), **fields}.items()}
        if not named:
            raise ValueError("a key needs at least one field")
        self.kind = kind
        self.fields = named
        items = [(text(name, "the name of a key's field"), value) for name, value in named.items()]
        self._fields = (Field * len(items))(*[Field(name, len(value), value) for name, value in items])
        self._struct = KeyStruct(_SIZE, text(kind, "the kind of a key"), len(items), self._fields)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self.kind == other.kind and self.fields == other.fields

    def __hash__(self) -> int:
        return hash((self.kind, frozenset(self.fields.items())))

    def __repr__(self) -> str:
        return f"Key({self.kind!r}, {self.fields!r})"


def key_of(key: KeyLike) -> Key:
    """Returns the Key for what a caller gave: a str or bytes (one field, "key"), names and values, or a Key."""
    if isinstance(key, Key):
        return key
    if isinstance(key, Mapping):
        return Key(KIND, key)
    if isinstance(key, (str, bytes, bytearray, memoryview)):
        return Key(KIND, {"key": key if isinstance(key, str) else bytes(key)})
    raise TypeError(f"a key is a str, bytes, or a mapping of names and values, not {type(key).__name__}")
