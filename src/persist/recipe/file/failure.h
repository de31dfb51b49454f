/*
 * failure.h - remembers why a recipe file refused an addition, as long as it would probably do so again.
 *
 * A full or damaged file refuses each addition. Remembering the failure saves the work of an addition: reading and
 * compressing all texts of a program, and locking the file.
 */
#ifndef INGOT_PERSIST_RECIPE_FILE_FAILURE_H
#define INGOT_PERSIST_RECIPE_FILE_FAILURE_H

#include "persist/base/files.h"

/* Not synchronized. */
struct recipe_failure {
    ingot_status_t status; /* INGOT_SUCCESS: nothing is remembered */
    uint64_t noted_ns;     /* steady clock */
    int result;            /* of examining the file then: 0, or a negated errno */
    struct file_facts facts;
    char detail[512];
};

/* Remembers a failure with its detail, and what is at the path now. */
void recipe_failure_note(struct recipe_failure *failure, ingot_status_t status, const char *path);
/* Returns the status, and sets the detail, if a failure is remembered and the file is unchanged (if room was
 * lacking, if its size is unchanged). Otherwise returns INGOT_SUCCESS. Also returns INGOT_SUCCESS after half a
 * minute, because free space on a disk, for example, does not change the file. */
ingot_status_t recipe_failure_check(const struct recipe_failure *failure, const char *path);

#endif
