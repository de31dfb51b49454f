/*
 * file.h - opens, checks and locks a recipe file by its path, recognizes a file that was read before, and remembers why
 * an addition failed.
 */
#ifndef INGOT_PERSIST_RECIPE_FILE_H
#define INGOT_PERSIST_RECIPE_FILE_H

#include "persist/base/files.h"

/* Makes an absolute copy of a path. The caller must free the copy, which has *size bytes. */
ingot_status_t recipe_file_absolute(const char *path, const ingot_allocator_t *allocator, char **absolute,
                                    size_t *size);
/* Opens the file for reading and writing, and creates it if it is missing. If makes_directory is set, also creates
 * the file's directory. Returns a negated errno on failure, as do the next two functions. */
int recipe_file_open(const char *path, bool makes_directory);
/* Does the same, but creates nothing. */
int recipe_file_open_existing(const char *path);
/* Examines what is at the path. Does not follow a link. */
int recipe_file_facts(const char *path, struct file_facts *facts);
/* True if both facts are of the same file, and the file did not change after the facts `before` were read. */
bool recipe_file_is_unchanged(const struct file_facts *before, const struct file_facts *now);

/* Examines an open file. Returns INGOT_UNTRUSTED if it is not a regular file, or if other users may write to it. */
ingot_status_t recipe_file_check(int fd, const char *path, struct file_facts *facts);
/* Locks an open file, exclusively or together with other readers. Returns INGOT_BUSY if other processes held the lock
 * until the timeout. */
ingot_status_t recipe_file_lock(int fd, const char *path, bool is_shared, uint64_t timeout_ns);

/* ---- recognizing a file ---- */

#define RECIPE_MARK_SIZE 96u /* size of a record's header */

/* A mark of a file that was read before, by which it is recognized even if it has grown since. A new file can get the
 * inode of a deleted one, and a file can be overwritten. So a modified file counts as the same one only if the last
 * known record is still in its place. If it is all zeros, no record is known. Not synchronized. */
struct recipe_mark {
    struct file_facts facts;          /* as they were when the file was last recognized */
    uint64_t last;                    /* the offset of the last known record, or 0 */
    uint8_t header[RECIPE_MARK_SIZE]; /* header of that record */
};

/* True if the open file, which has these facts, is the marked one and has at least `end` bytes. If so, remembers the
 * facts. */
bool recipe_mark_fits(struct recipe_mark *mark, int fd, const struct file_facts *facts, uint64_t end);
/* True if the file at the path is not the marked one, or is missing. False if that cannot be determined. */
bool recipe_mark_is_gone(struct recipe_mark *mark, const char *path, uint64_t end);
/* Remembers the last known record, which is at the offset `last`. Reads its header from the file. */
ingot_status_t recipe_mark_read(struct recipe_mark *mark, int fd, const char *path, uint64_t last);

/* ---- remembering a failure ---- */

/* Why an addition failed. Each addition to a full or damaged file fails. Remembering the failure saves the work of an
 * addition: reading and compressing all texts of a program, and locking the file. Not synchronized. */
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
