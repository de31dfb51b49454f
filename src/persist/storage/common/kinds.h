/*
 * kinds.h - enumerates the kinds of storages, and the parts that other folders attach to them.
 */
#ifndef INGOT_PERSIST_STORAGE_COMMON_KINDS_H
#define INGOT_PERSIST_STORAGE_COMMON_KINDS_H

#include <errno.h>
#include <ingot/persist.h>
#include <stdbool.h>

/* The error code of INGOT_NO_SPACE if the limits that the user chose exclude a blob. For a flush, that is no failure.
 */
#define STORAGE_EXCLUDED_CODE ERANGE

/* The kind of a storage. STORAGE_OTHER includes the storages that applications implement. */
enum storage_kind { STORAGE_OTHER, STORAGE_DIRECTORY, STORAGE_BUNDLE };

/* The parts that other folders attach to a storage; see storage_make_part. */
enum storage_part { STORAGE_HEADERS, STORAGE_RECIPE, STORAGE_PART_COUNT };

struct build_locks;

/* What a storage of Ingot itself can do besides its ingot_storage_ops_t. Each field may be NULL. */
struct storage_own_ops {
    /* Does what `load` does, but need not check a blob's hash, because the core checks the blob before any other use.
     */
    ingot_status_t (*load_for_core)(void *self, size_t id_size, const uint8_t *id, ingot_buffer_t *blob);

    /* Does what `store` does, but a blob that is already stored under the id stays. */
    ingot_status_t (*store_new)(void *self, size_t id_size, const uint8_t *id, size_t blob_size, const uint8_t *blob);

    /* The next fields are those of a directory store; the last two are set only if it is writable. */

    /* Get and set the limits, which are part of the settings. */
    void (*get_limits)(void *self, ingot_persist_settings_t *settings);
    void (*set_limits)(void *self, const ingot_persist_settings_t *settings);
    const struct build_locks *build_locks; /* so that only one of several processes builds a program */
};

/* Settings that are numbers, which are 0 if they are not set. */
enum storage_setting { STORAGE_STORE_MODE, STORAGE_ON_MISS, STORAGE_SETTING_COUNT };

#endif
