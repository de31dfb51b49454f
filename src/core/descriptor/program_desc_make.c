/*
 * program_desc_make.c - creates, compares, queries and frees program descriptors; see program_desc.h.
 *
 * A descriptor is one block of memory, because every lookup by content makes a descriptor, and several allocations
 * would be most of the cost.
 */
#include "core/descriptor/program_desc.h"

#include <assert.h>
#include <ingot/private/descriptor.h>
#include <ingot/private/program.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/descriptor/desc_texts.h"
#include "core/descriptor/request.h"
#include "util/struct_size.h"

void program_desc_reference(struct ingot_program_desc *desc)
{
    atomic_fetch_add_explicit(&desc->references, 1, memory_order_relaxed);
}

void ingot_program_desc_retain(ingot_program_desc_t desc)
{
    if (desc != NULL)
        program_desc_reference(desc);
}

ingot_context_t ingot_program_desc_get_context(const_ingot_program_desc_t desc)
{
    return desc != NULL ? desc->context : NULL;
}

ingot_status_t ingot_program_desc_is_cacheable(const_ingot_program_desc_t desc, const char **reason)
{
    if (desc == NULL)
        return error_null_argument("desc");
    if (reason != NULL)
        *reason = desc->not_cacheable != NULL ? desc->not_cacheable : "";
    return desc->not_cacheable == NULL ? INGOT_SUCCESS : error_set(INGOT_NOT_CACHEABLE, "%s", desc->not_cacheable);
}

bool program_desc_equals(const struct ingot_program_desc *a, const struct ingot_program_desc *b)
{
    if (a == b)
        return true;
    if (a->key_size != b->key_size || memcmp(program_desc_key(a), program_desc_key(b), a->key_size) != 0)
        return false;
    /* Descriptors with equal keys have the same number of sources and headers. */
    for (size_t i = 0; i < a->source_count + a->header_count; ++i) {
        if (!source_equals(a->sources[i], b->sources[i]))
            return false;
    }
    return true;
}

const char *program_desc_name(const struct ingot_program_desc *desc)
{
    return desc->sources[0]->name;
}

ingot_status_t ingot_program_desc_get_info(const_ingot_program_desc_t desc, ingot_program_info_t *info)
{
    if (desc == NULL || !STRUCT_IS_SET(info))
        return error_set(INGOT_INVALID_ARGUMENTS, "desc or info is NULL, or its struct_size is not set");
    const ingot_program_info_t known = {.struct_size = sizeof(known),
                                        .sources = desc->sources,
                                        .source_count = desc->source_count,
                                        .headers = desc->sources + desc->source_count,
                                        .header_count = desc->header_count,
                                        .compile_options = desc->compile_options,
                                        .link_options = desc->link_options,
                                        .spec_constants = program_desc_spec_constants(desc),
                                        .spec_constant_count = desc->spec_constant_count,
                                        .device_indices = desc->device_indices,
                                        .device_count = desc->device_count,
                                        .group = desc->group[0] != '\0' ? desc->group : NULL,
                                        .flags = desc->flags,
                                        .name_expressions = program_desc_name_expressions(desc),
                                        .name_expression_count = desc->name_expression_count};
    (void)STRUCT_WRITE(info, known);
    return INGOT_SUCCESS;
}

/* ---- checking an info ---- */

static ingot_status_t check_sources(const struct ingot_context *context, const ingot_program_info_t *info)
{
    if ((info->flags & ~(uint32_t)INGOT_PROGRAM_NO_MEMORY_CACHE) != 0)
        return error_set(INGOT_INVALID_ARGUMENTS, "info has unknown flags: %#x", (unsigned)info->flags);
    if (info->sources == NULL || info->source_count == 0)
        return error_set(INGOT_INVALID_ARGUMENTS, "a program needs at least one source");
    if (info->header_count != 0 && info->headers == NULL)
        return error_null_argument("headers");
    if (info->source_count > UINT16_MAX || info->header_count > UINT16_MAX)
        return error_set(INGOT_INVALID_ARGUMENTS, "more than 65535 sources or headers");
    for (size_t i = 0; i < info->source_count; ++i) {
        if (info->sources[i] == NULL)
            return error_set(INGOT_INVALID_ARGUMENTS, "source %zu is NULL", i);
        if (info->sources[i]->kind == INGOT_SOURCE_HEADER ||
            !context->ops.accepts(context->state, info->sources[i]->kind))
            return error_set(INGOT_INVALID_ARGUMENTS, "source %zu is of kind %d, which the backend %s does not build",
                             i, (int)info->sources[i]->kind, context->ops.name);
    }
    return source_check_headers(info->header_count, info->headers);
}

/* Returns INGOT_INVALID_ARGUMENTS for a malformed part of `info`, and INGOT_UNIMPLEMENTED for a feature that the
 * backend lacks. Duplicate constants, devices and name expressions are detected later, when they are sorted. */
static ingot_status_t check_info(const struct ingot_context *context, const ingot_program_info_t *info)
{
    const ingot_status_t status = check_sources(context, info);
    if (status != INGOT_SUCCESS)
        return status;
    if (info->spec_constant_count != 0 && info->spec_constants == NULL)
        return error_null_argument("spec_constants");
    for (size_t i = 0; i < info->spec_constant_count; ++i) {
        const ingot_spec_constant_t *constant = &info->spec_constants[i];
        const uint32_t size = constant->size;
        if (constant->value == NULL || (size != 1 && size != 2 && size != 4 && size != 8))
            return error_set(INGOT_INVALID_ARGUMENTS,
                             "specialization constant %u has no value, or a size other than 1, 2, 4 or 8",
                             (unsigned)constant->id);
    }
    if (info->device_indices == NULL && info->device_count != 0)
        return error_null_argument("device_indices");
    if (info->device_indices != NULL && info->device_count == 0)
        return error_set(INGOT_INVALID_ARGUMENTS, "device_count is 0");
    if (info->device_count > context->device_count)
        return error_set(INGOT_INVALID_ARGUMENTS, "device_count is greater than the context's number of devices");
    for (size_t i = 0; i < info->device_count; ++i) {
        if (info->device_indices[i] >= context->device_count)
            return error_set(INGOT_INVALID_ARGUMENTS, "the context has no device %u",
                             (unsigned)info->device_indices[i]);
    }
    if (info->name_expression_count == 0)
        return INGOT_SUCCESS;
    if (info->name_expressions == NULL)
        return error_null_argument("name_expressions");
    if (info->name_expression_count > UINT16_MAX)
        return error_set(INGOT_INVALID_ARGUMENTS, "more than 65535 name expressions");
    for (size_t i = 0; i < info->name_expression_count; ++i) {
        if (info->name_expressions[i] == NULL || *info->name_expressions[i] == '\0')
            return error_set(INGOT_INVALID_ARGUMENTS, "name expression %zu is NULL or empty", i);
    }
    if (context->ops.takes_name_expressions == NULL || !context->ops.takes_name_expressions(context->state))
        return error_set(INGOT_UNIMPLEMENTED, "the backend %s does not support name expressions", context->ops.name);
    return INGOT_SUCCESS;
}

/* ---- the block ---- */

/* Writes parts of a block one after the other. Without a block, only counts their bytes. */
struct block_writer {
    uint8_t *block;
    size_t size;
};

/* Returns the place of what it puts. */
static void *put_bytes(struct block_writer *out, size_t size, const void *bytes)
{
    void *part = out->block != NULL ? out->block + out->size : NULL;
    if (part != NULL && size != 0)
        memcpy(part, bytes, size);
    out->size += size;
    return part;
}

/* ---- the key ----
 *
 * A key never leaves the process, so its numbers are in the processor's byte order. */

/* A number below this value takes one byte. A byte with this value precedes any other number. */
#define LONG_NUMBER 0xff

static void put_key_number(struct block_writer *out, size_t number)
{
    const uint8_t first = number < LONG_NUMBER ? (uint8_t)number : LONG_NUMBER;
    put_bytes(out, 1, &first);
    if (first == LONG_NUMBER)
        put_bytes(out, sizeof(number), &number);
}

static void *put_framed(struct block_writer *out, size_t size, const void *bytes)
{
    put_key_number(out, size);
    return put_bytes(out, size, bytes);
}

/* Copies the text with its NUL, so that the descriptor can use the key's strings. */
static char *put_key_text(struct block_writer *out, const char *text)
{
    return put_framed(out, strlen(text) + 1, text);
}

/* The first number of a key, which says what the key covers. */
enum key_kind {
    KEY_PLAIN,     /* no included file affects the result, and no option names a directory */
    KEY_OF_ITSELF, /* the program cannot have an id; a serial number makes the key equal to no other */
    KEY_OF_FILES,
    KEY_OF_REQUEST /* the texts and options are those of the compiler, without those of the environment */
};

static struct ingot_source *source_of(const ingot_program_info_t *info, size_t number)
{
    return number < info->source_count ? info->sources[number] : info->headers[number - info->source_count];
}

/* Writes the key, and the texts that are not in it. Before the descriptor has its block, only counts their bytes.
 * Options are not parsed here, so they keep their include directories: parsing them every time would cost more than
 * rebuilding the rare program for which only these paths change. */
static void write_key_and_texts(struct block_writer *out, enum key_kind kind, struct ingot_program_desc *desc,
                                const ingot_program_info_t *info, const struct hermetic *hermetic)
{
    const bool is_counting = out->block == NULL;
    const ingot_spec_constant_t *constants = is_counting ? info->spec_constants : program_desc_spec_constants(desc);
    const char *const *expressions = is_counting ? info->name_expressions : program_desc_name_expressions(desc);

    put_key_number(out, kind);
    if (kind == KEY_OF_ITSELF) {
        const uint64_t serial = atomic_fetch_add_explicit(&desc->context->next_desc_serial, 1, memory_order_relaxed);
        put_bytes(out, sizeof(serial), &serial);
    }
    put_framed(out, desc->device_count * sizeof(*desc->device_indices), desc->device_indices);
    put_key_number(out, desc->source_count);
    for (size_t i = 0; i < desc->source_count + desc->header_count; ++i) {
        const struct ingot_source *source = source_of(info, i);
        const uint32_t source_kind = (uint32_t)source->kind;
        put_bytes(out, sizeof(source_kind), &source_kind);
        put_bytes(out, sizeof(source->hash), &source->hash);
        if (source->kind == INGOT_SOURCE_HEADER)
            put_framed(out, strlen(source->name), source->name);
    }
    desc->compile_options = put_key_text(out, info->compile_options);
    desc->link_options = put_key_text(out, info->link_options);
    put_key_number(out, desc->spec_constant_count);
    for (size_t i = 0; i < desc->spec_constant_count; ++i) {
        put_bytes(out, sizeof(constants[i].id), &constants[i].id);
        put_framed(out, constants[i].size, constants[i].value);
    }
    put_key_number(out, desc->name_expression_count);
    for (size_t i = 0; i < desc->name_expression_count; ++i) {
        const char *copy = put_key_text(out, expressions[i]);
        if (!is_counting)
            program_desc_name_expressions(desc)[i] = copy;
    }
    /* the key's last part; see program_desc_digests */
    (void)put_framed(out, hermetic->digests.size, hermetic->digests.bytes);
    desc->key_size = out->size;
    desc->group = put_bytes(out, strlen(info->group) + 1, info->group);
    if (hermetic->reason != NULL)
        desc->not_cacheable = put_bytes(out, strlen(hermetic->reason) + 1, hermetic->reason);
    desc->files = put_bytes(out, hermetic->files.size, hermetic->files.bytes);
}

/* Allocates a descriptor with room for all its parts, of which it fills in those that are neither sorted nor in the
 * key. */
static struct ingot_program_desc *alloc_desc(struct ingot_context *context, const ingot_program_info_t *info,
                                             const struct hermetic *hermetic, enum key_kind kind, bool has_directories)
{
    struct ingot_program_desc sizes = {.context = context,
                                       .flags = info->flags,
                                       .device_count = info->device_indices != NULL ? (uint32_t)info->device_count
                                                                                    : context->device_count,
                                       .source_count = (uint16_t)info->source_count,
                                       .header_count = (uint16_t)info->header_count,
                                       .spec_constant_count = (uint32_t)info->spec_constant_count,
                                       .name_expression_count = (uint32_t)info->name_expression_count,
                                       .is_final = kind == KEY_OF_REQUEST,
                                       .has_directories = has_directories,
                                       .files_size = hermetic->files.size,
                                       .digests_size = hermetic->digests.size};
    const size_t sources_size = (info->source_count + info->header_count) * sizeof(void *);
    const size_t constants_size = info->spec_constant_count * (sizeof(ingot_spec_constant_t) + sizeof(uint64_t));
    const size_t expressions_size = info->name_expression_count * sizeof(const char *);
    struct block_writer counted = {NULL, 0};

    write_key_and_texts(&counted, kind, &sizes, info, hermetic);
    sizes.block_size = sizeof(sizes) + sources_size + constants_size + expressions_size +
                       sizes.device_count * sizeof(uint32_t) + counted.size;
    struct ingot_program_desc *desc = memory_allocate(&context->allocator, sizes.block_size);
    if (desc == NULL)
        return NULL;
    *desc = sizes;
    desc->device_indices = (uint32_t *)(program_desc_name_expressions(desc) + desc->name_expression_count);
    return desc;
}

/* Compares specialization constants by their ids, which are their first members, or indices of devices. */
static int compare_numbers(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a;
    const uint32_t right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* Copies and sorts the constants, the devices and the name expressions, and checks that none is repeated.
 * write_key_and_texts copies the expressions into the key. */
static ingot_status_t copy_sorted(struct ingot_program_desc *desc, const ingot_program_info_t *info)
{
    ingot_spec_constant_t *constants = program_desc_spec_constants(desc);
    uint64_t *values = (uint64_t *)(constants + desc->spec_constant_count);
    const char **expressions = program_desc_name_expressions(desc);

    if (desc->spec_constant_count != 0) {
        memcpy(constants, info->spec_constants, desc->spec_constant_count * sizeof(*constants));
        qsort(constants, desc->spec_constant_count, sizeof(*constants), compare_numbers);
    }
    for (size_t i = 0; i < desc->spec_constant_count; ++i) {
        ingot_spec_constant_t *constant = &constants[i];
        if (i != 0 && constant->id == constant[-1].id)
            return error_set(INGOT_INVALID_ARGUMENTS, "specialization constant %u is given twice",
                             (unsigned)constant->id);
        values[i] = 0;
        memcpy(&values[i], constant->value, constant->size);
        constant->value = &values[i];
    }
    for (size_t i = 0; i < desc->device_count; ++i)
        desc->device_indices[i] = info->device_indices != NULL ? info->device_indices[i] : (uint32_t)i;
    if (desc->device_count > 1)
        qsort(desc->device_indices, desc->device_count, sizeof(*desc->device_indices), compare_numbers);
    for (size_t i = 1; i < desc->device_count; ++i) {
        if (desc->device_indices[i] == desc->device_indices[i - 1])
            return error_set(INGOT_INVALID_ARGUMENTS, "device %u is given twice", (unsigned)desc->device_indices[i]);
    }
    if (desc->name_expression_count != 0)
        memcpy(expressions, info->name_expressions, desc->name_expression_count * sizeof(*expressions));
    texts_sort(desc->name_expression_count, expressions);
    for (size_t i = 1; i < desc->name_expression_count; ++i) {
        if (strcmp(expressions[i], expressions[i - 1]) == 0)
            return error_set(INGOT_INVALID_ARGUMENTS, "the name expression %s is given twice", expressions[i]);
    }
    return INGOT_SUCCESS;
}

/* ---- creating and freeing descriptors ---- */

static void destroy_descriptor(struct ingot_program_desc *desc)
{
    struct ingot_context *context = desc->context;

    for (size_t i = 0; i < desc->source_count + desc->header_count; ++i)
        source_unreference(desc->sources[i]);
    cache_blob_id_destroy(atomic_load_explicit(&desc->id, memory_order_relaxed), &context->allocator);
    memory_free(&context->allocator, desc, desc->block_size);
    context_unreference(context);
}

static ingot_status_t create_descriptor(ingot_program_desc_t *desc, ingot_context_t context,
                                        const ingot_program_info_t *info, const struct hermetic *hermetic,
                                        enum key_kind kind, bool has_directories)
{
    struct ingot_program_desc *made = alloc_desc(context, info, hermetic, kind, has_directories);
    if (made == NULL)
        return error_out_of_memory();
    atomic_init(&made->references, 1);
    context_reference(context);
    for (size_t i = 0; i < info->source_count + info->header_count; ++i) {
        made->sources[i] = source_of(info, i);
        source_reference(made->sources[i]);
    }
    const ingot_status_t status = copy_sorted(made, info);
    if (status != INGOT_SUCCESS) {
        destroy_descriptor(made);
        return status;
    }
    struct block_writer out = {program_desc_key(made), 0};
    write_key_and_texts(&out, kind, made, info, hermetic);
    assert(out.block + out.size == (uint8_t *)made + made->block_size);
    made->key_hash = hash128_of(made->key_size, out.block);
    *desc = made;
    return INGOT_SUCCESS;
}

ingot_status_t program_desc_create(ingot_program_desc_t *desc, ingot_context_t context,
                                   const ingot_program_info_t *info, const struct request *request)
{
    enum key_kind kind = request != NULL ? KEY_OF_REQUEST : KEY_PLAIN;
    bool has_directories = false;
    struct hermetic hermetic;
    ingot_program_info_t known;

    if (desc == NULL || context == NULL || !STRUCT_READ(known, info))
        return error_set(INGOT_INVALID_ARGUMENTS, "desc, context or info is NULL, or its struct_size is not set");
    ingot_status_t status = check_info(context, &known);
    if (status != INGOT_SUCCESS)
        return status;
    known.compile_options = known.compile_options != NULL ? known.compile_options : "";
    known.link_options = known.link_options != NULL ? known.link_options : "";
    known.group = known.group != NULL ? known.group : "";
    hermetic_init(&hermetic, &context->allocator);
    if (request != NULL)
        bytes_put(&hermetic.files, request->files_size, request->files);
    /* First, makes a descriptor with a plain key. If a program in memory has an equal plain key, neither files nor
     * directories matter, so no options need to be parsed and no files read. */
    struct ingot_program_desc *made = NULL;
    status = create_descriptor(&made, context, &known, &hermetic, kind, has_directories);
    if (status == INGOT_SUCCESS) {
        const struct cache_request plain = {made->key_hash, made, NULL, NULL, false};
        if (request != NULL || context->programs == NULL || !memory_cache_contains(context->programs, &plain))
            status = desc_texts_resolve(&hermetic, made, request, &has_directories);
    }
    if (status == INGOT_SUCCESS && request != NULL && hermetic.reason != NULL)
        status = error_set(INGOT_NOT_CACHEABLE, "%s", hermetic.reason);
    if (request == NULL && hermetic.reason != NULL)
        kind = KEY_OF_ITSELF;
    else if (request == NULL && (hermetic.must_look || has_directories))
        kind = KEY_OF_FILES;
    if (status == INGOT_SUCCESS && kind != KEY_PLAIN) {
        destroy_descriptor(made);
        made = NULL;
        status = create_descriptor(&made, context, &known, &hermetic, kind, has_directories);
    }
    hermetic_fini(&hermetic);
    if (status == INGOT_SUCCESS)
        *desc = made;
    else if (made != NULL)
        destroy_descriptor(made);
    return status;
}

ingot_status_t ingot_program_desc_create(ingot_program_desc_t *desc, ingot_context_t context,
                                         const ingot_program_info_t *info)
{
    return program_desc_create(desc, context, info, NULL);
}

void ingot_program_desc_release(ingot_program_desc_t desc)
{
    /* acq_rel: all use of the descriptor happens before it is freed */
    if (desc != NULL && atomic_fetch_sub_explicit(&desc->references, 1, memory_order_acq_rel) == 1)
        destroy_descriptor(desc);
}
