/*
 * header_memo.c - remembers resolutions, and writes and reads them as bytes; see header_memo.h.
 */
#include "core/memo/header_memo.h"

#include <string.h>

#include "core/base/error.h"
#include "core/memo/known_file.h"

#define MEMO_MAGIC "INGOTMEM"

enum {
    MEMO_MAGIC_SIZE = 8,
    MEMO_FORMAT_VERSION = 1,
    MEMO_VERSIONED_SIZE = MEMO_MAGIC_SIZE + 4, /* size of the beginning that all versions have in common */
    MEMO_HEADER_SIZE = MEMO_VERSIONED_SIZE + 4 + 8 + DIGEST_SIZE,
    MEMO_CHECKSUM_SIZE = 16
};

struct ingot_header_memo {
    atomic_uint references;
    ingot_allocator_t allocator;
    struct known_files files;
    struct memo_table resolutions;
    _Atomic uint64_t learned; /* relaxed: only the number matters */
    atomic_bool is_retired;
};

struct resolution {
    struct memo_entry entry;
    const ingot_allocator_t *allocator;
    size_t answers_size;
    size_t result_size;
    uint8_t bytes[]; /* the answers, then the result */
};

ingot_status_t header_memo_create(struct ingot_header_memo **memo, const ingot_allocator_t *allocator,
                                  uint64_t settle_ns)
{
    struct ingot_header_memo *made = memory_allocate_zeroed(allocator, sizeof(*made));
    if (made == NULL)
        return INGOT_OUT_OF_MEMORY;
    atomic_init(&made->references, 1);
    made->allocator = *allocator;
    made->files.allocator = &made->allocator;
    made->files.settle_ns = settle_ns;
    memo_table_init(&made->files.table, MEMO_MAX_FILE_BYTES);
    memo_table_init(&made->resolutions, MEMO_MAX_RESOLUTION_BYTES);
    *memo = made;
    return INGOT_SUCCESS;
}

void header_memo_retain(struct ingot_header_memo *memo)
{
    atomic_fetch_add_explicit(&memo->references, 1, memory_order_relaxed);
}

struct known_files *header_memo_files(struct ingot_header_memo *memo)
{
    return &memo->files;
}

void header_memo_retire(struct ingot_header_memo *memo)
{
    atomic_store_explicit(&memo->is_retired, true, memory_order_release); /* pairs with header_memo_is_in_use */
    memo_table_clear(&memo->files.table);
}

void header_memo_release(struct ingot_header_memo *memo)
{
    /* acq_rel: all use of the memo happens before it is freed */
    if (memo == NULL || atomic_fetch_sub_explicit(&memo->references, 1, memory_order_acq_rel) != 1)
        return;
    const ingot_allocator_t allocator = memo->allocator;
    memo_table_fini(&memo->resolutions, &allocator);
    memo_table_fini(&memo->files.table, &allocator);
    memory_free(&allocator, memo, sizeof(*memo));
}

static void make_resolution_key(uint8_t key[MEMO_KEY_SIZE], const uint8_t digest[DIGEST_SIZE])
{
    memset(key, 0, MEMO_KEY_SIZE);
    memcpy(key, digest, DIGEST_SIZE);
}

bool header_memo_lookup(struct ingot_header_memo *memo, const uint8_t key[DIGEST_SIZE], struct bytes_writer *result)
{
    uint8_t full_key[MEMO_KEY_SIZE];
    make_resolution_key(full_key, key);
    struct resolution *known = (struct resolution *)memo_table_find(&memo->resolutions, full_key);
    const bool holds = known != NULL && witness_confirm(known->answers_size, known->bytes);
    if (holds)
        bytes_put(result, known->result_size, known->bytes + known->answers_size);
    if (known != NULL)
        memo_entry_release(&known->entry);
    return holds;
}

static void destroy_resolution(struct memo_entry *entry)
{
    struct resolution *resolution = (struct resolution *)entry;
    memory_free(resolution->allocator, resolution, entry->cost);
}

/* Makes a resolution with one reference. Returns NULL if out of memory. */
static struct resolution *make_resolution(struct ingot_header_memo *memo, const uint8_t key[DIGEST_SIZE],
                                          size_t answers_size, const uint8_t *answers, size_t result_size,
                                          const uint8_t *result)
{
    const size_t size = sizeof(struct resolution) + answers_size + result_size;
    struct resolution *made = memory_allocate(&memo->allocator, size);
    if (made == NULL)
        return NULL;
    *made = (struct resolution){.entry = {.cost = size, .destroy = destroy_resolution},
                                .allocator = &memo->allocator,
                                .answers_size = answers_size,
                                .result_size = result_size};
    atomic_init(&made->entry.references, 1);
    make_resolution_key(made->entry.key, key);
    if (answers_size != 0)
        memcpy(made->bytes, answers, answers_size);
    if (result_size != 0)
        memcpy(made->bytes + answers_size, result, result_size);
    return made;
}

void header_memo_learn(struct ingot_header_memo *memo, const uint8_t key[DIGEST_SIZE], const struct witness *witness,
                       const struct bytes_writer *result)
{
    if (!witness->is_lasting || witness->answers.failed || result->failed ||
        witness->answers.size > MEMO_MAX_ONE_RESOLUTION || result->size > MEMO_MAX_ONE_RESOLUTION)
        return;
    struct resolution *made =
        make_resolution(memo, key, witness->answers.size, witness->answers.bytes, result->size, result->bytes);
    if (made == NULL)
        return;
    memo_table_put(&memo->resolutions, &memo->allocator, &made->entry);
    memo_entry_release(&made->entry);
    atomic_fetch_add_explicit(&memo->learned, 1, memory_order_relaxed);
}

uint64_t header_memo_learned(const struct ingot_header_memo *memo)
{
    return atomic_load_explicit(&((struct ingot_header_memo *)memo)->learned, memory_order_relaxed);
}

bool header_memo_is_in_use(const struct ingot_header_memo *memo)
{
    return !atomic_load_explicit(&((struct ingot_header_memo *)memo)->is_retired, memory_order_acquire);
}

/* ---- writing and reading a memo as bytes ---- */

static void write_resolutions(struct bytes_writer *out, const uint8_t library[DIGEST_SIZE], size_t count,
                              struct memo_entry *const *entries)
{
    const size_t start = out->size;
    bytes_put(out, MEMO_MAGIC_SIZE, MEMO_MAGIC);
    bytes_put_u32(out, MEMO_FORMAT_VERSION);
    bytes_put_u32(out, (uint32_t)count);
    bytes_put_u64(out, 0); /* placeholder for the total size, which is written below */
    bytes_put(out, DIGEST_SIZE, library);
    for (size_t i = 0; i < count; ++i) {
        const struct resolution *resolution = (const struct resolution *)entries[i];
        bytes_put(out, DIGEST_SIZE, resolution->entry.key);
        bytes_put_framed(out, resolution->answers_size, resolution->bytes);
        bytes_put_framed(out, resolution->result_size, resolution->bytes + resolution->answers_size);
    }
    bytes_patch_u64(out, start + MEMO_VERSIONED_SIZE + 4, out->size - start + MEMO_CHECKSUM_SIZE);
    if (out->failed)
        return;
    const struct hash128 checksum = hash128_of(out->size - start, out->bytes + start);
    bytes_put_u64(out, checksum.low);
    bytes_put_u64(out, checksum.high);
}

ingot_status_t header_memo_write(struct ingot_header_memo *memo, const uint8_t library[DIGEST_SIZE],
                                 struct bytes_writer *out)
{
    bytes_writer_init(out, &memo->allocator);
    const size_t room = memo_table_list(&memo->resolutions, 0, NULL);
    struct memo_entry **entries = memory_allocate(&memo->allocator, room * sizeof(*entries));
    if (entries == NULL)
        return error_out_of_memory();
    const size_t there = memo_table_list(&memo->resolutions, room, entries);
    const size_t count = there < room ? there : room;
    write_resolutions(out, library, count, entries);
    for (size_t i = 0; i < count; ++i)
        memo_entry_release(entries[i]);
    memory_free(&memo->allocator, entries, room * sizeof(*entries));
    return out->failed ? error_out_of_memory() : INGOT_SUCCESS;
}

struct stored_resolution {
    const uint8_t *key;
    size_t answers_size;
    const uint8_t *answers;
    size_t result_size;
    const uint8_t *result;
};

static bool read_resolution(struct bytes_reader *reader, struct stored_resolution *stored)
{
    stored->key = bytes_get(reader, DIGEST_SIZE);
    stored->answers = bytes_get_framed(reader, &stored->answers_size);
    stored->result = bytes_get_framed(reader, &stored->result_size);
    return !reader->failed && stored->answers_size <= MEMO_MAX_ONE_RESOLUTION &&
           stored->result_size <= MEMO_MAX_ONE_RESOLUTION && witness_check(stored->answers_size, stored->answers);
}

/* Checks the header and the checksum, and reads the number of resolutions. Leaves the reader at the first
 * resolution. */
static ingot_status_t check_memo(struct bytes_reader *reader, const uint8_t library[DIGEST_SIZE], uint32_t *count)
{
    const uint8_t *magic = bytes_get(reader, MEMO_MAGIC_SIZE);
    const uint32_t version = bytes_get_u32(reader);
    *count = bytes_get_u32(reader);
    const uint64_t size = bytes_get_u64(reader);
    const uint8_t *written_by = bytes_get(reader, DIGEST_SIZE);
    if (magic != NULL && memcmp(magic, MEMO_MAGIC, MEMO_MAGIC_SIZE) != 0)
        return error_set(INGOT_BLOB_CORRUPT, "the bytes are not a memo of headers");
    if (reader->offset >= MEMO_VERSIONED_SIZE && version != MEMO_FORMAT_VERSION)
        return error_set(INGOT_BLOB_VERSION, "the memo of headers has format version %u, but this library reads %u",
                         (unsigned)version, (unsigned)MEMO_FORMAT_VERSION);
    if (reader->failed || reader->size < size || reader->size < MEMO_HEADER_SIZE + MEMO_CHECKSUM_SIZE)
        return error_set(INGOT_BLOB_TRUNCATED, "the memo of headers ends after %zu bytes", reader->size);
    if (reader->size != size)
        return error_set(INGOT_BLOB_CORRUPT, "the memo of headers does not have the size that its header states");
    reader->size -= MEMO_CHECKSUM_SIZE;
    const struct hash128 checksum = hash128_of(reader->size, reader->bytes);
    struct bytes_reader end;
    bytes_reader_init(&end, MEMO_CHECKSUM_SIZE, reader->bytes + reader->size);
    if (bytes_get_u64(&end) != checksum.low || bytes_get_u64(&end) != checksum.high)
        return error_set(INGOT_BLOB_CORRUPT, "the memo of headers does not match its checksum");
    if (memcmp(written_by, library, DIGEST_SIZE) != 0)
        return error_set(INGOT_BLOB_STALE, "another build of this library wrote the memo of headers");
    return INGOT_SUCCESS;
}

ingot_status_t header_memo_add(struct ingot_header_memo *memo, const uint8_t library[DIGEST_SIZE], size_t size,
                               const uint8_t *bytes)
{
    struct bytes_reader reader;
    struct stored_resolution stored;
    uint32_t count = 0;

    bytes_reader_init(&reader, size, bytes);
    const ingot_status_t status = check_memo(&reader, library, &count);
    if (status != INGOT_SUCCESS)
        return status;
    const struct bytes_reader first = reader;
    for (uint32_t i = 0; i < count; ++i) {
        if (!read_resolution(&reader, &stored))
            return error_set(INGOT_BLOB_CORRUPT, "the memo of headers has a malformed resolution");
    }
    if (bytes_left(&reader) != 0)
        return error_set(INGOT_BLOB_CORRUPT, "the memo of headers has bytes after its last resolution");
    reader = first;
    for (uint32_t i = 0; i < count && read_resolution(&reader, &stored); ++i) {
        struct resolution *made =
            make_resolution(memo, stored.key, stored.answers_size, stored.answers, stored.result_size, stored.result);
        if (made == NULL)
            return error_out_of_memory();
        memo_table_put_last(&memo->resolutions, &memo->allocator, &made->entry);
        memo_entry_release(&made->entry);
    }
    return INGOT_SUCCESS;
}
