/*
 * open.h - opens, checks and locks a recipe file by its path.
 */
#ifndef INGOT_PERSIST_RECIPE_FILE_OPEN_H
#define INGOT_PERSIST_RECIPE_FILE_OPEN_H

#include "persist/base/files.h"

/* Opens the file for reading and writing, and makes it if it is missing, and with makes_directory also the directory
 * that it is in. Returns a negated errno on failure, as the next two do. */
int recipe_file_open(const char *path, bool makes_directory);
/* Does the same, but makes nothing. */
int recipe_file_open_existing(const char *path);
/* Examines what is at the path. Does not follow a link. */
int recipe_file_facts(const char *path, struct file_facts *facts);
/* True if it is the same file, and nobody has written it in between. */
bool recipe_file_is_unchanged(const struct file_facts *before, const struct file_facts *now);

/* Examines an open file. INGOT_UNTRUSTED: it is not a plain file, or others may write it. */
ingot_status_t recipe_file_check(int fd, const char *path, struct file_facts *facts);
/* Locks an open file, alone or together with others that only read. INGOT_BUSY: others had it the whole time. */
ingot_status_t recipe_file_lock(int fd, const char *path, bool is_shared, uint64_t timeout_ns);

#endif
