/*
 * file.h - opens, checks and locks a recipe file by its path.
 */
#ifndef INGOT_PERSIST_RECIPE_FILE_H
#define INGOT_PERSIST_RECIPE_FILE_H

#include "persist/base/files.h"

/* Opens the file for reading and writing, and creates it if it is missing. If makes_directory is set, also creates
 * the file's directory. Returns a negated errno on failure, as does the next function. */
int recipe_file_open(const char *path, bool makes_directory);
/* Examines what is at the path. Does not follow a link. */
int recipe_file_facts(const char *path, struct file_facts *facts);
/* True if both facts are of the same file, and the file did not change after the facts `before` were read. */
bool recipe_file_is_unchanged(const struct file_facts *before, const struct file_facts *now);

/* Examines an open file. Returns INGOT_UNTRUSTED if it is not a regular file, or if other users may write to it. */
ingot_status_t recipe_file_check(int fd, const char *path, struct file_facts *facts);
/* Locks an open file. Returns INGOT_BUSY if other processes held the lock until the timeout. */
ingot_status_t recipe_file_lock(int fd, const char *path, uint64_t timeout_ns);

#endif
