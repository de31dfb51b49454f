/*
 * loaded_library.h - examines this process's libraries: which one contains a function, what it was linked with, and its
 * build-id.
 *
 * Everything is read from memory, where the running code is, because the file on disk may have been replaced.
 */
#ifndef INGOT_CORE_IDENTITY_LOADED_LIBRARY_H
#define INGOT_CORE_IDENTITY_LOADED_LIBRARY_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the library that holds a function, or NULL if none does. */
struct link_map *library_of_function(const void *function);
/* Finds a loaded library by a name that dlopen would accept. It stays loaded as long as the libraries that need it. */
struct link_map *library_if_loaded(const char *name);
/* Loads a library; *handle is for dlclose. Returns NULL if it cannot be loaded. */
struct link_map *library_open(const char *name, void **handle);

/* Returns dlopen's handle of the library that contains this function, for dlclose, or NULL. */
void *library_handle_of_own(void);
/* Writes the file names and SONAMEs of the loaded libraries, each with its NUL, if all fit into the capacity. Returns
 * their total size in bytes. */
size_t library_put_names(size_t capacity, char *names);

/* Returns the SONAME, or the file's name without its directories. Never NULL. */
const char *library_name(const struct link_map *library);
/* Returns the path of the library's file. */
const char *library_path(const struct link_map *library);
/* Returns the index-th DT_NEEDED, or NULL after the last. */
const char *library_needed(const struct link_map *library, size_t index);
/* Finds the GNU build-id in notes. Returns false if there is none. */
bool library_find_build_id(size_t size, const uint8_t *notes, size_t wanted_alignment, const uint8_t **id,
                           size_t *id_size);
/* Finds a library's GNU build-id. Returns false if there is none. */
bool library_build_id(const struct link_map *library, const uint8_t **id, size_t *size);

#endif
