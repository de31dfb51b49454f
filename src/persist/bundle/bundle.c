/*
 * bundle.c - opens a bundle and loads entries from it, and writes one with the entries of a store or of another bundle.
 *
 * The file is not mapped into memory. If someone truncated a mapped file, as a careless update may do, a signal would
 * end the process. Each load reads and verifies its entry.
 *
 * Ids and blobs are written in the order in which the entries are found. The index stays in memory until the end, when
 * it is sorted and duplicates are dropped. Bad entries, entries that vanish while they are read, and probes are left
 * out.
 */
#include "persist/bundle/bundle.h"

#include <errno.h>
#include <ingot/backend.h>
#include <ingot/private/directory.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "persist/base/base.h"
#include "persist/bundle/bundle_file.h"
#include "persist/directory/format/paths.h"
#include "persist/storage/storage.h"
#include "util/bytes_writer.h"
#include "util/entry_kind.h"
#include "util/kept_file.h"

struct bundle {
    bool accepts_any_owner; /* if true, every blob must be sealed */
    struct kept_file descriptor;
    struct bundle_file file;
    uint8_t *index;
};

static size_t index_size(const struct bundle_file *file)
{
    return (size_t)file->entry_count * BUNDLE_RECORD_SIZE;
}

/* Returns the distance from the start of an id to the start of its blob, in memory and in the files that are written
 * here. */
static size_t distance_to_blob(const struct bundle_record *record)
{
    return (size_t)(record->id_size + BUNDLE_ALIGNMENT - 1) / BUNDLE_ALIGNMENT * BUNDLE_ALIGNMENT;
}

static size_t bundle_entry_size(const struct bundle_record *record)
{
    return distance_to_blob(record) + (size_t)record->blob_size;
}

static void destroy_bundle(void *self)
{
    struct bundle *bundle = self;
    memory_free(&memory_c_allocator, bundle->index, index_size(&bundle->file) + 1);
    kept_file_end(&bundle->descriptor);
    memory_free(&memory_c_allocator, bundle, sizeof(*bundle));
}

static ingot_status_t read_range(const struct bundle *bundle, uint64_t offset, uint64_t size, uint8_t *bytes)
{
    return kept_file_is_open(&bundle->descriptor)
               ? files_read_all(bundle->descriptor.fd, "the bundle", offset, (size_t)size, bytes)
               : ingot_set_error(INGOT_IO_ERROR, EBADF,
                                 "other code of this process has closed the descriptor of the bundle");
}

/* Reads and verifies the entry of a record to a buffer that begins with the id. *blob gets the buffer's memory, and
 * only its blob. Returns INGOT_NOT_FOUND if `id` is not NULL and the record has a different id. Refuses an entry that
 * is too large to be read from a bundle that anybody may have made. */
static ingot_status_t load_record(const struct bundle *bundle, const struct bundle_record *record, const uint8_t *id,
                                  const uint8_t **id_found, ingot_buffer_t *blob)
{
    ingot_buffer_t buffer = INGOT_BUFFER_INIT;
    const size_t lead = distance_to_blob(record);
    uint8_t *bytes;
    ingot_status_t status = bundle->accepts_any_owner
                                ? files_check_limit(bundle_entry_size(record), "an entry of the bundle")
                                : INGOT_SUCCESS;
    if (status == INGOT_SUCCESS)
        status = memory_make_buffer(&memory_c_allocator, bundle_entry_size(record), &buffer, &bytes);
    /* if the distance from the id to the blob is the same in the file as in memory, one system call reads both */
    const bool is_one_piece = record->blob_offset == record->id_offset + lead;
    if (status == INGOT_SUCCESS)
        status =
            read_range(bundle, record->id_offset, is_one_piece ? bundle_entry_size(record) : record->id_size, bytes);
    if (status == INGOT_SUCCESS && id != NULL && memcmp(bytes, id, (size_t)record->id_size) != 0)
        status = INGOT_NOT_FOUND;
    if (status == INGOT_SUCCESS && !is_one_piece)
        status = read_range(bundle, record->blob_offset, record->blob_size, bytes + lead);
    if (status == INGOT_SUCCESS && !checksum_holds(&record->blob_checksum, (size_t)record->blob_size, bytes + lead))
        status = ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the checksum of a blob in the bundle does not match");
    if (status != INGOT_SUCCESS) {
        memory_release_buffer(&buffer);
        return status;
    }
    *id_found = bytes;
    *blob = buffer;
    blob->bytes = bytes + lead;
    blob->size = (size_t)record->blob_size;
    return INGOT_SUCCESS;
}

static ingot_status_t load_from_bundle(void *self, size_t id_size, const uint8_t *id, ingot_buffer_t *blob)
{
    const struct bundle *bundle = self;
    const uint8_t *found;
    const uint64_t hash = checksum_bucket_of(id_size, id);
    for (uint64_t i = bundle_file_lower_bound(&bundle->file, hash); i < bundle->file.entry_count; ++i) {
        const struct bundle_record record = bundle_file_record(&bundle->file, i);
        if (record.hash != hash)
            break;
        const ingot_status_t status =
            record.id_size == id_size ? load_record(bundle, &record, id, &found, blob) : INGOT_NOT_FOUND;
        if (status != INGOT_NOT_FOUND)
            return status;
    }
    return ingot_set_error_detail(INGOT_NOT_FOUND, "not in the bundle");
}

struct bundle *bundle_of(ingot_storage_t storage)
{
    return storage_self(storage, STORAGE_BUNDLE);
}

uint64_t bundle_entry_count(const struct bundle *bundle)
{
    return bundle->file.entry_count;
}

ingot_status_t bundle_for_each(const struct bundle *bundle, ingot_persist_visit_t visit, void *user)
{
    const struct bundle_file *file = &bundle->file;
    ingot_status_t visited = INGOT_SUCCESS;
    for (uint64_t i = 0; i < file->entry_count && visited == INGOT_SUCCESS; ++i) {
        const struct bundle_record record = bundle_file_record(file, i);
        ingot_buffer_t id = INGOT_BUFFER_INIT;
        uint8_t *to;
        ingot_status_t status = memory_make_buffer(&memory_c_allocator, (size_t)record.id_size, &id, &to);
        if (status == INGOT_SUCCESS)
            status = read_range(bundle, record.id_offset, record.id_size, to);
        if (status == INGOT_SUCCESS && checksum_bucket_of(id.size, to) != record.hash)
            status = ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the hash of an id in the bundle does not match");
        const bool is_sound = status == INGOT_SUCCESS;
        ingot_persist_entry_t entry = {
            .name_space = "",
            .status = status,
            .reason = is_sound ? "" : ingot_last_error_detail(),
            .identity = i,
            .bytes = BUNDLE_RECORD_SIZE + record.id_size + record.blob_size,
            .blob_size = (size_t)record.blob_size,
            .created_ns = record.created_ns,
            .last_use_ns = record.created_ns,
            .id_size = is_sound ? id.size : 0,
            .id = is_sound ? id.bytes : NULL,
        };
        if (is_sound) {
            const struct checksum hash = checksum_of(id.size, id.bytes);
            paths_place(entry.place, &hash);
        }
        visited = visit(&entry, user);
        memory_release_buffer(&id);
    }
    return visited;
}

ingot_status_t bundle_load_entry(const struct bundle *bundle, const ingot_persist_entry_t *entry, ingot_buffer_t *id,
                                 ingot_buffer_t *kept)
{
    if (entry->identity >= bundle->file.entry_count)
        return ingot_set_error_detail(INGOT_NOT_FOUND, "not in the bundle");
    const struct bundle_record record = bundle_file_record(&bundle->file, entry->identity);
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    const uint8_t *found;
    const ingot_status_t status = load_record(bundle, &record, NULL, &found, &blob);
    if (status != INGOT_SUCCESS)
        return status;
    char place[PATHS_PLACE_SIZE];
    const struct checksum hash = checksum_of((size_t)record.id_size, found);
    paths_place(place, &hash);
    if (strncmp(place, entry->place, sizeof(place)) != 0) {
        memory_release_buffer(&blob);
        return ingot_set_error_detail(INGOT_NOT_FOUND, "not in the bundle");
    }
    *id = (ingot_buffer_t){(size_t)record.id_size, found, NULL, NULL};
    *kept = blob;
    return INGOT_SUCCESS;
}

/* Opens the file and reads its header if it can be trusted. The bundle keeps the file open. */
static ingot_status_t open_bundle_file(struct bundle *bundle, const char *path)
{
    struct file_facts facts = {0};
    uint8_t header[BUNDLE_HEADER_SIZE];
    size_t got = 0;
    const int fd = files_open_path(path);
    int result = fd < 0 ? fd : kept_file_begin(&bundle->descriptor, fd);
    if (result < 0)
        return files_read_failed(result, "opening", path);
    result = files_facts(fd, &facts);
    /* root may own it too, because bundles may be installed with the system */
    if (result == 0 && (!facts.is_file || (!bundle->accepts_any_owner && !files_are_private(&facts, files_user()) &&
                                           !files_are_private(&facts, 0))))
        return files_untrusted(&facts, false, files_user(), path);
    if (result == 0)
        result = files_read(fd, 0, sizeof(header), header, &got);
    return result < 0 ? files_read_failed(result, "reading", path)
                      : bundle_file_parse(&bundle->file, facts.size_bytes, got, header);
}

static ingot_status_t read_index(struct bundle *bundle)
{
    const size_t size = index_size(&bundle->file);
    const ingot_status_t small =
        bundle->accepts_any_owner ? files_check_limit(size, "the bundle's index") : INGOT_SUCCESS;
    if (small != INGOT_SUCCESS)
        return small;
    bundle->index = memory_allocate(&memory_c_allocator, size + 1);
    if (bundle->index == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a bundle's index");
    const ingot_status_t status = read_range(bundle, bundle->file.index_offset, size, bundle->index);
    return status == INGOT_SUCCESS ? bundle_file_take_index(&bundle->file, bundle->index) : status;
}

ingot_status_t ingot_persist_open_bundle(ingot_storage_t *storage, const char *path, const ingot_persist_trust_t *trust)
{
    static const ingot_storage_ops_t ops = {
        .struct_size = sizeof(ops), .load = load_from_bundle, .destroy = destroy_bundle};
    const ingot_persist_info_t info = {.struct_size = sizeof(info), .trust = trust};
    const bool accepts_any_owner = trust_requires_seals(trust);
    if (storage == NULL || path == NULL || path[0] == '\0')
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage or path is missing");
    struct bundle *bundle = memory_allocate(&memory_c_allocator, sizeof(*bundle));
    if (bundle == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a bundle");
    *bundle = (struct bundle){.accepts_any_owner = accepts_any_owner, .descriptor = KEPT_FILE_INIT};
    ingot_status_t status = open_bundle_file(bundle, path);
    if (status == INGOT_SUCCESS)
        status = read_index(bundle);
    if (status == INGOT_SUCCESS)
        status = storage_create(storage, STORAGE_BUNDLE, &ops, bundle, &memory_c_allocator, &info, accepts_any_owner);
    if (status != INGOT_SUCCESS)
        destroy_bundle(bundle);
    return status;
}

/* ---- writing ---- */

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
