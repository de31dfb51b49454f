/*
 * archive.c - stores entries as records in a file, and keeps an index of them in memory.
 *
 * A record is a header of 16 bytes, the key and the value. It is appended to the file, and the index points to it
 * only after it is complete, so a failed write does not change the archive. Values have no checksum, because Ingot
 * verifies its blobs itself.
 */
#include "archive.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* The header of a record, in the machine's byte order, because the file stays on this machine. */
struct header {
    char magic[3];
    char kind;
    uint32_t key_size;
    uint64_t value_size; /* REMOVED if the record removes an entry; no value follows. */
};
#define REMOVED UINT64_MAX
#define MAX_KEY_SIZE (1u << 26)
#define NO_RECORD (-1) /* Distinct from all values of errno. */

struct entry {
    struct entry *next;
    struct header header;
    off_t value_offset;
    uint8_t key[];
};

struct archive {
    pthread_mutex_t lock;
    int fd;
    off_t end;             /* Guarded by lock. */
    struct entry *entries; /* Guarded by lock. */
};

static int read_at(int fd, off_t offset, size_t size, void *bytes)
{
    for (uint8_t *to = bytes; size > 0;) {
        const ssize_t count = pread(fd, to, size, offset);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return count < 0 ? errno : EIO;
        to += count;
        offset += count;
        size -= (size_t)count;
    }
    return 0;
}

static int write_at(int fd, off_t offset, size_t size, const void *bytes)
{
    for (const uint8_t *from = bytes; size > 0;) {
        const ssize_t count = pwrite(fd, from, size, offset);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return errno;
        from += count;
        offset += count;
        size -= (size_t)count;
    }
    return 0;
}

static struct entry **find(struct archive *archive, const struct header *header, const void *key)
{
    struct entry **at = &archive->entries;
    while (*at != NULL && ((*at)->header.kind != header->kind || (*at)->header.key_size != header->key_size ||
                           memcmp((*at)->key, key, header->key_size) != 0))
        at = &(*at)->next;
    return at;
}

/* Puts an entry into the index, in place of an older entry with the same key. If the new entry is a removal, only
 * removes the older entry. */
static void replace(struct archive *archive, struct entry *entry)
{
    struct entry **at = find(archive, &entry->header, entry->key), *old = *at;
    if (old != NULL)
        *at = old->next;
    free(old);
    if (entry->header.value_size == REMOVED) {
        free(entry);
        return;
    }
    entry->next = archive->entries;
    archive->entries = entry;
}

static struct entry *new_entry(const struct header *header, off_t offset)
{
    struct entry *entry = malloc(sizeof(*entry) + header->key_size);
    if (entry == NULL)
        return NULL;
    entry->header = *header;
    entry->value_offset = offset + (off_t)(sizeof(*header) + header->key_size);
    return entry;
}

/* Reads the record at archive->end. Returns 0, an errno, or NO_RECORD if the file has no complete record there. */
static int read_record(struct archive *archive, off_t file_size)
{
    struct header header;
    const off_t left = file_size - archive->end - (off_t)sizeof(header);
    int error = left < 0 ? NO_RECORD : read_at(archive->fd, archive->end, sizeof(header), &header);
    if (error != 0)
        return error;
    const uint64_t value_size = header.value_size == REMOVED ? 0 : header.value_size;
    if (memcmp(header.magic, "ARC", 3) != 0 || header.key_size > MAX_KEY_SIZE || header.key_size > (uint64_t)left ||
        value_size > (uint64_t)left - header.key_size)
        return NO_RECORD;
    struct entry *entry = new_entry(&header, archive->end);
    if (entry == NULL)
        return ENOMEM;
    error = read_at(archive->fd, archive->end + (off_t)sizeof(header), header.key_size, entry->key);
    if (error != 0) {
        free(entry);
        return error;
    }
    archive->end = entry->value_offset + (off_t)value_size;
    replace(archive, entry);
    return 0;
}

static int read_all(struct archive *archive)
{
    const off_t file_size = lseek(archive->fd, 0, SEEK_END);
    int error = file_size < 0 ? errno : 0;
    while (error == 0 && archive->end < file_size)
        error = read_record(archive, file_size);
    if (error == NO_RECORD) /* A process was killed while it wrote this record. */
        error = ftruncate(archive->fd, archive->end) == 0 ? 0 : errno;
    return error;
}

int archive_open(struct archive **archive, const char *path)
{
    struct archive *opened = calloc(1, sizeof(*opened));
    if (opened == NULL)
        return ENOMEM;
    pthread_mutex_init(&opened->lock, NULL);
    opened->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int error = opened->fd < 0 || flock(opened->fd, LOCK_EX | LOCK_NB) != 0 ? errno : 0;
    if (error == 0)
        error = read_all(opened);
    if (error == 0)
        *archive = opened;
    else
        archive_close(opened);
    return error;
}

void archive_close(struct archive *archive)
{
    if (archive == NULL)
        return;
    while (archive->entries != NULL) {
        struct entry *entry = archive->entries;
        archive->entries = entry->next;
        free(entry);
    }
    if (archive->fd >= 0)
        close(archive->fd);
    pthread_mutex_destroy(&archive->lock);
    free(archive);
}

int archive_get(struct archive *archive, char kind, size_t key_size, const void *key, size_t *size, uint8_t **value)
{
    if (key_size > MAX_KEY_SIZE)
        return ENOENT;
    const struct header wanted = {"ARC", kind, (uint32_t)key_size, 0};
    pthread_mutex_lock(&archive->lock);
    const struct entry *entry = *find(archive, &wanted, key);
    const int is_found = entry != NULL;
    const size_t value_size = is_found ? (size_t)entry->header.value_size : 0;
    const off_t offset = is_found ? entry->value_offset : 0;
    pthread_mutex_unlock(&archive->lock);
    if (!is_found)
        return ENOENT;
    /* Reads without the lock, because records never move. */
    uint8_t *bytes = malloc(value_size > 0 ? value_size : 1);
    const int error = bytes != NULL ? read_at(archive->fd, offset, value_size, bytes) : ENOMEM;
    if (error != 0) {
        free(bytes);
        return error;
    }
    *size = value_size;
    *value = bytes;
    return 0;
}

static int append(struct archive *archive, const struct header *header, const void *key, const void *value)
{
    const size_t value_size = header->value_size == REMOVED ? 0 : (size_t)header->value_size;
    struct entry *entry = new_entry(header, archive->end);
    if (entry == NULL)
        return ENOMEM;
    memcpy(entry->key, key, header->key_size);
    int error = write_at(archive->fd, entry->value_offset - header->key_size, header->key_size, key);
    if (error == 0)
        error = write_at(archive->fd, entry->value_offset, value_size, value);
    if (error == 0) /* Written last, so that a record with a header is complete. */
        error = write_at(archive->fd, archive->end, sizeof(*header), header);
    if (error != 0) {
        free(entry);
        return error;
    }
    archive->end = entry->value_offset + (off_t)value_size;
    replace(archive, entry);
    return 0;
}

int archive_put(struct archive *archive, char kind, size_t key_size, const void *key, size_t size, const void *value)
{
    if (key_size > MAX_KEY_SIZE)
        return EFBIG;
    const struct header header = {"ARC", kind, (uint32_t)key_size, size};
    pthread_mutex_lock(&archive->lock);
    const int error = append(archive, &header, key, value);
    pthread_mutex_unlock(&archive->lock);
    return error;
}

int archive_remove(struct archive *archive, char kind, size_t key_size, const void *key)
{
    if (key_size > MAX_KEY_SIZE)
        return ENOENT;
    const struct header header = {"ARC", kind, (uint32_t)key_size, REMOVED};
    pthread_mutex_lock(&archive->lock);
    const int error = *find(archive, &header, key) != NULL ? append(archive, &header, key, NULL) : ENOENT;
    pthread_mutex_unlock(&archive->lock);
    return error;
}
