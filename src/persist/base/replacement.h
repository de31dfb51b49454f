/*
 * replacement.h - writes a new file that replaces another one when it is complete.
 */
#ifndef INGOT_PERSIST_BASE_REPLACEMENT_H
#define INGOT_PERSIST_BASE_REPLACEMENT_H

#include <ingot/ingot.h>
#include <stdbool.h>

#define REPLACEMENT_NAME_CAPACITY 256u

struct replacement {
    int parent;
    int fd; /* the new file */
    char name[REPLACEMENT_NAME_CAPACITY];
    char new_name[REPLACEMENT_NAME_CAPACITY];
};

/* Creates and locks the new file, next to the file at the path. Returns INGOT_BUSY if another process is replacing that
 * file. */
ingot_status_t replacement_begin(struct replacement *replacement, const char *path);
/* Writes bytes to the new file. */
ingot_status_t replacement_write(const struct replacement *replacement, uint64_t offset, size_t size,
                                 const void *bytes);
/* Ends the replacement. If `status` is INGOT_SUCCESS, renames the new file, so that it replaces the old one. If
 * `status` is a failure, or if the renaming fails, removes the new file. Returns the first failure. */
ingot_status_t replacement_end(struct replacement *replacement, ingot_status_t status);

#endif
