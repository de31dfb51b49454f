/*
 * includes_read.c - reads the files that a descriptor's sources include, for an includes object; see includes.h.
 */
#include "core/base/error.h"
#include "core/descriptor/desc_texts.h"
#include "core/descriptor/includes.h"
#include "util/struct_size.h"

/* Makes includes from a record, and checks that resolving with them gives the descriptor's program. The result may
 * differ, because a search also reads files that no include leads to. These are not recorded, but they can affect
 * where other includes lead. */
static ingot_status_t make_checked(ingot_includes_t *includes, const struct include_record *record,
                                   const struct ingot_program_desc *desc)
{
    ingot_includes_t made = NULL;
    bool is_same = false;
    const ingot_includes_info_t info = {.struct_size = sizeof(info),
                                        .files = (const ingot_source_t *)(const void *)record->files.bytes,
                                        .file_count = record->file_count,
                                        .numbers = (const uint32_t *)(const void *)record->numbers.bytes,
                                        .number_count = record->numbers.size / sizeof(uint32_t),
                                        .names_matter = record->names_matter,
                                        .directory_matters = record->directory_matters};
    ingot_status_t status = includes_of_info(&made, &info, &desc->context->allocator);
    if (status == INGOT_SUCCESS)
        status = desc_texts_repeat(desc, made, NULL, &is_same);
    if (status == INGOT_SUCCESS && !is_same)
        status = error_set(INGOT_NOT_CACHEABLE, "files that the sources do not include affect what they include");
    if (status != INGOT_SUCCESS) {
        ingot_includes_release(made);
        return status;
    }
    *includes = made;
    return INGOT_SUCCESS;
}

/* Sets *includes to NULL if the descriptor has no includes. */
static ingot_status_t read_includes(ingot_includes_t *includes, const struct ingot_program_desc *desc)
{
    struct include_record record;
    bool is_same = false;
    if (desc->includes != NULL) {
        includes_reference(desc->includes);
        *includes = desc->includes;
        return INGOT_SUCCESS;
    }
    *includes = NULL;
    if (desc->digests_size == 0 && !program_desc_may_include(desc))
        return INGOT_SUCCESS;
    include_record_init(&record, &desc->context->allocator);
    ingot_status_t status = desc_texts_repeat(desc, NULL, &record, &is_same);
    if (status == INGOT_SUCCESS && !is_same)
        status = error_set(INGOT_BLOB_STALE, "a file that the sources include changed since the descriptor was made");
    if (status == INGOT_SUCCESS)
        status = include_record_close(&record);
    if (status == INGOT_INVALID_ARGUMENTS)
        status = error_set(INGOT_NOT_CACHEABLE, "an included file contains a NUL byte");
    if (status == INGOT_SUCCESS && (desc->digests_size != 0 || record.answers.size != 0))
        status = make_checked(includes, &record, desc);
    include_record_fini(&record);
    return status;
}

ingot_status_t ingot_includes_read(ingot_includes_t *includes, ingot_includes_info_t *info,
                                   const_ingot_program_desc_t desc)
{
    ingot_includes_t read = NULL;
    if (includes == NULL || desc == NULL || !STRUCT_IS_SET(info))
        return error_set(INGOT_INVALID_ARGUMENTS, "includes, desc or info is NULL, or its struct_size is not set");
    if (desc->not_cacheable != NULL)
        return error_set(INGOT_NOT_CACHEABLE, "%s", desc->not_cacheable);
    const ingot_status_t status = read_includes(&read, desc);
    if (status != INGOT_SUCCESS)
        return status;
    const ingot_includes_info_t known =
        read != NULL ? includes_info(read) : (ingot_includes_info_t)INGOT_INCLUDES_INFO_INIT;
    (void)STRUCT_WRITE(info, known);
    *includes = read;
    return INGOT_SUCCESS;
}
