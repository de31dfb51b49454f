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

/* ---- writing --------------------------------------------------------------------------------------------- */

/** A writer, which appends programs to a recipe file. Any number of threads and processes may do so at once. */
typedef struct ingot_recipe_writer *ingot_recipe_writer_t;

/** Configuration of a writer. */
typedef struct ingot_recipe_writer_info {
    size_t struct_size;
    const char *path;   /**< Created (0600) if missing; its directory must exist. Copied. Required. */
    uint64_t max_bytes; /**< Size of the file; 0: 256 MiB. At most 1 GiB. */
    /** How long an addition may wait while another process appends; 0: 200 ms. */
    uint32_t lock_timeout_ms;
    /** Receives an event with the reason if a recording storage could not record a program. NULL: none. */
    ingot_event_callback_t on_event;
    void *on_event_user;
} ingot_recipe_writer_info_t;
#define INGOT_RECIPE_WRITER_INFO_INIT                                                                                  \
    {                                                                                                                  \
        sizeof(ingot_recipe_writer_info_t), NULL, 0, 0, NULL, NULL                                                     \
    }

/**
 * Opens a recipe file for appending. If a killed process left an unfinished record at its end, the next addition
 * overwrites that record.
 *
 * @retval INGOT_UNTRUSTED  Not a plain file, or owned by another user, or writable by others.
 * @retval INGOT_NOT_FOUND  The directory is missing.
 * @retval INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT  Not a recipe file, or one that is damaged in such a way that its
 * end is unknown. `ingot recipe merge` copies what is readable into a new file.
 * @retval INGOT_BLOB_VERSION  A recipe of a format version that this library does not read.
 * @retval INGOT_NO_SPACE   The file, or the number or size of its records, exceeds the format's limits.
 * @retval INGOT_READ_ONLY, INGOT_BUSY, INGOT_INVALID_ARGUMENTS, INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_recipe_writer_open(ingot_recipe_writer_t *writer,
                                                  const ingot_recipe_writer_info_t *info);
/** Releases the writer. Storages that record with it keep their own references. Every addition has already been
 *  written. Does nothing for NULL. */
INGOT_API void ingot_recipe_writer_release(ingot_recipe_writer_t writer);

/* ---- recording ------------------------------------------------------------------------------------------- */

/**
 * Records the programs that ingot_persist_program_create loads or compiles with this storage from now on, each before
 * the call returns. Programs that are found in memory were recorded when they were created.
 *
 * Recording never makes a request fail. If a program cannot be recorded, the writer's on_event receives an
 * INGOT_EVENT_STORAGE_DEGRADED with the status and the reason, once per status. A storage that was opened with
 * INGOT_RECIPE in the environment (doc/environment.md) records already. If a chain does not record, the tier in
 * which it stores records what is requested from the chain.
 *
 * @param[in] writer  Referenced by the storage. NULL: ends recording.
 * @par Threads  Any number at once.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_recipe_record(ingot_storage_t storage, ingot_recipe_writer_t writer);

#ifdef __cplusplus
}
#endif

#endif
