/*
 * archive.h - the application's own archive: a file to which entries are appended.
 *
 * An entry has a kind, a key and a value. If several entries have the same kind and key, only the last one is valid.
 * Threads may share an archive, but only one process can have it open at a time. Functions return 0 or an errno.
 */
#ifndef ARCHIVE_STORAGE_ARCHIVE_H
#define ARCHIVE_STORAGE_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

struct archive;

/* Opens or creates the file. Cuts off a record that a killed process left incomplete. */
int archive_open(struct archive **archive, const char *path);
void archive_close(struct archive *archive);

/* Gets a value, which the caller frees. Returns ENOENT if there is no such entry. */
int archive_get(struct archive *archive, char kind, size_t key_size, const void *key, size_t *size, uint8_t **value);
int archive_put(struct archive *archive, char kind, size_t key_size, const void *key, size_t size, const void *value);
int archive_remove(struct archive *archive, char kind, size_t key_size, const void *key);

#endif
