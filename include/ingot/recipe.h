/* SPDX-License-Identifier: MIT */
/* INGOT_EXPERIMENTAL: may change in any version. */
/**
 * @file recipe.h
 * Recipes: files that record what programs are compiled from, so that another process can compile them again. Library
 * ingot::persist.
 *
 * A storage that records appends each program that it compiles or loads to a recipe file. `ingot build` compiles the
 * programs of a recipe for the devices present and stores them under the same ids, so that the application compiles
 * nothing. A recipe contains sources and options, but no binaries. doc/recipe-format.md specifies the file.
 */
#ifndef INGOT_RECIPE_H
#define INGOT_RECIPE_H

#include <ingot/persist.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Recording configuration. */
typedef struct ingot_recipe_record_info {
    size_t struct_size;
    /** The recipe, created (0600) if missing; its directory must exist. Any number of threads and processes may append
     *  to it at once. Copied. Required. */
    const char *path;
    uint64_t max_bytes; /**< Size of the file; 0: 256 MiB. At most 1 GiB. */
    /** How long an addition may wait while another process appends; 0: 200 ms. */
    uint32_t lock_timeout_ms;
    /** Receives an event with the reason if a program could not be recorded. NULL: none. */
    ingot_event_callback_t on_event;
    void *on_event_user;
} ingot_recipe_record_info_t;
#define INGOT_RECIPE_RECORD_INFO_INIT                                                                                  \
    {                                                                                                                  \
        sizeof(ingot_recipe_record_info_t), NULL, 0, 0, NULL, NULL                                                     \
    }

/**
 * Records the programs that ingot_persist_program_create loads or compiles with this storage from now on, each before
 * the call returns. Programs that are found in memory were recorded when they were created.
 *
 * Recording never makes a request fail. If a program cannot be recorded, on_event receives an
 * INGOT_EVENT_STORAGE_DEGRADED with the status and the reason, once per status. A storage that was opened with
 * INGOT_RECIPE in the environment (doc/environment.md) records already. If a chain does not record, the tier in
 * which it stores records what is requested from the chain. If a killed process left an unfinished record at the end of
 * the file, the next addition overwrites that record.
 *
 * @param[in] info  NULL: ends recording. A new recording also ends the current one.
 * @par Threads  Any number at once.
 * @retval INGOT_UNTRUSTED  Not a plain file, or owned by another user, or writable by others.
 * @retval INGOT_NOT_FOUND  The directory is missing.
 * @retval INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT  Not a recipe file, or one that is damaged in such a way that its
 * end is unknown. `ingot recipe merge` copies what is readable into a new file.
 * @retval INGOT_BLOB_VERSION  A recipe of a format version that this library does not read.
 * @retval INGOT_NO_SPACE   The file, or the number or size of its records, exceeds the format's limits.
 * @retval INGOT_READ_ONLY, INGOT_BUSY, INGOT_INVALID_ARGUMENTS, INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_recipe_record(ingot_storage_t storage, const ingot_recipe_record_info_t *info);

#ifdef __cplusplus
}
#endif

#endif
