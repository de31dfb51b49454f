/*
 * os_file.h - reading files.
 *
 * The core reads files for one reason: the content of what a source includes is part of what it is. It writes none
 * but the trace that the user asked for by name. None of these functions is a cancellation point.
 */
#ifndef INGOT_CORE_BASE_OS_FILE_H
#define INGOT_CORE_BASE_OS_FILE_H

#include "core/base/bytes.h"

/* Which file it is, whatever the name. */
struct os_file_identity {
    uint64_t device;
    uint64_t inode;
};

static inline bool os_is_same_file(const struct os_file_identity *a, const struct os_file_identity *b)
{
    return a->device == b->device && a->inode == b->inode;
}

/* False: no such directory. */
bool os_identify_directory(const char *path, struct os_file_identity *identity);

/* Appends the current directory's absolute path. False: it has none, or one of more than 4,095 bytes. */
bool os_put_current_directory(struct bytes_writer *path);

/* Appends a regular file's content. identity may be NULL. INGOT_NOT_FOUND: no such file (a directory on the way
 * included); INGOT_NO_SPACE: longer than max_size, and not read; INGOT_IO_ERROR: there, and not readable or not a
 * regular file. */
ingot_status_t os_read_file(const char *path, size_t max_size, struct bytes_writer *content,
                            struct os_file_identity *identity);
/* Likewise, a piece at a time, for what is too large to be held. */
ingot_status_t os_read_file_in_parts(const char *path, void (*take)(void *user, size_t size, const void *bytes),
                                     void *user);

#endif
