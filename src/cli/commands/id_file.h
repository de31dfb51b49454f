/*
 * id_file.h - reads ids from files: a file with only an id, a store's key.bin, or a single file, which also has a blob.
 */
#ifndef INGOT_CLI_COMMANDS_ID_FILE_H
#define INGOT_CLI_COMMANDS_ID_FILE_H

#include <stdbool.h>

#include "cli/store/store.h"

/* True if the path names a file. A directory is none: if the tool runs inside a store, the name of an entry is also the
 * path of a directory. */
bool id_file_is(const char *path);

/* Reads the file's id and sizes into an entry's facts. Returns an exit_code; on failure, prints a message. */
int id_file_read(struct entry *entry, const char *path);

/* Loads the blob from a single file that has the entry's id. */
ingot_status_t id_file_load(const char *path, const struct entry *entry, ingot_buffer_t *blob);

#endif
