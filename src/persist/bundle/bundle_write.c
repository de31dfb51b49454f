/*
 * bundle_write.c - writes a bundle with the entries of a store or of another bundle.
 *
 * Ids and blobs are written in the order in which the entries are found. The index stays in memory until the end, when
 * it is sorted and duplicates are dropped. Bad entries, entries that vanish while they are read, and probes are left
 * out.
 */
#include <ingot/backend.h>
#include <ingot/private/directory.h>
#include <stdlib.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/base/memory.h"
#include "persist/base/replacement.h"
#include "persist/bundle/bundle.h"
#include "persist/bundle/bundle_file.h"
#include "persist/storage/storage.h"
#include "util/bytes_writer.h"
#include "util/entry_kind.h"

/* An entry that was written. Ids are compared by their hashes, sizes and checksums. If somebody forged two ids with the
 * same ones, one of them is left out. */
struct written {
    struct bundle_record record;
    struct checksum id;
};

struct writing {
    ingot_storage_t storage;
    ingot_persist_select_t select;
    void *user;
    ingot_allocator_t allocator;
    struct replacement replacement;
    uint64_t end;                /* the offset where the bytes that were written so far end */
    struct bytes_writer entries; /* array of struct written */
    size_t count;
};

static struct written *entries_of(const struct writing *writing)
{
    return (struct written *)(void *)writing->entries.bytes;
}

/* Appends bytes at the next aligned offset. The bytes skipped before it read as zeros. */
static ingot_status_t append_aligned_bytes(struct writing *writing, size_t size, const uint8_t *bytes, uint64_t *offset)
{
    *offset = (writing->end + BUNDLE_ALIGNMENT - 1) / BUNDLE_ALIGNMENT * BUNDLE_ALIGNMENT;
    writing->end = *offset + size;
    return replacement_write(&writing->replacement, *offset, size, bytes);
}

static ingot_status_t add_bundle_entry(struct writing *writing, const ingot_persist_entry_t *entry,
                                       const ingot_buffer_t *blob)
{
    struct written written = {
        .record = {.hash = checksum_bucket_of(entry->id_size, entry->id),
                   .id_size = entry->id_size,
                   .blob_size = blob->size,
                   .created_ns = entry->created_ns,
                   .blob_checksum = checksum_of(blob->size, blob->bytes)},
        .id = checksum_of(entry->id_size, entry->id),
    };
    ingot_status_t status = append_aligned_bytes(writing, entry->id_size, entry->id, &written.record.id_offset);
    if (status == INGOT_SUCCESS)
        status = append_aligned_bytes(writing, blob->size, blob->bytes, &written.record.blob_offset);
    if (status != INGOT_SUCCESS)
        return status;
    bytes_put(&writing->entries, sizeof(written), &written);
    if (writing->entries.failed)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for the bundle's index");
    ++writing->count;
    return INGOT_SUCCESS;
}

/* True for a failure that is not the entry's fault. Leaving such an entry out would make the bundle silently
 * incomplete. */
static bool is_failure(ingot_status_t status)
{
    return status == INGOT_IO_ERROR || status == INGOT_OUT_OF_MEMORY;
}

static ingot_status_t write_entry(const ingot_persist_entry_t *entry, void *user)
{
    struct writing *writing = user;
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    if (is_failure(entry->status))
        return ingot_set_error_detail(entry->status, "%s", entry->reason);
    if (entry->status != INGOT_SUCCESS || entry_kind_of(entry->id_size, entry->id) == ENTRY_PROBES ||
        (writing->select != NULL && writing->select(entry, writing->user) == 0))
        return INGOT_SUCCESS;
    ingot_status_t status = ingot_persist_load_entry(writing->storage, entry, 1, &blob);
    if (status == INGOT_SUCCESS)
        status = add_bundle_entry(writing, entry, &blob);
    else if (!is_failure(status))
        status = INGOT_SUCCESS; /* the entry is left out */
    memory_release_buffer(&blob);
    return status;
}

/* Returns 0 if two entries have the same id, and otherwise their order in the index. */
static int compare_ids(const struct written *left, const struct written *right)
{
    if (left->record.hash != right->record.hash)
        return left->record.hash < right->record.hash ? -1 : 1;
    if (left->record.id_size != right->record.id_size)
        return left->record.id_size < right->record.id_size ? -1 : 1;
    return memcmp(left->id.bytes, right->id.bytes, CHECKSUM_SIZE);
}

/* Orders entries by their ids. Of those with the same id, the newest one comes first. */
static int compare_bundle_entries(const void *left_entry, const void *right_entry)
{
    const struct written *left = left_entry;
    const struct written *right = right_entry;
    const int order = compare_ids(left, right);
    if (order != 0)
        return order;
    if (left->record.created_ns != right->record.created_ns)
        return left->record.created_ns > right->record.created_ns ? -1 : 1;
    return (left->record.id_offset > right->record.id_offset) - (left->record.id_offset < right->record.id_offset);
}

static ingot_status_t write_index(struct writing *writing)
{
    const size_t size = writing->count * BUNDLE_RECORD_SIZE;
    uint8_t header[BUNDLE_HEADER_SIZE];
    uint64_t offset;
    uint8_t *index = memory_allocate(&writing->allocator, size + 1);
    if (index == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for the bundle's index");
    for (size_t i = 0; i < writing->count; ++i)
        bundle_file_encode_record(&entries_of(writing)[i].record, index + i * BUNDLE_RECORD_SIZE);
    const struct checksum checksum = checksum_of(size, index);
    ingot_status_t status = append_aligned_bytes(writing, size, index, &offset);
    memory_free(&writing->allocator, index, size + 1);
    if (status != INGOT_SUCCESS)
        return status;
    const int result = size == 0 ? files_truncate(writing->replacement.fd, offset) : 0;
    if (result < 0)
        return files_write_failed(result, "setting the size of", writing->replacement.new_name);
    bundle_file_encode_header(header, writing->count, offset, files_wall_clock_ns(), &checksum);
    return replacement_write(&writing->replacement, 0, sizeof(header), header);
}

ingot_status_t ingot_persist_write_bundle(ingot_storage_t storage, const char *path, ingot_persist_select_t select,
                                          void *user, uint64_t *entry_count)
{
    struct writing writing = {.storage = storage, .select = select, .user = user, .end = BUNDLE_HEADER_SIZE};
    writing.allocator = *storage_allocator(storage);
    bytes_writer_init(&writing.entries, &writing.allocator);
    ingot_status_t status = replacement_begin(&writing.replacement, path);
    if (status != INGOT_SUCCESS)
        return status;
    status = ingot_persist_for_each(storage, write_entry, &writing);
    if (status == INGOT_SUCCESS && writing.count > 1)
        qsort(writing.entries.bytes, writing.count, sizeof(struct written), compare_bundle_entries);
    size_t kept = 0; /* of several entries with the same id, only the first */
    for (size_t i = 0; i < writing.count; ++i)
        if (kept == 0 || compare_ids(&entries_of(&writing)[kept - 1], &entries_of(&writing)[i]) != 0)
            entries_of(&writing)[kept++] = entries_of(&writing)[i];
    writing.count = kept;
    if (status == INGOT_SUCCESS)
        status = write_index(&writing);
    status = replacement_end(&writing.replacement, status);
    if (status == INGOT_SUCCESS && entry_count != NULL)
        *entry_count = writing.count;
    bytes_writer_fini(&writing.entries);
    return status;
}
