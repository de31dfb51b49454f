/*
 * built_for.h - finds the names of the device and of the driver's version in an id, to show them to users.
 */
#ifndef INGOT_PERSIST_RECIPE_FORMAT_BUILT_FOR_H
#define INGOT_PERSIST_RECIPE_FORMAT_BUILT_FOR_H

#include <stddef.h>
#include <stdint.h>

/* Writes the name of the id's first device and the version of its driver. Leaves out what the id does not have. */
void built_for(size_t id_size, const uint8_t *id, size_t capacity, char *text);

#endif
