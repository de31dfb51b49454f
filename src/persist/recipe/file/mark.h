/*
 * mark.h - recognizes a recipe file that was read before, even if it has grown since.
 *
 * A new file can get the inode of a deleted one, and a file can be overwritten. So a modified file counts as the same
 * one only if the last known record is still in its place.
 */
#ifndef INGOT_PERSIST_RECIPE_FILE_MARK_H
#define INGOT_PERSIST_RECIPE_FILE_MARK_H

#include "persist/base/files.h"

#define RECIPE_MARK_SIZE 96u /* size of a record's header */

/* A mark of a file. If it is all zeros, no record is known. Not synchronized. */
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

#endif
