/*
 * stale.h - finds, in the recipes that a store keeps, the programs that the store's entries were compiled from.
 *
 * An entry names the device that it was built for, independently of the driver's version. A program is stale if the
 * store has it for a device, but not for the device's current driver. Only a worker process can find that out, because
 * it loads the driver.
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
    uint64_t unrecorded_count; /* programs that the recipe names but that cannot be built from one */
    uint64_t unknown_count;    /* entries whose program the recipe does not have */
};

struct stale {
    struct stale_part *parts;
    size_t part_count;
    bool has_unusable; /* a recipe cannot be used */
};

/* Reads the store. A recipe that is damaged or cannot be used causes a message. Returns EXIT_DONE, or EXIT_FAILED after
 * a message. */
int stale_open(struct stale *stale, ingot_storage_t store);
void stale_close(struct stale *stale);

#endif
