/*
 * bundle.c - an open bundle: a mapping, and which of its blobs were verified.
 *
 * Blobs are handed out as they lie in the mapping, which lives until the storage and the last of them is released.
 * A blob is verified by who first loads it; two who do so at once come to the same result.
 */
#include "persist/bundle.h"

#include <ingot/backend.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "persist/bundle_file.h"
#include "persist/files.h"
#include "persist/memory.h"
#include "persist/storage.h"

enum verdict { VERDICT_NONE = 0, VERDICT_SOUND = 1, VERDICT_CORRUPT = 2 };

struct bundle {
    ingot_allocator_t allocator;
    atomic_size_t references; /* of the storage and of each buffer; release pairs with acquire of the last one */
    struct bundle_file file;
    _Atomic uint8_t *verdicts; /* one an entry; relaxed: the mapping does not change */
};

static void release(struct bundle *bundle)
{
    if (atomic_fetch_sub_explicit(&bundle->references, 1, memory_order_acq_rel) != 1)
        return;
    files_unmap(bundle->file.bytes, bundle->file.size);
    const ingot_allocator_t allocator = bundle->allocator;
    memory_free(&allocator, (void *)bundle->verdicts, (size_t)bundle->file.entry_count + 1);
    memory_free(&allocator, bundle, sizeof(*bundle));
}

static void release_buffer(ingot_buffer_t *buffer)
{
    release(buffer->owner);
}

static ingot_status_t verify(struct bundle *bundle, uint64_t number, const struct bundle_record *record)
{
    uint8_t verdict = atomic_load_explicit(&bundle->verdicts[number], memory_order_relaxed);
    if (verdict == VERDICT_NONE) {
        const struct checksum checksum =
            checksum_of((size_t)record->blob_size, bundle->file.bytes + record->blob_offset);
        const bool is_sound = memcmp(checksum.bytes, record->blob_checksum.bytes, CHECKSUM_SIZE) == 0;
        verdict = is_sound ? VERDICT_SOUND : VERDICT_CORRUPT;
        atomic_store_explicit(&bundle->verdicts[number], verdict, memory_order_relaxed);
    }
    return verdict == VERDICT_SOUND
               ? INGOT_SUCCESS
               : ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the checksum of a blob in the bundle does not hold");
}

static ingot_status_t hand_out(struct bundle *bundle, uint64_t number, const struct bundle_record *record,
                               ingot_buffer_t *blob)
{
    const ingot_status_t status = verify(bundle, number, record);
    if (status != INGOT_SUCCESS)
        return status;
    atomic_fetch_add_explicit(&bundle->references, 1, memory_order_relaxed);
    *blob = (ingot_buffer_t){(size_t)record->blob_size, bundle->file.bytes + record->blob_offset, release_buffer,
                             bundle};
    return INGOT_SUCCESS;
}

static ingot_status_t load(void *self, size_t id_size, const uint8_t *id, ingot_buffer_t *blob)
{
    struct bundle *bundle = self;
    uint64_t number;
    struct bundle_record record;
    const ingot_status_t status = bundle_file_find(&bundle->file, id_size, id, &number, &record);
    return status == INGOT_SUCCESS ? hand_out(bundle, number, &record, blob) : status;
}

static void destroy(void *self)
{
    release(self);
}

struct bundle *bundle_of(ingot_storage_t storage)
{
    return storage != NULL && storage->ops.load == load ? storage->self : NULL;
}

uint64_t bundle_entry_count(const struct bundle *bundle)
{
    return bundle->file.entry_count;
}

ingot_status_t bundle_for_each(const struct bundle *bundle, ingot_persist_visit_t visit, void *user)
{
    const struct bundle_file *file = &bundle->file;
    for (uint64_t i = 0; i < file->entry_count; ++i) {
        const struct bundle_record record = bundle_file_record(file, i);
        const uint8_t *id = file->bytes + record.id_offset;
        const bool is_sound = checksum_bucket_of((size_t)record.id_size, id) == record.hash;
        const ingot_persist_entry_t entry = {
            .struct_size = sizeof(entry),
            .name_space = "",
            .bucket = record.hash,
            .number = (uint32_t)i,
            .status = is_sound ? INGOT_SUCCESS : INGOT_BLOB_CORRUPT,
            .reason = is_sound ? "" : "the hash of an id in the bundle does not hold",
            .identity = i,
            .bytes = BUNDLE_RECORD_SIZE + record.id_size + record.blob_size,
            .blob_size = (size_t)record.blob_size,
            .created_ns = record.created_ns,
            .last_use_ns = record.created_ns,
            .id_size = is_sound ? (size_t)record.id_size : 0,
            .id = is_sound ? id : NULL,
        };
        if (visit(&entry, user) == 0)
            break;
    }
    return INGOT_SUCCESS;
}

ingot_status_t bundle_load_entry(struct bundle *bundle, const ingot_persist_entry_t *entry, ingot_buffer_t *blob)
{
    if (entry == NULL || entry->struct_size < sizeof(*entry))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "entry or its struct_size is missing");
    if (entry->identity >= bundle->file.entry_count)
        return ingot_set_error_detail(INGOT_NOT_FOUND, "not in the bundle");
    const struct bundle_record record = bundle_file_record(&bundle->file, entry->identity);
    if (record.hash != entry->bucket)
        return ingot_set_error_detail(INGOT_NOT_FOUND, "not in the bundle");
    return hand_out(bundle, entry->identity, &record, blob);
}

/* A bundle may come with the system, so it may be root's too. */
static bool is_trusted(const struct file_facts *facts)
{
    return files_are_private(facts, files_user()) || files_are_private(facts, 0);
}

/* The mapping of a file that may be trusted. */
static ingot_status_t map(const char *path, size_t *size, const uint8_t **bytes)
{
    const char *name;
    struct file_facts facts = {0};
    const int parent = files_open_parent(path, &name);
    const int fd = parent < 0 ? parent : files_open_read(parent, name);
    if (parent >= 0)
        (void)files_close(parent);
    if (fd < 0)
        return files_read_failed(fd, "opening", path);
    int result = files_facts(fd, &facts);
    ingot_status_t status = INGOT_SUCCESS;
    if (result == 0 && (!facts.is_file || !is_trusted(&facts)))
        status = ingot_set_error_detail(INGOT_UNTRUSTED, "%s is no file, or others own or may write it", path);
    else if (result == 0 && (facts.size_bytes == 0 || facts.size_bytes > SIZE_MAX))
        status = ingot_set_error_detail(INGOT_BLOB_TRUNCATED, "%s is empty, or too large to map", path);
    else if (result == 0)
        result = files_map(fd, (size_t)facts.size_bytes, bytes);
    if (result < 0)
        status = files_read_failed(result, "mapping", path);
    (void)files_close(fd);
    *size = (size_t)facts.size_bytes;
    return status;
}

static struct bundle *make(const ingot_allocator_t *allocator, const struct bundle_file *file)
{
    struct bundle *bundle = memory_allocate(allocator, sizeof(*bundle));
    _Atomic uint8_t *verdicts = memory_allocate(allocator, (size_t)file->entry_count + 1);
    if (bundle == NULL || verdicts == NULL) {
        memory_free(allocator, bundle, sizeof(*bundle));
        memory_free(allocator, (void *)verdicts, (size_t)file->entry_count + 1);
        (void)ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a bundle");
        return NULL;
    }
    for (uint64_t i = 0; i <= file->entry_count; ++i)
        atomic_init(&verdicts[i], VERDICT_NONE);
    *bundle = (struct bundle){.allocator = *allocator, .file = *file, .verdicts = verdicts};
    atomic_init(&bundle->references, 1);
    return bundle;
}

ingot_status_t ingot_persist_open_bundle(ingot_storage_t *storage, const char *path)
{
    static const ingot_storage_ops_t ops = {sizeof(ops), load, NULL, NULL, destroy};
    ingot_allocator_t allocator;
    size_t size = 0;
    const uint8_t *bytes = NULL;
    struct bundle_file file;
    if (storage == NULL || path == NULL || path[0] == '\0')
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage or path is missing");
    (void)memory_init(&allocator, NULL);
    ingot_status_t status = map(path, &size, &bytes);
    if (status != INGOT_SUCCESS)
        return status;
    status = bundle_file_parse(&file, size, bytes);
    struct bundle *bundle = status == INGOT_SUCCESS ? make(&allocator, &file) : NULL;
    if (bundle == NULL) {
        files_unmap(bytes, size);
        return status == INGOT_SUCCESS ? INGOT_OUT_OF_MEMORY : status;
    }
    status = storage_create(storage, &ops, bundle, &allocator, INGOT_PERSIST_STORE_AUTO);
    if (status != INGOT_SUCCESS)
        release(bundle);
    return status;
}
