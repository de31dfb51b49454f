/*
 * program_desc_make.c - creates program descriptors from an ingot_program_info_t, and frees them; see program_desc.h.
 *
 * A descriptor is one block of memory, because every lookup by content makes a descriptor, and several allocations
 * would be most of the cost.
 */
#include "core/descriptor/program_desc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/descriptor/cache_blob_id.h"
#include "core/descriptor/desc_texts.h"
#include "core/descriptor/request.h"
#include "util/struct_size.h"

static size_t text_size(const char *text)
{
    return text != NULL ? strlen(text) + 1 : 1;
}

/* ---- the key ----
 *
 * A key never leaves the process, so its numbers are in the processor's byte order. */

/* A number below this value takes one byte. A byte with this value precedes any other number. */
#define LONG_NUMBER 0xff

static size_t framed_size(size_t size)
{
    return (size < LONG_NUMBER ? 1 : 1 + sizeof(uint64_t)) + size;
}

static size_t number_size(size_t number)
{
    return framed_size(number) - number;
}

static size_t key_size(const struct ingot_program_desc *desc, const ingot_program_info_t *info,
                       const struct hermetic *hermetic)
{
    size_t size = (hermetic->reason != NULL ? 9 : 1) + framed_size(desc->device_count * sizeof(uint32_t)) +
                  number_size(info->source_count);

    size += (info->source_count + info->header_count) * (4 + 16);
    for (size_t i = 0; i < info->header_count; ++i)
        size += framed_size(strlen(info->headers[i]->name));
    size += framed_size(text_size(info->compile_options)) + framed_size(text_size(info->link_options));
    size += number_size(info->spec_constant_count);
    for (size_t i = 0; i < info->spec_constant_count; ++i)
        size += 4 + framed_size(info->spec_constants[i].size);
    size += number_size(info->name_expression_count);
    for (size_t i = 0; i < info->name_expression_count; ++i)
        size += framed_size(text_size(info->name_expressions[i]));
    return size + framed_size(hermetic->digests.size);
}

static void *put_bytes(uint8_t **place, size_t size, const void *bytes)
{
    void *part = *place;
    if (size != 0)
        memcpy(part, bytes, size);
    *place += size;
    return part;
}

static void put_u32(uint8_t **place, uint32_t value)
{
    put_bytes(place, sizeof(value), &value);
}

static void put_key_u64(uint8_t **place, uint64_t value)
{
    put_bytes(place, sizeof(value), &value);
}

static void put_key_number(uint8_t **place, size_t number)
{
    const uint8_t first = number < LONG_NUMBER ? (uint8_t)number : LONG_NUMBER;
    put_bytes(place, 1, &first);
    if (first == LONG_NUMBER)
        put_key_u64(place, number);
}

static void *put_framed(uint8_t **place, size_t size, const void *bytes)
{
    put_key_number(place, size);
    return put_bytes(place, size, bytes);
}

/* Copies the text with its NUL, so that the descriptor can use the key's strings. */
static char *put_key_text(uint8_t **place, const char *text)
{
    return put_framed(place, text_size(text), text != NULL ? text : "");
}

/* The first number of a key, which says what the key covers. */
enum key_kind {
    KEY_PLAIN,     /* no included file affects the result, and no option names a directory */
    KEY_OF_ITSELF, /* the program cannot have an id; a serial number makes the key equal to no other */
    KEY_OF_FILES,
    KEY_OF_REQUEST /* the texts and options are those of the compiler, without those of the environment */
};

static enum key_kind kind_of_desc_key(const struct hermetic *hermetic, bool has_directories, bool is_final)
{
    if (is_final)
        return KEY_OF_REQUEST;
    if (hermetic->reason != NULL)
        return KEY_OF_ITSELF;
    return hermetic->must_look || has_directories ? KEY_OF_FILES : KEY_PLAIN;
}

/* Writes the key. Options are not parsed here, so they keep their include directories: parsing them every time would
 * cost more than rebuilding the rare program for which only these paths change. */
static void write_desc_key(struct ingot_program_desc *desc, const ingot_program_info_t *info,
                           const struct hermetic *hermetic)
{
    const struct bytes_writer *digests = &hermetic->digests;
    const enum key_kind kind = kind_of_desc_key(hermetic, desc->has_directories, desc->is_final);
    uint8_t *const key = program_desc_key(desc);
    uint8_t *place = key;

    put_key_number(&place, kind);
    if (kind == KEY_OF_ITSELF)
        put_key_u64(&place, atomic_fetch_add_explicit(&desc->context->next_desc_serial, 1, memory_order_relaxed));
    put_framed(&place, desc->device_count * sizeof(*desc->device_indices), desc->device_indices);
    put_key_number(&place, desc->source_count);
    for (size_t i = 0; i < desc->source_count + desc->header_count; ++i) {
        const struct ingot_source *source = desc->sources[i];
        put_u32(&place, (uint32_t)source->kind);
        put_key_u64(&place, source->hash.low);
        put_key_u64(&place, source->hash.high);
        if (source->kind == INGOT_SOURCE_HEADER)
            put_framed(&place, strlen(source->name), source->name);
    }
    desc->compile_options = put_key_text(&place, info->compile_options);
    desc->link_options = put_key_text(&place, info->link_options);
    put_key_number(&place, desc->spec_constant_count);
    for (size_t i = 0; i < desc->spec_constant_count; ++i) {
        const ingot_spec_constant_t *constant = &program_desc_spec_constants(desc)[i];
        put_u32(&place, constant->id);
        put_framed(&place, constant->size, constant->value);
    }
    const char **expressions = program_desc_name_expressions(desc);
    put_key_number(&place, desc->name_expression_count);
    for (size_t i = 0; i < desc->name_expression_count; ++i)
        expressions[i] = put_key_text(&place, expressions[i]);
    desc->digests_size = digests->size;
    (void)put_framed(&place, digests->size, digests->bytes); /* must be last; see program_desc_digests */
    assert(place == key + desc->key_size);
    desc->key_hash = hash128_of(desc->key_size, key);
}

/* ---- the block ---- */

/* Takes a part of the block. Callers take the parts with the strictest alignment first. */
static void *take_block_part(uint8_t **place, size_t size)
{
    void *part = *place;
    *place += size;
    return part;
}

static char *put_block_text(uint8_t **place, const char *text)
{
    return put_bytes(place, text_size(text), text != NULL ? text : "");
}

static struct ingot_program_desc *alloc_desc(struct ingot_context *context, const ingot_program_info_t *info,
                                             const struct desc_texts *texts)
{
    const struct hermetic *hermetic = &texts->hermetic;
    struct ingot_program_desc sizes = {.device_count = info->device_indices != NULL ? (uint32_t)info->device_count
                                                                                    : context->device_count,
                                       .source_count = (uint16_t)info->source_count,
                                       .header_count = (uint16_t)info->header_count,
                                       .spec_constant_count = (uint32_t)info->spec_constant_count,
                                       .name_expression_count = (uint32_t)info->name_expression_count};
    const size_t source_count = info->source_count + info->header_count;
    const size_t constants_size = info->spec_constant_count * (sizeof(ingot_spec_constant_t) + sizeof(uint64_t));
    const size_t expressions_size = info->name_expression_count * sizeof(const char *);

    sizes.key_size = key_size(&sizes, info, hermetic);
    sizes.block_size = sizeof(sizes) + source_count * sizeof(void *) + constants_size + expressions_size +
                       sizes.device_count * sizeof(uint32_t) + sizes.key_size + text_size(info->group) +
                       hermetic->files.size + (hermetic->reason != NULL ? text_size(hermetic->reason) : 0);
    struct ingot_program_desc *desc = memory_allocate(&context->allocator, sizes.block_size);
    if (desc == NULL)
        return NULL;
    *desc = sizes;
    uint8_t *place = (uint8_t *)program_desc_name_expressions(desc) + expressions_size;
    desc->device_indices = take_block_part(&place, desc->device_count * sizeof(*desc->device_indices));
    (void)take_block_part(&place, desc->key_size);
    desc->group = put_block_text(&place, info->group);
    desc->not_cacheable = hermetic->reason != NULL ? put_block_text(&place, hermetic->reason) : NULL;
    desc->files_size = hermetic->files.size;
    desc->files = put_bytes(&place, hermetic->files.size, hermetic->files.bytes);
    return desc;
}

/* ---- the parts of the block ---- */

static void copy_sources(struct ingot_program_desc *desc, const ingot_program_info_t *info)
{
    for (size_t i = 0; i < info->source_count + info->header_count; ++i) {
        struct ingot_source *source = i < info->source_count ? info->sources[i] : info->headers[i - info->source_count];
        source_reference(source);
        desc->sources[i] = source;
    }
}

static int compare_spec_constants(const void *a, const void *b)
{
    const uint32_t left = ((const ingot_spec_constant_t *)a)->id;
    const uint32_t right = ((const ingot_spec_constant_t *)b)->id;
    return (left > right) - (left < right);
}

static ingot_status_t copy_spec_constants(struct ingot_program_desc *desc, const ingot_program_info_t *info)
{
    const size_t count = info->spec_constant_count;
    ingot_spec_constant_t *constants = program_desc_spec_constants(desc);
    uint64_t *values = (uint64_t *)(constants + count);

    if (count == 0)
        return INGOT_SUCCESS;
    memcpy(constants, info->spec_constants, count * sizeof(*constants));
    qsort(constants, count, sizeof(*constants), compare_spec_constants);
    for (size_t i = 0; i < count; ++i) {
        ingot_spec_constant_t *constant = &constants[i];
        if (i != 0 && constant->id == constant[-1].id)
            return error_set(INGOT_INVALID_ARGUMENTS, "specialization constant %u is given twice",
                             (unsigned)constant->id);
        values[i] = 0;
        memcpy(&values[i], constant->value, constant->size);
        constant->value = &values[i];
    }
    return INGOT_SUCCESS;
}

/* Sorts the caller's name expressions, and checks that none is repeated. write_desc_key copies them into the key. */
static ingot_status_t sort_name_expressions(struct ingot_program_desc *desc, const ingot_program_info_t *info)
{
    const size_t count = info->name_expression_count;
    const char **expressions = program_desc_name_expressions(desc);

    if (count == 0)
        return INGOT_SUCCESS;
    memcpy(expressions, info->name_expressions, count * sizeof(*expressions));
    texts_sort(count, expressions);
    for (size_t i = 1; i < count; ++i) {
        if (strcmp(expressions[i], expressions[i - 1]) == 0)
            return error_set(INGOT_INVALID_ARGUMENTS, "the name expression %s is given twice", expressions[i]);
    }
    return INGOT_SUCCESS;
}

static int compare_indices(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a;
    const uint32_t right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static ingot_status_t copy_devices(struct ingot_program_desc *desc, const ingot_program_info_t *info)
{
    for (size_t i = 0; i < desc->device_count; ++i)
        desc->device_indices[i] = info->device_indices != NULL ? info->device_indices[i] : (uint32_t)i;
    if (desc->device_count > 1)
        qsort(desc->device_indices, desc->device_count, sizeof(*desc->device_indices), compare_indices);
    for (size_t i = 1; i < desc->device_count; ++i) {
        if (desc->device_indices[i] == desc->device_indices[i - 1])
            return error_set(INGOT_INVALID_ARGUMENTS, "device %u is given twice", (unsigned)desc->device_indices[i]);
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
                                        const ingot_program_info_t *info, const struct desc_texts *texts)
{
    struct ingot_program_desc *made = alloc_desc(context, info, texts);
    if (made == NULL)
        return error_out_of_memory();
    atomic_init(&made->references, 1);
    made->context = context;
    context_reference(context);
    made->flags = info->flags;
    made->is_final = texts->is_final;
    made->has_directories = texts->has_directories;
    copy_sources(made, info);
    ingot_status_t status = copy_spec_constants(made, info);
    if (status == INGOT_SUCCESS)
        status = copy_devices(made, info);
    if (status == INGOT_SUCCESS)
        status = sort_name_expressions(made, info);
    if (status != INGOT_SUCCESS) {
        destroy_descriptor(made);
        return status;
    }
    write_desc_key(made, info, &texts->hermetic);
    *desc = made;
    return INGOT_SUCCESS;
}

/* True if a program in memory has an equal key. */
static bool is_plain_key_known(const struct ingot_program_desc *desc)
{
    const struct cache_request request = {desc->key_hash, desc, NULL, NULL, false};
    return memory_cache_contains(desc->context->programs, &request);
}

ingot_status_t program_desc_create(ingot_program_desc_t *desc, ingot_context_t context,
                                   const ingot_program_info_t *info, const struct request *request)
{
    struct desc_texts texts = {.is_final = request != NULL, .names_matter = request != NULL && request->names_matter};
    ingot_program_info_t known;

    if (desc == NULL || context == NULL || !STRUCT_READ(known, info))
        return error_set(INGOT_INVALID_ARGUMENTS, "desc, context or info is NULL, or its struct_size is not set");
    ingot_status_t status = program_info_check(context, &known);
    if (status != INGOT_SUCCESS)
        return status;
    hermetic_init(&texts.hermetic, &context->allocator);
    if (request != NULL)
        bytes_put(&texts.hermetic.files, request->files_size, request->files);
    /* First, makes a descriptor with a plain key. If a program in memory has an equal plain key, neither files nor
     * directories matter, so no options need to be parsed and no files read. */
    struct ingot_program_desc *made = NULL;
    status = create_descriptor(&made, context, &known, &texts);
    if (status == INGOT_SUCCESS && (request != NULL || !is_plain_key_known(made)))
        status = desc_texts_resolve(&texts, made);
    if (status == INGOT_SUCCESS && request != NULL && texts.hermetic.reason != NULL)
        status = error_set(INGOT_NOT_CACHEABLE, "%s", texts.hermetic.reason);
    if (status == INGOT_SUCCESS &&
        kind_of_desc_key(&texts.hermetic, texts.has_directories, texts.is_final) != KEY_PLAIN) {
        destroy_descriptor(made);
        made = NULL;
        status = create_descriptor(&made, context, &known, &texts);
    }
    hermetic_fini(&texts.hermetic);
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
