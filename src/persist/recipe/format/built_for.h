/*
 * built_for.h - the device and the driver that an id names, for people.
 */
#ifndef INGOT_PERSIST_RECIPE_FORMAT_BUILT_FOR_H
#define INGOT_PERSIST_RECIPE_FORMAT_BUILT_FOR_H

#include <stddef.h>
#include <stdint.h>

/* Writes the names of the id's first device and of its driver's version, as far as it has them; "" otherwise. */
void built_for(size_t id_size, const uint8_t *id, size_t capacity, char *text);

#endif
