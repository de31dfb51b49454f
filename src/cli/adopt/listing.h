/*
 * listing.h - the list of a directory's files that are in the store, which is itself an artifact.
 *
 * Files in one folder belong together (a unit): a tool that finds one of them expects the others.
 */
#ifndef INGOT_CLI_ADOPT_LISTING_H
#define INGOT_CLI_ADOPT_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct adopt_row {
    char *path;   /* relative to the directory; of a row for inputs, the folder and a slash */
    uint64_t low; /* a digest of the stored form, or of ninja's inputs */
    uint64_t high;
    char type;       /* '-': a file; 'x': one that can be executed; 'i': the inputs of a unit that ninja built */
    bool is_missing; /* the store does not have it any more */
};

struct adopt_listing {
    struct adopt_row *rows; /* sorted by folder and path, after adopt_listing_sort */
    size_t count;
};

/* Adds a copy of a row. */
void adopt_listing_add(struct adopt_listing *listing, const struct adopt_row *row);
void adopt_listing_sort(struct adopt_listing *listing);
/* Returns the row of a path, or NULL. The listing must be sorted. */
struct adopt_row *adopt_listing_find(const struct adopt_listing *listing, const char *path);
/* Returns the number of the row after those with the same folder as row `begin`. */
size_t adopt_listing_unit_end(const struct adopt_listing *listing, size_t begin);
/* Returns true if both paths have the same folder. */
bool adopt_listing_is_same_folder(const char *a, const char *b);

/* Reads a listing's text, which may contain anything. Ignores lines that are wrong. */
void adopt_listing_read(struct adopt_listing *listing, size_t size, const uint8_t *bytes);
/* Returns the text, which the caller frees. */
char *adopt_listing_write(const struct adopt_listing *listing, size_t *size);
void adopt_listing_free(struct adopt_listing *listing);

#endif
