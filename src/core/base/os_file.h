/*
 * os_file.h - reading files.
 *
 * The core reads files because the content of included files is part of a program's identity. It writes no file except
 * the trace that INGOT_TRACE names. None of these functions is a cancellation point.
 */
#ifndef INGOT_CORE_BASE_OS_FILE_H
#define INGOT_CORE_BASE_OS_FILE_H

#include "core/base/bytes.h"

/* Identifies a file independently of its name. */
struct os_file_identity {
    uint64_t device;
    uint64_t inode;
};

static inline bool os_is_same_file(const struct os_file_identity *a, const struct os_file_identity *b)
{
    return a->device == b->device && a->inode == b->inode;
}

/* Returns false if there is no such directory. */
bool os_identify_directory(const char *path, struct os_file_identity *identity);

/* Appends the current directory's absolute path. Returns false if there is none, or its path has more than 4,095
 * bytes. */
bool os_put_current_directory(struct bytes_writer *path);

/* Appends a regular file's content. identity may be NULL. INGOT_NOT_FOUND: the file or a directory of its path does not
 * exist; INGOT_NO_SPACE: it is longer than max_size; INGOT_IO_ERROR: it cannot be read or is not a regular file. */
ingot_status_t os_read_file(const char *path, size_t max_size, struct bytes_writer *content,
                            struct os_file_identity *identity);
/* Reads a file piece by piece, for files that are too large to hold in memory. */
ingot_status_t os_read_file_in_parts(const char *path, void (*take)(void *user, size_t size, const void *bytes),
                                     void *user);

#endif
