/*
 * recipe_call.h - declares a function of the OpenCL layer that the tool calls for its command `ingot build`.
 *
 * The tool gets the function from clGetExtensionFunctionAddressForPlatform, by name. It gets NULL if the layer is not
 * loaded. If the signature changes, the name must change too, because the tool and the layer may be of different
 * versions.
 */
#ifndef INGOT_UTIL_RECIPE_CALL_H
#define INGOT_UTIL_RECIPE_CALL_H

#include <stddef.h>
#include <stdint.h>

#define RECIPE_CALL_NAME "clCreateProgramOfRecipe1INGOT"

/* Creates an object of a recipe (ingot/recipe.h), which the caller can pass to clLinkProgram. Loads the object from the
 * store, or compiles it. `context` is a cl_context, `path` is the recipe's file, and `key` is the object's key in the
 * recipe. Included files come from the recipe only, and no file of this machine is read. Returns a cl_program, which
 * the caller releases. On failure, for example if the layer does not cache programs of the context's platform, returns
 * NULL and writes an error message to `reason`. */
typedef void *(*recipe_call_t)(void *context, const char *path, const uint8_t *key, size_t reason_size, char *reason);

#endif
