/*
 * key_bin.h - gives the offsets of the fields in key.bin, the file that describes an entry of a store. A single file
 * (doc/bundle-format.md) begins with the same fields. See doc/store-format.md.
 */
#ifndef INGOT_UTIL_KEY_BIN_H
#define INGOT_UTIL_KEY_BIN_H

#define KEY_BIN_MAGIC "\x89INGKEY\n"

/* Offsets in bytes from the beginning of the file. */
enum key_bin_offset {
    KEY_BIN_AT_MAGIC = 0,
    KEY_BIN_AT_VERSION = 8,
    KEY_BIN_AT_HEADER_SIZE = 12,
    KEY_BIN_AT_ID_SIZE = 16,
    KEY_BIN_AT_BLOB_SIZE = 24,
    KEY_BIN_AT_ID_CHECKSUM = 32,
    KEY_BIN_AT_BLOB_CHECKSUM = 48,
    KEY_BIN_AT_CREATED = 64,
    KEY_BIN_AT_FLAGS = 72,
    KEY_BIN_AT_CHECKSUM = 96, /* the checksum of everything before it */
    KEY_BIN_AT_ID = 128
};

#endif
