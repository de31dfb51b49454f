/*
 * files.h - reads and writes the files of a directory, without following links: names from a store may be anything.
 */
#ifndef INGOT_CLI_ADOPT_FILES_H
#define INGOT_CLI_ADOPT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ADOPT_TEMPORARY ".ingot-adopt-" /* files whose names begin like this are not the tool's */

struct adopt_content {
    size_t size;
    uint8_t *bytes; /* the owner frees it */
    bool is_executable;
};

/* Calls `found` with the path, relative to the directory, of each regular file below it. */
void adopt_files_walk(int directory, void (*found)(void *user, const char *path), void *user);
/* Reads a file. Returns false if it is missing, too large, not a regular file, or changes meanwhile. */
bool adopt_files_read(int directory, const char *path, struct adopt_content *content);
/* Reads a file that may be a link. */
bool adopt_files_read_path(const char *path, struct adopt_content *content);
/* Creates or replaces a file in one step, and creates its folders. Returns false and sets errno on failure. */
bool adopt_files_write(int directory, const char *path, const struct adopt_content *content, uint64_t modified_ns);

#endif
