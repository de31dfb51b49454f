#!/usr/bin/env python3
"""Writes the golden entries of the store format, from doc/store-format.md alone and not by way of the library.

Usage: make.py [FOLDER]   (default: the folder of this script)
Needs libxxhash.so.0. Each entry is a folder NAME with key.bin and kernel.bin; expected.txt has one line an entry:
name, bucket, and what a reader makes of it. index.bin is an index of three pages in which the last change, that an
entry is taken away, is done.
"""
import ctypes
import pathlib
import struct
import sys

ID = b"golden id \x00\x01\xff"
BLOB = b"golden blob " + bytes(range(64))
CREATED = 1700000000123456789
USED = 1700000099000000000


class Hash128(ctypes.Structure):
    _fields_ = [("low64", ctypes.c_uint64), ("high64", ctypes.c_uint64)]


xxhash = ctypes.CDLL("libxxhash.so.0")
xxhash.XXH3_128bits.restype = Hash128
xxhash.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
xxhash.XXH3_64bits.restype = ctypes.c_uint64
xxhash.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def checksum(data):
    value = xxhash.XXH3_128bits(data, len(data))
    return struct.pack("<QQ", value.low64, value.high64)


def key(version=1, flags=0, used=USED, used_inverted=None, reserved=bytes(20), blob=BLOB):
    checked = b"\x89INGKEY\n" + struct.pack("<II", version, 128) + struct.pack("<QQ", len(ID), len(blob))
    checked += checksum(ID) + checksum(blob) + struct.pack("<QI", CREATED, flags) + reserved
    assert len(checked) == 96
    inverted = used ^ (2**64 - 1) if used_inverted is None else used_inverted
    return checked + checksum(checked) + struct.pack("<QQ", used, inverted) + ID


ENTRIES = {
    "good": (key(), BLOB, "success"),
    "good_reserved_used": (key(reserved=b"\x07" * 20), BLOB, "success"),
    "good_flag_16": (key(flags=1 << 16), BLOB, "success"),
    "good_torn_stamp": (key(used_inverted=USED), BLOB, "success"),
    "version_2": (key(version=2), BLOB, "version"),
    "flag_0": (key(flags=1), BLOB, "version"),
    "cut_key": (key()[:-1], BLOB, "truncated"),
    "cut_blob": (key(), BLOB[:-1], "truncated"),
    "long_blob": (key(), BLOB + b"x", "corrupt"),
    "other_blob": (key(blob=BLOB[::-1]), BLOB, "corrupt"),
}


def record(bucket, number, used=USED // 10**9, check=None):
    checked = struct.pack("<QQQH", bucket, CREATED, len(key()) + len(BLOB), number)
    right = xxhash.XXH3_64bits(checked, len(checked)) & 0xFFFF
    return checked + struct.pack("<HI", right if check is None else check, used)


def page(*records):
    return b"".join(records).ljust(4096, b"\0")


def index(bucket):
    """Three pages: those of even buckets that are a multiple of four, of odd ones, and of the other even ones."""
    even, odd = bucket & ~3, bucket | 1
    pages = [page(record(even, 0), record(even | 2, 0)), page(bytes(32), record(odd, 1), record(odd, 2, check=0)),
             page(record(even | 2, 0))]
    total = 3 * (len(key()) + len(BLOB))
    checked = b"\x89INGIDX\n" + struct.pack("<II", 2, 4096)
    checked += struct.pack("<QQQQQQQ", 3, total, 3, 7, 2**64 - 1, 2, 12345)
    checked += struct.pack("<II", 1, 2) + record(odd, 2) + struct.pack("<Q", 2 * 4096 + 64)
    assert len(checked) == 120
    return (checked + checksum(checked)).ljust(4096, b"\0") + b"".join(pages)


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent
    bucket = xxhash.XXH3_64bits(ID, len(ID))
    lines = []
    for name, (key_bytes, blob, expected) in sorted(ENTRIES.items()):
        entry = folder / name
        entry.mkdir(parents=True, exist_ok=True)
        (entry / "key.bin").write_bytes(key_bytes)
        (entry / "kernel.bin").write_bytes(blob)
        lines.append(f"{name} {bucket} {expected}\n")
    (folder / "expected.txt").write_text("".join(lines))
    (folder / "index.bin").write_bytes(index(bucket))


main()
