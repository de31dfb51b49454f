#!/usr/bin/env python3
"""Writes the golden entries of the store format, from doc/store-format.md alone and not by way of the library.

Usage: make.py [FOLDER]   (default: the folder of this script)
Needs libxxhash.so.0. Each entry is a folder NAME with key.bin and kernel.bin; expected.txt has one line an entry:
name, place, and what a reader makes of it. size.txt is that of a store with the entry "good".
"""
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from xxh3 import checksum  # noqa: E402

ID = b"golden id \x00\x01\xff"
BLOB = b"golden blob " + bytes(range(64))
CREATED = 1700000000123456789
OTHER_ID = b"another id"


def key(version=1, flags=0, reserved=bytes(20), last=bytes(16), blob=BLOB, id=ID):
    checked = b"\x89INGKEY\n" + struct.pack("<II", version, 128) + struct.pack("<QQ", len(id), len(blob))
    checked += checksum(id) + checksum(blob) + struct.pack("<QI", CREATED, flags) + reserved
    assert len(checked) == 96
    return checked + checksum(checked) + last + id


ENTRIES = {
    "good": (key(), BLOB, "success"),
    "good_reserved_used": (key(reserved=b"\x07" * 20), BLOB, "success"),
    "good_flag_16": (key(flags=1 << 16), BLOB, "success"),
    "good_last_used": (key(last=b"\x07" * 16), BLOB, "success"),
    "other_id": (key(id=OTHER_ID), BLOB, "missing"),
    "version_2": (key(version=2), BLOB, "version"),
    "flag_0": (key(flags=1), BLOB, "version"),
    "cut_key": (key()[:-1], BLOB, "truncated"),
    "cut_blob": (key(), BLOB[:-1], "truncated"),
    "long_blob": (key(), BLOB + b"x", "corrupt"),
    "other_blob": (key(blob=BLOB[::-1]), BLOB, "corrupt"),
}


def pages(size):
    return (size + 4095) // 4096 * 4096


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent
    digits = checksum(ID).hex()
    place = f"{digits[:2]}/{digits[2:]}"
    lines = []
    for name, (key_bytes, blob, expected) in sorted(ENTRIES.items()):
        entry = folder / name
        entry.mkdir(parents=True, exist_ok=True)
        (entry / "key.bin").write_bytes(key_bytes)
        (entry / "kernel.bin").write_bytes(blob)
        lines.append(f"{name} {place} {expected}\n")
    (folder / "expected.txt").write_text("".join(lines))
    total = pages(len(key())) + pages(len(BLOB))
    (folder / "size.txt").write_text(f"{total:<20}\n{1:<20}\n{1:<20}\n")


main()
