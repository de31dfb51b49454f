#!/usr/bin/env python3
"""Writes the golden manifest from doc/manifest-format.md alone and not by way of the library.

Usage: make.py [FILE]   (default: two-ids.manifest beside this script). Needs libxxhash.so.0.
"""
import ctypes
import pathlib
import struct
import sys


class Hash128(ctypes.Structure):
    _fields_ = [("low64", ctypes.c_uint64), ("high64", ctypes.c_uint64)]


xxhash = ctypes.CDLL("libxxhash.so.0")
xxhash.XXH3_128bits.restype = Hash128
xxhash.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def checksum(data):
    value = xxhash.XXH3_128bits(data, len(data))
    return struct.pack("<QQ", value.low64, value.high64)


ENTRIES = [(b"asked for first", 0), (b"of a run before", 3)]
entries = b"".join(struct.pack("<II", len(identity), age) + identity for identity, age in ENTRIES)
header = b"\x89INGMAN\n" + struct.pack("<IIQII", 1, 64, 64 + len(entries), len(ENTRIES), 0) + checksum(entries)
path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "two-ids.manifest"
path.write_bytes(header + checksum(header) + entries)
