/*
 * side_entry.c - entries of the store that the layer keeps beside a program's; see side_entry.h.
 */
#include "layers/opencl/compiler/side_entry.h"

#include <ingot/private/descriptor.h>
#include <stdlib.h>

/* Returns the entry's id, which the caller frees, or NULL. */
static uint8_t *make_entry_id(const char *kind, const_ingot_program_desc_t desc, size_t *size)
{
    const uint8_t *program = NULL;
    ingot_artifact_field_t field = {"program", 0, NULL};
    ingot_artifact_key_t key = INGOT_ARTIFACT_KEY_INIT;
    if (ingot_program_desc_get_cache_blob_id(desc, &field.size, &program) != INGOT_SUCCESS)
        return NULL;
    field.value = program;
    key.kind = kind;
    key.field_count = 1;
    key.fields = &field;
    if (ingot_artifact_key_get_id(&key, size, NULL) != INGOT_SUCCESS)
        return NULL;
    uint8_t *id = malloc(*size);
    if (id != NULL && ingot_artifact_key_get_id(&key, size, id) != INGOT_SUCCESS) {
        free(id);
        id = NULL;
    }
    return id;
}

ingot_status_t side_entry_load(ingot_storage_t store, const char *kind, const_ingot_program_desc_t desc,
                               ingot_buffer_t *value)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    size_t size = 0;
    uint8_t *id = store != NULL ? make_entry_id(kind, desc, &size) : NULL;
    if (id == NULL)
        return INGOT_NOT_FOUND;
    ingot_status_t status = ingot_storage_load(store, size, id, &blob);
    if (status == INGOT_SUCCESS)
        status = ingot_artifact_unpack(size, id, &blob, value);
    if (blob.release != NULL)
        blob.release(&blob);
    free(id);
    return status;
}

void side_entry_store(ingot_storage_t store, const char *kind, const_ingot_program_desc_t desc,
                      const ingot_artifact_info_t *info, size_t size, const void *bytes)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    size_t id_size = 0;
    uint8_t *id = store != NULL ? make_entry_id(kind, desc, &id_size) : NULL;
    if (id != NULL && ingot_artifact_pack(id_size, id, info, size, bytes, &blob) == INGOT_SUCCESS)
        (void)ingot_storage_store(store, id_size, id, blob.size, blob.bytes);
    if (blob.release != NULL)
        blob.release(&blob);
    free(id);
}

void side_entry_remove(ingot_storage_t store, const char *kind, const_ingot_program_desc_t desc)
{
    size_t size = 0;
    uint8_t *id = store != NULL ? make_entry_id(kind, desc, &size) : NULL;
    if (id != NULL)
        (void)ingot_storage_remove(store, size, id);
    free(id);
}
