/*
 * fields.c - encodes and decodes the fields of a program's record; see fields.h.
 *
 * A record is decoded in two passes: the first checks the list of fields and counts them, and the second fills arrays
 * of these sizes. Every size from the file is compared with the rest of the record before it is used.
 */
#include "persist/recipe/format/fields.h"

#include <stddef.h>
#include <string.h>

#include "util/little_endian.h"

/* ---- writing ---- */

size_t recipe_begin_field(struct bytes_writer *content, enum recipe_field tag)
{
    bytes_put_u32(content, (uint32_t)tag);
    bytes_put_u32(content, 0);
    return content->size;
}

void recipe_end_field(struct bytes_writer *content, size_t begin)
{
    if (!content->failed)
        le_put_u32(content->bytes + begin - sizeof(uint32_t), (uint32_t)(content->size - begin));
}

void recipe_put_field(struct bytes_writer *content, enum recipe_field tag, size_t size, const void *value)
{
    const size_t begin = recipe_begin_field(content, tag);
    bytes_put(content, size, value);
    recipe_end_field(content, begin);
}

void recipe_put_number(struct bytes_writer *content, enum recipe_field tag, uint32_t value)
{
    uint8_t bytes[sizeof(value)];
    le_put_u32(bytes, value);
    recipe_put_field(content, tag, sizeof(bytes), bytes);
}

void recipe_put_text_field(struct bytes_writer *content, enum recipe_field tag, const char *text)
{
    if (text != NULL && text[0] != '\0')
        recipe_put_field(content, tag, strlen(text), text);
}

void recipe_put_text(struct bytes_writer *content, const char *text)
{
    const size_t size = strlen(text);
    bytes_put_u32(content, (uint32_t)size);
    bytes_put(content, size, text);
}

/* ---- reading values ---- */

/* Takes bytes from the front of a value. Returns NULL if there are too few. */
static const uint8_t *take(struct recipe_value *value, size_t size)
{
    const uint8_t *bytes = value->bytes;
    if (value->size < size)
        return NULL;
    value->bytes += size;
    value->size -= (uint32_t)size;
    return bytes;
}

static bool take_u32(struct recipe_value *value, uint32_t *number)
{
    const uint8_t *bytes = take(value, sizeof(*number));
    *number = bytes != NULL ? le_get_u32(bytes) : 0;
    return bytes != NULL;
}

/* Copies a text into the arena. Returns NULL if it contains a NUL, or if memory runs out. */
static const char *copy_text(struct arena *arena, size_t size, const uint8_t *bytes)
{
    return size == 0 ? "" : memchr(bytes, '\0', size) == NULL ? arena_copy(arena, size, bytes) : NULL;
}

static const char *take_text(struct recipe_value *value, struct arena *arena)
{
    uint32_t size = 0;
    const uint8_t *bytes = take_u32(value, &size) ? take(value, size) : NULL;
    return bytes != NULL ? copy_text(arena, size, bytes) : NULL;
}

/* ---- the list of fields ---- */

/* Reads the next field. At the end of the content, sets the tag to 0. Returns false if the content is malformed. */
static bool next_field(struct recipe_value *content, struct recipe_value *field)
{
    *field = (struct recipe_value){.tag = 0};
    if (content->size == 0)
        return true;
    if (!take_u32(content, &field->tag) || !take_u32(content, &field->size) || field->tag == 0)
        return false;
    field->bytes = take(content, field->size);
    return field->bytes != NULL;
}

static bool may_repeat(uint32_t tag)
{
    return tag == FIELD_SOURCE || tag == FIELD_SOURCE_HEADER || tag == FIELD_HEADER || tag == FIELD_SPEC_CONSTANT ||
           tag == FIELD_NAME_EXPRESSION || tag == FIELD_FILE || tag == FIELD_OBJECT || tag > FIELD_LAST;
}

static bool is_known(uint32_t tag)
{
    return tag <= FIELD_REASON || tag >= FIELD_REMARKS;
}

/* Checks the list, and counts the fields of each tag. */
static bool count_fields(size_t size, const uint8_t *bytes, size_t *key_size, size_t counts[FIELD_LAST + 1])
{
    struct recipe_value content = {0, (uint32_t)size, bytes};
    struct recipe_value field;
    uint32_t before = 0;
    *key_size = 0;
    for (;;) {
        if (!next_field(&content, &field))
            return false;
        if (field.tag == 0)
            break;
        if (field.tag < before || (field.tag == before && !may_repeat(field.tag)) || !is_known(field.tag))
            return false;
        before = field.tag;
        if (field.tag <= FIELD_LAST)
            ++counts[field.tag];
        if (field.tag < FIELD_REMARKS)
            *key_size = size - content.size;
    }
    return counts[FIELD_KIND] == 1 && counts[FIELD_BACKEND] == 1;
}

/* ---- the fields ---- */

/* The arrays that are being filled. */
struct decoding {
    struct recipe_fields *fields;
    struct arena *arena;
    recipe_find_text_t find_text;
    const void *user;
    size_t filled[FIELD_LAST + 1];
    ingot_recipe_text_t *sources;
    ingot_recipe_text_t *source_headers;
    ingot_recipe_text_t *headers;
    ingot_recipe_text_t *files;
    ingot_spec_constant_t *constants;
    const char **expressions;
    size_t counts[FIELD_LAST + 1];
};

static bool allocate(struct decoding *to)
{
    struct arena *arena = to->arena;
    const size_t *counts = to->counts;
    struct recipe_fields *fields = to->fields;
    to->sources = arena_take(arena, counts[FIELD_SOURCE] * sizeof(*to->sources));
    to->source_headers = arena_take(arena, counts[FIELD_SOURCE_HEADER] * sizeof(*to->source_headers));
    to->headers = arena_take(arena, counts[FIELD_HEADER] * sizeof(*to->headers));
    to->files = arena_take(arena, counts[FIELD_FILE] * sizeof(*to->files));
    to->constants = arena_take(arena, counts[FIELD_SPEC_CONSTANT] * sizeof(*to->constants));
    to->expressions = arena_take(arena, counts[FIELD_NAME_EXPRESSION] * sizeof(*to->expressions));
    fields->program.sources = to->sources;
    fields->program.source_count = counts[FIELD_SOURCE];
    fields->program.headers = to->headers;
    fields->program.header_count = counts[FIELD_HEADER];
    fields->program.files = to->files;
    fields->program.file_count = counts[FIELD_FILE];
    fields->program.spec_constants = to->constants;
    fields->program.spec_constant_count = counts[FIELD_SPEC_CONSTANT];
    fields->program.name_expressions = to->expressions;
    fields->program.name_expression_count = counts[FIELD_NAME_EXPRESSION];
    return !arena->failed;
}

/* Takes the digest and the size of a text, and finds the text. */
static bool take_reference(struct decoding *to, struct recipe_value *value, ingot_recipe_text_t *text)
{
    struct recipe_fields *fields = to->fields;
    const uint8_t *digest = take(value, INGOT_RECIPE_KEY_SIZE);
    const uint8_t *size = take(value, sizeof(uint64_t));
    if (digest == NULL || size == NULL)
        return false;
    text->size = le_get_u64(size);
    text->kind = INGOT_SOURCE_HEADER;
    text->text = to->find_text(to->user, digest, text->size);
    text->compile_options = "";
    fields->lacks_text = fields->lacks_text || text->text == SIZE_MAX;
    fields->text_bytes += text->text != SIZE_MAX ? text->size : 0; /* 2^26 for each of 2^17 texts, so no overflow */
    return true;
}

static bool read_source(struct decoding *to, struct recipe_value *value, size_t number)
{
    uint32_t kind = 0;
    ingot_recipe_text_t *source = &to->sources[number];
    if (!take_u32(value, &kind) || !take_reference(to, value, source))
        return false;
    source->kind = (ingot_source_kind_t)kind;
    source->name = take_text(value, to->arena);
    source->compile_options = take_text(value, to->arena);
    return source->name != NULL && source->compile_options != NULL && value->size == 0;
}

/* Reads a header of a source. All headers of one source must be adjacent, as they are if the fields are in the order of
 * the sources. */
static bool read_source_header(struct decoding *to, struct recipe_value *value, size_t number)
{
    uint32_t source_number = 0;
    ingot_recipe_text_t *header = &to->source_headers[number];
    if (!take_u32(value, &source_number) || source_number >= to->counts[FIELD_SOURCE] ||
        !take_reference(to, value, header))
        return false;
    ingot_recipe_text_t *source = &to->sources[source_number];
    if (source->header_count == 0)
        source->headers = header;
    else if (source->headers + source->header_count != header)
        return false;
    ++source->header_count;
    header->name = take_text(value, to->arena);
    return header->name != NULL && value->size == 0;
}

static bool read_text(struct decoding *to, struct recipe_value *value, ingot_recipe_text_t *text)
{
    if (!take_reference(to, value, text))
        return false;
    text->name = take_text(value, to->arena);
    return text->name != NULL && value->size == 0;
}

static bool read_constant(struct decoding *to, struct recipe_value *value, size_t number)
{
    ingot_spec_constant_t *constant = &to->constants[number];
    if (!take_u32(value, &constant->id))
        return false;
    constant->size = value->size;
    uint64_t *copy = arena_take(to->arena, sizeof(*copy));
    if (copy == NULL || (value->size != 1 && value->size != 2 && value->size != 4 && value->size != 8))
        return false;
    memcpy(copy, value->bytes, value->size);
    constant->value = copy;
    return number == 0 || constant[-1].id < constant->id;
}

static bool read_includes(struct decoding *to, const struct recipe_value *value)
{
    struct recipe_fields *fields = to->fields;
    fields->number_count = value->size / sizeof(uint32_t);
    fields->numbers = arena_take(to->arena, fields->number_count * sizeof(uint32_t));
    if (fields->numbers == NULL || value->size % sizeof(uint32_t) != 0)
        return false;
    for (size_t i = 0; i < fields->number_count; ++i)
        fields->numbers[i] = le_get_u32(value->bytes + i * sizeof(uint32_t));
    return true;
}

static bool read_string(struct decoding *to, const struct recipe_value *value, const char **text)
{
    *text = copy_text(to->arena, value->size, value->bytes);
    return *text != NULL;
}

/* Earlier versions recorded what clCompileProgram (2) and clLinkProgram (3) made under the OpenCL layer. */
static bool read_kind(struct decoding *to, struct recipe_value *value)
{
    ingot_recipe_program_t *program = &to->fields->program;
    uint32_t kind = 0;
    if (!take_u32(value, &kind) || value->size != 0 || kind < INGOT_RECIPE_PROGRAM || kind > INGOT_RECIPE_UNRECORDED)
        return false;
    program->kind = kind == INGOT_RECIPE_PROGRAM ? INGOT_RECIPE_PROGRAM : INGOT_RECIPE_UNRECORDED;
    if (kind != INGOT_RECIPE_PROGRAM && kind != INGOT_RECIPE_UNRECORDED)
        program->reason = "clCompileProgram and clLinkProgram pass through the OpenCL layer";
    return true;
}

static bool read_build_time(struct decoding *to, struct recipe_value *value)
{
    const uint8_t *bytes = take(value, sizeof(uint64_t));
    to->fields->program.build_time_ns = bytes != NULL ? le_get_u64(bytes) : 0;
    return bytes != NULL && value->size == 0;
}

static bool read_field(struct decoding *to, struct recipe_value *value)
{
    ingot_recipe_program_t *program = &to->fields->program;
    const size_t number = value->tag <= FIELD_LAST ? to->filled[value->tag]++ : 0;
    switch (value->tag) {
    case FIELD_KIND: return read_kind(to, value);
    case FIELD_BACKEND: return read_string(to, value, &program->backend);
    case FIELD_SOURCE: return read_source(to, value, number);
    case FIELD_SOURCE_HEADER: return read_source_header(to, value, number);
    case FIELD_HEADER: return read_text(to, value, &to->headers[number]);
    case FIELD_COMPILE_OPTIONS: return read_string(to, value, &program->compile_options);
    case FIELD_LINK_OPTIONS: return read_string(to, value, &program->link_options);
    case FIELD_SPEC_CONSTANT: return read_constant(to, value, number);
    case FIELD_NAME_EXPRESSION: return read_string(to, value, &to->expressions[number]);
    case FIELD_FILE: return read_text(to, value, &to->files[number]);
    case FIELD_INCLUDES: return read_includes(to, value);
    case FIELD_OBJECT:
    case FIELD_HAS_OPTIONS: return true; /* not needed anymore */
    case FIELD_REASON: return read_string(to, value, &program->reason);
    case FIELD_NAME: return read_string(to, value, &program->name);
    case FIELD_GROUP: return read_string(to, value, &program->group);
    case FIELD_BUILT_FOR: return read_string(to, value, &program->built_for);
    case FIELD_BUILD_TIME: return read_build_time(to, value);
    default: return true; /* an optional field of a later version */
    }
}

/* True if the program has what its kind requires. */
static bool is_complete(const struct recipe_fields *fields)
{
    const ingot_recipe_program_t *program = &fields->program;
    if (fields->number_count < program->file_count)
        return false;
    switch (program->kind) {
    case INGOT_RECIPE_PROGRAM: return program->source_count != 0;
    case INGOT_RECIPE_UNRECORDED: return program->reason[0] != '\0';
    }
    return false;
}

bool recipe_fields_decode(struct recipe_fields *fields, struct arena *arena, size_t size, const uint8_t *content,
                          recipe_find_text_t find_text, const void *user)
{
    struct decoding to = {.fields = fields, .arena = arena, .find_text = find_text, .user = user};
    struct recipe_value left = {0, (uint32_t)size, content};
    struct recipe_value field;
    const ingot_recipe_program_t empty = INGOT_RECIPE_PROGRAM_INIT;
    *fields = (struct recipe_fields){.program = empty};
    if (size > UINT32_MAX || !count_fields(size, content, &fields->key_size, to.counts) || !allocate(&to))
        return false;
    while (next_field(&left, &field) && field.tag != 0) {
        if (!read_field(&to, &field) || arena->failed)
            return false;
    }
    return is_complete(fields);
}
