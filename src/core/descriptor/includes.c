/*
 * includes.c - makes, queries and frees ingot_includes objects, which hold the files that a descriptor's sources
 * include; see includes.h.
 *
 * An object is reference-counted and immutable. Each file is a source object, whose name is the file's path.
 */
#include "core/descriptor/includes.h"

#include <stdatomic.h>
#include <string.h>

#include "core/base/error.h"
#include "core/descriptor/source.h"
#include "util/struct_size.h"

struct ingot_includes {
    atomic_size_t references;
    ingot_allocator_t allocator;
    struct ingot_source **files; /* file_count sources, with a reference to each */
    ingot_source_view_t *views;
    size_t file_count;
    uint32_t *numbers;
    size_t number_count;
    bool names_matter;
    bool directory_matters;
};

static void destroy(struct ingot_includes *includes)
{
    const ingot_allocator_t allocator = includes->allocator;
    for (size_t i = 0; includes->files != NULL && i < includes->file_count; ++i)
        ingot_source_release(includes->files[i]);
    alloc_free(&allocator, includes->files, includes->file_count * sizeof(*includes->files));
    alloc_free(&allocator, includes->views, includes->file_count * sizeof(*includes->views));
    alloc_free(&allocator, includes->numbers, includes->number_count * sizeof(*includes->numbers));
    alloc_free(&allocator, includes, sizeof(*includes));
}

/* Makes includes with room for this many files and numbers. Returns NULL if out of memory. */
static struct ingot_includes *make(const ingot_allocator_t *allocator, size_t file_count, size_t number_count)
{
    struct ingot_includes *made = alloc_zeroed(allocator, sizeof(*made));
    if (made == NULL)
        return NULL;
    atomic_init(&made->references, 1);
    made->allocator = *allocator;
    made->file_count = file_count;
    made->number_count = number_count;
    made->files = alloc_zeroed(allocator, file_count * sizeof(struct ingot_source *));
    made->views = alloc_zeroed(allocator, file_count * sizeof(*made->views));
    made->numbers = alloc_zeroed(allocator, number_count * sizeof(*made->numbers));
    if (made->files != NULL && made->views != NULL && made->numbers != NULL)
        return made;
    destroy(made);
    return NULL;
}

static void set_views(struct ingot_includes *includes)
{
    for (size_t i = 0; i < includes->file_count; ++i)
        includes->views[i] = source_view(includes->files[i]);
}

void includes_reference(struct ingot_includes *includes)
{
    if (includes != NULL)
        atomic_fetch_add_explicit(&includes->references, 1, memory_order_relaxed);
}

struct include_replay includes_replay(const struct ingot_includes *includes)
{
    return (struct include_replay){.files = includes->views,
                                   .same = includes->numbers,
                                   .file_count = includes->file_count,
                                   .answers = includes->numbers + includes->file_count,
                                   .answer_count = includes->number_count - includes->file_count};
}

/* ---- from a record ---- */

/* Creates a source object from the next recorded file. */
static ingot_status_t take_file(struct bytes_reader *reader, const ingot_allocator_t *allocator,
                                struct ingot_source **file)
{
    ingot_source_info_t info = INGOT_SOURCE_INFO_INIT;
    size_t name_size = 0;
    const uint8_t *name = bytes_get_framed(reader, &name_size);
    info.kind = INGOT_SOURCE_HEADER;
    info.allocator = allocator;
    info.bytes = bytes_get_framed(reader, &info.size);
    char *copy = alloc_bytes(allocator, name_size + 1);
    if (copy == NULL)
        return error_out_of_memory();
    memcpy(copy, name, name_size);
    copy[name_size] = '\0';
    info.name = copy;
    const ingot_status_t status = ingot_source_create(file, &info);
    alloc_free(allocator, copy, name_size + 1);
    return status;
}

ingot_status_t includes_of_record(struct ingot_includes **includes, const struct include_record *record,
                                  const ingot_allocator_t *allocator)
{
    struct bytes_reader files;
    struct bytes_reader numbers;
    ingot_status_t status = INGOT_SUCCESS;
    const size_t number_count = (record->same.size + record->answers.size) / sizeof(uint32_t);
    struct ingot_includes *made = make(allocator, record->file_count, number_count);
    if (made == NULL)
        return error_out_of_memory();
    made->names_matter = record->names_matter;
    made->directory_matters = record->directory_matters;
    bytes_reader_init(&files, record->files.size, record->files.bytes);
    for (size_t i = 0; i < made->file_count && status == INGOT_SUCCESS; ++i)
        status = take_file(&files, allocator, &made->files[i]);
    bytes_reader_init(&numbers, record->same.size, record->same.bytes);
    for (size_t i = 0; i < number_count; ++i) {
        if (i == record->file_count)
            bytes_reader_init(&numbers, record->answers.size, record->answers.bytes);
        made->numbers[i] = bytes_get_u32(&numbers);
    }
    if (status != INGOT_SUCCESS) {
        destroy(made);
        return status;
    }
    set_views(made);
    *includes = made;
    return INGOT_SUCCESS;
}

/* ---- from content that may come from anywhere ---- */

static ingot_status_t check(const ingot_includes_info_t *info)
{
    if ((info->files == NULL && info->file_count != 0) || (info->numbers == NULL && info->number_count != 0))
        return error_set(INGOT_INVALID_ARGUMENTS, "the files or numbers of the includes are NULL");
    if (info->file_count > MAX_INCLUDED_FILES || info->number_count < info->file_count ||
        info->number_count > UINT32_MAX)
        return error_set(INGOT_BLOB_CORRUPT, "more than %d included files, or a file without a number",
                         MAX_INCLUDED_FILES);
    for (size_t i = 0; i < info->file_count; ++i) {
        if (info->files[i] == NULL || info->files[i]->kind != INGOT_SOURCE_HEADER)
            return error_set(INGOT_BLOB_CORRUPT, "included file %zu is NULL or not of kind INGOT_SOURCE_HEADER", i);
        if (info->numbers[i] > i)
            return error_set(INGOT_BLOB_CORRUPT, "included file %zu is the same as a later one", i);
    }
    return INGOT_SUCCESS;
}

ingot_status_t includes_of_info(struct ingot_includes **includes, const ingot_includes_info_t *info,
                                const ingot_allocator_t *allocator)
{
    ingot_includes_info_t known;
    if (!STRUCT_READ(known, info))
        return error_set(INGOT_INVALID_ARGUMENTS, "the struct_size of the includes is not set");
    const ingot_status_t status = check(&known);
    if (status != INGOT_SUCCESS)
        return status;
    struct ingot_includes *made = make(allocator, known.file_count, known.number_count);
    if (made == NULL)
        return error_out_of_memory();
    made->names_matter = known.names_matter != 0;
    made->directory_matters = known.directory_matters != 0;
    for (size_t i = 0; i < known.file_count; ++i) {
        made->files[i] = known.files[i];
        ingot_source_retain(known.files[i]);
    }
    if (known.number_count != 0)
        memcpy(made->numbers, known.numbers, known.number_count * sizeof(*known.numbers));
    set_views(made);
    *includes = made;
    return INGOT_SUCCESS;
}

ingot_includes_info_t includes_info(const struct ingot_includes *includes)
{
    return (ingot_includes_info_t){.struct_size = sizeof(ingot_includes_info_t),
                                   .files = includes->files,
                                   .file_count = includes->file_count,
                                   .numbers = includes->numbers,
                                   .number_count = includes->number_count,
                                   .names_matter = includes->names_matter,
                                   .directory_matters = includes->directory_matters};
}

void ingot_includes_release(ingot_includes_t includes)
{
    /* acq_rel: all use of the includes happens before they are freed */
    if (includes != NULL && atomic_fetch_sub_explicit(&includes->references, 1, memory_order_acq_rel) == 1)
        destroy(includes);
}
