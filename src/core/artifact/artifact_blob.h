/*
 * artifact_blob.h - writes and reads the envelopes in which artifacts are stored.
 *
 * doc/artifact-format.md specifies every byte. An envelope may come from anywhere, so all of it is checked before any
 * other code sees it.
 */
#ifndef INGOT_CORE_ARTIFACT_ARTIFACT_BLOB_H
#define INGOT_CORE_ARTIFACT_ARTIFACT_BLOB_H

#include <ingot/private/artifact.h>

#include "core/base/bytes.h"

/* The content of an envelope. After artifact_blob_read, all pointers point into the envelope. The texts end in NUL. */
struct artifact_view {
    const char *kind;
    const char *label;
    uint64_t make_time_ms;    /* 0: unknown */
    uint64_t made_at_unix_ms; /* 0: unknown */
    const uint8_t *id_digest; /* DIGEST_SIZE bytes */
    uint32_t part_count;
    const uint8_t *part_sizes; /* a u64 per part */
    const char *part_names;    /* one after another, each with its NUL */
    size_t size;
    const uint8_t *bytes;
};

/* True if the bytes begin as an envelope. */
bool artifact_blob_is(size_t size, const uint8_t *blob);

/* Checks everything except which id the envelope belongs to.
 * @retval INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT, INGOT_BLOB_VERSION */
ingot_status_t artifact_blob_read(struct artifact_view *view, size_t size, const uint8_t *blob);

/* Returns the size of a part. */
uint64_t artifact_blob_part_size(const struct artifact_view *view, uint32_t index);

#endif
