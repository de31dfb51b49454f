/*
 * includes.h - what a text includes, as far as it can be told without a compiler.
 */
#ifndef INGOT_LAYERS_OPENCL_OBJECTS_INCLUDES_H
#define INGOT_LAYERS_OPENCL_OBJECTS_INCLUDES_H

#include "layers/opencl/objects/object.h"

#include <stdbool.h>

/* True if the compiler may read a file for a text or for one of its headers: it has the word `include` anywhere except
 * in a plain directive with the exact name of a header. Also true without memory. */
bool includes_may_read_file(const char *text, const struct object_headers *headers);

#endif
