/*
 * cache_blob_id.c - writes the ids of descriptors; see cache_blob_id.h and doc/blob-format.md.
 */
#include "core/descriptor/cache_blob_id.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/descriptor/cache_blob_id_format.h"
#include "core/hermetic/option_words.h"

struct id_writing {
    const struct ingot_program_desc *desc;
    const struct ingot_context *context;
    struct bytes_writer bytes;
    enum id_field tag;  /* tag of the fields that are being written */
    size_t field_start; /* start of the field's value */
    ingot_status_t status;
};

/* Begins a field. end_field writes its length, for which this leaves room. */
static void begin_field(struct id_writing *id)
{
    bytes_put_u32(&id->bytes, (uint32_t)id->tag);
    bytes_put_u64(&id->bytes, 0);
    id->field_start = id->bytes.size;
}

static void end_field(struct id_writing *id)
{
    bytes_patch_u64(&id->bytes, id->field_start - 8, id->bytes.size - id->field_start);
}

static void put_id_field(struct id_writing *id, size_t size, const void *value)
{
    begin_field(id);
    bytes_put(&id->bytes, size, value);
    end_field(id);
}

static void put_text_field(struct id_writing *id, const char *text)
{
    put_id_field(id, strlen(text), text);
}

static void put_library_field(struct id_writing *id)
{
    put_text_field(id, ID_RULES);
}

static void put_backend_field(struct id_writing *id)
{
    put_text_field(id, id->context->ops.name);
}

static int compare_identities(const void *a, const void *b)
{
    const struct device_identity *left = *(const struct device_identity *const *)a;
    const struct device_identity *right = *(const struct device_identity *const *)b;
    return memcmp(left->digest, right->digest, DIGEST_SIZE);
}

/* Writes one field per distinct device identity, sorted by digest, so that the id does not depend on the order of
 * the devices or on how many of them are equal. */
static void put_device_fields(struct id_writing *id)
{
    const struct ingot_program_desc *desc = id->desc;
    const ingot_allocator_t *allocator = &id->context->allocator;
    const size_t size = desc->device_count * sizeof(struct device_identity *);
    const struct device_identity **identities = memory_allocate(allocator, size);

    if (identities == NULL) {
        id->status = error_out_of_memory();
        return;
    }
    for (size_t i = 0; id->status == INGOT_SUCCESS && i < desc->device_count; ++i)
        id->status = context_get_identity(desc->context, desc->device_indices[i], &identities[i]);
    if (id->status == INGOT_SUCCESS) {
        qsort(identities, desc->device_count, sizeof(*identities), compare_identities);
        for (size_t i = 0; i < desc->device_count; ++i) {
            if (i == 0 || compare_identities(&identities[i], &identities[i - 1]) != 0)
                put_id_field(id, identities[i]->size, identities[i]->bytes);
        }
    }
    memory_free(allocator, identities, size);
}

static void put_digest(struct id_writing *id, const struct ingot_source *source)
{
    uint8_t digest[DIGEST_SIZE];
    source_get_digest(source, digest);
    bytes_put(&id->bytes, DIGEST_SIZE, digest);
}

static void put_header_digest(struct id_writing *id, const struct ingot_source *header)
{
    bytes_put_framed(&id->bytes, strlen(header->name), header->name);
    put_digest(id, header);
}

static void put_source_fields(struct id_writing *id)
{
    for (size_t i = 0; i < id->desc->source_count; ++i) {
        begin_field(id);
        bytes_put_u32(&id->bytes, (uint32_t)id->desc->sources[i]->kind);
        put_digest(id, id->desc->sources[i]);
        end_field(id);
    }
}

static void put_header_fields(struct id_writing *id)
{
    for (size_t i = 0; i < id->desc->header_count; ++i) {
        begin_field(id);
        put_header_digest(id, id->desc->sources[id->desc->source_count + i]);
        end_field(id);
    }
}

static void put_file_field(struct id_writing *id)
{
    put_id_field(id, id->desc->files_size, program_desc_files(id->desc));
}

/* Appends the options without -I. The files that were found through -I are in the files field. */
static void put_kept_options(struct id_writing *id, const char *options)
{
    struct arena arena;
    struct bytes_writer kept;

    arena_init(&arena, &id->context->allocator);
    bytes_writer_init(&kept, &id->context->allocator);
    options_keep(&kept, &id->context->text_rules.of_backend, &arena, options);
    bytes_put(&id->bytes, kept.size, kept.bytes);
    if (kept.failed || arena.failed)
        id->status = error_out_of_memory();
    bytes_writer_fini(&kept);
    arena_fini(&arena);
}

/* Writes the options of the program or of the environment. Those of a program with text sources have no -I, because
 * the compiler does not get it. Without text sources, the compiler gets all options, and what -I means is up to it. */
static void put_compile_options(struct id_writing *id)
{
    const bool is_of_program = id->tag == ID_COMPILE_OPTIONS;
    const char *options = is_of_program ? id->desc->compile_options : id->context->compile_options;
    begin_field(id);
    if (program_desc_has_text(id->desc))
        put_kept_options(id, options);
    else
        bytes_put_text(&id->bytes, options);
    end_field(id);
}

static void put_link_options(struct id_writing *id)
{
    put_text_field(id, id->tag == ID_LINK_OPTIONS ? id->desc->link_options : id->context->link_options);
}

static void put_constant_fields(struct id_writing *id)
{
    for (size_t i = 0; i < id->desc->spec_constant_count; ++i) {
        const ingot_spec_constant_t *constant = &program_desc_spec_constants(id->desc)[i];
        begin_field(id);
        bytes_put_u32(&id->bytes, constant->id);
        bytes_put(&id->bytes, constant->size, constant->value);
        end_field(id);
    }
}

static void put_name_expression_fields(struct id_writing *id)
{
    for (size_t i = 0; i < id->desc->name_expression_count; ++i)
        put_text_field(id, program_desc_name_expressions(id->desc)[i]);
}

static void put_source_options(struct id_writing *id)
{
    for (uint32_t i = 0; i < id->desc->source_count && id->status == INGOT_SUCCESS; ++i) {
        if (*id->desc->sources[i]->compile_options == '\0')
            continue;
        begin_field(id);
        bytes_put_u32(&id->bytes, i);
        if (id->desc->sources[i]->is_text)
            put_kept_options(id, id->desc->sources[i]->compile_options);
        else
            bytes_put_text(&id->bytes, id->desc->sources[i]->compile_options);
        end_field(id);
    }
}

static void put_source_headers(struct id_writing *id)
{
    for (uint32_t i = 0; i < id->desc->source_count; ++i) {
        for (size_t j = 0; j < id->desc->sources[i]->header_count; ++j) {
            begin_field(id);
            bytes_put_u32(&id->bytes, i);
            put_header_digest(id, id->desc->sources[i]->headers[j]);
            end_field(id);
        }
    }
}

const struct id_rule id_rules[ID_LAST + 1] = {
    [ID_LIBRARY] = {"library", ID_ONCE, {ID_PART_TEXT}, put_library_field},
    [ID_BACKEND] = {"backend", ID_ONCE, {ID_PART_TEXT}, put_backend_field},
    [ID_DEVICE] = {"device", ID_MANY, {ID_PART_DEVICE}, put_device_fields},
    [ID_SOURCE] = {"source", ID_MANY, {ID_PART_KIND, ID_PART_DIGEST}, put_source_fields},
    [ID_HEADER] = {"header", ID_MANY, {ID_PART_NAME, ID_PART_DIGEST}, put_header_fields},
    [ID_FILES] = {"file", ID_ONCE, {ID_PART_FILES}, put_file_field},
    [ID_COMPILE_OPTIONS] = {"compile_options", ID_ONCE, {ID_PART_TEXT}, put_compile_options},
    [ID_LINK_OPTIONS] = {"link_options", ID_ONCE, {ID_PART_TEXT}, put_link_options},
    [ID_ENVIRONMENT_COMPILE_OPTIONS] = {"environment_compile_options", ID_ONCE, {ID_PART_TEXT}, put_compile_options},
    [ID_ENVIRONMENT_LINK_OPTIONS] = {"environment_link_options", ID_ONCE, {ID_PART_TEXT}, put_link_options},
    [ID_SPEC_CONSTANT] = {"spec_constant", ID_BY_NUMBER, {ID_PART_BYTES}, put_constant_fields},
    [ID_NAME_EXPRESSION] = {"name_expression", ID_MANY, {ID_PART_TEXT}, put_name_expression_fields},
    [ID_SOURCE_OPTIONS] = {"compile_options", ID_ONCE_PER_SOURCE, {ID_PART_TEXT}, put_source_options},
    [ID_SOURCE_HEADER] = {"header", ID_MANY_PER_SOURCE, {ID_PART_NAME, ID_PART_DIGEST}, put_source_headers},
};

static ingot_status_t create_blob_id(const struct ingot_program_desc *desc, struct cache_blob_id **id)
{
    const ingot_allocator_t *allocator = &desc->context->allocator;
    struct cache_blob_id *made = memory_allocate_zeroed(allocator, sizeof(*made));
    struct id_writing writing = {.desc = desc, .context = desc->context, .status = INGOT_SUCCESS};
    struct bytes_writer *bytes = &writing.bytes;
    size_t library_end = 0;
    size_t program_start = 0;

    if (made == NULL)
        return error_out_of_memory();
    bytes_writer_init(bytes, allocator);
    bytes_put(bytes, ID_MAGIC_SIZE, ID_MAGIC);
    bytes_put_u32(bytes, ID_FORMAT_VERSION);
    const size_t library_start = bytes->size;
    for (writing.tag = ID_LIBRARY; writing.tag <= ID_LAST && writing.status == INGOT_SUCCESS; ++writing.tag) {
        if (writing.tag == ID_DEVICE)
            library_end = bytes->size;
        if (writing.tag == ID_SOURCE)
            program_start = bytes->size;
        if (id_rules[writing.tag].put != NULL)
            id_rules[writing.tag].put(&writing);
    }
    if (writing.status == INGOT_SUCCESS) {
        made->bytes = bytes_take(bytes, &made->size);
        writing.status = made->bytes != NULL ? INGOT_SUCCESS : error_out_of_memory();
    }
    if (writing.status == INGOT_SUCCESS) {
        digest_of(library_end - library_start, made->bytes + library_start, made->library_digest);
        digest_of(made->size - program_start, made->bytes + program_start, made->program_digest);
        *id = made;
        made = NULL;
    }
    bytes_writer_fini(bytes);
    cache_blob_id_destroy(made, allocator);
    return writing.status;
}

void cache_blob_id_destroy(struct cache_blob_id *id, const ingot_allocator_t *allocator)
{
    if (id == NULL)
        return;
    memory_free(allocator, id->bytes, id->size);
    memory_free(allocator, id, sizeof(*id));
}

ingot_status_t cache_blob_id_get(const struct ingot_program_desc *desc, const struct cache_blob_id **id)
{
    /* descriptors are never const objects, because all are on the heap */
    struct ingot_program_desc *shared = (struct ingot_program_desc *)desc;
    struct cache_blob_id *known = atomic_load_explicit(&shared->id, memory_order_acquire);

    if (desc->not_cacheable != NULL)
        return error_set(INGOT_NOT_CACHEABLE, "%s", desc->not_cacheable);
    if (known == NULL) {
        struct cache_blob_id *made = NULL;
        const ingot_status_t status = create_blob_id(desc, &made);
        if (status != INGOT_SUCCESS)
            return status;
        /* Several threads may make the id at once. All make the same bytes, and those of the first thread are kept. The
         * release pairs with the acquires, here and above. */
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
