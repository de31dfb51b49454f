#!/usr/bin/env python3
"""Writes the golden bundle from doc/bundle-format.md alone and not by way of the library.

Usage: make.py [FILE]   (default: two-entries.ingot beside this script). Needs libxxhash.so.0.
"""
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from xxh3 import checksum, hash_of  # noqa: E402


ENTRIES = [(b"first id", b"first blob", 1_000_000_000), (b"second id", b"second blob, longer", 2_000_000_000)]
data = bytearray(128)
records = []
for identity, blob, created in ENTRIES:
    places = []
    for part in (identity, blob):
        data += bytes(-len(data) % 8)
        places += [len(data), len(part)]
        data += part
    records.append((hash_of(identity), struct.pack("<6Q", hash_of(identity), *places, created) + checksum(blob)))
data += bytes(-len(data) % 8)
index_offset = len(data)
index = b"".join(record for _, record in sorted(records))
data += index
header = b"\x89INGBDL\n" + struct.pack("<IIQQQQ", 1, 128, len(records), len(data), index_offset, 3_000_000_000)
header += checksum(index) + struct.pack("<I", 0) + bytes(28)
data[0:112] = header + checksum(header)
path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "two-entries.ingot"
path.write_bytes(data)
