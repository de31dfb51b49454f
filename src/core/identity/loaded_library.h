/*
 * loaded_library.h - examines the libraries that are loaded: which one contains a function, what it was linked with,
 * and its build-id.
 *
 * Everything is read from memory, where the running code is, because the file on disk may have been replaced. A library
 * without a build-id can only be identified by its file, so library_find_replaced tells whether it still is that file.
 */
#ifndef INGOT_CORE_IDENTITY_LOADED_LIBRARY_H
#define INGOT_CORE_IDENTITY_LOADED_LIBRARY_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the library that contains a function, or NULL if none does. */
struct link_map *library_of_function(const void *function);
/* Finds a loaded library by a name that dlopen would accept. The result is valid as long as libraries that need it
 * stay loaded. */
struct link_map *library_if_loaded(const char *name);
/* Loads a library. Sets *handle, which the caller passes to dlclose. Returns NULL if it cannot be loaded. */
struct link_map *library_open(const char *name, void **handle);

/* Returns a handle of the library that contains this function, or NULL. The caller passes the handle to dlclose. */
void *library_handle_of_own(void);
/* Writes the file names and SONAMEs of the loaded libraries, each followed by a NUL, if all fit in `capacity` bytes.
 * Returns the number of bytes that they need. */
size_t library_put_names(size_t capacity, char *names);

/* Returns the SONAME, or the file's name without its directories. Never NULL. */
const char *library_name(const struct link_map *library);
/* Returns the path of the library's file. */
const char *library_path(const struct link_map *library);
/* Returns the library's DT_NEEDED entry number `index`, counted from 0, or NULL if there are fewer. */
const char *library_needed(const struct link_map *library, size_t index);
/* Finds the GNU build-id in the content of an ELF note segment. Returns false if there is none. */
bool library_find_build_id(size_t size, const uint8_t *notes, size_t wanted_alignment, const uint8_t **id,
                           size_t *id_size);
/* Finds a library's GNU build-id. Returns false if there is none. */
bool library_build_id(const struct link_map *library, const uint8_t **id, size_t *size);

/* Returns one of the libraries whose file was removed or replaced by another file since it was loaded, or NULL if there
 * is none, as far as the system tells. A file that is written in place is not replaced. */
const struct link_map *library_find_replaced(size_t count, const struct link_map *const *libraries);

#endif
