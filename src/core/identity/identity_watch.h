/*
 * identity_watch.h - remembers the files and environment variables from which a device's identity was made, and tells
 * whether they have changed.
 *
 * An identity is made once per context, but some compilers read these files and variables for each program. If one has
 * changed, the identity does not identify what the compiler used.
 */
#ifndef INGOT_CORE_IDENTITY_IDENTITY_WATCH_H
#define INGOT_CORE_IDENTITY_IDENTITY_WATCH_H

#include <ingot/backend.h>

#include "core/base/bytes.h"

/* Appends a file's state. Called before the file is read. */
void identity_watch_file(struct bytes_writer *watched, const char *path);
/* Appends names as ingot_identity_add_environment takes them, and the text that they led to. */
void identity_watch_environment(struct bytes_writer *watched, const char *const *names, size_t size, const char *text);
/* Returns what has changed, as a clause (a static string), or NULL if nothing has. */
const char *identity_watch_check(size_t size, const uint8_t *watched, const ingot_allocator_t *allocator);

/* environment_identity.c: appends the environment variables with these names, sorted, each followed by a newline except
 * for the last. */
ingot_status_t environment_put(struct bytes_writer *text, const char *const *names);

#endif
