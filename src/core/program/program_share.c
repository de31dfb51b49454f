/*
 * program_share.c - makes a program for one descriptor from a program of another descriptor with an equal id.
 *
 * Equal ids mean equal build results, so both programs can use the same native program. The new program holds a
 * reference to the program that owns the native one. That program is never itself a program made by sharing, so there
 * are no chains.
 */
#include <string.h>

#include "core/base/error.h"
#include "core/descriptor/cache_blob_id.h"
#include "core/program/program.h"

static bool has_device(const struct ingot_program_desc *desc, uint32_t device)
{
    for (size_t i = 0; i < desc->device_count; ++i) {
        if (desc->device_indices[i] == device)
            return true;
    }
    return false;
}

static ingot_status_t check(const struct ingot_program_desc *desc, const struct program_body *other)
{
    const struct cache_blob_id *wanted = NULL;
    const struct cache_blob_id *found = NULL;

    if (other->desc->context != desc->context)
        return error_set(INGOT_INVALID_ARGUMENTS, "the other program is of another context");
    if (other->is_native)
        return error_set(INGOT_NOT_CACHEABLE, "the other program has no id: %s", program_native_reason(other));
    for (size_t i = 0; i < desc->device_count; ++i) {
        if (!has_device(other->desc, desc->device_indices[i]))
            return error_set(INGOT_NOT_FOUND, "the other program was not made for device %u",
                             (unsigned)desc->device_indices[i]);
    }
    ingot_status_t status = cache_blob_id_get(desc, &wanted);
    if (status == INGOT_SUCCESS)
        status = cache_blob_id_get(other->desc, &found);
    if (status != INGOT_SUCCESS)
        return status;
    return wanted->size == found->size && memcmp(wanted->bytes, found->bytes, wanted->size) == 0
               ? INGOT_SUCCESS
               : error_set(INGOT_BLOB_MISMATCH, "the other program has another id");
}

ingot_status_t ingot_program_share(ingot_program_t *program, const_ingot_program_desc_t desc, ingot_program_t other)
{
    if (program == NULL || desc == NULL || other == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "program, desc or other is NULL");
    const struct program_body *body = program_body(other);
    const ingot_status_t status = check(desc, body);
    if (status != INGOT_SUCCESS)
        return status;
    const char *source_name = program_source_name(body);
    const struct program_parts parts = {.native = body->native,
                                        .owner = body->owner != NULL ? body->owner : other,
                                        .names_size = body->names_size,
                                        .names = body->names,
                                        .log_size = body->log_size - 1,
                                        .log = program_log(body),
                                        .device_bytes = atomic_load_explicit(&body->device_bytes, memory_order_relaxed),
                                        .is_from_blob = body->is_from_blob,
                                        .build_ns = body->build_ns,
                                        .source_name_size = strlen(source_name),
                                        .source_name = source_name};
    ingot_program_retain(parts.owner);
    return program_create(program, desc, &parts);
}
