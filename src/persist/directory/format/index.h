/*
 * index.h - reads and changes index.bin, which lists a namespace's entries with their sizes and times.
 *
 * All functions that write require the lock of the index. Functions return 0 or a negated errno, or 1 where their
 * comment says so.
 */
#ifndef INGOT_PERSIST_DIRECTORY_FORMAT_INDEX_H
#define INGOT_PERSIST_DIRECTORY_FORMAT_INDEX_H

#include "persist/directory/format/index_format.h"

struct index_place {
    uint64_t offset; /* offset in the file; 0 if the page is full */
    struct index_record record;
};

/* Reads the header. Returns 1 if it is valid. */
int index_read_header(int fd, struct index_header *header);
int index_write_header(int fd, struct index_header *header);
/* Makes the index empty. Afterwards, the caller must write the header and add the entries that exist. */
int index_reset(int fd, struct index_header *header);

/* Finds an entry's record. Returns 1 and sets *place to the record, or returns 0 and sets place->offset to where a new
 * record would go. */
int index_find(int fd, uint64_t page_count, uint64_t bucket, uint32_t number, struct index_place *place);
/* Returns 1 if the place at the offset has a record of the same entry, with the same creation time. */
int index_is_at(int fd, uint64_t offset, const struct index_record *record);
int index_put(int fd, uint64_t offset, const struct index_record *record);
int index_free(int fd, uint64_t offset);
/* Writes the time of an entry's last use to its record. */
int index_note_use(int fd, uint64_t offset, uint32_t last_use_s);

/* Calls `visit` with each record of a page. */
int index_visit(int fd, uint64_t page_count, uint64_t page,
                void (*visit)(void *user, const struct index_record *record), void *user);

/* Add or remove a page if the number of entries requires it. The caller writes the header afterwards. */
int index_grow(int fd, struct index_header *header);
int index_shrink(int fd, struct index_header *header);

#endif
