/*
 * probes.h - writes and reads the probes of a request as an entry of a store; doc/probes-format.md specifies every
 * byte.
 *
 * Ids and contents may come from an untrusted place, so nothing in them is trusted.
 */
#ifndef INGOT_CORE_MEMO_PROBES_H
#define INGOT_CORE_MEMO_PROBES_H

#include <ingot/private/descriptor.h>

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "core/memo/witness.h"

enum { PROBES_ID_SIZE = 84, PROBES_MAX_PART = 1 << 20 };

/* Writes the id of a request's probes. `library` identifies the code that asks, `reader` the user and groups
 * (os_reader). */
void probes_write_id(uint8_t id[PROBES_ID_SIZE], const uint8_t library[DIGEST_SIZE], uint64_t reader,
                     const uint8_t request[DIGEST_SIZE]);

/* Checks an id, and calls `visit` for each field.
 * @retval INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT, INGOT_BLOB_VERSION */
ingot_status_t probes_visit_id(size_t size, const uint8_t *id, ingot_cache_blob_id_visit_t visit, void *user);

struct probes {
    size_t answers_size;
    const uint8_t *answers;
    size_t result_size;
    const uint8_t *result;
};

/* Appends the content of an entry. */
void probes_write(struct bytes_writer *content, const struct probes *probes);
/* True if the bytes begin as the content of such an entry. */
bool probes_begin(size_t size, const uint8_t *content);
/* Reads the content of an entry; `probes` points into it. Returns false if it is malformed in any way. */
bool probes_read(struct probes *probes, size_t size, const uint8_t *content);

#endif
