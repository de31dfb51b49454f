/*
 * store.h - opening the store that the options or the environment name, and telling what failed.
 */
#ifndef INGOT_CLI_STORE_H
#define INGOT_CLI_STORE_H

#include <ingot/persist.h>
#include <stdbool.h>

#include "cli/options.h"

/* What for. Only STORE_MAKE makes a store where there is none. */
enum store_access { STORE_READ, STORE_WRITE, STORE_MAKE };

/* order NULL: the environment's. Returns EXIT_DONE, or after a message another exit_code. */
int store_open(ingot_storage_t *storage, const struct common_options *options, enum store_access store_access,
               const ingot_persist_eviction_t *order);

/* Says on standard error what failed, with the library's sentence, and returns EXIT_FAILED. */
int store_failed(const char *doing, ingot_status_t status);

#endif
