#!/usr/bin/env python3
"""Writes the golden seals and key files from doc/seal-format.md alone and not by way of the library.

Usage: make.py [DIRECTORY]   (default: beside this script). Signs as section 6 of RFC 8032 shows.
"""
import hashlib
import pathlib
import struct
import sys

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def add(a, b):
    """The sum of two points in extended coordinates."""
    x = (a[1] - a[0]) * (b[1] - b[0]) % P
    y = (a[1] + a[0]) * (b[1] + b[0]) % P
    z, t = 2 * a[2] * b[2] % P, 2 * a[3] * b[3] * D % P
    e, f, g, h = y - x, z - t, z + t, y + x
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def multiply(scalar, point):
    product = (0, 1, 1, 0)
    while scalar > 0:
        if scalar & 1:
            product = add(product, point)
        point, scalar = add(point, point), scalar >> 1
    return product


def base_point():
    y = 4 * pow(5, P - 2, P) % P
    xx = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(xx, (P + 3) // 8, P)
    if (x * x - xx) % P != 0:
        x = x * pow(2, (P - 1) // 4, P) % P
    if x % 2 != 0:
        x = P - x
    return (x, y, 1, x * y % P)


BASE = base_point()


def compress(point):
    inverse = pow(point[2], P - 2, P)
    return (point[1] * inverse % P | (point[0] * inverse % P % 2) << 255).to_bytes(32, "little")


def expand(seed):
    digest = hashlib.sha512(seed).digest()
    scalar = int.from_bytes(digest[:32], "little") & (2**254 - 8) | 2**254
    return scalar, digest[32:]


def number(*parts):
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little") % L


def sign(seed, message):
    scalar, prefix = expand(seed)
    public = compress(multiply(scalar, BASE))
    r = number(prefix, message)
    point = compress(multiply(r, BASE))
    s = (r + number(point, public, message) * scalar) % L
    return point + s.to_bytes(32, "little")


def key_id(algorithm, identifying):
    message = b"ingot key id".ljust(16, b"\0") + struct.pack("<I", algorithm) + identifying
    return hashlib.blake2b(message, digest_size=16).digest()


def key_file(algorithm, kind, identity, key):
    lines = ["ingot key 1", f"algorithm: {algorithm}", f"kind: {kind}", f"id: {identity.hex()}", f"key: {key.hex()}"]
    return "".join(line + "\n" for line in lines).encode()


KEY = bytes(range(32))
PUBLIC = compress(multiply(expand(KEY)[0], BASE))
ID = b"golden id \x00\x01\xff"
BLOB = b"a golden blob " + bytes(range(256))

written = {
    "blake2b.key": key_file("blake2b", "secret", key_id(1, KEY), KEY),
    "ed25519.key": key_file("ed25519", "secret", key_id(2, PUBLIC), KEY),
    "ed25519.key.pub": key_file("ed25519", "public", key_id(2, PUBLIC), PUBLIC),
    "blob": BLOB,
}
for name, algorithm, identity in (("blake2b", 1, key_id(1, KEY)), ("ed25519", 2, key_id(2, PUBLIC))):
    header = b"\x89INGSEL\n" + struct.pack("<II", 1, algorithm) + identity + bytes(32)
    message = header + struct.pack("<Q", len(ID)) + ID + BLOB
    if algorithm == 1:
        tag = hashlib.blake2b(message, digest_size=64, key=KEY).digest()
    else:
        tag = sign(KEY, header + hashlib.blake2b(message, digest_size=64).digest())
    written[name + ".sealed"] = header + tag + BLOB
directory = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
for name, content in written.items():
    (directory / name).write_bytes(content)
