/*
 * cache_blob_id.h - makes and reads ids: the bytes that identify the result of a build across processes.
 *
 * An id has two parts. The first is the environment that the program is built with: rules, backend, devices and
 * compilers. The second is the request with digests (request.h). A blob contains a digest of each part, so a reader can
 * distinguish a different program from a different environment. doc/blob-format.md describes the format.
 */
#ifndef INGOT_CORE_DESCRIPTOR_CACHE_BLOB_ID_H
#define INGOT_CORE_DESCRIPTOR_CACHE_BLOB_ID_H

#include <ingot/private/descriptor.h>

#include "core/descriptor/program_desc.h"

struct cache_blob_id {
    size_t size;
    uint8_t *bytes;
    uint8_t library_digest[DIGEST_SIZE]; /* digest of the rules and the backend, that is, of the environment without
                                          * its devices */
    uint8_t request_digest[DIGEST_SIZE];
};

/* Gets the descriptor's id, which the first call makes. The id belongs to the descriptor and is freed with it. */
ingot_status_t cache_blob_id_get(const struct ingot_program_desc *desc, const struct cache_blob_id **id);
void cache_blob_id_destroy(struct cache_blob_id *id, const ingot_allocator_t *allocator);

/* Calls `visit` for each field of an id, which may come from anywhere, with its path, such as
 * "device[0].driver_version". Returns INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT or INGOT_BLOB_VERSION if the bytes are
 * not a valid id. */
ingot_status_t cache_blob_id_visit(size_t size, const uint8_t *id, ingot_cache_blob_id_visit_t visit, void *user);

#endif
