#!/usr/bin/env python3
"""Writes the golden recipes from doc/recipe-format.md alone and not by way of the library.

Usage: make.py [DIRECTORY]   (default: beside this script). Needs libxxhash.so.0.

A program of OpenCL C with a header and an included file, an object and a program linked of it, one that cannot be
recorded, an object with a header and an included file, a record of an unknown kind, a remark of a later version, and a
record that was not finished. sealed.recipe also has an id with a kernel, and a seal by the key of
tests/golden/seal/blake2b.key.
"""
import ctypes
import hashlib
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


def digest(data):
    return hashlib.blake2b(data, digest_size=32).digest()


def record(kind, key, content):
    header = b"RCRD" + struct.pack("<IQQII", kind, len(content), len(content), 0, 0) + key + checksum(content)
    return header + checksum(header) + content


def text(data):
    return record(1, digest(data), data)


def field(tag, value):
    return struct.pack("<II", tag, len(value)) + value


def number(tag, value):
    return field(tag, struct.pack("<I", value))


def string(data):
    return struct.pack("<I", len(data)) + data


def reference(data):
    return digest(data) + struct.pack("<Q", len(data))


def program(fields, remarks=b""):
    return digest(fields), record(2, digest(fields), fields + remarks)


SOURCE = b'#include "own.h"\n#include "a.h"\nkernel void k(global int *x) { *x = TWO + THREE; }\n'
OWN = b"#define TWO 2\n"
FILE = b"#define THREE 3\n"
UNIT = b"int f(void) { return 1; }\n"

built_key, built = program(
    number(1, 1) + field(2, b"opencl")
    + field(3, struct.pack("<I", 1) + reference(SOURCE) + string(b"k.cl") + string(b""))
    + field(5, reference(OWN) + string(b"own.h"))
    + field(6, b"-DX=1") + field(7, b"-cl-x")
    + field(8, struct.pack("<IH", 3, 7)) + field(8, struct.pack("<IQ", 9, 1 << 40))
    + field(9, b"k<int>")
    + field(10, reference(FILE) + string(b"a.h"))
    + field(11, struct.pack("<III", 0, 2, 3)),
    field(64, b"k.cl") + field(65, b"shape 2x2") + field(66, b"a device, driver 1")
    + field(67, struct.pack("<Q", 12345))
    + field(1000, b"of a later version"))
object_key, an_object = program(
    number(1, 2) + field(2, b"opencl")
    + field(3, struct.pack("<I", 1) + reference(UNIT) + string(b"") + string(b"")) + number(13, 1))
_, linked = program(number(1, 3) + field(2, b"opencl") + field(12, object_key))
_, refused = program(
    number(1, 4) + field(2, b"cuda") + field(14, b"the options have -include, an option that is not known"))
_, with_files = program(
    number(1, 2) + field(2, b"opencl")
    + field(3, struct.pack("<I", 1) + reference(SOURCE) + string(b"") + string(b""))
    + field(5, reference(OWN) + string(b"own.h"))
    + field(10, reference(FILE) + string(b"a.h"))
    + field(11, struct.pack("<III", 0, 2, 3)))

header = b"\x89INGRCP\n" + struct.pack("<II", 1, 32)
whole = header + checksum(header)
records = [text(SOURCE), text(OWN), text(FILE), built, text(UNIT), an_object, linked, refused, with_files]
records.append(record(77, bytes(32), b"of an unknown kind"))
torn = text(b"a text that was not written to its end")[:-5]


def covered(data):
    """What a seal covers of a record whose content is not compressed."""
    kind, size = struct.unpack_from("<IQ", data, 4)
    return struct.pack("<I", kind) + data[32:64] + struct.pack("<Q", size) + (b"" if kind == 1 else data[96:])


def seal(records, secret):
    key_id = hashlib.blake2b(b"ingot key id" + bytes(4) + struct.pack("<I", 1) + secret, digest_size=16).digest()
    tagged = b"\x89INGSEL\n" + struct.pack("<II", 1, 1) + key_id + bytes(32)
    cover = hashlib.blake2b(b"".join(map(covered, records))).digest()
    message = tagged + struct.pack("<Q", 12) + b"ingot recipe" + cover
    content = tagged + hashlib.blake2b(message, key=secret).digest()
    return record(4, digest(content), content)


folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
whole += b"".join(records)
(folder / "programs.recipe").write_bytes(whole + torn)
kernel = built_key + b"k"
more = [record(3, digest(b"an id"), built_key), record(5, digest(kernel), kernel)]
(folder / "sealed.recipe").write_bytes(whole + b"".join(more) + seal(records + more, bytes(range(32))) + torn)
