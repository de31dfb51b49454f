/*
 * record.h - reads and writes the header and the records of a recipe file; see doc/recipe-format.md.
 */
#ifndef INGOT_PERSIST_RECIPE_FORMAT_RECORD_H
#define INGOT_PERSIST_RECIPE_FORMAT_RECORD_H

#include <ingot/private/recipe.h>

#include "persist/base/checksum.h"
#include "util/bytes_writer.h"

#define RECIPE_HEADER_SIZE 32u
#define RECIPE_RECORD_SIZE 96u /* size of a record's header */
#define RECIPE_MAX_FILE_BYTES ((uint64_t)1 << 30)
#define RECIPE_MAX_RECORDS ((uint32_t)1 << 20)
#define RECIPE_MAX_TEXT_BYTES ((uint64_t)1 << 26)    /* limit for one text, uncompressed */
#define RECIPE_MAX_PROGRAM_BYTES ((uint64_t)1 << 22) /* limit for the content of one program's record, uncompressed */
/* limit for the contents of all programs' records together, uncompressed */
#define RECIPE_MAX_ALL_PROGRAMS_BYTES ((uint64_t)1 << 28)

enum recipe_record_kind {
    RECIPE_RECORD_TEXT = 1,
    RECIPE_RECORD_PROGRAM = 2,
    RECIPE_RECORD_ID = 3,
    RECIPE_RECORD_SEAL = 4,
    RECIPE_RECORD_KERNEL = 5
};
#define RECIPE_KIND_COUNT ((size_t)RECIPE_RECORD_KERNEL + 1)
#define RECIPE_MAX_KERNEL_NAME 4096u
#define RECIPE_MAX_ALL_KERNEL_NAMES_BYTES ((uint64_t)1 << 24) /* limit for the names of all kernels together */

/* A record of a file. */
struct recipe_record {
    uint32_t kind; /* enum recipe_record_kind, or unknown */
    uint32_t encoding;
    uint64_t stored_size;
    uint64_t size;    /* uncompressed */
    uint64_t content; /* offset of the content in the file */
    uint8_t key[INGOT_RECIPE_KEY_SIZE];
    struct checksum checksum; /* of the stored content */
};

/* The position in the file that is being read. */
struct recipe_scan {
    int fd;
    const char *name; /* the file's name, for messages */
    uint64_t offset;
    uint64_t file_size;
    uint32_t count;         /* number of records so far */
    uint64_t program_bytes; /* uncompressed size of the programs' records so far */
    uint64_t kernel_bytes;  /* size of the names of kernels so far */
};

/* What recipe_scan_next found. */
enum recipe_found {
    RECIPE_FOUND_RECORD,
    RECIPE_FOUND_END,
    RECIPE_FOUND_TORN,      /* a record that was not finished */
    RECIPE_FOUND_UNREADABLE /* bytes that are not a record's header */
};

/* Computes the digest of bytes. The key of a record is such a digest, for example of a text or of a program's
 * fields. */
void recipe_digest(size_t size, const void *bytes, uint8_t digest[INGOT_RECIPE_KEY_SIZE]);

void recipe_put_header(uint8_t header[RECIPE_HEADER_SIZE]);
/* Checks the file's header and begins a scan. If the file ends within its header, the offset is 0. */
ingot_status_t recipe_scan_begin(struct recipe_scan *scan, int fd, uint64_t file_size, const char *name);
/* Reads the next record's header, and moves past the record. If there is no complete record, the offset does not
 * change. */
ingot_status_t recipe_scan_next(struct recipe_scan *scan, struct recipe_record *record, enum recipe_found *found);

/* Counts a record of this kind, whose content has this size. */
void recipe_scan_count(struct recipe_scan *scan, uint32_t kind, uint64_t size);

/* Reads a record's content, verifies its checksum, and decompresses it. Does not verify the key. The caller must free
 * *bytes, which has record->size bytes. Returns INGOT_BLOB_CORRUPT if the content is damaged. */
ingot_status_t recipe_record_read(int fd, const char *name, const struct recipe_record *record,
                                  const ingot_allocator_t *allocator, uint8_t **bytes);
/* Appends a record to the buffer. On failure, the buffer's `failed` is set. */
void recipe_record_put(struct bytes_writer *buffer, enum recipe_record_kind kind, const uint8_t *key, size_t size,
                       const void *content);

#endif
