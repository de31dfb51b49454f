/*
 * handles.h - finds out which pointers are programs that the layer knows.
 *
 * The application may pass a shadow (shadow.h) or a driver's program. The layer must not read a driver's memory to find
 * out which one it is. So the layer keeps a table of its shadows and of the drivers' programs behind them. Callers of
 * these functions hold the lock.
 */
#ifndef INGOT_LAYERS_OPENCL_PROGRAM_HANDLES_H
#define INGOT_LAYERS_OPENCL_PROGRAM_HANDLES_H

#include <stddef.h>

struct shadow;

/* An entry of the table. It is a part of its shadow. */
struct handle {
    const void *key; /* NULL: not in the table */
    struct shadow *shadow;
    struct handle *next;
};

/* Adds a handle, whose key must not be in the table yet. */
void handles_add(struct handle *handle, const void *key, struct shadow *shadow);
/* Removes a handle. Does nothing if it is not in the table. */
void handles_remove(struct handle *handle);
struct shadow *handles_find(const void *key);

#endif
