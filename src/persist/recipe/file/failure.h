/*
 * failure.h - why a recipe file took no addition, for as long as that is probably still so.
 *
 * A full or damaged file refuses each addition. Remembering the failure saves the work that an addition is: reading and
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
/* Returns the status, and sets the detail, if a failure is remembered and the file is as it was then, or as large as it
 * was if room was lacking. Otherwise returns INGOT_SUCCESS, and after half a minute in any case: room on a disk, for
 * example, is not seen in the file. */
ingot_status_t recipe_failure_check(const struct recipe_failure *failure, const char *path);

#endif
