/*
 * failure.h - remembers why an addition to a recipe file failed, as long as further additions would probably fail, too.
 *
 * Each addition to a full or damaged file fails. Remembering the failure saves the work of an addition: reading and
 * compressing all texts of a program, and locking the file.
 */
#ifndef INGOT_PERSIST_RECIPE_FILE_FAILURE_H
#define INGOT_PERSIST_RECIPE_FILE_FAILURE_H

#include "persist/base/files.h"

/* Not synchronized. */
struct recipe_failure {
    ingot_status_t status; /* INGOT_SUCCESS: nothing is remembered */
    uint64_t noted_ns;     /* steady clock */
    int result;            /* of recipe_file_facts at that time: 0, or a negated errno */
    struct file_facts facts;
    char detail[512];
};

/* Remembers a failure with its detail, and the facts of the file that is at the path now. */
void recipe_failure_note(struct recipe_failure *failure, ingot_status_t status, const char *path);
/* If a failure is remembered and the file has not changed since, returns its status and sets its detail; otherwise
 * returns INGOT_SUCCESS. A full file counts as unchanged even if its modification time changes. After half a minute,
 * always returns INGOT_SUCCESS, because the cause may have disappeared without a change of the file, for example
 * because disk space was freed. */
ingot_status_t recipe_failure_check(const struct recipe_failure *failure, const char *path);

#endif
