"""The hashes of golden files, by libxxhash.so.0."""
import ctypes
import struct


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


def hash_of(data):
    return xxhash.XXH3_64bits(data, len(data))
