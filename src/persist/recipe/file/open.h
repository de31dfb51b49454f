/*
 * open.h - opens, checks and locks a recipe file by its path.
 */
#ifndef INGOT_PERSIST_RECIPE_FILE_OPEN_H
#define INGOT_PERSIST_RECIPE_FILE_OPEN_H

#include "persist/base/files.h"

/* Copies a path, and makes it absolute. The caller frees the copy with its size. */
ingot_status_t recipe_file_absolute(const char *path, const ingot_allocator_t *allocator, char **absolute,
                                    size_t *size);
/* Opens the file for reading and writing, and creates it if it is missing. If makes_directory is set, also creates
 * the file's directory. Returns a negated errno on failure, as do the next two functions. */
int recipe_file_open(const char *path, bool makes_directory);
/* Does the same, but creates nothing. */
int recipe_file_open_existing(const char *path);
/* Examines what is at the path. Does not follow a link. */
int recipe_file_facts(const char *path, struct file_facts *facts);
/* True if it is the same file, and it was not written in between. */
bool recipe_file_is_unchanged(const struct file_facts *before, const struct file_facts *now);

/* Examines an open file. INGOT_UNTRUSTED: it is not a plain file, or others may write it. */
ingot_status_t recipe_file_check(int fd, const char *path, struct file_facts *facts);
/* Locks an open file, exclusively or together with other readers. INGOT_BUSY: other processes held the lock the
 * whole time. */
ingot_status_t recipe_file_lock(int fd, const char *path, bool is_shared, uint64_t timeout_ns);

#endif
