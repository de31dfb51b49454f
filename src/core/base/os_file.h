/*
 * os_file.h - reads files.
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

/* What the file system says about a file. It changes with the content, if the file system reports changes (see struct
 * os_file_facts). */
struct os_file_state {
    struct os_file_identity identity;
    uint64_t size;
    uint64_t modified_ns; /* since 1970 */
    uint64_t changed_ns;  /* time of the last change of content, name or rights; no program can set it */
};

/* How far a file's state can be relied on. */
struct os_file_facts {
    struct os_file_state state; /* before the content was read */
    bool was_steady;            /* the state was the same afterwards */
    bool tells_changes;         /* the file system is local, has stable inode numbers, and uses this machine's clock */
};

/* Gets a file's state. INGOT_NOT_FOUND: the file or a directory in its path does not exist; INGOT_IO_ERROR: any other
 * failure, or it is not a regular file. Sets no sentence. */
ingot_status_t os_get_file_state(const char *path, struct os_file_state *state);
/* Returns the time since 1970, in nanoseconds, that the kernel assigns to files changed now, or an earlier time. */
uint64_t os_file_clock_ns(void);
/* Returns a number that identifies the user and the group with whose rights files are opened. */
uint64_t os_user_and_group(void);

/* Identifies a directory. Returns false if it does not exist. */
bool os_identify_directory(const char *path, struct os_file_identity *identity);

/* Writes the current directory's absolute path and a NUL. Returns false if there is none or it does not fit. */
bool os_get_current_directory(size_t size, char *path);

/* Appends a regular file's content. facts may be NULL. INGOT_NOT_FOUND: the file or a directory of its path does not
 * exist; INGOT_NO_SPACE: it is longer than max_size; INGOT_IO_ERROR: it cannot be read or is not a regular file. */
ingot_status_t os_read_file(const char *path, size_t max_size, struct bytes_writer *content,
                            struct os_file_facts *facts);
/* Reads a file in parts of 64 KiB (the last one may be shorter), for files that are too large to hold in memory. */
ingot_status_t os_read_file_in_parts(const char *path, void (*take)(void *user, size_t size, const void *bytes),
                                     void *user);

#endif
