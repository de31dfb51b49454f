/*
 * artifact_value.c - takes artifacts out of their envelopes. The buffer of an artifact owns the buffer of its envelope.
 */
#include <stdlib.h>
#include <string.h>

#include "core/artifact/artifact_blob.h"
#include "core/base/digest.h"
#include "core/base/error.h"
#include "util/struct_size.h"

struct value {
    ingot_buffer_t blob;
    ingot_artifact_info_t info; /* points into the blob and to `parts` */
    ingot_artifact_part_t parts[];
};

static void release_value(ingot_buffer_t *buffer)
{
    struct value *value = buffer->owner;
    if (value->blob.release != NULL)
        value->blob.release(&value->blob);
    free(value);
    *buffer = (ingot_buffer_t)INGOT_BUFFER_INIT;
}

static void describe_artifact(struct value *value, const struct artifact_view *view)
{
    const char *name = view->part_names;
    for (uint32_t i = 0; i < view->part_count; ++i) {
        value->parts[i] = (ingot_artifact_part_t){name, artifact_blob_part_size(view, i)};
        name += strlen(name) + 1;
    }
    value->info = (ingot_artifact_info_t){
        .struct_size = sizeof(value->info),
        .label = view->label,
        .make_time_ms = view->make_time_ms,
        .part_count = view->part_count,
        .parts = value->parts,
        .kind = view->kind,
        .made_at_unix_ms = view->made_at_unix_ms,
    };
}

ingot_status_t ingot_artifact_unpack(size_t id_size, const uint8_t *id, ingot_buffer_t *blob, ingot_buffer_t *value)
{
    struct artifact_view view;
    uint8_t digest[DIGEST_SIZE];
    if (id == NULL || blob == NULL || value == NULL || (blob->bytes == NULL && blob->size != 0))
        return error_set(INGOT_INVALID_ARGUMENTS, "id, blob or value is NULL");
    const ingot_status_t status = artifact_blob_read(&view, blob->size, blob->bytes);
    if (status != INGOT_SUCCESS)
        return status;
    digest_of(id_size, id, digest);
    if (memcmp(digest, view.id_digest, DIGEST_SIZE) != 0)
        return error_set(INGOT_BLOB_MISMATCH, "the envelope is that of another artifact");
    struct value *made = malloc(sizeof(*made) + view.part_count * sizeof(made->parts[0]));
    if (made == NULL)
        return error_out_of_memory();
    describe_artifact(made, &view);
    made->blob = *blob;
    *blob = (ingot_buffer_t)INGOT_BUFFER_INIT;
    *value = (ingot_buffer_t){view.size, view.bytes, release_value, made};
    return INGOT_SUCCESS;
}

ingot_status_t ingot_artifact_get_info(const ingot_buffer_t *value, ingot_artifact_info_t *info)
{
    if (value == NULL || value->release != release_value)
        return error_set(INGOT_INVALID_ARGUMENTS, "value is NULL, or is not the value of an artifact");
    if (!STRUCT_WRITE(info, ((const struct value *)value->owner)->info))
        return error_set(INGOT_INVALID_ARGUMENTS, "info is NULL, or its struct_size is not set");
    return INGOT_SUCCESS;
}
