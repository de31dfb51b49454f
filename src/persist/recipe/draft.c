/*
 * draft.c - composes a program's records, before they are appended to a recipe; see draft.h.
 *
 * A recipe must not contain paths of the machine on which it was recorded. The directories are therefore removed from
 * the names of sources and of included files. If the program's id contains such a name, the whole name is kept, but
 * must be relative.
 */
#include "persist/recipe/draft.h"

#include <ingot/backend.h>
#include <stdio.h>
#include <string.h>

#include "persist/recipe/format/fields.h"
#include "util/id_fields.h"
#include "util/little_endian.h"

/* The descriptor's data from which the fields are computed. */
struct parts {
    const_ingot_program_desc_t desc;
    ingot_program_info_t info;
    const ingot_includes_info_t *includes;
    bool has_texts; /* false: the record names texts, but the texts' own records are not added */
};

void recipe_draft_init(struct recipe_draft *draft, const ingot_allocator_t *allocator)
{
    *draft = (struct recipe_draft){.included = INGOT_INCLUDES_INFO_INIT};
    arena_init(&draft->arena, allocator);
    bytes_writer_init(&draft->content, allocator);
}

void recipe_draft_fini(struct recipe_draft *draft)
{
    ingot_includes_release(draft->includes);
    bytes_writer_fini(&draft->content);
    arena_fini(&draft->arena);
}

const char *recipe_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static ingot_source_info_t info_of(const_ingot_source_t source)
{
    ingot_source_info_t info = INGOT_SOURCE_INFO_INIT;
    (void)ingot_source_get_info(source, &info);
    return info;
}

/* ---- the device and the driver of an id; see doc/blob-format.md ---- */

struct view {
    size_t size;
    const uint8_t *bytes;
};

static bool take(struct view *from, size_t size, struct view *part)
{
    *part = (struct view){size, from->bytes};
    if (from->size < size)
        return false;
    from->bytes += size;
    from->size -= size;
    return true;
}

static bool take_framed(struct view *from, struct view *part)
{
    struct view size;
    return take(from, sizeof(uint64_t), &size) && le_get_u64(size.bytes) <= from->size &&
           take(from, (size_t)le_get_u64(size.bytes), part);
}

static bool find_device(struct view id, struct view *device)
{
    struct view tag;
    struct view skipped;
    if (!take(&id, ID_FIELDS_OFFSET, &skipped))
        return false;
    while (take(&id, sizeof(uint32_t), &tag) && take_framed(&id, device)) {
        if (le_get_u32(tag.bytes) == ID_DEVICE)
            return true;
    }
    return false;
}

static struct view find_field(struct view device, const char *wanted)
{
    struct view name;
    struct view value;
    while (take_framed(&device, &name) && take_framed(&device, &value)) {
        if (name.size == strlen(wanted) && memcmp(name.bytes, wanted, name.size) == 0)
            return value;
    }
    return (struct view){0, NULL};
}

/* Writes the name of the id's first device and the version of its driver, to show them to users. Leaves out what the id
 * does not have. */
static void built_for(size_t id_size, const uint8_t *id, size_t capacity, char *text)
{
    struct view device;
    text[0] = '\0';
    if (!find_device((struct view){id_size, id}, &device))
        return;
    const struct view name = find_field(device, "device_name");
    const struct view version = find_field(device, "driver_version");
    (void)snprintf(text, capacity, "%.*s%s%.*s", (int)strnlen((const char *)name.bytes, name.size), name.bytes,
                   name.size != 0 && version.size != 0 ? ", driver " : "",
                   (int)strnlen((const char *)version.bytes, version.size), version.bytes);
}

/* ---- refusals ---- */

/* True if options may name a directory. Not used for the compile options of a program with text, because these were
 * parsed and contain no -I. */
static bool has_directory(const char *options)
{
    return options != NULL &&
           (strchr(options, '/') != NULL || strstr(options, "-I") != NULL || strstr(options, "include") != NULL);
}

static bool is_text(ingot_source_kind_t kind)
{
    return kind == INGOT_SOURCE_OPENCL_C || kind == INGOT_SOURCE_CUDA_CPP ||
           (kind >= INGOT_SOURCE_OWN_TEXT && kind < INGOT_SOURCE_OWN_BINARY);
}

static bool has_absolute_name(size_t count, const ingot_source_t *sources)
{
    for (size_t i = 0; i < count; ++i) {
        const char *name = info_of(sources[i]).name;
        if (name != NULL && name[0] == '/')
            return true;
    }
    return false;
}

const char *recipe_draft_refusal(const_ingot_program_desc_t desc, const ingot_includes_info_t *includes)
{
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    if (ingot_program_desc_get_info(desc, &info) != INGOT_SUCCESS)
        return "the program was described by its id alone, without sources";
    bool has_text = false;
    bool has_some = has_directory(info.link_options);
    for (size_t i = 0; i < info.source_count; ++i) {
        has_text = has_text || is_text(info_of(info.sources[i]).kind);
        has_some = has_some || has_directory(info_of(info.sources[i]).compile_options);
    }
    if (has_some || (!has_text && has_directory(info.compile_options)))
        return "the options of a source, of a link, or of a program without text may name a directory";
    if (includes->directory_matters)
        return "the program depends on the current directory (-g)";
    if (includes->names_matter && (has_absolute_name(info.source_count, info.sources) ||
                                   has_absolute_name(includes->file_count, includes->files)))
        return "the program depends on the directories of its files (__FILE__)";
    return NULL;
}

/* ---- items ---- */

void recipe_draft_add(struct recipe_draft *draft, enum recipe_record_kind kind, const uint8_t *key, size_t size,
                      const void *content)
{
    if (draft->item_count == draft->item_room) {
        const size_t room = draft->item_room != 0 ? draft->item_room * 2 : 8;
        struct recipe_item *items = arena_take(&draft->arena, room * sizeof(*items));
        if (items == NULL)
            return;
        if (draft->item_count != 0)
            memcpy(items, draft->items, draft->item_count * sizeof(*items));
        draft->items = items;
        draft->item_room = room;
    }
    struct recipe_item *item = &draft->items[draft->item_count++];
    *item = (struct recipe_item){.kind = kind, .size = size, .content = content};
    memcpy(item->key, key, INGOT_RECIPE_KEY_SIZE);
}

/* Appends the digest and the size of a text to the current field. If is_to_add is set, adds the text's record. */
static void put_text(struct recipe_draft *draft, const ingot_source_info_t *text, bool is_to_add)
{
    uint8_t digest[INGOT_RECIPE_KEY_SIZE];
    recipe_digest(text->size, text->bytes, digest);
    bytes_put(&draft->content, sizeof(digest), digest);
    bytes_put_u64(&draft->content, text->size);
    if (is_to_add)
        recipe_draft_add(draft, RECIPE_RECORD_TEXT, digest, text->size, text->bytes);
}

/* Computes the key from the fields so far, appends the remarks, and adds the program's record. If has_id is set, also
 * adds the record of the id. */
static ingot_status_t finish(struct recipe_draft *draft, const struct recipe_remarks *remarks, bool has_id)
{
    char device[256];
    uint8_t id_key[INGOT_RECIPE_KEY_SIZE];
    uint8_t build_time[sizeof(uint64_t)];
    struct bytes_writer *content = &draft->content;
    if (!content->failed)
        recipe_digest(content->size, content->bytes, draft->key);
    recipe_put_text_field(content, FIELD_NAME, remarks->name);
    recipe_put_text_field(content, FIELD_GROUP, remarks->group);
    built_for(remarks->id_size, remarks->id, sizeof(device), device);
    recipe_put_text_field(content, FIELD_BUILT_FOR, device);
    le_put_u64(build_time, remarks->build_time_ns);
    if (remarks->build_time_ns != 0)
        recipe_put_field(content, FIELD_BUILD_TIME, sizeof(build_time), build_time);
    if (content->failed)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a program's record");
    recipe_draft_add(draft, RECIPE_RECORD_PROGRAM, draft->key, content->size, content->bytes);
    if (has_id && remarks->id_size != 0) {
        recipe_digest(remarks->id_size, remarks->id, id_key);
        recipe_draft_add(draft, RECIPE_RECORD_ID, id_key, sizeof(draft->key), draft->key);
    }
    return draft->arena.failed ? ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a program's records")
                               : INGOT_SUCCESS;
}

/* ---- fields ---- */

static const char *name_of(const struct parts *parts, const char *name)
{
    if (name == NULL)
        return "";
    return parts->includes->names_matter ? name : recipe_base_name(name);
}

static void put_sources(struct recipe_draft *draft, const struct parts *parts)
{
    for (size_t i = 0; i < parts->info.source_count; ++i) {
        const ingot_source_info_t source = info_of(parts->info.sources[i]);
        const size_t begin = recipe_begin_field(&draft->content, FIELD_SOURCE);
        bytes_put_u32(&draft->content, (uint32_t)source.kind);
        put_text(draft, &source, parts->has_texts);
        recipe_put_text(&draft->content, name_of(parts, source.name));
        const bool has_options = parts->has_texts && source.compile_options != NULL;
        recipe_put_text(&draft->content, has_options ? source.compile_options : "");
        recipe_end_field(&draft->content, begin);
    }
}

static void put_header(struct recipe_draft *draft, const_ingot_source_t header, bool is_to_add)
{
    const ingot_source_info_t info = info_of(header);
    put_text(draft, &info, is_to_add);
    recipe_put_text(&draft->content, info.name);
}

static void put_headers(struct recipe_draft *draft, const struct parts *parts)
{
    for (size_t i = 0; i < parts->info.source_count; ++i) {
        const ingot_source_info_t source = info_of(parts->info.sources[i]);
        for (size_t j = 0; j < source.header_count; ++j) {
            const size_t begin = recipe_begin_field(&draft->content, FIELD_SOURCE_HEADER);
            bytes_put_u32(&draft->content, (uint32_t)i);
            put_header(draft, source.headers[j], parts->has_texts);
            recipe_end_field(&draft->content, begin);
        }
    }
    for (size_t i = 0; i < parts->info.header_count; ++i) {
        const size_t begin = recipe_begin_field(&draft->content, FIELD_HEADER);
        put_header(draft, parts->info.headers[i], parts->has_texts);
        recipe_end_field(&draft->content, begin);
    }
}

static void put_constants(struct recipe_draft *draft, const struct parts *parts)
{
    for (size_t i = 0; i < parts->info.spec_constant_count; ++i) {
        const ingot_spec_constant_t *constant = &parts->info.spec_constants[i];
        const size_t begin = recipe_begin_field(&draft->content, FIELD_SPEC_CONSTANT);
        bytes_put_u32(&draft->content, constant->id);
        bytes_put(&draft->content, constant->size, constant->value);
        recipe_end_field(&draft->content, begin);
    }
    for (size_t i = 0; i < parts->info.name_expression_count; ++i)
        recipe_put_text_field(&draft->content, FIELD_NAME_EXPRESSION, parts->info.name_expressions[i]);
}

static void put_includes(struct recipe_draft *draft, const struct parts *parts)
{
    for (size_t i = 0; i < parts->includes->file_count; ++i) {
        const ingot_source_info_t file = info_of(parts->includes->files[i]);
        const size_t begin = recipe_begin_field(&draft->content, FIELD_FILE);
        put_text(draft, &file, true);
        recipe_put_text(&draft->content, name_of(parts, file.name));
        recipe_end_field(&draft->content, begin);
    }
    if (parts->includes->number_count == 0)
        return;
    const size_t begin = recipe_begin_field(&draft->content, FIELD_INCLUDES);
    for (size_t i = 0; i < parts->includes->number_count; ++i)
        bytes_put_u32(&draft->content, parts->includes->numbers[i]);
    recipe_end_field(&draft->content, begin);
}

/* Appends all fields from which the key is computed. */
static void put_fields(struct recipe_draft *draft, const struct parts *parts, ingot_recipe_kind_t kind,
                       const char *reason)
{
    struct bytes_writer *content = &draft->content;
    recipe_put_number(content, FIELD_KIND, (uint32_t)kind);
    recipe_put_text_field(content, FIELD_BACKEND,
                          ingot_context_get_backend_name(ingot_program_desc_get_context(parts->desc)));
    put_sources(draft, parts);
    put_headers(draft, parts);
    recipe_put_text_field(content, FIELD_COMPILE_OPTIONS, parts->info.compile_options);
    recipe_put_text_field(content, FIELD_LINK_OPTIONS, parts->info.link_options);
    put_constants(draft, parts);
    put_includes(draft, parts);
    recipe_put_text_field(content, FIELD_REASON, reason);
}

ingot_status_t recipe_draft_program(struct recipe_draft *draft, const_ingot_program_desc_t desc,
                                    const struct recipe_remarks *remarks)
{
    struct parts parts = {desc, INGOT_PROGRAM_INFO_INIT, &draft->included, true};
    const ingot_status_t status = ingot_program_desc_get_info(desc, &parts.info);
    if (status != INGOT_SUCCESS)
        return status;
    put_fields(draft, &parts, INGOT_RECIPE_PROGRAM, NULL);
    return finish(draft, remarks, true);
}

/* Copies a sentence without the directories in it. Leaves out everything from the start of the word with the first
 * slash to the last slash, because directory names may contain blanks. */
static char *shorten_paths(struct arena *arena, const char *text)
{
    const char *first = strchr(text, '/');
    const char *last = strrchr(text, '/');
    char *copy = arena_copy(arena, strlen(text), text);
    if (copy == NULL || first == NULL)
        return copy;
    while (first != text && strchr(" \"'<(", first[-1]) == NULL)
        --first;
    memcpy(copy + (first - text), last + 1, strlen(last + 1) + 1);
    return copy;
}

ingot_status_t recipe_draft_unrecorded(struct recipe_draft *draft, const_ingot_program_desc_t desc, const char *reason,
                                       const struct recipe_remarks *remarks)
{
    const ingot_includes_info_t none = INGOT_INCLUDES_INFO_INIT;
    struct parts parts = {desc, INGOT_PROGRAM_INFO_INIT, &none, false};
    ingot_status_t status = ingot_program_desc_get_info(desc, &parts.info);
    if (status != INGOT_SUCCESS)
        return status;
    const char *sentence = shorten_paths(&draft->arena, reason[0] != '\0' ? reason : "it is not known why");
    parts.info.compile_options = NULL; /* options may contain paths, and are not needed */
    parts.info.link_options = NULL;
    put_fields(draft, &parts, INGOT_RECIPE_UNRECORDED, sentence);
    /* leaves out the id, so that a later request may record the program, for example once its files no longer change */
    return finish(draft, remarks, false);
}
