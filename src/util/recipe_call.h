/*
 * recipe_call.h - a function of the OpenCL layer for `ingot build`.
 *
 * clGetExtensionFunctionAddressForPlatform returns it by its name if the layer is loaded, and NULL otherwise. Another
 * signature needs another name, because the tool and the layer may be of different versions.
 */
#ifndef INGOT_UTIL_RECIPE_CALL_H
#define INGOT_UTIL_RECIPE_CALL_H

#include <stddef.h>
#include <stdint.h>

#define RECIPE_CALL_NAME "clCreateProgramOfRecipe1INGOT"

/* Compiles an object of a recipe, or loads it from the store. The sources include the recipe's files alone, and no file
 * of this machine is read. Returns a cl_program, which the caller releases. NULL, with a sentence: it could not be
 * made, for example because the layer caches no programs of the context's platform. */
typedef void *(*recipe_call_t)(void *context, const char *path, const uint8_t *key, size_t reason_size, char *reason);

#endif
