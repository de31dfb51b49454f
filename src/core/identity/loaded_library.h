/*
 * loaded_library.h - libraries in this process: which one holds a function, what it was linked with, its build-id.
 *
 * Everything is read from memory, where the running code is: a file on disk may have been replaced since.
 */
#ifndef INGOT_CORE_IDENTITY_LOADED_LIBRARY_H
#define INGOT_CORE_IDENTITY_LOADED_LIBRARY_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NULL where no library holds it. */
struct link_map *library_of_function(const void *function);
/* By a name as dlopen takes it, if it is loaded. The library stays as long as whoever needs it does. */
struct link_map *library_if_loaded(const char *name);
/* Loads it; *handle is for dlclose. NULL where it is not there. */
struct link_map *library_open(const char *name, void **handle);

/* The SONAME, else the file's name without its directories. Never NULL. */
const char *library_name(const struct link_map *library);
/* The path to read it from. */
const char *library_path(const struct link_map *library);
/* The index-th DT_NEEDED, or NULL after the last. */
const char *library_needed(const struct link_map *library, size_t index);
/* The GNU build-id; false where there is none. */
bool library_build_id(const struct link_map *library, const uint8_t **id, size_t *size);

#endif
