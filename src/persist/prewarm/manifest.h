/*
 * manifest.h - encodes, decodes and reads a manifest; see doc/manifest-format.md.
 */
#ifndef INGOT_PERSIST_PREWARM_MANIFEST_H
#define INGOT_PERSIST_PREWARM_MANIFEST_H

#include "persist/prewarm/id_list.h"

#define MANIFEST_HEADER_SIZE 64u
#define MANIFEST_ENTRY_OVERHEAD 8u
#define MANIFEST_MAX_SIZE ((size_t)1 << 26)
#define MANIFEST_MAX_ENTRIES 65536u

/* Adds a manifest's ids to an empty list. They point into `bytes`. */
ingot_status_t manifest_decode(struct id_list *ids, size_t size, const uint8_t *bytes);
/* Encodes a list that is within the limits. The caller must free *bytes, which has *size bytes, with memory_free. May
 * return INGOT_OUT_OF_MEMORY. */
ingot_status_t manifest_encode(const struct id_list *ids, uint8_t **bytes, size_t *size);

/* A manifest that was read from a file. manifest_fini frees it, and must be called even if reading failed. */
struct manifest {
    ingot_allocator_t allocator;
    uint8_t *bytes;
    size_t size;
    struct id_list ids;
};

void manifest_init(struct manifest *manifest, const ingot_allocator_t *allocator);
void manifest_fini(struct manifest *manifest);
/* Reads a manifest. Returns INGOT_NOT_FOUND if there is no such file. On failure, the manifest is empty. */
ingot_status_t manifest_read(struct manifest *manifest, const char *path);

#endif
