/*
 * single_file.c - a storage that is one file with one program's blob.
 *
 * Each operation opens the file by its path again. Another process may replace the file by renaming a new one over it,
 * and a descriptor that stayed open would then refer to the old file.
 */
#include <errno.h>
#include <ingot/backend.h>
#include <string.h>

#include "persist/base/base.h"
#include "persist/directory/format/entry.h"
#include "persist/storage/storage.h"

struct single_file {
    bool accepts_any_owner; /* if true, every blob must be sealed */
    size_t path_size;       /* including the NUL */
    char path[];
};

static ingot_status_t read_file_header(const struct single_file *file, int fd, struct key_file *key)
{
    struct file_facts facts;
    uint8_t header[KEY_FILE_HEADER_SIZE];
    const int result = files_facts(fd, &facts);
    if (result < 0)
        return files_read_failed(result, "examining", "the file");
    if (!facts.is_file || !files_are_private(&facts, file->accepts_any_owner ? FILES_ANY_USER : files_user()))
        return files_untrusted(&facts, false, files_user(), file->path);
    const size_t size = facts.size_bytes < sizeof(header) ? (size_t)facts.size_bytes : sizeof(header);
    const ingot_status_t status = files_read_all(fd, "the file", 0, size, header);
    return status == INGOT_SUCCESS ? key_file_decode_single(key, facts.size_bytes, size, header) : status;
}

static ingot_status_t read_single_file(const struct single_file *file, int fd, size_t id_size, const uint8_t *id,
                                       ingot_buffer_t *blob)
{
    struct key_file key;
    const uint32_t owner = file->accepts_any_owner ? FILES_ANY_USER : files_user();
    ingot_status_t status = read_file_header(file, fd, &key);
    if (status == INGOT_SUCCESS && key.id_size_bytes != id_size)
        status = INGOT_BLOB_MISMATCH;
    if (status == INGOT_SUCCESS)
        status = entry_read_key(fd, "the file", KEY_FILE_HEADER_SIZE + (uint64_t)id_size, &key, id_size, id,
                                &memory_c_allocator, NULL);
    if (status == INGOT_BLOB_MISMATCH)
        return ingot_set_error_detail(INGOT_NOT_FOUND, "the file has another program's blob");
    /* The id may come from this file: `ingot show` and `ingot explain` read it there. */
    if (status == INGOT_SUCCESS && !checksum_holds(&key.id_checksum, id_size, id))
        status = ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the checksum of the id in the file does not match");
    return status == INGOT_SUCCESS
               ? entry_read_blob(fd, "the file", KEY_FILE_HEADER_SIZE + id_size, &key, owner, &memory_c_allocator, blob)
               : status;
}

static ingot_status_t load_from_single_file(void *self, size_t id_size, const uint8_t *id, ingot_buffer_t *blob)
{
    const struct single_file *file = self;
    const int fd = files_open_path(file->path);
    if (fd < 0)
        return files_read_failed(fd, "opening", file->path);
    const ingot_status_t status = read_single_file(file, fd, id_size, id, blob);
    (void)files_close(fd);
    return status;
}

/* Returns INGOT_READ_ONLY if the storage must not change the file. A storage that accepts files of any user changes a
 * file only if the file, or its directory if the file is missing, belongs to the effective user and no other user may
 * write to it. */
static ingot_status_t check_own(const struct single_file *file, int parent, const char *name)
{
    struct file_facts facts;
    if (!file->accepts_any_owner)
        return INGOT_SUCCESS;
    int result = files_facts_at(parent, name, &facts);
    const bool is_there = result != -ENOENT;
    if (!is_there)
        result = files_facts(parent, &facts);
    if (result < 0)
        return files_write_failed(result, "examining", file->path);
    return files_are_private(&facts, files_user())
               ? INGOT_SUCCESS
               : ingot_set_error_detail(INGOT_READ_ONLY, "%s%s is only read: other users own or may write it",
                                        is_there ? "" : "the directory of ", file->path);
}

static ingot_status_t store_in_single_file(void *self, size_t id_size, const uint8_t *id, size_t blob_size,
                                           const uint8_t *blob)
{
    const struct single_file *file = self;
    struct replacement replacement;
    uint8_t header[KEY_FILE_HEADER_SIZE];
    if (id_size > KEY_FILE_MAX_ID_SIZE || blob_size > KEY_FILE_MAX_BLOB_SIZE)
        return ingot_set_error_detail(INGOT_NO_SPACE, "an id of %zu and a blob of %zu bytes are too large", id_size,
                                      blob_size);
    ingot_status_t status = replacement_begin(&replacement, file->path);
    if (status != INGOT_SUCCESS)
        return status;
    status = check_own(file, replacement.parent, replacement.name);
    const struct key_file key = key_file_of(id_size, id, blob_size, blob, files_wall_clock_ns());
    key_file_encode(&key, header);
    if (status == INGOT_SUCCESS)
        status = replacement_write(&replacement, 0, sizeof(header), header);
    if (status == INGOT_SUCCESS)
        status = replacement_write(&replacement, sizeof(header), id_size, id);
    if (status == INGOT_SUCCESS)
        status = replacement_write(&replacement, sizeof(header) + id_size, blob_size, blob);
    return replacement_end(&replacement, status);
}

/* Removes the file if it has this id. Reads and removes it in the same open directory, because the path may lead
 * elsewhere by the time that the file is removed. */
static ingot_status_t remove_from(const struct single_file *file, int parent, const char *name, size_t id_size,
                                  const uint8_t *id)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    const int fd = files_open_read(parent, name);
    if (fd < 0)
        return files_read_failed(fd, "opening", file->path);
    ingot_status_t status = read_single_file(file, fd, id_size, id, &blob);
    memory_release_buffer(&blob);
    if (status == INGOT_SUCCESS || status == INGOT_BLOB_CORRUPT || status == INGOT_BLOB_TRUNCATED) {
        status = check_own(file, parent, name);
        struct file_facts named;
        struct file_facts found;
        const bool is_same = files_facts_at(parent, name, &named) == 0 && files_facts(fd, &found) == 0 &&
                             named.inode == found.inode && named.device == found.device;
        const int result = status == INGOT_SUCCESS && is_same ? files_remove(parent, name) : 0;
        if (result < 0 && result != -ENOENT)
            status = files_write_failed(result, "removing", file->path);
    }
    (void)files_close(fd);
    return status;
}

static ingot_status_t remove_from_single_file(void *self, size_t id_size, const uint8_t *id)
{
    const struct single_file *file = self;
    const char *name;
    const int parent = files_open_parent(file->path, &name);
    if (parent < 0)
        return files_read_failed(parent, "opening", file->path);
    const ingot_status_t status = remove_from(file, parent, name, id_size, id);
    (void)files_close(parent);
    return status;
}

static void destroy_single_file(void *self)
{
    struct single_file *file = self;
    memory_free(&memory_c_allocator, file, sizeof(*file) + file->path_size);
}

ingot_status_t ingot_persist_open_file(ingot_storage_t *storage, const char *path, const ingot_persist_trust_t *trust)
{
    static const ingot_storage_ops_t ops = {.struct_size = sizeof(ops),
                                            .load = load_from_single_file,
                                            .store = store_in_single_file,
                                            .remove = remove_from_single_file,
                                            .destroy = destroy_single_file};
    const ingot_persist_info_t info = {.struct_size = sizeof(info), .trust = trust};
    const bool accepts_any_owner = trust_requires_seals(trust);
    const char *name;
    if (storage == NULL || path == NULL || path[0] == '\0')
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage or path is missing");
    const int parent = files_open_parent(path, &name);
    if (parent < 0)
        return files_read_failed(parent, "opening the directory of", path);
    (void)files_close(parent);
    if (name[0] == '\0')
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "path ends in a slash");
    const size_t path_size = strlen(path) + 1;
    struct single_file *file = memory_allocate(&memory_c_allocator, sizeof(*file) + path_size);
    if (file == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a storage");
    file->accepts_any_owner = accepts_any_owner;
    file->path_size = path_size;
    memcpy(file->path, path, path_size);
    const ingot_status_t status =
        storage_create(storage, STORAGE_OTHER, &ops, file, &memory_c_allocator, &info, accepts_any_owner);
    if (status != INGOT_SUCCESS)
        destroy_single_file(file);
    return status;
}
