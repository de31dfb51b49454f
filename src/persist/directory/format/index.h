/*
 * index.h - index.bin: which entries a namespace has, how large they are, and when they were made and used.
 *
 * Functions that write require the lock of the index, except for index_note_use. Functions return 0, a negated errno,
 * or 1 where their comment says so.
 */
#ifndef INGOT_PERSIST_DIRECTORY_FORMAT_INDEX_H
#define INGOT_PERSIST_DIRECTORY_FORMAT_INDEX_H

#include "persist/directory/format/index_format.h"

struct index_place {
    uint64_t offset; /* in the file; 0: the page is full */
    struct index_record record;
};

/* Reads the header. Returns 1 if it is valid. */
int index_read_header(int fd, struct index_header *header);
int index_write_header(int fd, struct index_header *header);
/* Makes an empty index; the caller still has to add the entries that exist. Its header is not written. */
int index_reset(int fd, struct index_header *header);

/* Finds an entry's record. Returns 1 if *place is its record, or 0 if it has none and *place is where it would go. */
int index_find(int fd, uint64_t page_count, uint64_t bucket, uint32_t number, struct index_place *place);
/* Returns 1 if the record at a place belongs to an entry that was created at this time. */
int index_is_at(int fd, uint64_t offset, const struct index_record *record);
int index_put(int fd, uint64_t offset, const struct index_record *record);
int index_free(int fd, uint64_t offset);
/* Notes a use without the lock. The place may have another record by now, which then counts as used. */
int index_note_use(int fd, uint64_t offset, uint32_t last_use_s);

/* Calls visit with each record of a page. */
int index_visit(int fd, uint64_t page_count, uint64_t page,
                void (*visit)(void *user, const struct index_record *record), void *user);

/* Adds or removes a page if the number of entries requires it. The caller writes the header afterwards. */
int index_grow(int fd, struct index_header *header);
int index_shrink(int fd, struct index_header *header);

#endif
