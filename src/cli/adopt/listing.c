/*
 * listing.c - reads, sorts, searches and writes the list of a directory's files; see listing.h.
 */
#include "cli/adopt/listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/memory.h"

enum { MOST_ROWS = 100000 };

void adopt_listing_add(struct adopt_listing *listing, const struct adopt_row *row)
{
    listing->rows = memory_grow(listing->rows, listing->count, sizeof(*listing->rows));
    listing->rows[listing->count] = *row;
    listing->rows[listing->count++].path = memory_copy_text(row->path);
}

static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

bool adopt_listing_is_same_folder(const char *a, const char *b)
{
    return folder_length(a) == folder_length(b) && memcmp(a, b, folder_length(a)) == 0;
}

static int compare_paths(const char *a, const char *b)
{
    const size_t a_length = folder_length(a);
    const size_t b_length = folder_length(b);
    const int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
    if (order != 0)
        return order;
    if (a_length != b_length)
        return a_length < b_length ? -1 : 1;
    return strcmp(a, b);
}

static int compare_listing_rows(const void *a, const void *b)
{
    return compare_paths(((const struct adopt_row *)a)->path, ((const struct adopt_row *)b)->path);
}

void adopt_listing_sort(struct adopt_listing *listing)
{
    if (listing->count != 0)
        qsort(listing->rows, listing->count, sizeof(*listing->rows), compare_listing_rows);
}

struct adopt_row *adopt_listing_find(const struct adopt_listing *listing, const char *path)
{
    const struct adopt_row wanted = {.path = (char *)(uintptr_t)path};
    return listing->count != 0 ? bsearch(&wanted, listing->rows, listing->count, sizeof(wanted), compare_listing_rows)
                               : NULL;
}

size_t adopt_listing_unit_end(const struct adopt_listing *listing, size_t begin)
{
    size_t end = begin;
    while (end < listing->count && adopt_listing_is_same_folder(listing->rows[begin].path, listing->rows[end].path))
        ++end;
    return end;
}

void adopt_listing_read(struct adopt_listing *listing, size_t size, const uint8_t *bytes)
{
    char *text = memory_get(size + 1);
    memcpy(text, bytes, size);
    text[size] = '\0';
    char *rest = NULL;
    char type[2];
    for (char *line = strtok_r(text, "\n", &rest); line != NULL && listing->count < MOST_ROWS;
         line = strtok_r(NULL, "\n", &rest)) {
        struct adopt_row row = {.path = NULL};
        int at = 0;
        if (sscanf(line, "%16" SCNx64 "%16" SCNx64 " %1[-xi]%n", &row.high, &row.low, type, &at) != 3 ||
            line[at] != ' ' || line[at + 1] == '\0')
            continue;
        row.path = line + at + 1;
        row.type = type[0];
        adopt_listing_add(listing, &row);
    }
    free(text);
    adopt_listing_sort(listing);
}

char *adopt_listing_write(const struct adopt_listing *listing, size_t *size)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, size);
    for (size_t i = 0; stream != NULL && i < listing->count; ++i)
        (void)fprintf(stream, "%016" PRIx64 "%016" PRIx64 " %c %s\n", listing->rows[i].high, listing->rows[i].low,
                      listing->rows[i].type, listing->rows[i].path);
    if (stream != NULL && fclose(stream) == 0)
        return text;
    free(text);
    *size = 0;
    return NULL;
}

void adopt_listing_free(struct adopt_listing *listing)
{
    for (size_t i = 0; i < listing->count; ++i)
        free(listing->rows[i].path);
    free(listing->rows);
    *listing = (struct adopt_listing){NULL, 0};
}
