/*
 * probes.c - writes and reads the probes of a request; see probes.h.
 */
#include "core/memo/probes.h"

#include <string.h>

#include "core/base/error.h"
#include "util/entry_kind.h"
#include "util/little_endian.h"

enum { FORMAT_VERSION = 1, VERSIONED_SIZE = ENTRY_MAGIC_SIZE + 4, CONTENT_MAGIC_SIZE = 8 };

#define CONTENT_MAGIC "INGOTPRB"

void probes_write_id(uint8_t id[PROBES_ID_SIZE], const uint8_t library[DIGEST_SIZE], uint64_t reader,
                     const uint8_t request[DIGEST_SIZE])
{
    memcpy(id, ENTRY_PROBES_MAGIC, ENTRY_MAGIC_SIZE);
    le_put_u32(id + ENTRY_MAGIC_SIZE, FORMAT_VERSION);
    memcpy(id + VERSIONED_SIZE, library, DIGEST_SIZE);
    le_put_u64(id + VERSIONED_SIZE + DIGEST_SIZE, reader);
    memcpy(id + VERSIONED_SIZE + DIGEST_SIZE + 8, request, DIGEST_SIZE);
}

ingot_status_t probes_visit_id(size_t size, const uint8_t *id, ingot_cache_blob_id_visit_t visit, void *user)
{
    if (size >= ENTRY_MAGIC_SIZE && entry_kind_of(size, id) != ENTRY_PROBES)
        return error_set(INGOT_BLOB_CORRUPT, "these bytes are not the id of probes");
    if (size >= VERSIONED_SIZE && le_get_u32(id + ENTRY_MAGIC_SIZE) != FORMAT_VERSION)
        return error_set(INGOT_BLOB_VERSION, "an id of probes has the unknown format version %u",
                         (unsigned)le_get_u32(id + ENTRY_MAGIC_SIZE));
    if (size != PROBES_ID_SIZE)
        return error_set(size < PROBES_ID_SIZE ? INGOT_BLOB_TRUNCATED : INGOT_BLOB_CORRUPT,
                         "an id of probes has %zu bytes instead of %d", size, PROBES_ID_SIZE);
    visit(user, "probes.library", DIGEST_SIZE, id + VERSIONED_SIZE, false);
    visit(user, "probes.reader", 8, id + VERSIONED_SIZE + DIGEST_SIZE, false);
    visit(user, "probes.request", DIGEST_SIZE, id + VERSIONED_SIZE + DIGEST_SIZE + 8, false);
    return INGOT_SUCCESS;
}

void probes_write(struct bytes_writer *content, const struct probes *probes)
{
    bytes_put(content, CONTENT_MAGIC_SIZE, CONTENT_MAGIC);
    bytes_put_framed(content, probes->answers_size, probes->answers);
    bytes_put_framed(content, probes->result_size, probes->result);
}

bool probes_begin(size_t size, const uint8_t *content)
{
    return size >= CONTENT_MAGIC_SIZE && memcmp(content, CONTENT_MAGIC, CONTENT_MAGIC_SIZE) == 0;
}

bool probes_read(struct probes *probes, size_t size, const uint8_t *content)
{
    struct bytes_reader reader;
    bytes_reader_init(&reader, size, content);
    (void)bytes_get(&reader, CONTENT_MAGIC_SIZE);
    probes->answers = bytes_get_framed(&reader, &probes->answers_size);
    probes->result = bytes_get_framed(&reader, &probes->result_size);
    return probes_begin(size, content) && !reader.failed && bytes_left(&reader) == 0 &&
           probes->answers_size <= PROBES_MAX_PART && probes->result_size <= PROBES_MAX_PART &&
           witness_visit(probes->answers_size, probes->answers, NULL, NULL);
}
