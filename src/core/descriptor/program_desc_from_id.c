/*
 * program_desc_from_id.c - makes a descriptor from nothing but an id, for programs that are loaded before they are
 * requested.
 *
 * An id has digests in place of sources, so such a descriptor cannot be compiled. But it has options, constants and
 * devices, which are all that loading a binary needs. The id may come from an untrusted place. Later requests compare
 * ids in full, so it is enough to refuse malformed ids, and ids that no descriptor of this context can have, before
 * anything is loaded.
 */
#include <string.h>

#include "core/artifact/artifact_id.h"
#include "core/base/error.h"
#include "core/descriptor/cache_blob_id.h"
#include "core/descriptor/cache_blob_id_format.h"
#include "core/descriptor/program_desc.h"

/* The first number of the key of a descriptor that was made from an id. Keys of other descriptors begin with a small
 * number. */
#define KEY_OF_AN_ID UINT64_MAX

struct id_value {
    size_t size;
    const uint8_t *bytes; /* points into the id; NULL if the id has no such field */
};

struct id_view {
    size_t size;
    const uint8_t *bytes;
    size_t library_end;                  /* offset at which the library's fields end */
    size_t program_start;                /* offset at which the program's part begins */
    struct id_value single[ID_LAST + 1]; /* indexed by tag: the fields that occur only once in an id */
    size_t device_count;                 /* number of distinct devices */
    size_t constant_count;
    size_t expression_count;
    size_t expressions_size; /* size of all name expressions, each with a NUL */
};

static ingot_status_t malformed(const char *what)
{
    return error_set(INGOT_BLOB_CORRUPT, "a cache blob id %s", what);
}

static void begin_fields(struct bytes_reader *reader, size_t size, const uint8_t *id)
{
    bytes_reader_init(reader, size, id);
    (void)bytes_get(reader, ID_FIELDS_OFFSET);
}

/* Reads the next field. cache_blob_id_visit has already checked the id. */
static uint32_t next_field(struct bytes_reader *reader, struct id_value *value)
{
    const uint32_t tag = bytes_get_u32(reader);
    value->bytes = bytes_get_framed(reader, &value->size);
    return tag;
}

static bool is_constant(const struct id_value *value)
{
    return value->size == 4 + 1 || value->size == 4 + 2 || value->size == 4 + 4 || value->size == 4 + 8;
}

static ingot_status_t view_field(struct id_view *view, uint32_t tag, const struct id_value *value, size_t start)
{
    if (tag >= ID_DEVICE && view->library_end == 0)
        view->library_end = start;
    if (tag >= ID_SOURCE && view->program_start == view->size)
        view->program_start = start;
    if (id_rules[tag].often == ID_ONCE) {
        if (view->single[tag].bytes != NULL)
            return malformed("has a field twice");
        view->single[tag] = *value;
    }
    view->device_count += tag == ID_DEVICE;
    view->constant_count += tag == ID_SPEC_CONSTANT;
    if (tag == ID_NAME_EXPRESSION) {
        ++view->expression_count;
        view->expressions_size += value->size + 1;
        if (value->size == 0 || memchr(value->bytes, '\0', value->size) != NULL)
            return malformed("has a name expression that is empty or contains NUL");
    }
    return tag != ID_SPEC_CONSTANT || is_constant(value) ? INGOT_SUCCESS
                                                         : malformed("has a constant whose size is not 1, 2, 4 or 8");
}

static ingot_status_t view_id(struct id_view *view, size_t size, const uint8_t *id)
{
    struct bytes_reader reader;
    struct id_value value;

    *view = (struct id_view){.size = size, .bytes = id, .program_start = size};
    if (artifact_id_is(size, id))
        return error_set(INGOT_BLOB_STALE, "the id is that of an artifact, not of a program");
    ingot_status_t status = cache_blob_id_visit(size, id, NULL, NULL);
    if (status != INGOT_SUCCESS)
        return status;
    begin_fields(&reader, size, id);
    while (status == INGOT_SUCCESS && bytes_left(&reader) != 0) {
        const size_t start = reader.offset;
        const uint32_t tag = next_field(&reader, &value);
        status = view_field(view, tag, &value, start);
    }
    if (status != INGOT_SUCCESS)
        return status;
    for (uint32_t tag = ID_COMPILE_OPTIONS; tag <= ID_ENVIRONMENT_LINK_OPTIONS; ++tag) {
        if (view->single[tag].bytes == NULL || memchr(view->single[tag].bytes, '\0', view->single[tag].size) != NULL)
            return malformed("lacks options, or they contain NUL");
    }
    return view->device_count != 0 && view->single[ID_LIBRARY].bytes != NULL && view->single[ID_BACKEND].bytes != NULL
               ? INGOT_SUCCESS
               : malformed("lacks a device, the library or the backend");
}

static bool equals_text(const struct id_value *value, const char *text)
{
    return value->size == strlen(text) && memcmp(value->bytes, text, value->size) == 0;
}

/* Checks the library, the backend and the environment's options, which are the same in all ids of this context. */
static ingot_status_t check_library(const struct id_view *view, const struct ingot_context *context)
{
    if (!equals_text(&view->single[ID_LIBRARY], ingot_version()) ||
        !equals_text(&view->single[ID_BACKEND], context->ops.name))
        return error_set(INGOT_BLOB_STALE, "the id is of another backend or another build of the library");
    const struct id_value *options = &view->single[ID_ENVIRONMENT_COMPILE_OPTIONS]; /* those of texts have no -I */
    if ((!equals_text(options, context->kept_options) && !equals_text(options, context->compile_options)) ||
        !equals_text(&view->single[ID_ENVIRONMENT_LINK_OPTIONS], context->link_options))
        return error_set(INGOT_BLOB_STALE, "the id is for other options from the environment");
    return INGOT_SUCCESS;
}

static bool has_device(const struct id_view *view, const struct device_identity *identity)
{
    struct bytes_reader reader;
    struct id_value value;

    begin_fields(&reader, view->size, view->bytes);
    while (bytes_left(&reader) != 0) {
        if (next_field(&reader, &value) == ID_DEVICE && value.size == identity->size &&
            memcmp(value.bytes, identity->bytes, value.size) == 0)
            return true;
    }
    return false;
}

/* Finds the devices of the context that the id names, and checks that the id names no others. `devices` has room for
 * all devices of the context. */
static ingot_status_t find_devices(const struct id_view *view, struct ingot_context *context, uint32_t *devices,
                                   size_t *count)
{
    size_t distinct = 0;

    *count = 0;
    for (uint32_t i = 0; i < context->device_count; ++i) {
        const struct device_identity *identity = NULL;
        const struct device_identity *earlier = NULL;
        bool is_new = true;
        ingot_status_t status = context_get_identity(context, i, &identity);
        for (size_t j = 0; status == INGOT_SUCCESS && is_new && j < *count; ++j) {
            status = context_get_identity(context, devices[j], &earlier);
            is_new = status == INGOT_SUCCESS && memcmp(identity->digest, earlier->digest, DIGEST_SIZE) != 0;
        }
        if (status != INGOT_SUCCESS)
            return status;
        if (is_new && !has_device(view, identity))
            continue;
        distinct += is_new;
        devices[(*count)++] = i;
    }
    return distinct == view->device_count
               ? INGOT_SUCCESS
               : error_set(INGOT_BLOB_STALE, "the id is for other devices, drivers or compilers");
}

static ingot_status_t copy_id(const struct id_view *view, const ingot_allocator_t *allocator,
                              struct cache_blob_id **copy)
{
    struct cache_blob_id *made = alloc_zeroed(allocator, sizeof(*made));
    if (made == NULL)
        return error_out_of_memory();
    made->bytes = alloc_bytes(allocator, view->size);
    if (made->bytes == NULL) {
        alloc_free(allocator, made, sizeof(*made));
        return error_out_of_memory();
    }
    made->size = view->size;
    memcpy(made->bytes, view->bytes, view->size);
    const size_t library_start = ID_FIELDS_OFFSET;
    digest_of(view->library_end - library_start, made->bytes + library_start, made->library_digest);
    digest_of(view->size - view->program_start, made->bytes + view->program_start, made->program_digest);
    *copy = made;
    return INGOT_SUCCESS;
}

static void *take(uint8_t **place, size_t size)
{
    void *part = *place;
    *place += size;
    return part;
}

static char *take_text(uint8_t **place, const struct id_value *value)
{
    char *text = take(place, value->size + 1);
    memcpy(text, value->bytes, value->size);
    text[value->size] = '\0';
    return text;
}

static void read_constant(struct ingot_program_desc *desc, size_t i, const struct id_value *value)
{
    struct bytes_reader field;
    ingot_spec_constant_t *constants = program_desc_spec_constants(desc);
    uint64_t *values = (uint64_t *)(constants + desc->spec_constant_count);

    bytes_reader_init(&field, value->size, value->bytes);
    const uint32_t id = bytes_get_u32(&field);
    memcpy(&values[i], value->bytes + 4, value->size - 4);
    constants[i] = (ingot_spec_constant_t){id, (uint32_t)value->size - 4, &values[i]};
}

/* Reads the specialization constants, and copies the name expressions to *place. */
static void read_constants_and_expressions(struct ingot_program_desc *desc, const struct id_view *view, uint8_t **place)
{
    struct bytes_reader reader;
    struct id_value value;
    size_t constant_count = 0;
    const char **expression = program_desc_name_expressions(desc);

    begin_fields(&reader, view->size, view->bytes);
    while (bytes_left(&reader) != 0) {
        const uint32_t tag = next_field(&reader, &value);
        if (tag == ID_SPEC_CONSTANT)
            read_constant(desc, constant_count++, &value);
        else if (tag == ID_NAME_EXPRESSION)
            *expression++ = take_text(place, &value);
    }
}

/* Makes the descriptor in one block of memory, like other descriptors. */
static ingot_status_t create(const struct id_view *view, struct ingot_context *context, size_t device_count,
                             const uint32_t *devices, struct ingot_program_desc **desc)
{
    static const struct id_value no_group = {0, (const uint8_t *)""};
    const size_t key_size = sizeof(uint64_t) + view->size;
    const size_t constants_size = view->constant_count * (sizeof(ingot_spec_constant_t) + sizeof(uint64_t));
    const size_t block_size = sizeof(**desc) + constants_size + view->expression_count * sizeof(char *) +
                              device_count * sizeof(uint32_t) + key_size + view->expressions_size +
                              view->single[ID_COMPILE_OPTIONS].size + view->single[ID_LINK_OPTIONS].size + 3;
    const uint64_t mark = KEY_OF_AN_ID;
    struct cache_blob_id *id = NULL;
    struct ingot_program_desc *made = alloc_zeroed(&context->allocator, block_size);

    const ingot_status_t status = made != NULL ? copy_id(view, &context->allocator, &id) : error_out_of_memory();
    if (status != INGOT_SUCCESS) {
        alloc_free(&context->allocator, made, block_size);
        return status;
    }
    made->block_size = block_size;
    made->spec_constant_count = (uint32_t)view->constant_count;
    made->name_expression_count = (uint32_t)view->expression_count;
    uint8_t *place = (uint8_t *)(program_desc_name_expressions(made) + view->expression_count);
    made->device_indices = take(&place, device_count * sizeof(*made->device_indices));
    made->device_count = (uint32_t)device_count;
    uint8_t *const key = take(&place, key_size);
    made->compile_options = take_text(&place, &view->single[ID_COMPILE_OPTIONS]);
    made->link_options = take_text(&place, &view->single[ID_LINK_OPTIONS]);
    made->group = take_text(&place, &no_group);
    read_constants_and_expressions(made, view, &place);
    memcpy(made->device_indices, devices, device_count * sizeof(*devices));
    made->key_size = key_size;
    memcpy(key, &mark, sizeof(mark));
    memcpy(key + sizeof(mark), view->bytes, view->size);
    made->key_hash = hash128_of(key_size, key);
    atomic_init(&made->references, 1);
    atomic_init(&made->id, id);
    made->context = context;
    context_reference(context);
    *desc = made;
    return INGOT_SUCCESS;
}

ingot_status_t ingot_program_desc_create_from_cache_blob_id(ingot_program_desc_t *desc, ingot_context_t context,
                                                            size_t size, const uint8_t *id)
{
    struct id_view view;
    size_t device_count = 0;

    if (desc == NULL || context == NULL || id == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "desc, context or id is NULL");
    ingot_status_t status = view_id(&view, size, id);
    if (status == INGOT_SUCCESS)
        status = check_library(&view, context);
    if (status != INGOT_SUCCESS)
        return status;
    const size_t room = context->device_count * sizeof(uint32_t);
    uint32_t *devices = alloc_bytes(&context->allocator, room);
    status = devices != NULL ? find_devices(&view, context, devices, &device_count) : error_out_of_memory();
    if (status == INGOT_SUCCESS)
        status = create(&view, context, device_count, devices, desc);
    alloc_free(&context->allocator, devices, room);
    return status;
}
