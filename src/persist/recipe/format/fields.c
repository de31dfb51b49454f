/*
 * fields.c - encodes and decodes the fields of a program's record; see fields.h.
 *
 * A record is decoded in two passes: the first checks the list of fields and counts them, and the second fills arrays
 * of these sizes. Every size from the file is compared with the rest of the record before it is used.
 */
#include "persist/recipe/format/fields.h"

#include <stddef.h>
#include <string.h>

#include "util/bytes_reader.h"
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

/* ---- the list of fields ---- */

/* A field of a record. */
struct field {
    uint32_t tag;
    struct bytes_reader value;
};

/* Reads the next field. At the end of the content, sets the tag to 0. Returns false if the content is malformed. */
static bool next_field(struct bytes_reader *content, struct field *field)
{
    *field = (struct field){.tag = 0};
    if (bytes_left(content) == 0)
        return !content->failed;
    field->tag = bytes_get_u32(content);
    const uint32_t size = bytes_get_u32(content);
    bytes_reader_init(&field->value, size, bytes_get(content, size));
    return !content->failed && field->tag != 0;
}

static bool may_repeat(uint32_t tag)
{
    return tag == FIELD_SOURCE || tag == FIELD_SOURCE_HEADER || tag == FIELD_HEADER || tag == FIELD_SPEC_CONSTANT ||
           tag == FIELD_NAME_EXPRESSION || tag == FIELD_FILE || tag == FIELD_OBJECT || tag > FIELD_LAST;
}

static bool is_tag_known(uint32_t tag)
{
    return tag <= FIELD_REASON || tag >= FIELD_REMARKS;
}

/* Checks that the content is a valid list of fields, and counts the fields of each tag. */
static bool count_fields(struct bytes_reader content, size_t *key_size, size_t counts[FIELD_LAST + 1])
{
    struct field field;
    uint32_t before = 0;
    *key_size = 0;
    for (;;) {
        if (!next_field(&content, &field))
            return false;
        if (field.tag == 0)
            break;
        if (field.tag < before || (field.tag == before && !may_repeat(field.tag)) || !is_tag_known(field.tag))
            return false;
        before = field.tag;
        if (field.tag <= FIELD_LAST)
            ++counts[field.tag];
        if (field.tag < FIELD_REMARKS)
            *key_size = content.offset;
    }
    return counts[FIELD_KIND] == 1 && counts[FIELD_BACKEND] == 1;
}

/* ---- the fields ---- */

/* The arrays that are being filled, and the value that is being read. If the value is malformed, it counts as failed.
 */
struct decoding {
    struct recipe_fields *fields;
    struct bytes_reader value;
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

static bool allocate_program_arrays(struct decoding *to)
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

/* Reads a text, which must not contain a NUL. */
static const char *get_field_text(struct decoding *to, size_t size)
{
    const uint8_t *bytes = bytes_get(&to->value, size);
    if (bytes == NULL || memchr(bytes, '\0', size) != NULL) {
        to->value.failed = true;
        return "";
    }
    return size != 0 ? arena_copy(to->arena, size, bytes) : "";
}

/* Reads a text that is preceded by its size. */
static const char *get_sized_text(struct decoding *to)
{
    return get_field_text(to, bytes_get_u32(&to->value));
}

/* Reads a text that is the rest of the value. */
static const char *get_rest(struct decoding *to)
{
    return get_field_text(to, bytes_left(&to->value));
}

/* Reads the digest and the size of a text, and finds the text. */
static void get_reference(struct decoding *to, ingot_recipe_text_t *text)
{
    struct recipe_fields *fields = to->fields;
    const uint8_t *digest = bytes_get(&to->value, INGOT_RECIPE_KEY_SIZE);
    text->size = bytes_get_u64(&to->value);
    text->kind = INGOT_SOURCE_HEADER;
    text->compile_options = "";
    if (to->value.failed)
        return;
    text->text = to->find_text(to->user, digest, text->size);
    fields->lacks_text = fields->lacks_text || text->text == SIZE_MAX;
    fields->text_bytes += text->text != SIZE_MAX ? text->size : 0; /* 2^26 for each of 2^17 texts, so no overflow */
}

static void read_named_text(struct decoding *to, ingot_recipe_text_t *text)
{
    get_reference(to, text);
    text->name = get_sized_text(to);
}

static void read_source(struct decoding *to, ingot_recipe_text_t *source)
{
    const uint32_t kind = bytes_get_u32(&to->value);
    read_named_text(to, source);
    source->kind = (ingot_source_kind_t)kind;
    source->compile_options = get_sized_text(to);
}

/* Reads a header of a source. All headers of one source must be adjacent, as they are if the fields are in the order of
 * the sources. */
static void read_source_header(struct decoding *to, ingot_recipe_text_t *header)
{
    const uint32_t number = bytes_get_u32(&to->value);
    if (number >= to->counts[FIELD_SOURCE]) {
        to->value.failed = true;
        return;
    }
    ingot_recipe_text_t *source = &to->sources[number];
    if (source->header_count == 0)
        source->headers = header;
    else if (source->headers + source->header_count != header)
        to->value.failed = true;
    ++source->header_count;
    read_named_text(to, header);
}

static void read_constant(struct decoding *to, size_t number)
{
    ingot_spec_constant_t *constant = &to->constants[number];
    constant->id = bytes_get_u32(&to->value);
    const size_t size = bytes_left(&to->value);
    const uint8_t *bytes = bytes_get(&to->value, size);
    uint64_t *copy = arena_take(to->arena, sizeof(*copy));
    const bool is_valid = size == 1 || size == 2 || size == 4 || size == 8;
    if (copy == NULL || bytes == NULL || !is_valid || (number != 0 && constant[-1].id >= constant->id)) {
        to->value.failed = true;
        return;
    }
    memcpy(copy, bytes, size);
    constant->value = copy;
    constant->size = (uint32_t)size;
}

static void read_includes(struct decoding *to)
{
    struct recipe_fields *fields = to->fields;
    fields->number_count = bytes_left(&to->value) / sizeof(uint32_t);
    fields->numbers = arena_take(to->arena, fields->number_count * sizeof(uint32_t));
    for (size_t i = 0; i < fields->number_count && fields->numbers != NULL; ++i)
        fields->numbers[i] = bytes_get_u32(&to->value);
}

/* Earlier versions recorded what clCompileProgram (2) and clLinkProgram (3) made under the OpenCL layer. */
static void read_kind(struct decoding *to)
{
    ingot_recipe_program_t *program = &to->fields->program;
    const uint32_t kind = bytes_get_u32(&to->value);
    to->value.failed = to->value.failed || kind < INGOT_RECIPE_PROGRAM || kind > INGOT_RECIPE_UNRECORDED;
    program->kind = kind == INGOT_RECIPE_PROGRAM ? INGOT_RECIPE_PROGRAM : INGOT_RECIPE_UNRECORDED;
    if (kind != INGOT_RECIPE_PROGRAM && kind != INGOT_RECIPE_UNRECORDED)
        program->reason = "clCompileProgram and clLinkProgram pass through the OpenCL layer";
}

/* Reads the value of a field. Returns false if it is malformed, or has more bytes than it should. */
static bool read_program_field(struct decoding *to, uint32_t tag)
{
    ingot_recipe_program_t *program = &to->fields->program;
    const size_t number = tag <= FIELD_LAST ? to->filled[tag]++ : 0;
    switch (tag) {
    case FIELD_KIND: read_kind(to); break;
    case FIELD_BACKEND: program->backend = get_rest(to); break;
    case FIELD_SOURCE: read_source(to, &to->sources[number]); break;
    case FIELD_SOURCE_HEADER: read_source_header(to, &to->source_headers[number]); break;
    case FIELD_HEADER: read_named_text(to, &to->headers[number]); break;
    case FIELD_COMPILE_OPTIONS: program->compile_options = get_rest(to); break;
    case FIELD_LINK_OPTIONS: program->link_options = get_rest(to); break;
    case FIELD_SPEC_CONSTANT: read_constant(to, number); break;
    case FIELD_NAME_EXPRESSION: to->expressions[number] = get_rest(to); break;
    case FIELD_FILE: read_named_text(to, &to->files[number]); break;
    case FIELD_INCLUDES: read_includes(to); break;
    case FIELD_REASON: program->reason = get_rest(to); break;
    case FIELD_NAME: program->name = get_rest(to); break;
    case FIELD_GROUP: program->group = get_rest(to); break;
    case FIELD_BUILT_FOR: program->built_for = get_rest(to); break;
    case FIELD_BUILD_TIME: program->build_time_ns = bytes_get_u64(&to->value); break;
    default: return true; /* not needed anymore, or an optional field of a later version */
    }
    return !to->value.failed && bytes_left(&to->value) == 0;
}

/* True if the program has what its kind requires. */
static bool has_all_fields(const struct recipe_fields *fields)
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
    struct bytes_reader left;
    struct field field;
    const ingot_recipe_program_t empty = INGOT_RECIPE_PROGRAM_INIT;
    *fields = (struct recipe_fields){.program = empty};
    bytes_reader_init(&left, size, content);
    if (!count_fields(left, &fields->key_size, to.counts) || !allocate_program_arrays(&to))
        return false;
    while (next_field(&left, &field) && field.tag != 0) {
        to.value = field.value;
        if (!read_program_field(&to, field.tag) || arena->failed)
            return false;
    }
    return has_all_fields(fields);
}
