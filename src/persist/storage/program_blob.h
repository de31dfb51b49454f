/*
 * program_blob.h - the blob of a program: loading it from a storage, creating a program from it, and rejecting it.
 */
#ifndef INGOT_PERSIST_STORAGE_PROGRAM_BLOB_H
#define INGOT_PERSIST_STORAGE_PROGRAM_BLOB_H

#include <ingot/storage.h>
#include <stdbool.h>

/* Requests a blob from the storage and tells the context. A directory leaves the check of its bytes to the core, so the
 * blob is only for storage_make_program. */
ingot_status_t storage_load_blob(ingot_storage_t storage, const struct ingot_context *context, size_t id_size,
                                 const uint8_t *id, ingot_buffer_t *blob);
/* Creates the program from a blob, or from what the storage has after a check if that one is damaged; a refused blob is
 * rejected. */
ingot_status_t storage_make_program(ingot_storage_t storage, ingot_program_t *program, const_ingot_program_desc_t desc,
                                    size_t id_size, const uint8_t *id, const ingot_buffer_t *blob);
/* Counts a useless blob and removes it. If it cannot be removed, tells the context. */
void storage_reject(ingot_storage_t storage, const struct ingot_context *context, size_t id_size, const uint8_t *id);
/* True if the core or the driver refused a blob with this status. */
bool storage_is_refusal(ingot_status_t status);

#endif
