/*
 * os_file.h - reads files and their states.
 *
 * The core reads files because the content of included files is part of a program's identity. The only files
 * that it writes are the trace and the counters that INGOT_TRACE and INGOT_METRICS_DIR name.
 */
#ifndef INGOT_CORE_BASE_OS_FILE_H
#define INGOT_CORE_BASE_OS_FILE_H

#include "core/base/bytes.h"
#include "core/base/digest.h"

/* Identifies a file independently of its name. */
struct os_file_identity {
    uint64_t device;
    uint64_t inode;
};

static inline bool os_is_same_file(const struct os_file_identity *a, const struct os_file_identity *b)
{
    return a->device == b->device && a->inode == b->inode;
}

/* A file's metadata. If the file system reports all changes (see struct os_file_facts), a changed file has a
 * different state. */
struct os_file_state {
    struct os_file_identity identity;
    uint64_t size;
    uint64_t modified_ns; /* since 1970 */
    uint64_t changed_ns;  /* time of the last change of content, name or rights; no program can set it */
};

/* Metadata of a file that was read, and how far it can be relied on. */
struct os_file_facts {
    struct os_file_state state; /* before the content was read */
    bool was_steady;            /* true if the state was the same after the content was read */
    bool tells_changes;         /* true if the file system is local, has stable inode numbers and uses this machine's
                                 * clock */
};

/* Gets a file's state. Returns INGOT_NOT_FOUND if the file or a directory in its path does not exist, and
 * INGOT_IO_ERROR for any other failure or if it is not a regular file. Sets no error message. */
ingot_status_t os_get_file_state(const char *path, struct os_file_state *state);
/* Returns a time in nanoseconds since 1970, which is not later than the change time of any file that is changed from
 * now on. */
uint64_t os_file_clock_ns(void);
/* Returns a number that identifies the rights with which files are opened: the effective user and group, and the
 * supplementary groups. */
uint64_t os_reader(void);

/* Gets the identity of a directory. Returns false if it does not exist. */
bool os_identify_directory(const char *path, struct os_file_identity *identity);

/* Appends a regular file's content. `facts` may be NULL. Returns INGOT_NOT_FOUND if the file or a directory in its
 * path does not exist, INGOT_NO_SPACE if it is longer than max_size, and INGOT_IO_ERROR if it cannot be read or is
 * not a regular file. */
ingot_status_t os_read_file(const char *path, size_t max_size, struct bytes_writer *content,
                            struct os_file_facts *facts);
#define OS_FILE_PART ((size_t)64 * 1024)
/* Hashes a regular file's content without holding it in memory. The hash begins as 0. For each OS_FILE_PART bytes, and
 * for what is left at the end, it becomes the XXH3-128 of itself and of the part's XXH3-128. `part` has room for
 * OS_FILE_PART bytes. It should be aligned to 64 bytes, because some processors copy six times more slowly to an
 * address 1 to 31 bytes after the start of a page. It is too large for the stacks of some threads. `facts` may be NULL.
 * Returns INGOT_NOT_FOUND and INGOT_IO_ERROR as os_read_file does. */
ingot_status_t os_hash_file(const char *path, uint8_t *part, struct hash128 *hash, struct os_file_facts *facts);

#endif
