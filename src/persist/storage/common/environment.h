/*
 * environment.h - reads the settings of persistence from the environment.
 */
#ifndef INGOT_PERSIST_STORAGE_COMMON_ENVIRONMENT_H
#define INGOT_PERSIST_STORAGE_COMMON_ENVIRONMENT_H

#include <ingot/persist.h>

/* Returns the value of an environment variable, or NULL. */
typedef const char *(*environment_lookup_t)(const char *name, void *user);

/* Does what ingot_persist_open_from_environment does, but looks up variables with the caller's function. */
ingot_status_t persist_environment_open(ingot_storage_t *storage, const ingot_persist_info_t *defaults,
                                        environment_lookup_t lookup, void *user);

#endif
