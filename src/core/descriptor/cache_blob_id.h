/*
 * cache_blob_id.h - the bytes that identify the result of a build across processes; see doc/blob-format.md.
 *
 * An id has two parts: the environment that the program is built with (library, backend, devices, compilers), and the
 * program itself. A blob has a digest of each part, so a reader can tell if the program or only the environment
 * differs.
 */
#ifndef INGOT_CORE_DESCRIPTOR_CACHE_BLOB_ID_H
#define INGOT_CORE_DESCRIPTOR_CACHE_BLOB_ID_H

#include "core/descriptor/program_desc.h"

struct cache_blob_id {
    size_t size;
    uint8_t *bytes;
    uint8_t library_digest[DIGEST_SIZE]; /* digest of the library and the backend: the environment without devices */
    uint8_t program_digest[DIGEST_SIZE];
};

/* Returns the descriptor's id, which the first call makes. It is borrowed, and valid as long as the descriptor. */
ingot_status_t cache_blob_id_get(const struct ingot_program_desc *desc, const struct cache_blob_id **id);
void cache_blob_id_destroy(struct cache_blob_id *id, const ingot_allocator_t *allocator);

/* ---- reading ---- */

/* Gets one field: its path, such as "device[0].driver_version", and its value, which is text or raw bytes in the id or
 * in static memory. */
typedef void (*cache_blob_id_visitor)(void *user, const char *path, size_t size, const uint8_t *value, bool is_text);

/* Calls visit, if it is not NULL, for every field in order. Returns INGOT_BLOB_TRUNCATED, _CORRUPT or _VERSION if the
 * bytes are not an id. */
ingot_status_t cache_blob_id_visit(size_t size, const uint8_t *id, cache_blob_id_visitor visit, void *user);

#endif
