/*
 * shelf.h - loads and stores the files of one adopted directory as artifacts, in the store and, if the environment
 * names one, on a server.
 */
#ifndef INGOT_CLI_ADOPT_SHELF_H
#define INGOT_CLI_ADOPT_SHELF_H

#include <ingot/artifact.h>
#include <stdbool.h>

#include "cli/adopt/identity.h"
#include "cli/adopt/kinds.h"

/* Access to the artifacts of one adopted directory. */
struct adopt_shelf {
    const struct adopt_kind *kind;  /* the tool that the directory belongs to */
    struct adopt_identity identity; /* what the ids of the artifacts contain besides paths */
    ingot_storage_t storage;        /* NULL: not open */
    ingot_storage_t server;         /* NULL: none */
    bool is_read_only;              /* true: nothing may be stored */
};

/* Opens the store that the environment names. Returns false, with a message, if it cannot be used for files that run as
 * code. */
bool adopt_shelf_open(struct adopt_shelf *shelf);
/* Waits until the server, if there is one, has everything, and closes the storages. */
void adopt_shelf_close(struct adopt_shelf *shelf);

/* Loads the file with this path in the directory. The path "" stands for the listing of all files. Returns false if it
 * is not stored. The caller calls the value's release function. */
bool adopt_shelf_load(const struct adopt_shelf *shelf, const char *path, ingot_buffer_t *value);
/* Stores a file, likewise. If that fails, prints a message and returns false. */
bool adopt_shelf_store(const struct adopt_shelf *shelf, const char *path, size_t size, const void *bytes);

#endif
