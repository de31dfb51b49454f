/*
 * index_format.h - encodes and decodes the header and the records of index.bin; see doc/store-format.md.
 */
#ifndef INGOT_PERSIST_DIRECTORY_FORMAT_INDEX_FORMAT_H
#define INGOT_PERSIST_DIRECTORY_FORMAT_INDEX_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEX_HEADER_SIZE 136u
#define INDEX_PAGE_SIZE 4096u
#define INDEX_RECORD_SIZE 32u
#define INDEX_PAGE_RECORDS (INDEX_PAGE_SIZE / INDEX_RECORD_SIZE)
#define INDEX_MAX_NUMBER 65535u
#define INDEX_LAST_USE_OFFSET 28u
#define INDEX_LAST_USE_SIZE 4u

/* A record of the index. It describes one entry. */
struct index_record {
    uint64_t bucket;
    uint64_t created_ns; /* not 0 */
    uint64_t bytes;
    uint32_t number; /* at most INDEX_MAX_NUMBER */
    uint32_t last_use_s;
};

/* The change that the lock's holder is making to an entry. It is complete when the entry's record shows it. A process
 * that finds an incomplete change completes or undoes it. */
enum index_change { INDEX_CHANGE_NONE, INDEX_CHANGE_ADD, INDEX_CHANGE_REMOVE };

struct index_header {
    uint64_t page_count;
    uint64_t total_bytes;
    uint64_t entry_count;
    uint64_t cursor;      /* the page that the next eviction reads first */
    uint64_t drain_bytes; /* evictions continue down to this total; UINT64_MAX: no such eviction is in progress */
    uint64_t drain_entries;
    uint64_t scan_position;   /* where the scan for entries without a record continues */
    bool is_scanning;         /* true while there may be entries without a record */
    enum index_change change; /* the last change, which the totals do not include yet */
    struct index_record changed;
    uint64_t changed_offset; /* offset of that record in the file */
    uint64_t checksum;       /* first half of the checksum that was last encoded or decoded */
};

void index_header_encode(struct index_header *header, uint8_t bytes[INDEX_HEADER_SIZE]);
/* Decodes a header. Returns false if the bytes are not a valid header of this version. */
bool index_header_decode(struct index_header *header, const uint8_t bytes[INDEX_HEADER_SIZE]);

void index_record_encode(const struct index_record *record, uint8_t bytes[INDEX_RECORD_SIZE]);
bool index_record_is_empty(const uint8_t bytes[INDEX_RECORD_SIZE]);
/* Decodes a record. Returns false if the place is empty or damaged. */
bool index_record_decode(struct index_record *record, const uint8_t bytes[INDEX_RECORD_SIZE]);

/* Returns the number, counted from 0, of the page in which a bucket's records belong. */
uint64_t index_page_of(uint64_t bucket, uint64_t page_count);
/* Returns the offset of a page in the file. */
uint64_t index_page_offset(uint64_t page);

#endif
