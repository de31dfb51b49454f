/*
 * plan.h - collects the distinct programs of several recipe files.
 */
#ifndef INGOT_CLI_BUILD_PLAN_H
#define INGOT_CLI_BUILD_PLAN_H

#include <ingot/private/recipe.h>
#include <stdbool.h>
#include <stddef.h>

enum { PLAN_KEY_TEXT_SIZE = 2 * INGOT_RECIPE_KEY_SIZE + 1, PLAN_SHORT_KEY = 12 };

/* A device that a program was built for, according to the store. */
struct plan_device {
    char *text;      /* as in struct device */
    size_t platform; /* the offset in `text` at which " (PLATFORM)" begins */
};

struct plan_program {
    ingot_recipe_t recipe; /* borrowed from the plan */
    size_t index;          /* in the recipe */
    ingot_recipe_program_t facts;
    struct plan_device *devices; /* the only devices to build it for; NULL: all devices of its backend */
    size_t device_count;
};

struct plan {
    ingot_recipe_t *recipes;
    size_t recipe_count;
    struct plan_program *programs; /* each key once, the most expensive first */
    size_t program_count;
    size_t repeated_count; /* duplicates from other files, which plan_open puts behind the programs */
};

/* Reads the files. trust: the policy for the files' seals; NULL: no policy. Prints a message for damaged records.
 * Returns EXIT_DONE; on failure, prints a message and returns EXIT_NO_STORE. */
int plan_open(struct plan *plan, size_t path_count, char *const *paths, const ingot_persist_trust_t *trust);
/* Adds the programs of one recipe, in the recipe's order. Takes over the reference. Must not be called after
 * plan_open. */
void plan_add(struct plan *plan, ingot_recipe_t recipe, const ingot_recipe_summary_t *summary);
/* Sorts the programs by cost, the most expensive first. */
void plan_sort(struct plan *plan);

/* True if a program can be built. */
bool plan_can_build(const ingot_recipe_program_t *program);
/* True if the program should be built for `devices[device]`, provided that it can be built. If a device that it was
 * built for does not exist here, the devices of the same platform take its place: a driver may rename a device. */
bool plan_is_for(const struct plan_program *program, size_t device, size_t device_count, char *const *devices);

/* Prints a message if a recipe is damaged. */
void plan_tell_damage(const ingot_recipe_summary_t *summary, const char *path);
/* Opens one recipe. Prints a message if that fails or if the recipe is damaged. Returns the codes of plan_open. */
int plan_open_recipe(ingot_recipe_t *recipe, ingot_recipe_summary_t *summary, const char *path,
                     const ingot_persist_trust_t *trust);
/* Finds the only program whose key begins with these hexadecimal digits. If there are none or several, prints a message
 * and returns EXIT_FINDING. */
int plan_find_program(ingot_recipe_t recipe, const char *digits, ingot_recipe_program_t *program);
/* Returns "program" or "unrecorded". */
const char *plan_kind_name(ingot_recipe_kind_t kind);
/* Writes a key in hexadecimal digits. */
const char *plan_key_text(const uint8_t *key, char text[PLAN_KEY_TEXT_SIZE]);

#endif
