/*
 * reader.c - reads a recipe file; see ingot/recipe.h.
 *
 * Programs are read and verified when the file is opened, texts when they are needed. An open recipe does not change.
 */
#include "persist/recipe/reader.h"

#include <ingot/backend.h>
#include <string.h>

#include "persist/base/memory.h"
#include "persist/recipe/file.h"
#include "util/struct_size.h"

#define MAX_TEXT_BYTES ((uint64_t)256 << 20) /* limit for a program's texts; a text counts each time it is named */

/* A kernel that was requested from a program. */
struct kernel_node {
    size_t program;   /* index of the program */
    const char *name; /* in the arena */
};

static const struct kernel_node *kernel_at(const struct ingot_recipe *recipe, size_t number)
{
    return (const struct kernel_node *)(const void *)recipe->kernels.bytes + number;
}

static void destroy_recipe(struct ingot_recipe *recipe)
{
    const ingot_allocator_t allocator = recipe->allocator;
    for (size_t i = 0; i < recipe->summary.program_count; ++i)
        memory_free(&allocator, recipe_node_at(recipe, i)->content, recipe_node_at(recipe, i)->size);
    for (size_t kind = 0; kind < RECIPE_KIND_COUNT; ++kind)
        key_map_fini(&recipe->numbers[kind]);
    bytes_writer_fini(&recipe->kernels);
    bytes_writer_fini(&recipe->ids);
    bytes_writer_fini(&recipe->nodes);
    bytes_writer_fini(&recipe->texts);
    arena_fini(&recipe->arena);
    kept_file_end(&recipe->file);
    memory_free(&allocator, recipe->path, recipe->path_size);
    memory_free(&allocator, recipe, sizeof(*recipe));
}

static ingot_status_t fail_recipe_memory(const struct ingot_recipe *recipe)
{
    return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for the recipe %s", recipe->path);
}

/* ---- records ---- */

static bool find_record_number(const struct ingot_recipe *recipe, enum recipe_record_kind kind, const uint8_t *key,
                               size_t *number)
{
    return key_map_find(&recipe->numbers[kind], key, number);
}

/* Appends `what` to an array, and notes its key. */
static ingot_status_t keep_record(struct ingot_recipe *recipe, struct bytes_writer *array, size_t size,
                                  const void *what, enum recipe_record_kind kind, const uint8_t *key, size_t number)
{
    bytes_put(array, size, what);
    return !array->failed && key_map_add(&recipe->numbers[kind], key, number) ? INGOT_SUCCESS
                                                                              : fail_recipe_memory(recipe);
}

static ingot_status_t add_text_record(struct ingot_recipe *recipe, const struct recipe_record *record)
{
    if (recipe->check != NULL) /* the key is enough, because each read of the text verifies it */
        recipe_check_record(recipe->check, record->kind, record->key, record->size, NULL);
    if (find_record_number(recipe, RECIPE_RECORD_TEXT, record->key, NULL))
        return INGOT_SUCCESS;
    const ingot_status_t status = keep_record(recipe, &recipe->texts, sizeof(*record), record, RECIPE_RECORD_TEXT,
                                              record->key, (size_t)recipe->summary.text_count);
    if (status != INGOT_SUCCESS)
        return status;
    ++recipe->summary.text_count;
    recipe->summary.text_bytes += record->size;
    return INGOT_SUCCESS;
}

/* Finds a text of a program, whose record precedes the program's record. */
static size_t find_text_record(const void *user, const uint8_t *digest, uint64_t size)
{
    const struct ingot_recipe *recipe = user;
    size_t number = 0;
    return find_record_number(recipe, RECIPE_RECORD_TEXT, digest, &number) &&
                   recipe_text_at(recipe, number)->size == size
               ? number
               : SIZE_MAX;
}

/* Says whether a program can be built. Limits the total size of the texts, because a small file can name a large text
 * many times. */
static void set_status(struct recipe_fields *fields)
{
    ingot_recipe_program_t *program = &fields->program;
    if (fields->text_bytes > MAX_TEXT_BYTES) { /* also if the program is unrecorded, as its texts are copied as well */
        program->status = INGOT_NO_SPACE;
        program->reason = "the texts of the program have more than 256 MiB";
    } else if (program->kind == INGOT_RECIPE_UNRECORDED) {
        program->status = INGOT_NOT_CACHEABLE; /* the record has the reason */
    } else {
        program->status = fields->lacks_text ? INGOT_NOT_FOUND : INGOT_SUCCESS;
        program->reason = fields->lacks_text ? "the recipe lacks a text of the program" : "";
    }
}

/* Adds a program, which then owns *content, and sets *content to NULL. Like the next two functions, returns
 * INGOT_BLOB_CORRUPT if the record must be left out. */
static ingot_status_t add_program_of_record(struct ingot_recipe *recipe, const struct recipe_record *record,
                                            uint8_t **content)
{
    uint8_t key[INGOT_RECIPE_KEY_SIZE];
    struct recipe_node node = {.content = *content, .size = (size_t)record->size};
    if (!recipe_fields_decode(&node.fields, &recipe->arena, node.size, node.content, find_text_record, recipe))
        return recipe->arena.failed ? fail_recipe_memory(recipe) : INGOT_BLOB_CORRUPT;
    recipe_digest(node.fields.key_size, node.content, key);
    if (memcmp(key, record->key, sizeof(key)) != 0)
        return INGOT_BLOB_CORRUPT;
    memcpy(node.key, key, sizeof(key));
    set_status(&node.fields);
    const ingot_status_t status = keep_record(recipe, &recipe->nodes, sizeof(node), &node, RECIPE_RECORD_PROGRAM, key,
                                              (size_t)recipe->summary.program_count);
    if (status != INGOT_SUCCESS)
        return status;
    ++recipe->summary.program_count;
    *content = NULL;
    return INGOT_SUCCESS;
}

/* Notes which program has an id. Ignores the id if the recipe does not have the program. */
static ingot_status_t add_id(struct ingot_recipe *recipe, const struct recipe_record *record, const uint8_t *program)
{
    struct recipe_id node = {.before = 0};
    size_t number = 0;
    if (!find_record_number(recipe, RECIPE_RECORD_PROGRAM, program, &number))
        return INGOT_SUCCESS;
    memcpy(node.digest, record->key, sizeof(node.digest));
    node.before = recipe_node_at(recipe, number)->last_id;
    const ingot_status_t status =
        keep_record(recipe, &recipe->ids, sizeof(node), &node, RECIPE_RECORD_ID, record->key, number);
    recipe_node_at(recipe, number)->last_id = recipe->ids.size / sizeof(node);
    return status;
}

/* Adds a kernel. Ignores it if the recipe does not have its program. */
static ingot_status_t add_kernel(struct ingot_recipe *recipe, const struct recipe_record *record,
                                 const uint8_t *content)
{
    uint8_t key[INGOT_RECIPE_KEY_SIZE];
    const size_t length = (size_t)record->size - INGOT_RECIPE_KEY_SIZE;
    const uint8_t *name = content + INGOT_RECIPE_KEY_SIZE;
    struct kernel_node node = {0};
    recipe_digest((size_t)record->size, content, key);
    if (memcmp(key, record->key, sizeof(key)) != 0 || memchr(name, 0, length) != NULL)
        return INGOT_BLOB_CORRUPT;
    if (!find_record_number(recipe, RECIPE_RECORD_PROGRAM, content, &node.program))
        return INGOT_SUCCESS;
    node.name = arena_copy(&recipe->arena, length, name);
    if (node.name == NULL)
        return fail_recipe_memory(recipe);
    return keep_record(recipe, &recipe->kernels, sizeof(node), &node, RECIPE_RECORD_KERNEL, key,
                       recipe->numbers[RECIPE_RECORD_KERNEL].count);
}

/* Gives each program the array of its kernels. Called once all kernels are known. */
static ingot_status_t list_kernels(struct ingot_recipe *recipe)
{
    const size_t count = recipe->numbers[RECIPE_RECORD_KERNEL].count;
    for (size_t i = 0; i < count; ++i)
        ++recipe_node_at(recipe, kernel_at(recipe, i)->program)->fields.program.kernel_count;
    for (size_t i = 0; i < count; ++i) {
        struct recipe_fields *fields = &recipe_node_at(recipe, kernel_at(recipe, i)->program)->fields;
        if (fields->kernels == NULL) {
            fields->kernels = arena_take(&recipe->arena, fields->program.kernel_count * sizeof(*fields->kernels));
            fields->program.kernels = fields->kernels;
            fields->program.kernel_count = 0;
        }
        if (fields->kernels == NULL)
            return fail_recipe_memory(recipe);
        fields->kernels[fields->program.kernel_count++] = kernel_at(recipe, i)->name;
    }
    return INGOT_SUCCESS;
}

/* Notes a seal. A malformed or damaged seal counts as a seal that does not fit, not as a missing one. */
static ingot_status_t add_seal(struct ingot_recipe *recipe, const struct recipe_record *record)
{
    uint8_t *seal = NULL;
    ingot_status_t status = INGOT_BLOB_CORRUPT;
    ++recipe->summary.seal_count;
    if (recipe->check == NULL)
        return INGOT_SUCCESS;
    if (record->size == RECIPE_SEAL_SIZE)
        status = recipe_record_read(recipe->file.fd, recipe->path, record, &recipe->allocator, &seal);
    if (status == INGOT_SUCCESS || status == INGOT_BLOB_CORRUPT)
        recipe_check_seal(recipe->check, seal);
    memory_free(&recipe->allocator, seal, RECIPE_SEAL_SIZE);
    return status == INGOT_BLOB_CORRUPT ? INGOT_SUCCESS : status;
}

/* Reads a record's content, which the caller frees. Also passes the bytes to the check of seals, if there is one. */
static ingot_status_t read_content(struct ingot_recipe *recipe, const struct recipe_record *record, uint8_t **content)
{
    ingot_status_t status = INGOT_SUCCESS;
    if (recipe->check != NULL)
        status = recipe_check_room(recipe->check, record->size, recipe->path);
    if (status == INGOT_SUCCESS)
        status = recipe_record_read(recipe->file.fd, recipe->path, record, &recipe->allocator, content);
    if (recipe->check != NULL && status == INGOT_SUCCESS)
        recipe_check_record(recipe->check, record->kind, record->key, record->size, *content);
    if (recipe->check != NULL && status == INGOT_BLOB_CORRUPT)
        recipe_check_damaged(recipe->check);
    return status;
}

static bool has_valid_size(const struct recipe_record *record)
{
    switch (record->kind) {
    case RECIPE_RECORD_PROGRAM: return true;
    case RECIPE_RECORD_ID: return record->size == INGOT_RECIPE_KEY_SIZE;
    case RECIPE_RECORD_KERNEL:
        return record->size > INGOT_RECIPE_KEY_SIZE && record->size <= INGOT_RECIPE_KEY_SIZE + RECIPE_MAX_KERNEL_NAME;
    default: return false; /* a kind of a later version */
    }
}

static ingot_status_t add_content(struct ingot_recipe *recipe, const struct recipe_record *record, uint8_t **content)
{
    switch (record->kind) {
    case RECIPE_RECORD_PROGRAM: return add_program_of_record(recipe, record, content);
    case RECIPE_RECORD_ID: return add_id(recipe, record, *content);
    default: return add_kernel(recipe, record, *content);
    }
}

/* Adds a record other than a text or a seal. Leaves out a repeated one, and counts a damaged or malformed one. If there
 * is a check, also reads what is left out, because seals cover it, too. */
static ingot_status_t add_other(struct ingot_recipe *recipe, const struct recipe_record *record)
{
    uint8_t *content = NULL;
    const bool is_valid = has_valid_size(record);
    const bool is_wanted = is_valid && !key_map_find(&recipe->numbers[record->kind], record->key, NULL);
    recipe->summary.damaged_count += !is_valid;
    if (!is_wanted && recipe->check == NULL)
        return INGOT_SUCCESS;
    ingot_status_t status = read_content(recipe, record, &content);
    if (status == INGOT_SUCCESS && is_wanted)
        status = add_content(recipe, record, &content);
    memory_free(&recipe->allocator, content, (size_t)record->size);
    if (status != INGOT_BLOB_CORRUPT)
        return status;
    recipe->summary.damaged_count += is_wanted;
    return INGOT_SUCCESS;
}

static ingot_status_t add_record(struct ingot_recipe *recipe, const struct recipe_record *record)
{
    if (record->kind == RECIPE_RECORD_SEAL)
        return add_seal(recipe, record);
    recipe->summary.seal_count = 0; /* seals before this record do not cover it */
    return record->kind == RECIPE_RECORD_TEXT ? add_text_record(recipe, record) : add_other(recipe, record);
}

static ingot_status_t check_recipe_limits(const struct ingot_recipe *recipe, const struct recipe_scan *scan)
{
    if (scan->program_bytes > RECIPE_MAX_ALL_PROGRAMS_BYTES)
        return ingot_set_error_detail(INGOT_NO_SPACE, "the programs of %s have more than 256 MiB without their texts",
                                      recipe->path);
    if (scan->kernel_bytes > RECIPE_MAX_ALL_KERNEL_NAMES_BYTES)
        return ingot_set_error_detail(INGOT_NO_SPACE, "the names of the kernels of %s have more than 16 MiB",
                                      recipe->path);
    return INGOT_SUCCESS;
}

static ingot_status_t read_records(struct ingot_recipe *recipe, uint64_t file_size)
{
    struct recipe_scan scan;
    struct recipe_record record;
    enum recipe_found found = RECIPE_FOUND_RECORD;
    ingot_status_t status = recipe_scan_begin(&scan, recipe->file.fd, file_size, recipe->path);
    while (status == INGOT_SUCCESS && found == RECIPE_FOUND_RECORD) {
        status = recipe_scan_next(&scan, &record, &found);
        if (status == INGOT_SUCCESS)
            status = check_recipe_limits(recipe, &scan);
        if (status == INGOT_SUCCESS && found == RECIPE_FOUND_RECORD)
            status = add_record(recipe, &record);
    }
    recipe->summary.file_bytes = file_size;
    recipe->summary.torn_bytes = file_size - scan.offset;
    return status == INGOT_SUCCESS ? list_kernels(recipe) : status;
}

/* ---- the object ---- */

static ingot_status_t open_recipe_file(struct ingot_recipe *recipe, uint64_t *file_size)
{
    struct file_facts facts;
    const int fd = files_open_path(recipe->path);
    int result = fd < 0 ? fd : kept_file_begin(&recipe->file, fd);
    if (result < 0)
        return files_read_failed(result, "opening", recipe->path);
    result = files_facts(fd, &facts);
    if (result < 0)
        return files_read_failed(result, "examining", recipe->path);
    if (!facts.is_file)
        return files_untrusted(&facts, false, files_user(), recipe->path);
    *file_size = facts.size_bytes;
    return INGOT_SUCCESS;
}

static struct ingot_recipe *make_recipe(const char *path)
{
    ingot_allocator_t allocator;
    (void)memory_init(&allocator, NULL);
    struct ingot_recipe *recipe = memory_allocate(&allocator, sizeof(*recipe));
    if (recipe == NULL)
        return NULL;
    *recipe = (struct ingot_recipe){.allocator = allocator, .file = KEPT_FILE_INIT, .path_size = strlen(path) + 1};
    arena_init(&recipe->arena, &recipe->allocator);
    bytes_writer_init(&recipe->texts, &recipe->allocator);
    bytes_writer_init(&recipe->nodes, &recipe->allocator);
    bytes_writer_init(&recipe->ids, &recipe->allocator);
    bytes_writer_init(&recipe->kernels, &recipe->allocator);
    for (size_t kind = 0; kind < RECIPE_KIND_COUNT; ++kind)
        key_map_init(&recipe->numbers[kind], &recipe->allocator);
    recipe->summary.struct_size = sizeof(recipe->summary);
    recipe->path = memory_allocate(&allocator, recipe->path_size);
    if (recipe->path == NULL) {
        destroy_recipe(recipe);
        return NULL;
    }
    memcpy(recipe->path, path, recipe->path_size);
    return recipe;
}

ingot_status_t recipe_check_file(ingot_recipe_t recipe, struct file_facts *facts)
{
    return kept_file_is_open(&recipe->file) ? recipe_file_check(recipe->file.fd, recipe->path, facts)
                                            : files_lost(recipe->path);
}

const char *ingot_recipe_get_path(ingot_recipe_t recipe)
{
    return recipe != NULL ? recipe->path : NULL;
}

ingot_status_t recipe_open_checked(ingot_recipe_t *recipe, const char *path, struct recipe_check *check)
{
    uint64_t file_size = 0;
    struct ingot_recipe *made = make_recipe(path);
    if (made == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for the recipe %s", path);
    made->check = check;
    ingot_status_t status = open_recipe_file(made, &file_size);
    if (status == INGOT_SUCCESS)
        status = read_records(made, file_size);
    made->check = NULL;
    if (status != INGOT_SUCCESS) {
        destroy_recipe(made);
        return status;
    }
    *recipe = made;
    return INGOT_SUCCESS;
}

void ingot_recipe_release(ingot_recipe_t recipe)
{
    if (recipe != NULL)
        destroy_recipe(recipe);
}

/* ---- queries ---- */

ingot_status_t ingot_recipe_get_summary(ingot_recipe_t recipe, ingot_recipe_summary_t *summary)
{
    if (recipe == NULL || !STRUCT_WRITE(summary, recipe->summary))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "recipe, summary or its struct_size is missing");
    return INGOT_SUCCESS;
}

ingot_status_t ingot_recipe_get_program(ingot_recipe_t recipe, size_t index, ingot_recipe_program_t *program)
{
    if (recipe == NULL || index >= recipe->summary.program_count)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "recipe is NULL, or has no program %zu", index);
    const struct recipe_node *node = recipe_node_at(recipe, index);
    ingot_recipe_program_t known = node->fields.program;
    known.key = node->key;
    return STRUCT_WRITE(program, known)
               ? INGOT_SUCCESS
               : ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "program is NULL or its struct_size is not set");
}

ingot_status_t ingot_recipe_find_id(ingot_recipe_t recipe, size_t id_size, const uint8_t *id, size_t *index)
{
    uint8_t digest[INGOT_RECIPE_KEY_SIZE];
    if (recipe == NULL || id == NULL || id_size == 0 || index == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "recipe, id, its size or index is missing");
    recipe_digest(id_size, id, digest);
    return find_record_number(recipe, RECIPE_RECORD_ID, digest, index)
               ? INGOT_SUCCESS
               : ingot_set_error_detail(INGOT_NOT_FOUND, "%s has no program with this id", recipe->path);
}

/* ---- texts ---- */

ingot_status_t recipe_read_text(ingot_recipe_t recipe, size_t text, uint8_t **bytes)
{
    uint8_t key[INGOT_RECIPE_KEY_SIZE];
    const struct recipe_record *record = recipe_text_at(recipe, text);
    const size_t size = (size_t)record->size;
    if (!kept_file_is_open(&recipe->file))
        return files_lost(recipe->path);
    const ingot_status_t status = recipe_record_read(recipe->file.fd, recipe->path, record, &recipe->allocator, bytes);
    if (status != INGOT_SUCCESS)
        return status;
    recipe_digest(size, *bytes, key);
    if (memcmp(key, record->key, sizeof(key)) == 0)
        return INGOT_SUCCESS;
    memory_free(&recipe->allocator, *bytes, size);
    *bytes = NULL;
    return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "%s is damaged: text %zu has another digest", recipe->path, text);
}

ingot_status_t ingot_recipe_get_text(ingot_recipe_t recipe, size_t text, size_t *size, uint8_t *bytes)
{
    uint8_t *read = NULL;
    if (recipe == NULL || size == NULL || text >= recipe->summary.text_count)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "recipe or size is NULL, or there is no text %zu", text);
    const size_t needed = (size_t)recipe_text_at(recipe, text)->size;
    const size_t room = *size;
    *size = needed;
    if (bytes == NULL)
        return INGOT_SUCCESS;
    if (room < needed)
        return ingot_set_error_detail(INGOT_BUFFER_TOO_SMALL, "the text has %zu bytes", needed);
    const ingot_status_t status = recipe_read_text(recipe, text, &read);
    if (status != INGOT_SUCCESS)
        return status;
    if (needed != 0)
        memcpy(bytes, read, needed);
    memory_free(&recipe->allocator, read, needed);
    return INGOT_SUCCESS;
}
