/*
 * cache_blob_id.h - makes and reads ids: the bytes that identify the result of a build across processes.
 *
 * An id has two parts. The first is the environment that the program is built with: library, backend, devices and
 * compilers. The second is the program itself. A blob contains a digest of each part, so a reader can distinguish a
 * different program from a different environment. doc/blob-format.md describes the format.
 */
#ifndef INGOT_CORE_DESCRIPTOR_CACHE_BLOB_ID_H
#define INGOT_CORE_DESCRIPTOR_CACHE_BLOB_ID_H

#include "core/descriptor/program_desc.h"

struct cache_blob_id {
    size_t size;
    uint8_t *bytes;
    uint8_t library_digest[DIGEST_SIZE]; /* digest of the library and the backend, that is, of the environment
                                          * without its devices */
    uint8_t program_digest[DIGEST_SIZE];
};

/* Gets the descriptor's id, which the first call makes. The id belongs to the descriptor and is freed with it. */
ingot_status_t cache_blob_id_get(const struct ingot_program_desc *desc, const struct cache_blob_id **id);
void cache_blob_id_destroy(struct cache_blob_id *id, const ingot_allocator_t *allocator);

/* ---- reading an id ---- */

/* Receives one field: its path, such as "device[0].driver_version", and its value. The value is text or raw bytes,
 * and points into the id or to static memory. */
typedef void (*cache_blob_id_visitor)(void *user, const char *path, size_t size, const uint8_t *value, bool is_text);

/* Calls `visit` for each field in order; only checks the id if `visit` is NULL. Returns INGOT_BLOB_TRUNCATED,
 * INGOT_BLOB_CORRUPT or INGOT_BLOB_VERSION if the bytes are not a valid id. */
ingot_status_t cache_blob_id_visit(size_t size, const uint8_t *id, cache_blob_id_visitor visit, void *user);

#endif
