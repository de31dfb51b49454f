/*
 * stale.h - finds what the entries of a store are compiled from, in the recipes that the store keeps.
 *
 * An entry names the device that it was built for, independently of the driver's version. A program is stale if the
 * store has it for a device, but lacks it for the device's current driver. Only a worker process can determine that.
 */
#ifndef INGOT_CLI_COMMANDS_RECIPE_STALE_H
#define INGOT_CLI_COMMANDS_RECIPE_STALE_H

#include <ingot/persist.h>

#include <stdbool.h>

#include "cli/build/plan.h"

/* A namespace that keeps a recipe. */
struct stale_part {
    char *name_space;          /* "" without */
    struct plan plan;          /* its programs, each with its devices */
    uint64_t unrecorded_count; /* programs that were requested there but cannot be built from a recipe */
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
