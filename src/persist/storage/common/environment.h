/*
 * environment.h - reads the settings of persistence from the environment.
 */
#ifndef INGOT_PERSIST_STORAGE_COMMON_ENVIRONMENT_H
#define INGOT_PERSIST_STORAGE_COMMON_ENVIRONMENT_H

#include <ingot/persist.h>

/* Returns the value of an environment variable, or NULL. */
typedef const char *(*environment_lookup_t)(const char *name, void *user);

/* Does what ingot_persist_info_from_environment does, but looks up variables with the caller's function, for tests. */
ingot_status_t persist_environment_read(ingot_persist_info_t *info, size_t path_capacity, char *path,
                                        environment_lookup_t lookup, void *user);

#endif
