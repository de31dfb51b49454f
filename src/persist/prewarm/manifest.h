/*
 * manifest.h - a manifest in memory, which has the bytes of its file, and finds an id by its bytes; see
 * doc/manifest-format.md.
 */
#ifndef INGOT_PERSIST_PREWARM_MANIFEST_H
#define INGOT_PERSIST_PREWARM_MANIFEST_H

#include <ingot/ingot.h>
#include <stdbool.h>

#include "persist/base/containers/key_map.h"
#include "util/bytes_writer.h"

#define MANIFEST_HEADER_SIZE 64u
#define MANIFEST_MAX_SIZE ((size_t)1 << 26)
#define MANIFEST_MAX_ENTRIES 65536u
#define MANIFEST_NONE SIZE_MAX

struct manifest {
    ingot_allocator_t allocator;
    struct bytes_writer bytes; /* the header, which manifest_complete writes, and the entries; empty without entries */
    struct bytes_writer offsets; /* array of size_t: where the entries are */
    struct key_map indices;      /* maps the checksums of ids to indices of entries */
    size_t count;
};

struct manifest_entry {
    size_t id_size;
    const uint8_t *id; /* valid until an entry is added */
    uint32_t age;
};

/* Makes a manifest without entries. It must stay where it is. */
void manifest_init(struct manifest *manifest, const ingot_allocator_t *allocator);
void manifest_fini(struct manifest *manifest);
struct manifest_entry manifest_get(const struct manifest *manifest, size_t index);
/* Returns the index of an id's entry, or MANIFEST_NONE. */
size_t manifest_find(const struct manifest *manifest, size_t id_size, const uint8_t *id);
/* True if an entry for the id would exceed neither limit. */
bool manifest_has_room(const struct manifest *manifest, size_t id_size, uint32_t max_entries, uint64_t max_bytes);
/* Adds an entry for an id that has none. May return INGOT_OUT_OF_MEMORY. */
ingot_status_t manifest_add(struct manifest *manifest, size_t id_size, const uint8_t *id, uint32_t age);
/* Writes the header, so that `bytes` are those of a file. May return INGOT_OUT_OF_MEMORY. */
ingot_status_t manifest_complete(struct manifest *manifest);

/* Fills an empty manifest with the bytes of a file, which cannot be trusted. On failure, it remains empty. */
ingot_status_t manifest_decode(struct manifest *manifest, size_t size, const uint8_t *bytes);
/* Fills an empty manifest from a file. Returns INGOT_NOT_FOUND if there is no such file. On failure, it remains
 * empty. */
ingot_status_t manifest_read(struct manifest *manifest, const char *path);

#endif
