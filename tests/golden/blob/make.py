#!/usr/bin/env python3
"""Writes the golden id and blob of version 1 from doc/blob-format.md and doc/request-format.md alone and not by way of
the library.

Usage: make.py [DIRECTORY]   (default: beside this script). Needs libxxhash.so.0.
"""
import hashlib
import json
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from xxh3 import checksum  # noqa: E402

SOURCE = b"kernel f x $7 * FACTOR +\nkernel g x\n"
HEADER = b"kernel unused x\n"


def u32(value):
    return struct.pack("<I", value)


def u64(value):
    return struct.pack("<Q", value)


def digest(data):
    return hashlib.blake2b(data, digest_size=32).digest()


def framed(data):
    return u64(len(data)) + data


def make_request():
    """The form with digests."""
    source = u32(1) + u32(0x100) + framed(b"") + digest(SOURCE)
    header = u32(1) + framed(b"two.h") + digest(HEADER)
    options = framed(b"-DFACTOR=3") + framed(b"-link")
    constants = u32(1) + u32(7) + framed(u64(258))
    return u32(0) + u32(0) + source + header + options + u32(0) + constants + u32(0) + framed(b"")


def make_blob(rules, request, device):
    names, log, name, binary = b"f\0g\0", b"compiled for alpha\n", b"test", b"no code"
    files = digest(b"int x;\n") + framed(b"x.h")
    build_time_ns = 0x123456789ABCDEF
    table = digest(device) + u64(len(binary))
    content = names + log + name + files + binary
    total = 8 + 4 + 4 + 6 * 8 + 2 * 32 + len(table) + len(content) + 16
    sizes = u64(total) + b"".join(u64(len(part)) for part in (names, log, name, files)) + u64(build_time_ns)
    data = b"INGOTRES" + u32(1) + u32(1) + sizes + digest(rules) + digest(request) + table + content
    return data + checksum(data)


folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
rules = framed(b"rules 1") + framed(b"reference")
device = framed(b"device_name") + framed(b"alpha") + framed(b"driver_version") + framed(b"1")
request = make_request()
(folder / "id-v1.bin").write_bytes(b"INGOTRID" + u32(1) + rules + u32(1) + framed(device) + request)
(folder / "blob-v1.bin").write_bytes(make_blob(rules, request, device))
(folder / "id-v1.json").write_text(json.dumps({
    "library": "rules 1",
    "backend": "reference",
    "device[0].device_name": "alpha",
    "device[0].driver_version": "1",
    "source[0].kind": "00000100",
    "source[0].blake2b": digest(SOURCE).hex(),
    "header[0].name": "two.h",
    "header[0].blake2b": digest(HEADER).hex(),
    "compile_options": "-DFACTOR=3",
    "link_options": "-link",
    "spec_constant[7]": u64(258).hex(),
    "request.blake2b": digest(request).hex(),
}))
