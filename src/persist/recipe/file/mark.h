/*
 * mark.h - recognizes a recipe file that was read before, although it has grown since.
 *
 * A new file can get the inode of a deleted one, and a file can be overwritten. So a file that was modified is the same
 * one only if the last known record is still in its place.
 */
#ifndef INGOT_PERSIST_RECIPE_FILE_MARK_H
#define INGOT_PERSIST_RECIPE_FILE_MARK_H

#include "persist/base/files.h"

#define RECIPE_MARK_SIZE 96u /* of a record's header */

/* Zeroed: no record is known. Not synchronized. */
struct recipe_mark {
    struct file_facts facts;          /* when the file was last recognized */
    uint64_t last;                    /* the offset of the last known record, or 0 */
    uint8_t header[RECIPE_MARK_SIZE]; /* of that record */
};

/* True if an open file with these facts is the one that is known up to `end`. If so, remembers its facts. */
bool recipe_mark_fits(struct recipe_mark *mark, int fd, const struct file_facts *facts, uint64_t end);
/* True if another file, or none, is at the path. False if that cannot be determined. */
bool recipe_mark_is_gone(struct recipe_mark *mark, const char *path, uint64_t end);
/* Remembers the last known record: its header is read from the file. */
ingot_status_t recipe_mark_read(struct recipe_mark *mark, int fd, const char *path, uint64_t last);

#endif
