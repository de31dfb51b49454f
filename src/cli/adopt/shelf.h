/*
 * shelf.h - the artifacts of one adopted directory in the store, and on a server if the environment names one.
 */
#ifndef INGOT_CLI_ADOPT_SHELF_H
#define INGOT_CLI_ADOPT_SHELF_H

#include <ingot/artifact.h>
#include <stdbool.h>

#include "cli/adopt/identity.h"
#include "cli/adopt/kinds.h"

struct adopt_shelf {
    const struct adopt_kind *kind;
    struct adopt_identity identity;
    ingot_storage_t storage; /* NULL: not open */
    ingot_storage_t server;  /* NULL: none */
    bool is_read_only;       /* nothing is to be stored */
};

/* Opens the store that the environment names. Returns false, with a message, if it cannot be used for files that run as
 * code. */
bool adopt_shelf_open(struct adopt_shelf *shelf);
/* Waits until a server has everything. */
void adopt_shelf_close(struct adopt_shelf *shelf);

/* Loads the artifact of a path. "" is the path of the listing. The caller calls the value's release function. */
bool adopt_shelf_load(const struct adopt_shelf *shelf, const char *path, ingot_buffer_t *value);
/* Stores it. Prints a message if that fails. */
bool adopt_shelf_store(const struct adopt_shelf *shelf, const char *path, size_t size, const void *bytes);

#endif
