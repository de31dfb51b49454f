/*
 * blobs.h - loads programs from a storage, and removes blobs that cannot be used; storage.h has the other loads and
 * stores.
 */
#ifndef INGOT_PERSIST_STORAGE_BLOBS_H
#define INGOT_PERSIST_STORAGE_BLOBS_H

#include <ingot/private/program.h>
#include <ingot/storage.h>
#include <stdbool.h>

/* Loads a blob from the storage and reports the load to the context. with_core: a directory store does not check the
 * bytes here, so the caller may only pass the blob to storage_make_program, where the core checks them. */
ingot_status_t storage_load_blob(ingot_storage_t storage, const struct ingot_context *context, bool with_core,
                                 size_t id_size, const uint8_t *id, ingot_buffer_t *blob);
/* Creates the program from a blob, or only the native program if `native` is not NULL. If the blob is damaged, loads it
 * from the storage again, this time with a check. If the core or the driver refuses the blob, calls storage_reject. */
ingot_status_t storage_make_program(ingot_storage_t storage, ingot_program_t *program, void **native,
                                    const_ingot_program_desc_t desc, size_t id_size, const uint8_t *id,
                                    const ingot_buffer_t *blob);
/* Counts a useless blob, of a program or an artifact, and removes it. If it cannot be removed, reports that. */
void storage_reject(ingot_storage_t storage, size_t id_size, const uint8_t *id);
/* True if the core or the driver refused a blob with this status. */
bool storage_is_refusal(ingot_status_t status);

#endif
