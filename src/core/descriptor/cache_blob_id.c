/*
 * cache_blob_id.c - writing ids; see cache_blob_id.h and doc/blob-format.md.
 */
#include "core/descriptor/cache_blob_id.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/descriptor/cache_blob_id_format.h"
#include "core/hermetic/option_words.h"

/* Opens a field; its length is written by end_field. */
static size_t begin_field(struct bytes_writer *writer, enum id_field tag)
{
    bytes_put_u32(writer, (uint32_t)tag);
    bytes_put_u64(writer, 0);
    return writer->size;
}

static void end_field(struct bytes_writer *writer, size_t start)
{
    bytes_patch_u64(writer, start - 8, writer->size - start);
}

static void put_field(struct bytes_writer *writer, enum id_field tag, size_t size, const void *value)
{
    const size_t start = begin_field(writer, tag);
    bytes_put(writer, size, value);
    end_field(writer, start);
}

static void put_text_field(struct bytes_writer *writer, enum id_field tag, const char *text)
{
    put_field(writer, tag, strlen(text), text);
}

static void put_library(struct bytes_writer *writer, const struct ingot_context *context)
{
    put_text_field(writer, ID_LIBRARY, ingot_version());
    put_text_field(writer, ID_BACKEND, context->ops.name);
}

static int compare_identities(const void *a, const void *b)
{
    const struct device_identity *left = *(const struct device_identity *const *)a;
    const struct device_identity *right = *(const struct device_identity *const *)b;
    return memcmp(left->digest, right->digest, DIGEST_SIZE);
}

/* One field a distinct device, in the order of their digests: neither order nor number of equal devices matters. */
static ingot_status_t put_devices(struct bytes_writer *writer, const struct ingot_program_desc *desc)
{
    const ingot_allocator_t *allocator = &desc->context->allocator;
    const size_t size = desc->device_count * sizeof(struct device_identity *);
    const struct device_identity **identities = alloc_bytes(allocator, size);
    ingot_status_t status = INGOT_SUCCESS;

    if (identities == NULL)
        return error_out_of_memory();
    for (size_t i = 0; status == INGOT_SUCCESS && i < desc->device_count; ++i)
        status = context_get_identity(desc->context, desc->device_indices[i], &identities[i]);
    if (status == INGOT_SUCCESS) {
        qsort(identities, desc->device_count, sizeof(*identities), compare_identities);
        for (size_t i = 0; i < desc->device_count; ++i) {
            if (i == 0 || compare_identities(&identities[i], &identities[i - 1]) != 0)
                put_field(writer, ID_DEVICE, identities[i]->size, identities[i]->bytes);
        }
    }
    alloc_free(allocator, identities, size);
    return status;
}

static void put_sources(struct bytes_writer *writer, const struct ingot_program_desc *desc)
{
    for (size_t i = 0; i < desc->source_count + desc->header_count; ++i) {
        const struct ingot_source *source = desc->sources[i];
        const bool is_header = i >= desc->source_count;
        uint8_t digest[DIGEST_SIZE];

        source_get_digest(source, digest);
        const size_t start = begin_field(writer, is_header ? ID_HEADER : ID_SOURCE);
        if (is_header)
            bytes_put_framed(writer, strlen(source->name), source->name);
        else
            bytes_put_u32(writer, (uint32_t)source->kind);
        bytes_put(writer, DIGEST_SIZE, digest);
        end_field(writer, start);
    }
}

/* Without -I: what it led to stands in the files. source: UINT32_MAX where they are not one source's. */
static ingot_status_t put_compile_options(struct bytes_writer *writer, const struct ingot_context *context,
                                          enum id_field tag, uint32_t source, const char *options)
{
    struct arena arena;
    arena_init(&arena, &context->allocator);
    const size_t start = begin_field(writer, tag);
    if (source != UINT32_MAX)
        bytes_put_u32(writer, source);
    struct bytes_writer kept;
    bytes_writer_init(&kept, &context->allocator);
    options_keep(&kept, &context->text_rules.of_backend, &arena, options);
    bytes_put(writer, kept.size, kept.bytes);
    end_field(writer, start);
    const bool failed = kept.failed || arena.failed;
    bytes_writer_fini(&kept);
    arena_fini(&arena);
    return failed ? error_out_of_memory() : INGOT_SUCCESS;
}

/* Options and headers that one source has for itself. */
static ingot_status_t put_source_settings(struct bytes_writer *writer, const struct ingot_program_desc *desc)
{
    ingot_status_t status = INGOT_SUCCESS;
    for (uint32_t i = 0; i < desc->source_count && status == INGOT_SUCCESS; ++i) {
        const char *options = desc->sources[i]->compile_options;
        if (*options != '\0')
            status = put_compile_options(writer, desc->context, ID_SOURCE_OPTIONS, i, options);
    }
    for (uint32_t i = 0; i < desc->source_count; ++i) {
        for (size_t j = 0; j < desc->sources[i]->header_count; ++j) {
            const struct ingot_source *header = desc->sources[i]->headers[j];
            uint8_t digest[DIGEST_SIZE];
            source_get_digest(header, digest);
            const size_t start = begin_field(writer, ID_SOURCE_HEADER);
            bytes_put_u32(writer, i);
            bytes_put_framed(writer, strlen(header->name), header->name);
            bytes_put(writer, DIGEST_SIZE, digest);
            end_field(writer, start);
        }
    }
    return status;
}

static ingot_status_t put_program(struct bytes_writer *writer, const struct ingot_program_desc *desc)
{
    const struct ingot_context *context = desc->context;

    put_sources(writer, desc);
    put_field(writer, ID_FILES, desc->files_size, program_desc_files(desc));
    ingot_status_t status = put_compile_options(writer, context, ID_COMPILE_OPTIONS, UINT32_MAX, desc->compile_options);
    put_text_field(writer, ID_LINK_OPTIONS, desc->link_options);
    if (status == INGOT_SUCCESS)
        status =
            put_compile_options(writer, context, ID_ENVIRONMENT_COMPILE_OPTIONS, UINT32_MAX, context->compile_options);
    put_text_field(writer, ID_ENVIRONMENT_LINK_OPTIONS, context->link_options);
    for (size_t i = 0; i < desc->spec_constant_count; ++i) {
        const size_t start = begin_field(writer, ID_SPEC_CONSTANT);
        bytes_put_u32(writer, desc->spec_constants[i].id);
        bytes_put(writer, desc->spec_constants[i].size, desc->spec_constants[i].value);
        end_field(writer, start);
    }
    for (size_t i = 0; i < desc->name_expression_count; ++i)
        put_text_field(writer, ID_NAME_EXPRESSION, desc->name_expressions[i]);
    return status == INGOT_SUCCESS ? put_source_settings(writer, desc) : status;
}

static ingot_status_t create(const struct ingot_program_desc *desc, struct cache_blob_id **id)
{
    const ingot_allocator_t *allocator = &desc->context->allocator;
    struct cache_blob_id *made = alloc_zeroed(allocator, sizeof(*made));
    struct bytes_writer writer;

    if (made == NULL)
        return error_out_of_memory();
    bytes_writer_init(&writer, allocator);
    bytes_put(&writer, ID_MAGIC_SIZE, ID_MAGIC);
    bytes_put_u32(&writer, ID_FORMAT_VERSION);
    const size_t library_start = writer.size;
    put_library(&writer, desc->context);
    const size_t library_end = writer.size;
    ingot_status_t status = put_devices(&writer, desc);
    const size_t program_start = writer.size;
    if (status == INGOT_SUCCESS)
        status = put_program(&writer, desc);
    if (status == INGOT_SUCCESS) {
        made->bytes = bytes_take(&writer, &made->size);
        status = made->bytes != NULL ? INGOT_SUCCESS : error_out_of_memory();
    }
    if (status == INGOT_SUCCESS) {
        digest_of(library_end - library_start, made->bytes + library_start, made->library_digest);
        digest_of(made->size - program_start, made->bytes + program_start, made->program_digest);
        *id = made;
        made = NULL;
    }
    bytes_writer_fini(&writer);
    cache_blob_id_destroy(made, allocator);
    return status;
}

void cache_blob_id_destroy(struct cache_blob_id *id, const ingot_allocator_t *allocator)
{
    if (id == NULL)
        return;
    alloc_free(allocator, id->bytes, id->size);
    alloc_free(allocator, id, sizeof(*id));
}

ingot_status_t cache_blob_id_get(const struct ingot_program_desc *desc, const struct cache_blob_id **id)
{
    struct ingot_program_desc *shared = (struct ingot_program_desc *)desc; /* descriptors are always made on the heap */
    struct cache_blob_id *known = atomic_load_explicit(&shared->id, memory_order_acquire);

    if (desc->not_cacheable != NULL)
        return error_set(INGOT_NOT_CACHEABLE, "%s", desc->not_cacheable);
    if (known == NULL) {
        struct cache_blob_id *made = NULL;
        const ingot_status_t status = create(desc, &made);
        if (status != INGOT_SUCCESS)
            return status;
        /* Threads may make it at once; all make the same bytes and the first stays. Release pairs with acquire. */
        if (atomic_compare_exchange_strong_explicit(&shared->id, &known, made, memory_order_acq_rel,
                                                    memory_order_acquire))
            known = made;
        else
            cache_blob_id_destroy(made, &desc->context->allocator);
    }
    *id = known;
    return INGOT_SUCCESS;
}

ingot_status_t ingot_program_desc_get_cache_blob_id(const_ingot_program_desc_t desc, size_t *size, const uint8_t **id)
{
    const struct cache_blob_id *known = NULL;

    if (desc == NULL || size == NULL || id == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "desc, size or id is NULL");
    const ingot_status_t status = cache_blob_id_get(desc, &known);
    if (status == INGOT_SUCCESS) {
        *size = known->size;
        *id = known->bytes;
    }
    return status;
}
