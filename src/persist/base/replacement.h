/*
 * replacement.h - a file that takes another's place when it is complete.
 */
#ifndef INGOT_PERSIST_BASE_REPLACEMENT_H
#define INGOT_PERSIST_BASE_REPLACEMENT_H

#include <ingot/ingot.h>

#define REPLACEMENT_NAME_CAPACITY 256u

struct replacement {
    int parent;
    int fd; /* to be written */
    char name[REPLACEMENT_NAME_CAPACITY];
    char new_name[REPLACEMENT_NAME_CAPACITY];
};

/* INGOT_BUSY: another process is replacing it. */
ingot_status_t replacement_begin(struct replacement *replacement, const char *path);
/* Writes there. */
ingot_status_t replacement_write(const struct replacement *replacement, uint64_t offset, size_t size,
                                 const void *bytes);
/* Ends the replacement; with INGOT_SUCCESS the file takes the other's place. Returns the status, or why it could
 * not. */
ingot_status_t replacement_end(struct replacement *replacement, ingot_status_t status);

#endif
