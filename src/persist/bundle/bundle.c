/*
 * bundle.c - opens a bundle and loads entries from it.
 *
 * The file is not mapped into memory. If someone truncated a mapped file, as a careless update may do, a signal would
 * end the process. Each load reads and verifies its entry.
 */
#include "persist/bundle/bundle.h"

#include <errno.h>
#include <ingot/backend.h>
#include <ingot/private/directory.h>
#include <stdbool.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/base/memory.h"
#include "persist/bundle/bundle_file.h"
#include "persist/directory/format/paths.h"
#include "persist/storage/storage.h"
#include "persist/storage/trust.h"
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

/* Returns the distance from the start of an id to the start of its blob, in memory and in the files that bundle_write.c
 * writes. */
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

/* Reads the id of a record, and verifies it. The caller releases the buffer, even on failure. */
static ingot_status_t read_id(const struct bundle *bundle, const struct bundle_record *record, ingot_buffer_t *id)
{
    uint8_t *bytes;
    ingot_status_t status = memory_make_buffer(&memory_c_allocator, (size_t)record->id_size, id, &bytes);
    if (status == INGOT_SUCCESS)
        status = read_range(bundle, record->id_offset, record->id_size, bytes);
    if (status == INGOT_SUCCESS && checksum_bucket_of(id->size, bytes) != record->hash)
        status = ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the hash of an id in the bundle does not match");
    return status;
}

ingot_status_t bundle_for_each(const struct bundle *bundle, ingot_persist_visit_t visit, void *user)
{
    const struct bundle_file *file = &bundle->file;
    ingot_status_t visited = INGOT_SUCCESS;
    for (uint64_t i = 0; i < file->entry_count && visited == INGOT_SUCCESS; ++i) {
        const struct bundle_record record = bundle_file_record(file, i);
        ingot_buffer_t id = INGOT_BUFFER_INIT;
        const ingot_status_t status = read_id(bundle, &record, &id);
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
    ingot_persist_info_t info;
    bool accepts_any_owner;
    if (storage == NULL || path == NULL || path[0] == '\0')
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage or path is missing");
    ingot_status_t status = trust_make_info(&info, trust, &accepts_any_owner);
    if (status != INGOT_SUCCESS)
        return status;
    struct bundle *bundle = memory_allocate(&memory_c_allocator, sizeof(*bundle));
    if (bundle == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a bundle");
    *bundle = (struct bundle){.accepts_any_owner = accepts_any_owner, .descriptor = KEPT_FILE_INIT};
    status = open_bundle_file(bundle, path);
    if (status == INGOT_SUCCESS)
        status = read_index(bundle);
    if (status == INGOT_SUCCESS)
        status =
            storage_create(storage, STORAGE_BUNDLE, &ops, NULL, bundle, &memory_c_allocator, &info, accepts_any_owner);
    if (status != INGOT_SUCCESS)
        destroy_bundle(bundle);
    return status;
}
