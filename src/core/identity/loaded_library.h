/*
 * loaded_library.h - libraries in this process: which one holds a function, what it was linked with, its build-id.
 *
 * Everything is read from memory, where the running code is, because the file on disk may have been replaced.
 */
#ifndef INGOT_CORE_IDENTITY_LOADED_LIBRARY_H
#define INGOT_CORE_IDENTITY_LOADED_LIBRARY_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns NULL if no library holds it. */
struct link_map *library_of_function(const void *function);
/* Finds a loaded library by a name that dlopen would accept. It stays loaded as long as the libraries that need it. */
struct link_map *library_if_loaded(const char *name);
/* Loads a library; *handle is for dlclose. Returns NULL if it cannot be loaded. */
struct link_map *library_open(const char *name, void **handle);

/* Returns the SONAME, or the file's name without its directories. Never NULL. */
const char *library_name(const struct link_map *library);
/* Returns the path of the library's file. */
const char *library_path(const struct link_map *library);
/* Returns the index-th DT_NEEDED, or NULL after the last. */
const char *library_needed(const struct link_map *library, size_t index);
/* Finds the GNU build-id; false if there is none. */
bool library_build_id(const struct link_map *library, const uint8_t **id, size_t *size);

#endif
