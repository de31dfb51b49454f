/*
 * replacement.h - writes a file that replaces another one when it is complete.
 */
#ifndef INGOT_PERSIST_BASE_REPLACEMENT_H
#define INGOT_PERSIST_BASE_REPLACEMENT_H

#include <ingot/ingot.h>

#define REPLACEMENT_NAME_CAPACITY 256u

struct replacement {
    int parent;
    int fd; /* the file to write */
    char name[REPLACEMENT_NAME_CAPACITY];
    char new_name[REPLACEMENT_NAME_CAPACITY];
};

/* Begins a replacement. Returns INGOT_BUSY if another process is replacing the file. */
ingot_status_t replacement_begin(struct replacement *replacement, const char *path);
/* Writes there. */
ingot_status_t replacement_write(const struct replacement *replacement, uint64_t offset, size_t size,
                                 const void *bytes);
/* Ends the replacement. If status is INGOT_SUCCESS, the new file replaces the other one. Returns status, or why that
 * failed. */
ingot_status_t replacement_end(struct replacement *replacement, ingot_status_t status);

#endif
