/*
 * stale.h - finds, in the recipes that a store keeps, the programs that the store's entries were compiled from.
 *
 * An entry names the device that it was built for, and the name does not depend on the driver's version. A program is
 * stale if the store has it for a device, but not for the device's current driver. Only a worker process can find that
 * out, because only workers load drivers.
 */
#ifndef INGOT_CLI_COMMANDS_RECIPE_STALE_H
#define INGOT_CLI_COMMANDS_RECIPE_STALE_H

#include <ingot/persist.h>

#include <stdbool.h>

#include "cli/build/plan.h"

/* A namespace of the store, and the programs of its recipe, if it has one. */
struct stale_part {
    char *name_space;          /* "": entries without a namespace */
    struct plan plan;          /* its programs, each with its devices */
    uint64_t unrecorded_count; /* programs that the recipe names but that cannot be built from a recipe */
    uint64_t unknown_count;    /* entries that are not in the recipe, or whose id does not name exactly one device */
};

struct stale {
    struct stale_part *parts;
    size_t part_count;
    bool has_unusable; /* true if a recipe cannot be used */
};

/* Reads the store. Prints a message for each recipe that is damaged or cannot be used. Returns EXIT_DONE; on failure,
 * prints a message and returns EXIT_FAILED. */
int stale_open(struct stale *stale, ingot_storage_t store);

#endif
