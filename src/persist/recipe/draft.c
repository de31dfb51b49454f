/*
 * draft.c - composes a program's records, before they are appended to a recipe; see draft.h.
 *
 * A recipe must not contain paths of the machine on which it was recorded. The directories are therefore removed from
 * the names of sources and of included files. If the program's id contains such a name, the whole name is kept, but
 * must be relative.
 *
 * The functions that append fields get the reason why the program cannot be built from a recipe, or NULL if it can.
 */
#include "persist/recipe/draft.h"

#include <ingot/backend.h>
#include <stdio.h>
#include <string.h>

#include "persist/recipe/format/fields.h"
#include "util/little_endian.h"

void recipe_draft_init(struct recipe_draft *draft, const ingot_allocator_t *allocator)
{
    *draft = (struct recipe_draft){.info = INGOT_PROGRAM_INFO_INIT, .included = INGOT_INCLUDES_INFO_INIT};
    arena_init(&draft->arena, allocator);
    bytes_writer_init(&draft->content, allocator);
}

void recipe_draft_fini(struct recipe_draft *draft)
{
    ingot_includes_release(draft->includes);
    bytes_writer_fini(&draft->content);
    arena_fini(&draft->arena);
}

/* Returns the part of a path after its last slash. */
static const char *base_name(const char *path)
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

/* ---- the device and the driver of an id ---- */

/* The name of an id's first device, and the version of its driver. */
struct device {
    char name[128];
    char version[128];
};

static void take_field(void *user, const char *path, size_t size, const uint8_t *value, bool is_text)
{
    struct device *device = user;
    char *text = strcmp(path, "device[0].device_name") == 0      ? device->name
                 : strcmp(path, "device[0].driver_version") == 0 ? device->version
                                                                 : NULL;
    (void)is_text;
    if (text != NULL)
        (void)snprintf(text, sizeof(device->name), "%.*s", (int)strnlen((const char *)value, size), value);
}

/* Appends a text that shows users for which device and driver a program was built. Leaves out what the id does not
 * have. */
static void put_built_for(struct bytes_writer *content, const_ingot_program_desc_t desc)
{
    char text[300];
    struct device device = {"", ""};
    const uint8_t *id = NULL;
    size_t id_size = 0;
    if (ingot_program_desc_get_cache_blob_id(desc, &id_size, &id) == INGOT_SUCCESS)
        (void)ingot_cache_blob_id_visit(id_size, id, take_field, &device);
    (void)snprintf(text, sizeof(text), "%s%s%s", device.name,
                   device.name[0] != '\0' && device.version[0] != '\0' ? ", driver " : "", device.version);
    recipe_put_text_field(content, FIELD_BUILT_FOR, text);
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

/* Returns the reason why a program cannot be built from a recipe although it has an id, or NULL if it can. The draft
 * has the program's includes. */
static const char *get_refusal_reason(const struct recipe_draft *draft)
{
    const ingot_program_info_t *info = &draft->info;
    const ingot_includes_info_t *included = &draft->included;
    bool has_text = false;
    bool has_some = has_directory(info->link_options);
    for (size_t i = 0; i < info->source_count; ++i) {
        has_text = has_text || is_text(info_of(info->sources[i]).kind);
        has_some = has_some || has_directory(info_of(info->sources[i]).compile_options);
    }
    if (has_some || (!has_text && has_directory(info->compile_options)))
        return "the options of a source, of a link, or of a program without text may name a directory";
    if (included->directory_matters)
        return "the program depends on the current directory (-g)";
    if (included->names_matter && (has_absolute_name(info->source_count, info->sources) ||
                                   has_absolute_name(included->file_count, included->files)))
        return "the program depends on the directories of its files (__FILE__)";
    return NULL;
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

/* Sets *reason to the reason why the program cannot be built from a recipe, or to NULL if it can. Reads the program's
 * includes. */
static ingot_status_t find_reason(struct recipe_draft *draft, const_ingot_program_desc_t desc,
                                  const_ingot_program_t program, const char **reason)
{
    *reason = NULL;
    if (program != NULL)
        (void)ingot_program_get_native_reason(program, reason);
    if (*reason == NULL) {
        const ingot_status_t status = ingot_includes_read(&draft->includes, &draft->included, desc);
        if (status == INGOT_NOT_CACHEABLE || status == INGOT_BLOB_STALE)
            *reason = ingot_last_error_detail();
        else if (status != INGOT_SUCCESS)
            return status;
        else
            *reason = get_refusal_reason(draft);
    }
    if (*reason == NULL)
        return INGOT_SUCCESS;
    *reason = shorten_paths(&draft->arena, (*reason)[0] != '\0' ? *reason : "it is not known why");
    return *reason != NULL ? INGOT_SUCCESS : ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a reason");
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

/* Appends the digest and the size of a text to the current field. Unless the program is unrecorded, adds the text's
 * record. */
static void put_text_reference(struct recipe_draft *draft, const ingot_source_info_t *text, const char *reason)
{
    uint8_t digest[INGOT_RECIPE_KEY_SIZE];
    recipe_digest(text->size, text->bytes, digest);
    bytes_put(&draft->content, sizeof(digest), digest);
    bytes_put_u64(&draft->content, text->size);
    if (reason == NULL)
        recipe_draft_add(draft, RECIPE_RECORD_TEXT, digest, text->size, text->bytes);
}

ingot_status_t recipe_id_key(const_ingot_program_desc_t desc, uint8_t key[INGOT_RECIPE_KEY_SIZE])
{
    const uint8_t *id = NULL;
    size_t id_size = 0;
    const ingot_status_t status = ingot_program_desc_get_cache_blob_id(desc, &id_size, &id);
    if (status == INGOT_SUCCESS)
        recipe_digest(id_size, id, key);
    return status;
}

/* Appends the fields that do not belong to the key. */
static void put_remarks(struct recipe_draft *draft, const_ingot_program_desc_t desc, const_ingot_program_t program)
{
    uint8_t build_time[sizeof(uint64_t)];
    ingot_program_facts_t facts = INGOT_PROGRAM_FACTS_INIT;
    const char *name = info_of(draft->info.sources[0]).name;
    recipe_put_text_field(&draft->content, FIELD_NAME, name != NULL ? base_name(name) : NULL);
    recipe_put_text_field(&draft->content, FIELD_GROUP, draft->info.group);
    put_built_for(&draft->content, desc);
    if (program == NULL || ingot_program_get_facts(program, &facts) != INGOT_SUCCESS || facts.build_time_ns == 0)
        return;
    le_put_u64(build_time, facts.build_time_ns);
    recipe_put_field(&draft->content, FIELD_BUILD_TIME, sizeof(build_time), build_time);
}

/* ---- fields ---- */

static const char *get_recorded_name(const struct recipe_draft *draft, const char *reason, const char *name)
{
    if (name == NULL)
        return "";
    return reason == NULL && draft->included.names_matter ? name : base_name(name);
}

static void put_sources(struct recipe_draft *draft, const char *reason)
{
    for (size_t i = 0; i < draft->info.source_count; ++i) {
        const ingot_source_info_t source = info_of(draft->info.sources[i]);
        const size_t begin = recipe_begin_field(&draft->content, FIELD_SOURCE);
        bytes_put_u32(&draft->content, (uint32_t)source.kind);
        put_text_reference(draft, &source, reason);
        recipe_put_text(&draft->content, get_recorded_name(draft, reason, source.name));
        const bool has_options = reason == NULL && source.compile_options != NULL;
        recipe_put_text(&draft->content, has_options ? source.compile_options : "");
        recipe_end_field(&draft->content, begin);
    }
}

static void put_included_header(struct recipe_draft *draft, const_ingot_source_t header, const char *reason)
{
    const ingot_source_info_t info = info_of(header);
    put_text_reference(draft, &info, reason);
    recipe_put_text(&draft->content, info.name);
}

static void put_headers(struct recipe_draft *draft, const char *reason)
{
    for (size_t i = 0; i < draft->info.source_count; ++i) {
        const ingot_source_info_t source = info_of(draft->info.sources[i]);
        for (size_t j = 0; j < source.header_count; ++j) {
            const size_t begin = recipe_begin_field(&draft->content, FIELD_SOURCE_HEADER);
            bytes_put_u32(&draft->content, (uint32_t)i);
            put_included_header(draft, source.headers[j], reason);
            recipe_end_field(&draft->content, begin);
        }
    }
    for (size_t i = 0; i < draft->info.header_count; ++i) {
        const size_t begin = recipe_begin_field(&draft->content, FIELD_HEADER);
        put_included_header(draft, draft->info.headers[i], reason);
        recipe_end_field(&draft->content, begin);
    }
}

static void put_constants(struct recipe_draft *draft)
{
    for (size_t i = 0; i < draft->info.spec_constant_count; ++i) {
        const ingot_spec_constant_t *constant = &draft->info.spec_constants[i];
        const size_t begin = recipe_begin_field(&draft->content, FIELD_SPEC_CONSTANT);
        bytes_put_u32(&draft->content, constant->id);
        bytes_put(&draft->content, constant->size, constant->value);
        recipe_end_field(&draft->content, begin);
    }
    for (size_t i = 0; i < draft->info.name_expression_count; ++i)
        recipe_put_text_field(&draft->content, FIELD_NAME_EXPRESSION, draft->info.name_expressions[i]);
}

static void put_includes(struct recipe_draft *draft)
{
    for (size_t i = 0; i < draft->included.file_count; ++i) {
        const ingot_source_info_t file = info_of(draft->included.files[i]);
        const size_t begin = recipe_begin_field(&draft->content, FIELD_FILE);
        put_text_reference(draft, &file, NULL);
        recipe_put_text(&draft->content, get_recorded_name(draft, NULL, file.name));
        recipe_end_field(&draft->content, begin);
    }
    if (draft->included.number_count == 0)
        return;
    const size_t begin = recipe_begin_field(&draft->content, FIELD_INCLUDES);
    for (size_t i = 0; i < draft->included.number_count; ++i)
        bytes_put_u32(&draft->content, draft->included.numbers[i]);
    recipe_end_field(&draft->content, begin);
}

/* Appends all fields from which the key is computed. The record of an unrecorded program, which has a reason, names
 * texts, but has no options, because these may contain paths. */
static void put_program_fields(struct recipe_draft *draft, const_ingot_program_desc_t desc, const char *reason)
{
    struct bytes_writer *content = &draft->content;
    recipe_put_number(content, FIELD_KIND, (uint32_t)(reason == NULL ? INGOT_RECIPE_PROGRAM : INGOT_RECIPE_UNRECORDED));
    recipe_put_text_field(content, FIELD_BACKEND, ingot_context_get_backend_name(ingot_program_desc_get_context(desc)));
    put_sources(draft, reason);
    put_headers(draft, reason);
    recipe_put_text_field(content, FIELD_COMPILE_OPTIONS, reason == NULL ? draft->info.compile_options : NULL);
    recipe_put_text_field(content, FIELD_LINK_OPTIONS, reason == NULL ? draft->info.link_options : NULL);
    put_constants(draft);
    if (reason == NULL)
        put_includes(draft);
    recipe_put_text_field(content, FIELD_REASON, reason);
}

ingot_status_t recipe_draft_make(struct recipe_draft *draft, const_ingot_program_desc_t desc,
                                 const_ingot_program_t program)
{
    uint8_t id_key[INGOT_RECIPE_KEY_SIZE];
    const char *reason = NULL;
    struct bytes_writer *content = &draft->content;
    ingot_status_t status = ingot_program_desc_get_info(desc, &draft->info);
    if (status == INGOT_SUCCESS)
        status = find_reason(draft, desc, program, &reason);
    if (status != INGOT_SUCCESS)
        return status;
    put_program_fields(draft, desc, reason);
    if (!content->failed)
        recipe_digest(content->size, content->bytes, draft->key);
    put_remarks(draft, desc, program);
    if (!content->failed)
        recipe_draft_add(draft, RECIPE_RECORD_PROGRAM, draft->key, content->size, content->bytes);
    /* leaves out the id of an unrecorded program, so that a later request may record the program, for example once its
     * files no longer change */
    if (reason == NULL && recipe_id_key(desc, id_key) == INGOT_SUCCESS)
        recipe_draft_add(draft, RECIPE_RECORD_ID, id_key, sizeof(draft->key), draft->key);
    return content->failed || draft->arena.failed
               ? ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a program's records")
               : INGOT_SUCCESS;
}
