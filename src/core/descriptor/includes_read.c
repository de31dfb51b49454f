/*
 * includes_read.c - reads the files that a descriptor's sources include again; see includes.h.
 */
#include "core/base/error.h"
#include "core/descriptor/desc_texts.h"
#include "core/descriptor/includes.h"

ingot_status_t ingot_includes_read(ingot_includes_t *includes, const_ingot_program_desc_t desc)
{
    struct include_record record;
    if (includes == NULL || desc == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "includes or desc is NULL");
    if (program_desc_is_of_id(desc))
        return error_set(INGOT_NOT_FOUND, "the descriptor was made from an id alone");
    if (desc->not_cacheable != NULL)
        return error_set(INGOT_NOT_CACHEABLE, "%s", desc->not_cacheable);
    if (desc->files_size == 0) {
        *includes = NULL;
        return INGOT_SUCCESS;
    }
    if (desc->includes != NULL) {
        includes_reference(desc->includes);
        *includes = desc->includes;
        return INGOT_SUCCESS;
    }
    include_record_init(&record, &desc->context->allocator);
    ingot_status_t status = desc_texts_record(desc, &record);
    if (status == INGOT_SUCCESS)
        status = includes_of_record(includes, &record, &desc->context->allocator);
    include_record_fini(&record);
    return status;
}
