/*
 * entry.c - reads, verifies and writes one entry, which is a directory with the files key.bin and kernel.bin.
 *
 * Each file is opened, checked through its descriptor and read once, so that the bytes in use are the bytes that were
 * checked. Memory is allocated only for ids of at most 64 MiB, and for blobs whose size is that in a verified header.
 *
 * The files are opened by their paths, which costs less than opening the directory first. If another process replaces
 * the entry after the first file was opened, the two files may belong to different entries. The checksums then do not
 * match, and the caller reads the entry again through a handle of its directory (entry_pin).
 *
 * Decoding a header first checks the magic number, the version and the header's checksum. It then compares the id's
 * size with the size of the file. Only after that does it return any field.
 */
#include "persist/directory/format/entry.h"

#include <errno.h>
#include <ingot/backend.h>
#include <stdbool.h>
#include <string.h>

#include "persist/base/base.h"
#include "persist/directory/format/paths.h"
#include "util/little_endian.h"

#define SMALL_KEY_SIZE 4096u
#define FORMAT_VERSION 1u
#define MUST_UNDERSTAND_FLAGS 0xffffu
#define MAGIC_SIZE (sizeof(KEY_BIN_MAGIC) - 1)

/* ---- the header of key.bin ---- */

struct key_file key_file_of(size_t id_size, const uint8_t *id, size_t blob_size, const uint8_t *blob, uint64_t now_ns)
{
    return (struct key_file){
        .id_size_bytes = id_size,
        .blob_size_bytes = blob_size,
        .id_checksum = checksum_of(id_size, id),
        .blob_checksum = checksum_of(blob_size, blob),
        .created_ns = now_ns,
    };
}

void key_file_encode(const struct key_file *key, uint8_t header[KEY_FILE_HEADER_SIZE])
{
    memset(header, 0, KEY_FILE_HEADER_SIZE);
    memcpy(header + KEY_BIN_AT_MAGIC, KEY_BIN_MAGIC, MAGIC_SIZE);
    le_put_u32(header + KEY_BIN_AT_VERSION, FORMAT_VERSION);
    le_put_u32(header + KEY_BIN_AT_HEADER_SIZE, KEY_FILE_HEADER_SIZE);
    le_put_u64(header + KEY_BIN_AT_ID_SIZE, key->id_size_bytes);
    le_put_u64(header + KEY_BIN_AT_BLOB_SIZE, key->blob_size_bytes);
    memcpy(header + KEY_BIN_AT_ID_CHECKSUM, key->id_checksum.bytes, CHECKSUM_SIZE);
    memcpy(header + KEY_BIN_AT_BLOB_CHECKSUM, key->blob_checksum.bytes, CHECKSUM_SIZE);
    le_put_u64(header + KEY_BIN_AT_CREATED, key->created_ns);
    le_put_u32(header + KEY_BIN_AT_FLAGS, key->flags);
    const struct checksum checksum = checksum_of(KEY_BIN_AT_CHECKSUM, header);
    memcpy(header + KEY_BIN_AT_CHECKSUM, checksum.bytes, CHECKSUM_SIZE);
}

ingot_status_t key_file_decode(struct key_file *key, uint64_t file_size, size_t header_size, const uint8_t *header)
{
    if (header_size < KEY_FILE_HEADER_SIZE)
        return ingot_set_error_detail(INGOT_BLOB_TRUNCATED, "key.bin ends within its header");
    if (memcmp(header + KEY_BIN_AT_MAGIC, KEY_BIN_MAGIC, MAGIC_SIZE) != 0)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "key.bin does not begin with its magic number");
    const uint32_t version = le_get_u32(header + KEY_BIN_AT_VERSION);
    if (version != FORMAT_VERSION)
        return ingot_set_error_detail(INGOT_BLOB_VERSION, "key.bin has format version %u", (unsigned)version);
    const struct checksum checksum = checksum_of(KEY_BIN_AT_CHECKSUM, header);
    if (le_get_u32(header + KEY_BIN_AT_HEADER_SIZE) != KEY_FILE_HEADER_SIZE ||
        memcmp(header + KEY_BIN_AT_CHECKSUM, checksum.bytes, CHECKSUM_SIZE) != 0)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the checksum of key.bin's header does not match");
    const uint32_t flags = le_get_u32(header + KEY_BIN_AT_FLAGS);
    if ((flags & MUST_UNDERSTAND_FLAGS) != 0)
        return ingot_set_error_detail(INGOT_BLOB_VERSION, "key.bin has unknown flags %#x", (unsigned)flags);
    const uint64_t id_size = le_get_u64(header + KEY_BIN_AT_ID_SIZE);
    const uint64_t blob_size = le_get_u64(header + KEY_BIN_AT_BLOB_SIZE);
    if (id_size == 0 || id_size > KEY_FILE_MAX_ID_SIZE || blob_size == 0 || blob_size > KEY_FILE_MAX_BLOB_SIZE)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "key.bin has impossible sizes");
    if (file_size < KEY_FILE_HEADER_SIZE + id_size)
        return ingot_set_error_detail(INGOT_BLOB_TRUNCATED, "key.bin ends within its id");
    if (file_size > KEY_FILE_HEADER_SIZE + id_size)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "key.bin has bytes after its id");

    key->id_size_bytes = id_size;
    key->blob_size_bytes = blob_size;
    memcpy(key->id_checksum.bytes, header + KEY_BIN_AT_ID_CHECKSUM, CHECKSUM_SIZE);
    memcpy(key->blob_checksum.bytes, header + KEY_BIN_AT_BLOB_CHECKSUM, CHECKSUM_SIZE);
    key->created_ns = le_get_u64(header + KEY_BIN_AT_CREATED);
    key->flags = flags;
    return INGOT_SUCCESS;
}

ingot_status_t key_file_decode_single(struct key_file *key, uint64_t file_size, size_t header_size,
                                      const uint8_t *header)
{
    /* If the header is too short, the blob's size does not matter, because decoding the header fails. */
    const uint64_t blob_size = header_size >= KEY_FILE_HEADER_SIZE ? le_get_u64(header + KEY_BIN_AT_BLOB_SIZE) : 0;
    return key_file_decode(key, file_size > blob_size ? file_size - blob_size : 0, header_size, header);
}

/* ---- entries ---- */

bool entry_is_bad(ingot_status_t status)
{
    return status == INGOT_BLOB_TRUNCATED || status == INGOT_BLOB_CORRUPT;
}

ingot_status_t entry_examine(const struct entry_place *place, struct file_facts *facts)
{
    const int result = files_facts_at(place->at, place->path, facts);
    if (result < 0)
        return files_read_failed(result, "examining", place->path);
    if (!(facts->is_directory || facts->is_file) || !files_are_private(facts, place->owner))
        return files_untrusted(facts, !facts->is_file, place->owner, place->path);
    if (facts->is_file)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "%s is a file, not a directory", place->path);
    return INGOT_SUCCESS;
}

ingot_status_t entry_pin(const struct entry_place *place, struct entry_place *pinned)
{
    const int fd = files_open_place(place->at, place->path);
    if (fd < 0)
        return files_read_failed(fd, "opening", place->path);
    *pinned = (struct entry_place){fd, ".", place->owner};
    return INGOT_SUCCESS;
}

/* Returns a descriptor or a negated errno. */
static int open_entry_file(const struct entry_place *place, const char *name)
{
    char path[PATH_CAPACITY];
    paths_join(path, place->path, name);
    return files_open_read(place->at, path);
}

/* Checks the result of open_file. */
static ingot_status_t judge_file(const struct entry_place *place, const char *name, int fd, struct file_facts *facts)
{
    if (fd == -ENOENT)
        return ingot_set_error_detail(INGOT_BLOB_TRUNCATED, "the entry has no %s", name);
    if (fd < 0)
        return files_read_failed(fd, "opening", name);
    const int result = files_facts(fd, facts);
    if (result < 0)
        return files_read_failed(result, "examining", name);
    if (!facts->is_file || !files_are_private(facts, place->owner))
        return files_untrusted(facts, false, place->owner, name);
    return INGOT_SUCCESS;
}

static void close_entry_file(int fd)
{
    if (fd >= 0)
        (void)files_close(fd);
}

/* If the ids are equal, no checksum is needed. If they differ, the checksum shows whether the file has another id, or a
 * damaged copy of this one. */
ingot_status_t entry_read_key(int fd, const char *name, uint64_t size, struct key_file *key, size_t id_size,
                              const uint8_t *id, const ingot_allocator_t *allocator, ingot_buffer_t *copy)
{
    _Alignas(64) uint8_t small[SMALL_KEY_SIZE];
    const size_t read_size = size <= KEY_FILE_MAX_SIZE ? (size_t)size : KEY_FILE_HEADER_SIZE;
    uint8_t *to = NULL;
    uint8_t *bytes = read_size <= sizeof(small) ? small : memory_allocate(allocator, read_size);
    if (bytes == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a key of %zu bytes", read_size);
    ingot_status_t status = files_read_all(fd, name, 0, read_size, bytes);
    if (status == INGOT_SUCCESS)
        status = key_file_decode(key, size, read_size, bytes);
    if (status == INGOT_SUCCESS) {
        const uint8_t *found = bytes + KEY_FILE_HEADER_SIZE;
        const size_t found_size = (size_t)key->id_size_bytes;
        const bool is_same = id != NULL && found_size == id_size && memcmp(found, id, id_size) == 0;
        if (!is_same && !checksum_holds(&key->id_checksum, found_size, found))
            status = ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the checksum of the id in %s does not match", name);
        else if (!is_same && id != NULL)
            status = INGOT_BLOB_MISMATCH;
        else if (copy != NULL)
            status = memory_make_buffer(allocator, found_size, copy, &to);
        if (to != NULL)
            memcpy(to, found, found_size);
    }
    if (bytes != small)
        memory_free(allocator, bytes, read_size);
    return status;
}

ingot_status_t entry_read_blob(int fd, const char *name, uint64_t offset, const struct key_file *key, uint32_t owner,
                               const ingot_allocator_t *allocator, ingot_buffer_t *blob)
{
    ingot_buffer_t buffer = INGOT_BUFFER_INIT;
    uint8_t *bytes;
    ingot_status_t status = owner == FILES_ANY_USER ? files_check_limit(key->blob_size_bytes, name) : INGOT_SUCCESS;
    if (status == INGOT_SUCCESS)
        status = memory_make_buffer(allocator, (size_t)key->blob_size_bytes, &buffer, &bytes);
    if (status == INGOT_SUCCESS)
        status = files_read_all(fd, name, offset, buffer.size, bytes);
    if (status == INGOT_SUCCESS && !checksum_holds(&key->blob_checksum, buffer.size, bytes))
        status = ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the checksum of the blob in %s does not match", name);
    if (status == INGOT_SUCCESS)
        *blob = buffer;
    else
        memory_release_buffer(&buffer);
    return status;
}

/* Reads kernel.bin, which is open. */
static ingot_status_t read_entry_blob(const struct entry_place *place, int fd, const struct key_file *key,
                                      const ingot_allocator_t *allocator, ingot_buffer_t *blob, uint64_t *time_ns)
{
    struct file_facts facts;
    const ingot_status_t status = judge_file(place, "kernel.bin", fd, &facts);
    if (status != INGOT_SUCCESS)
        return status;
    *time_ns = facts.modified_ns;
    if (facts.size_bytes == key->blob_size_bytes)
        return entry_read_blob(fd, "kernel.bin", 0, key, place->owner, allocator, blob);
    return ingot_set_error_detail(facts.size_bytes < key->blob_size_bytes ? INGOT_BLOB_TRUNCATED : INGOT_BLOB_CORRUPT,
                                  "kernel.bin has %llu bytes instead of %llu", (unsigned long long)facts.size_bytes,
                                  (unsigned long long)key->blob_size_bytes);
}

/* Opens both files before it reads either, because the kernel finds the second one faster directly after the first. */
ingot_status_t entry_read(const struct entry_place *place, size_t id_size, const uint8_t *id,
                          const ingot_allocator_t *allocator, struct key_file *key, ingot_buffer_t *copy,
                          ingot_buffer_t *blob, uint64_t *time_ns)
{
    const int key_fd = open_entry_file(place, "key.bin");
    const int blob_fd = blob != NULL ? open_entry_file(place, "kernel.bin") : -ENOENT;
    struct file_facts facts;
    ingot_status_t status = judge_file(place, "key.bin", key_fd, &facts);
    if (status == INGOT_SUCCESS)
        status = entry_read_key(key_fd, "key.bin", facts.size_bytes, key, id_size, id, allocator, copy);
    if (status == INGOT_SUCCESS && blob != NULL)
        status = read_entry_blob(place, blob_fd, key, allocator, blob, time_ns);
    close_entry_file(key_fd);
    close_entry_file(blob_fd);
    return status;
}

static uint64_t bytes_of_entry_file(int at, const char *entry_path, const char *name, uint64_t *time_ns)
{
    char path[PATH_CAPACITY];
    struct file_facts facts;
    paths_join(path, entry_path, name);
    const bool is_there = files_facts_at(at, path, &facts) == 0 && facts.is_file;
    if (time_ns != NULL)
        *time_ns = is_there ? facts.modified_ns : 0;
    return is_there ? facts.allocated_bytes : 0;
}

uint64_t entry_bytes(int at, const char *entry_path, uint64_t *time_ns)
{
    const uint64_t key_bytes = bytes_of_entry_file(at, entry_path, "key.bin", NULL);
    const uint64_t blob_bytes = bytes_of_entry_file(at, entry_path, "kernel.bin", time_ns);
    return blob_bytes <= UINT64_MAX - key_bytes ? key_bytes + blob_bytes : UINT64_MAX;
}

static uint64_t round_up(uint64_t size)
{
    return (size + ENTRY_PAGE_SIZE - 1) / ENTRY_PAGE_SIZE * ENTRY_PAGE_SIZE;
}

uint64_t entry_bytes_for(size_t id_size, size_t blob_size)
{
    return round_up(KEY_FILE_HEADER_SIZE + (uint64_t)id_size) + round_up(blob_size);
}

/* Writes a file of two parts. If more_size is 0, one system call writes it. */
static ingot_status_t write_file(int at, const char *path, size_t size, const uint8_t *bytes, size_t more_size,
                                 const uint8_t *more)
{
    const int fd = files_create(at, path, false);
    if (fd < 0)
        return files_write_failed(fd, "making", path);
    int result = files_write(fd, 0, size, bytes);
    if (result == 0 && more_size != 0)
        result = files_write(fd, size, more_size, more);
    const int closed = files_close(fd);
    if (result == 0)
        result = closed;
    return result < 0 ? files_write_failed(result, "writing", path) : INGOT_SUCCESS;
}

ingot_status_t entry_write(int at, const char *entry_path, const struct key_file *key, const uint8_t *id,
                           const uint8_t *blob)
{
    _Alignas(64) uint8_t small[SMALL_KEY_SIZE];
    char path[PATH_CAPACITY];
    const size_t id_size = (size_t)key->id_size_bytes;
    key_file_encode(key, small);
    const size_t together = id_size <= sizeof(small) - KEY_FILE_HEADER_SIZE ? id_size : 0;
    memcpy(small + KEY_FILE_HEADER_SIZE, id, together);
    paths_join(path, entry_path, "key.bin");
    ingot_status_t status =
        write_file(at, path, KEY_FILE_HEADER_SIZE + together, small, id_size - together, id + together);
    paths_join(path, entry_path, "kernel.bin");
    if (status == INGOT_SUCCESS)
        status = write_file(at, path, (size_t)key->blob_size_bytes, blob, 0, NULL);
    /* the clock of a file system does not tell two entries apart that are stored within some milliseconds */
    if (status == INGOT_SUCCESS)
        (void)files_set_time(at, path, key->created_ns);
    return status;
}
