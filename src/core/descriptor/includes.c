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

static void destroy_includes(struct ingot_includes *includes)
{
    const ingot_allocator_t allocator = includes->allocator;
    for (size_t i = 0; includes->files != NULL && i < includes->file_count; ++i)
        ingot_source_release(includes->files[i]);
    memory_free(&allocator, includes->files, includes->file_count * sizeof(*includes->files));
    memory_free(&allocator, includes->views, includes->file_count * sizeof(*includes->views));
    memory_free(&allocator, includes->numbers, includes->number_count * sizeof(*includes->numbers));
    memory_free(&allocator, includes, sizeof(*includes));
}

/* Makes includes with room for this many files and numbers. Returns NULL if out of memory. */
static struct ingot_includes *make_includes(const ingot_allocator_t *allocator, size_t file_count, size_t number_count)
{
    struct ingot_includes *made = memory_allocate_zeroed(allocator, sizeof(*made));
    if (made == NULL)
        return NULL;
    atomic_init(&made->references, 1);
    made->allocator = *allocator;
    made->file_count = file_count;
    made->number_count = number_count;
    made->files = memory_allocate_zeroed(allocator, file_count * sizeof(struct ingot_source *));
    made->views = memory_allocate_zeroed(allocator, file_count * sizeof(*made->views));
    made->numbers = memory_allocate_zeroed(allocator, number_count * sizeof(*made->numbers));
    if (made->files != NULL && made->views != NULL && made->numbers != NULL)
        return made;
    destroy_includes(made);
    return NULL;
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

static ingot_status_t check_includes_info(const ingot_includes_info_t *info)
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
    const ingot_status_t status = check_includes_info(&known);
    if (status != INGOT_SUCCESS)
        return status;
    struct ingot_includes *made = make_includes(allocator, known.file_count, known.number_count);
    if (made == NULL)
        return error_out_of_memory();
    made->names_matter = known.names_matter != 0;
    made->directory_matters = known.directory_matters != 0;
    for (size_t i = 0; i < known.file_count; ++i) {
        made->files[i] = known.files[i];
        made->views[i] = source_view(known.files[i]);
        ingot_source_retain(known.files[i]);
    }
    if (known.number_count != 0)
        memcpy(made->numbers, known.numbers, known.number_count * sizeof(*known.numbers));
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
        destroy_includes(includes);
}
