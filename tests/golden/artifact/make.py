#!/usr/bin/env python3
"""Writes the golden artifacts from doc/artifact-format.md alone and not by way of the library.

Usage: make.py [DIRECTORY]   (default: beside this script). Needs libxxhash.so.0.
"""
import hashlib
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from xxh3 import checksum  # noqa: E402


def digest(data):
    return hashlib.blake2b(data, digest_size=32).digest()


def framed(data):
    return struct.pack("<Q", len(data)) + data


def make_id(kind, fields):
    data = b"INGOTAID" + struct.pack("<I", 1) + framed(kind)
    for name, value in sorted(fields.items()):
        is_long = len(value) > 256
        data += framed(name) + struct.pack("<I", is_long) + framed(digest(value) if is_long else value)
    return data


def make_blob(identity, kind, label, make_time_ms, made_at_ms, parts):
    texts = b"".join(text + b"\0" for text in [kind, label] + [name for name, _ in parts])
    sizes = b"".join(struct.pack("<Q", len(data)) for _, data in parts)
    content = b"".join(data for _, data in parts)
    total = 8 + 4 + 4 + 4 * 8 + 32 + len(sizes) + len(texts) + len(content) + 16
    header = b"INGOTART" + struct.pack("<IIQQQQ", 1, len(parts), total, len(texts), make_time_ms, made_at_ms)
    data = header + digest(identity) + sizes + texts + content
    return data + checksum(data)


folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
FIELDS = {b"target": b"cuda:90:32", b"source": b"x" * 257, b"flags": b"", b"hash": bytes(range(256))}
PARTS = [(b"add.cubin", b"\x7fELF code"), (b"add.json", b"{}"), (b"add.log", b"")]
identity = make_id(b"triton", FIELDS)
(folder / "id-v1.bin").write_bytes(identity)
(folder / "parts-v1.bin").write_bytes(make_blob(identity, b"triton", b"add_kernel", 1234, 1700000000123, PARTS))
(folder / "empty-v1.bin").write_bytes(make_blob(identity, b"triton", b"", 0, 1, [(b"", b"")]))
later = bytearray(make_blob(identity, b"triton", b"", 0, 1, [(b"", b"later")]))
later[8] = 2
(folder / "later-v2.bin").write_bytes(later)
