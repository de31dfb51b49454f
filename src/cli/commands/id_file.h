/*
 * id_file.h - reads ids from files: a file with only an id, a store's key.bin, or a single file, which also has a blob.
 */
#ifndef INGOT_CLI_COMMANDS_ID_FILE_H
#define INGOT_CLI_COMMANDS_ID_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/store/entry.h"

bool id_file_is(const char *path);

/* Opens a file, or returns NULL if there is none. A directory does not count, because inside a store, an entry's name
 * is also a directory's. */
FILE *id_file_open(const char *path);

/* Reads the file's id and sizes into an entry's facts. Returns an exit_code, after a message on failure. */
int id_file_read(struct entry *entry, const char *path, FILE *file);

/* Loads the blob of a single file that has this id. */
ingot_status_t id_file_load(const char *path, const struct entry *entry, ingot_buffer_t *blob);

#endif
