/*
 * program_desc.c - what to build; see program_desc.h.
 */
#include "core/program_desc.h"

#include <stdlib.h>
#include <string.h>

#include "core/cache_blob_id.h"
#include "core/error.h"
#include "core/include_closure.h"
#include "core/info.h"

static ingot_status_t check_sources(const struct ingot_context *context, const ingot_program_info_t *info)
{
    if (info->sources == NULL || info->source_count == 0)
        return error_set(INGOT_INVALID_ARGUMENTS, "a program needs a source");
    if (info->header_count != 0 && info->headers == NULL)
        return error_null_argument("headers");
    if (info->source_count > UINT16_MAX || info->header_count > UINT16_MAX)
        return error_set(INGOT_INVALID_ARGUMENTS, "more than 65535 sources or headers");
    for (size_t i = 0; i < info->source_count; ++i) {
        if (info->sources[i] == NULL)
            return error_set(INGOT_INVALID_ARGUMENTS, "source %zu is NULL", i);
        if (info->sources[i]->kind == INGOT_SOURCE_HEADER ||
            !context->ops.accepts(context->state, info->sources[i]->kind))
            return error_set(INGOT_INVALID_ARGUMENTS, "source %zu is of kind %d, which the backend %s does not build", i,
                             (int)info->sources[i]->kind, context->ops.name);
    }
    for (size_t i = 0; i < info->header_count; ++i) {
        if (info->headers[i] == NULL || info->headers[i]->kind != INGOT_SOURCE_HEADER)
            return error_set(INGOT_INVALID_ARGUMENTS, "header %zu is NULL or of another kind", i);
        for (size_t j = 0; j < i; ++j) {
            if (strcmp(info->headers[i]->name, info->headers[j]->name) == 0)
                return error_set(INGOT_INVALID_ARGUMENTS, "two headers have the name %s", info->headers[i]->name);
        }
    }
    return INGOT_SUCCESS;
}

static ingot_status_t check_spec_constants(const ingot_program_info_t *info)
{
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
    return INGOT_SUCCESS;
}

static ingot_status_t check_devices(const struct ingot_context *context, const ingot_program_info_t *info)
{
    if (info->device_indices == NULL && info->device_count != 0)
        return error_null_argument("device_indices");
    if (info->device_indices != NULL && info->device_count == 0)
        return error_set(INGOT_INVALID_ARGUMENTS, "device_count is 0");
    if (info->device_count > context->device_count)
        return error_set(INGOT_INVALID_ARGUMENTS, "more devices than the context has");
    for (size_t i = 0; i < info->device_count; ++i) {
        if (info->device_indices[i] >= context->device_count)
            return error_set(INGOT_INVALID_ARGUMENTS, "the context has no device %u", (unsigned)info->device_indices[i]);
    }
    return INGOT_SUCCESS;
}

static ingot_status_t copy_sources(struct ingot_program_desc *desc, const ingot_program_info_t *info)
{
    const size_t count = info->source_count + info->header_count;

    desc->sources = alloc_zeroed(&desc->context->allocator, count * sizeof(*desc->sources));
    if (desc->sources == NULL)
        return error_out_of_memory();
    desc->source_count = info->source_count;
    desc->header_count = info->header_count;
    for (size_t i = 0; i < count; ++i) {
        struct ingot_source *source =
            i < info->source_count ? info->sources[i] : info->headers[i - info->source_count];
        ingot_source_retain(source);
        desc->sources[i] = source;
    }
    return INGOT_SUCCESS;
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

    if (count == 0)
        return INGOT_SUCCESS;
    desc->spec_constants = alloc_bytes(&desc->context->allocator, count * sizeof(*desc->spec_constants));
    desc->spec_values = alloc_zeroed(&desc->context->allocator, count * sizeof(*desc->spec_values));
    desc->spec_constant_count = count;
    if (desc->spec_constants == NULL || desc->spec_values == NULL)
        return error_out_of_memory();
    memcpy(desc->spec_constants, info->spec_constants, count * sizeof(*desc->spec_constants));
    qsort(desc->spec_constants, count, sizeof(*desc->spec_constants), compare_spec_constants);
    for (size_t i = 0; i < count; ++i) {
        ingot_spec_constant_t *constant = &desc->spec_constants[i];
        if (i != 0 && constant->id == constant[-1].id)
            return error_set(INGOT_INVALID_ARGUMENTS, "specialization constant %u is given twice",
                             (unsigned)constant->id);
        memcpy(&desc->spec_values[i], constant->value, constant->size);
        constant->value = &desc->spec_values[i];
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
    const bool all = info->device_indices == NULL;
    const size_t count = all ? desc->context->device_count : info->device_count;

    desc->device_indices = alloc_bytes(&desc->context->allocator, count * sizeof(*desc->device_indices));
    if (desc->device_indices == NULL)
        return error_out_of_memory();
    desc->device_count = count;
    for (size_t i = 0; i < count; ++i)
        desc->device_indices[i] = all ? (uint32_t)i : info->device_indices[i];
    qsort(desc->device_indices, count, sizeof(*desc->device_indices), compare_indices);
    for (size_t i = 1; i < count; ++i) {
        if (desc->device_indices[i] == desc->device_indices[i - 1])
            return error_set(INGOT_INVALID_ARGUMENTS, "device %u is given twice", (unsigned)desc->device_indices[i]);
    }
    return INGOT_SUCCESS;
}

static ingot_status_t copy_texts(struct ingot_program_desc *desc, const ingot_program_info_t *info)
{
    const ingot_allocator_t *allocator = &desc->context->allocator;

    desc->compile_options = alloc_text(allocator, info->compile_options);
    desc->link_options = alloc_text(allocator, info->link_options);
    desc->group = alloc_text(allocator, info->group);
    desc->flags = info->flags;
    if (desc->compile_options == NULL || desc->link_options == NULL || desc->group == NULL)
        return error_out_of_memory();
    return INGOT_SUCCESS;
}

static bool may_include(const struct ingot_program_desc *desc)
{
    for (size_t i = 0; i < desc->source_count + desc->header_count; ++i) {
        if (desc->sources[i]->may_include)
            return true;
    }
    return false;
}

/* Options alone can include too (-include FILE), and define what forbids caching (-DNOW=__TIME__). */
static bool options_concern(const char *options)
{
    return strstr(options, "-include") != NULL || strstr(options, "__") != NULL;
}

static ingot_status_t read_includes(struct ingot_program_desc *desc)
{
    const ingot_allocator_t *allocator = &desc->context->allocator;
    struct include_closure closure;
    struct desc_request request;

    if (!may_include(desc) && !options_concern(desc->compile_options) &&
        !options_concern(desc->context->compile_options))
        return INGOT_SUCCESS;
    ingot_status_t status = desc_request_init(&request, desc);
    if (status != INGOT_SUCCESS)
        return status;
    include_closure_init(&closure, allocator);
    status = include_closure_resolve(&closure, request.request.sources, desc->source_count, request.request.headers,
                                     desc->header_count, request.compile_options);
    if (status == INGOT_SUCCESS && closure.reason != NULL) {
        desc->not_cacheable = closure.reason;
        closure.reason = NULL;
    }
    if (status == INGOT_SUCCESS && closure.files.size != 0) {
        desc->files = bytes_take(&closure.files, &desc->files_size);
        status = desc->files != NULL ? INGOT_SUCCESS : error_out_of_memory();
    }
    include_closure_fini(&closure);
    desc_request_fini(&request, desc);
    return status;
}

/* A descriptor that nothing can vouch for equals only itself: its serial number is part of its key. */
static ingot_status_t make_key(struct ingot_program_desc *desc)
{
    struct bytes_writer key;
    char *options = NULL;

    ingot_status_t status = options_without_paths(&desc->context->allocator, desc->compile_options, &options);
    if (status != INGOT_SUCCESS)
        return status;
    bytes_writer_init(&key, &desc->context->allocator);
    bytes_put_u64(&key, desc->not_cacheable != NULL ? 1 + atomic_fetch_add_explicit(&desc->context->next_desc_serial, 1,
                                                                                    memory_order_relaxed)
                                                    : 0);
    bytes_put_framed(&key, desc->device_count * sizeof(*desc->device_indices), desc->device_indices);
    bytes_put_u64(&key, desc->source_count);
    for (size_t i = 0; i < desc->source_count + desc->header_count; ++i) {
        const struct ingot_source *source = desc->sources[i];
        bytes_put_u32(&key, (uint32_t)source->kind);
        bytes_put_u64(&key, source->hash.low);
        bytes_put_u64(&key, source->hash.high);
        if (source->kind == INGOT_SOURCE_HEADER)
            bytes_put_framed(&key, strlen(source->name), source->name);
    }
    bytes_put_framed(&key, strlen(options), options);
    bytes_put_framed(&key, strlen(desc->link_options), desc->link_options);
    bytes_put_u64(&key, desc->spec_constant_count);
    for (size_t i = 0; i < desc->spec_constant_count; ++i) {
        bytes_put_u32(&key, desc->spec_constants[i].id);
        bytes_put_framed(&key, desc->spec_constants[i].size, desc->spec_constants[i].value);
    }
    bytes_put_framed(&key, desc->files_size, desc->files);
    alloc_free_text(&desc->context->allocator, options);
    desc->key = bytes_take(&key, &desc->key_size);
    if (desc->key == NULL)
        return error_out_of_memory();
    desc->key_hash = hash128_of(desc->key_size, desc->key);
    return INGOT_SUCCESS;
}

static void destroy(struct ingot_program_desc *desc)
{
    struct ingot_context *context = desc->context;
    const ingot_allocator_t *allocator = &context->allocator;
    const size_t count = desc->source_count + desc->header_count;

    for (size_t i = 0; i < count; ++i)
        ingot_source_release(desc->sources[i]);
    alloc_free(allocator, desc->sources, count * sizeof(*desc->sources));
    alloc_free_text(allocator, desc->compile_options);
    alloc_free_text(allocator, desc->link_options);
    alloc_free_text(allocator, desc->group);
    alloc_free_text(allocator, desc->not_cacheable);
    alloc_free(allocator, desc->spec_constants, desc->spec_constant_count * sizeof(*desc->spec_constants));
    alloc_free(allocator, desc->spec_values, desc->spec_constant_count * sizeof(*desc->spec_values));
    alloc_free(allocator, desc->device_indices, desc->device_count * sizeof(*desc->device_indices));
    alloc_free(allocator, desc->files, desc->files_size);
    alloc_free(allocator, desc->key, desc->key_size);
    cache_blob_id_destroy(atomic_load_explicit(&desc->id, memory_order_relaxed), allocator);
    alloc_free(allocator, desc, sizeof(*desc));
    context_unreference(context);
}

ingot_status_t ingot_program_desc_create(ingot_program_desc_t *desc, ingot_context_t context,
                                         const ingot_program_info_t *info)
{
    ingot_program_info_t known;

    if (desc == NULL || context == NULL || !INFO_READ(known, info))
        return error_set(INGOT_INVALID_ARGUMENTS, "desc, context or info is NULL, or struct_size is not set");
    ingot_status_t status = check_sources(context, &known);
    if (status == INGOT_SUCCESS)
        status = check_spec_constants(&known);
    if (status == INGOT_SUCCESS)
        status = check_devices(context, &known);
    if (status != INGOT_SUCCESS)
        return status;

    struct ingot_program_desc *made = alloc_zeroed(&context->allocator, sizeof(*made));
    if (made == NULL)
        return error_out_of_memory();
    atomic_init(&made->references, 1);
    made->context = context;
    context_reference(context);
    status = copy_sources(made, &known);
    if (status == INGOT_SUCCESS)
        status = copy_texts(made, &known);
    if (status == INGOT_SUCCESS)
        status = copy_spec_constants(made, &known);
    if (status == INGOT_SUCCESS)
        status = copy_devices(made, &known);
    if (status == INGOT_SUCCESS)
        status = read_includes(made);
    if (status == INGOT_SUCCESS)
        status = make_key(made);
    if (status != INGOT_SUCCESS) {
        destroy(made);
        return status;
    }
    *desc = made;
    return INGOT_SUCCESS;
}

void program_desc_reference(struct ingot_program_desc *desc)
{
    atomic_fetch_add_explicit(&desc->references, 1, memory_order_relaxed);
}

ingot_status_t ingot_program_desc_retain(ingot_program_desc_t desc)
{
    if (desc == NULL)
        return error_null_argument("desc");
    program_desc_reference(desc);
    return INGOT_SUCCESS;
}

void ingot_program_desc_release(ingot_program_desc_t desc)
{
    /* acq_rel: all use of the descriptor happens before its end */
    if (desc != NULL && atomic_fetch_sub_explicit(&desc->references, 1, memory_order_acq_rel) == 1)
        destroy(desc);
}

ingot_context_t ingot_program_desc_get_context(const_ingot_program_desc_t desc)
{
    return desc != NULL ? desc->context : NULL;
}

ingot_status_t ingot_program_desc_get_devices(const_ingot_program_desc_t desc, size_t *count, const uint32_t **indices)
{
    if (desc == NULL || count == NULL || indices == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "desc, count or indices is NULL");
    *count = desc->device_count;
    *indices = desc->device_indices;
    return INGOT_SUCCESS;
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
    if (a->key_size != b->key_size || memcmp(a->key, b->key, a->key_size) != 0)
        return false;
    /* Equal keys have equally many sources and headers. */
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

static char *join_options(const ingot_allocator_t *allocator, const char *own, const char *environment)
{
    const size_t own_size = strlen(own);
    const size_t environment_size = strlen(environment);
    const size_t gap = own_size != 0 && environment_size != 0 ? 1 : 0;
    char *joined = alloc_bytes(allocator, own_size + gap + environment_size + 1);

    if (joined == NULL)
        return NULL;
    memcpy(joined, own, own_size);
    memset(joined + own_size, ' ', gap);
    memcpy(joined + own_size + gap, environment, environment_size + 1);
    return joined;
}

ingot_status_t desc_request_init(struct desc_request *request, const struct ingot_program_desc *desc)
{
    const ingot_allocator_t *allocator = &desc->context->allocator;
    const size_t count = desc->source_count + desc->header_count;

    memset(request, 0, sizeof(*request));
    request->views = alloc_bytes(allocator, count * sizeof(*request->views));
    request->compile_options = join_options(allocator, desc->compile_options, desc->context->compile_options);
    request->link_options = join_options(allocator, desc->link_options, desc->context->link_options);
    if (request->views == NULL || request->compile_options == NULL || request->link_options == NULL) {
        desc_request_fini(request, desc);
        return error_out_of_memory();
    }
    for (size_t i = 0; i < count; ++i)
        request->views[i] = source_view(desc->sources[i]);
    request->request = (ingot_build_request_t){.struct_size = sizeof(request->request),
                                               .sources = request->views,
                                               .source_count = desc->source_count,
                                               .headers = request->views + desc->source_count,
                                               .header_count = desc->header_count,
                                               .compile_options = request->compile_options,
                                               .link_options = request->link_options,
                                               .spec_constants = desc->spec_constants,
                                               .spec_constant_count = desc->spec_constant_count};
    return INGOT_SUCCESS;
}

void desc_request_fini(struct desc_request *request, const struct ingot_program_desc *desc)
{
    const ingot_allocator_t *allocator = &desc->context->allocator;

    alloc_free(allocator, request->views,
               (desc->source_count + desc->header_count) * sizeof(*request->views));
    alloc_free_text(allocator, request->compile_options);
    alloc_free_text(allocator, request->link_options);
    memset(request, 0, sizeof(*request));
}
