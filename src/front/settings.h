/*
 * settings.h - opens the storages of a cache as its info and the environment say.
 */
#ifndef INGOT_CACHE_SETTINGS_H
#define INGOT_CACHE_SETTINGS_H

#include <ingot/cache.h>
#include <ingot/persist.h>
#include <stdbool.h>

/* Checks the fields that do not depend on the environment. */
ingot_status_t settings_check(const ingot_cache_info_t *info);

/* True if this environment variable turns something off. */
bool settings_turn_off(const ingot_cache_info_t *info, const char *name);

/* Returns what to do about a program that the cache does not have. */
ingot_persist_on_miss_t settings_on_miss(const ingot_cache_info_t *info);

/* Returns how many builders may work; 0: none. */
uint64_t settings_builders(const ingot_cache_info_t *info);

/* Opens the directory store. */
ingot_status_t settings_open_directory(const ingot_cache_info_t *info, ingot_storage_t *storage);

/* Opens the remote tier. Returns INGOT_NOT_FOUND if no server is named. */
ingot_status_t settings_open_remote(const ingot_cache_info_t *info, ingot_storage_t *storage);

/* Returns the value of an environment variable, or NULL if it is unset or empty, or if the cache does not read it. */
const char *settings_variable(const ingot_cache_info_t *info, const char *name);

#endif
