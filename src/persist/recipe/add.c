/*
 * add.c - adds programs and kernels to a recipe file; see ingot/recipe.h.
 *
 * A descriptor has the program's id, but not the program's key in the file, which must be read from the record of the
 * id. The writer therefore also remembers an added kernel by the id, so that a repeated request does not access the
 * file. If the file is replaced, the writer notices that at the next request for a program. A later request for the
 * kernel then adds it to the new file.
 */
#include <ingot/backend.h>
#include <ingot/private/descriptor.h>
#include <string.h>

#include "persist/base/memory.h"
#include "persist/recipe/draft.h"
#include "persist/recipe/reader.h"
#include "persist/recipe/writer.h"

/* ---- a descriptor ---- */

static struct recipe_remarks remarks_of(const_ingot_program_desc_t desc, const_ingot_program_t program)
{
    struct recipe_remarks remarks = {.name = NULL};
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    ingot_source_info_t source = INGOT_SOURCE_INFO_INIT;
    ingot_program_facts_t facts = INGOT_PROGRAM_FACTS_INIT;
    if (ingot_program_desc_get_info(desc, &info) == INGOT_SUCCESS &&
        ingot_source_get_info(info.sources[0], &source) == INGOT_SUCCESS)
        remarks.name = source.name != NULL ? recipe_base_name(source.name) : NULL;
    remarks.group = info.group;
    if (ingot_program_desc_get_cache_blob_id(desc, &remarks.id_size, &remarks.id) != INGOT_SUCCESS)
        remarks.id_size = 0;
    if (program != NULL && ingot_program_get_facts(program, &facts) == INGOT_SUCCESS)
        remarks.build_time_ns = facts.build_time_ns;
    return remarks;
}

/* Sets *refusal to the reason why the program cannot be built from a recipe, or to NULL if it can. The reason is valid
 * as long as the draft and the program. Reads the program's includes into the draft. */
static ingot_status_t find_refusal(struct recipe_draft *draft, const_ingot_program_desc_t desc,
                                   const_ingot_program_t program, const char **refusal)
{
    *refusal = NULL;
    if (program != NULL)
        (void)ingot_program_get_native_reason(program, refusal);
    if (*refusal != NULL)
        return INGOT_SUCCESS;
    const ingot_status_t status = ingot_includes_read(&draft->includes, &draft->included, desc);
    if (status == INGOT_NOT_CACHEABLE || status == INGOT_BLOB_STALE) {
        const char *detail = ingot_last_error_detail();
        *refusal = arena_copy(&draft->arena, strlen(detail), detail);
        return *refusal != NULL ? INGOT_SUCCESS : ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a reason");
    }
    if (status == INGOT_SUCCESS)
        *refusal = recipe_draft_refusal(desc, &draft->included);
    return status;
}

/* Sets *is_there to true if the file has the program, and copies its key, unless program_key is NULL. Does not read the
 * program's include files, because they may have changed since the program was recorded. If the file does not have the
 * program, and adding it would probably fail, returns the status that the addition would return. */
static ingot_status_t look_up(ingot_recipe_writer_t writer, const struct recipe_remarks *remarks, uint8_t *program_key,
                              bool *is_there)
{
    uint8_t key[INGOT_RECIPE_KEY_SIZE] = {0}; /* no id has this digest, so a search does not find it */
    if (remarks->id_size != 0)
        recipe_digest(remarks->id_size, remarks->id, key);
    ingot_status_t status = writer_look_up(writer, RECIPE_RECORD_ID, key, is_there);
    if (!*is_there || program_key == NULL)
        return status;
    status = writer_find_program(writer, key, program_key);
    *is_there = status == INGOT_SUCCESS;
    return status == INGOT_NOT_FOUND ? INGOT_SUCCESS : status;
}

ingot_status_t ingot_recipe_writer_add(ingot_recipe_writer_t writer, const_ingot_program_desc_t desc,
                                       const_ingot_program_t program, uint8_t *key)
{
    struct recipe_draft draft;
    const char *refusal = NULL;
    bool is_there = false;
    if (writer == NULL || desc == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "writer or desc is NULL");
    struct recipe_remarks remarks = remarks_of(desc, program);
    ingot_status_t status = look_up(writer, &remarks, key, &is_there);
    if (status != INGOT_SUCCESS || is_there)
        return status;
    recipe_draft_init(&draft, writer_allocator(writer));
    status = find_refusal(&draft, desc, program, &refusal);
    if (status == INGOT_SUCCESS)
        status = refusal == NULL ? recipe_draft_program(&draft, desc, &remarks)
                                 : recipe_draft_unrecorded(&draft, desc, refusal, &remarks);
    if (status == INGOT_SUCCESS)
        status = writer_append(writer, draft.item_count, draft.items);
    if (status == INGOT_SUCCESS && key != NULL)
        memcpy(key, draft.key, sizeof(draft.key));
    recipe_draft_fini(&draft);
    return status;
}

/* ---- a kernel ---- */

/* The content of a kernel's record: the program's key, and the kernel's name. */
struct content {
    size_t size;
    uint8_t bytes[INGOT_RECIPE_KEY_SIZE + RECIPE_MAX_KERNEL_NAME];
};

/* Makes the content, and computes its digest. The name must have at most RECIPE_MAX_KERNEL_NAME bytes. */
static void make_content(struct content *content, const uint8_t *key, const char *name,
                         uint8_t digest[INGOT_RECIPE_KEY_SIZE])
{
    const size_t length = strlen(name);
    content->size = INGOT_RECIPE_KEY_SIZE + length;
    memcpy(content->bytes, key, INGOT_RECIPE_KEY_SIZE);
    memcpy(content->bytes + INGOT_RECIPE_KEY_SIZE, name, length);
    recipe_digest(content->size, content->bytes, digest);
}

ingot_status_t writer_add_kernel(ingot_recipe_writer_t writer, const uint8_t *program_key, const char *name)
{
    struct content content;
    struct recipe_item item = {.kind = RECIPE_RECORD_KERNEL};
    bool is_there = false;
    make_content(&content, program_key, name, item.key);
    item.size = content.size;
    item.content = content.bytes;
    const ingot_status_t status = writer_look_up(writer, RECIPE_RECORD_KERNEL, item.key, &is_there);
    return status == INGOT_SUCCESS && !is_there ? writer_append(writer, 1, &item) : status;
}

/* Adds a kernel of the program that has this id. */
static ingot_status_t add_kernel(ingot_recipe_writer_t writer, const uint8_t *id_key, const char *name)
{
    struct content content;
    uint8_t known[INGOT_RECIPE_KEY_SIZE];
    uint8_t program_key[INGOT_RECIPE_KEY_SIZE];
    make_content(&content, id_key, name, known);
    if (writer_knows(writer, RECIPE_RECORD_KERNEL, known))
        return INGOT_SUCCESS;
    ingot_status_t status = writer_find_program(writer, id_key, program_key);
    if (status == INGOT_NOT_FOUND)
        return ingot_set_error_detail(status, "the recipe does not have the program of kernel %s", name);
    if (status == INGOT_SUCCESS)
        status = writer_add_kernel(writer, program_key, name);
    if (status == INGOT_SUCCESS)
        writer_remember(writer, RECIPE_RECORD_KERNEL, known);
    return status;
}

ingot_status_t ingot_recipe_writer_add_kernel(ingot_recipe_writer_t writer, const_ingot_program_desc_t desc,
                                              const char *name)
{
    uint8_t id_key[INGOT_RECIPE_KEY_SIZE];
    const uint8_t *id = NULL;
    size_t id_size = 0;
    const size_t length = name != NULL ? strnlen(name, RECIPE_MAX_KERNEL_NAME + 1) : 0;
    if (writer == NULL || desc == NULL || length == 0 || length > RECIPE_MAX_KERNEL_NAME)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                      "writer or desc is NULL, or the kernel's name does not have 1 to %u bytes",
                                      RECIPE_MAX_KERNEL_NAME);
    if (ingot_program_desc_get_cache_blob_id(desc, &id_size, &id) != INGOT_SUCCESS)
        return ingot_set_error_detail(INGOT_NOT_FOUND, "the program of kernel %s has no id", name);
    recipe_digest(id_size, id, id_key);
    return add_kernel(writer, id_key, name);
}

/* ---- a program of another file ---- */

/* A program's records that are being copied. */
struct copying {
    ingot_recipe_t recipe;
    const ingot_allocator_t *allocator;
    struct recipe_item *items;
    size_t count;
};

static ingot_status_t copy_text(struct copying *copying, const ingot_recipe_text_t *text)
{
    struct recipe_item *item = &copying->items[copying->count];
    uint8_t *bytes = NULL;
    if (text->text == SIZE_MAX)
        return INGOT_SUCCESS; /* the recipe does not have the texts of an unrecorded program */
    const ingot_status_t status =
        recipe_read_text(copying->recipe, text->text, copying->allocator, &item->size, &bytes);
    if (status != INGOT_SUCCESS)
        return status;
    item->kind = RECIPE_RECORD_TEXT;
    item->content = bytes;
    memcpy(item->key, recipe_text_key(copying->recipe, text->text), INGOT_RECIPE_KEY_SIZE);
    ++copying->count;
    return INGOT_SUCCESS;
}

static ingot_status_t copy_texts(struct copying *copying, size_t count, const ingot_recipe_text_t *texts)
{
    ingot_status_t status = INGOT_SUCCESS;
    for (size_t i = 0; i < count && status == INGOT_SUCCESS; ++i) {
        status = copy_text(copying, &texts[i]);
        if (status == INGOT_SUCCESS)
            status = copy_texts(copying, texts[i].header_count, texts[i].headers);
    }
    return status;
}

static size_t count_texts(const ingot_recipe_program_t *program)
{
    size_t count = program->source_count + program->header_count + program->file_count;
    for (size_t i = 0; i < program->source_count; ++i)
        count += program->sources[i].header_count;
    return count;
}

/* True if a recorded program cannot be built, because parts of it are missing in the recipe or are too large. */
static bool is_damaged(const ingot_recipe_program_t *program)
{
    return program->status == INGOT_NOT_FOUND || program->status == INGOT_NO_SPACE;
}

/* Copies one program, without its ids and kernels. */
static ingot_status_t copy_program(ingot_recipe_writer_t writer, ingot_recipe_t recipe, size_t index,
                                   const ingot_recipe_program_t *program)
{
    struct copying copying = {recipe, writer_allocator(writer), NULL, 0};
    const size_t size = (count_texts(program) + 1) * sizeof(*copying.items);
    bool is_there;
    ingot_status_t status = writer_look_up(writer, RECIPE_RECORD_PROGRAM, program->key, &is_there);
    if (status != INGOT_SUCCESS || is_there)
        return status;
    if (is_damaged(program))
        return ingot_set_error_detail(program->status, "%s", program->reason);
    copying.items = memory_allocate(copying.allocator, size);
    if (copying.items == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a program's records");
    memset(copying.items, 0, size);
    status = copy_texts(&copying, program->source_count, program->sources);
    if (status == INGOT_SUCCESS)
        status = copy_texts(&copying, program->header_count, program->headers);
    if (status == INGOT_SUCCESS)
        status = copy_texts(&copying, program->file_count, program->files);
    if (status == INGOT_SUCCESS) {
        struct recipe_item *last = &copying.items[copying.count];
        last->kind = RECIPE_RECORD_PROGRAM;
        last->content = recipe_content(recipe, index, &last->size);
        memcpy(last->key, program->key, INGOT_RECIPE_KEY_SIZE);
        status = writer_append(writer, copying.count + 1, copying.items);
    }
    for (size_t i = 0; i < copying.count; ++i)
        memory_free(copying.allocator, (void *)(uintptr_t)copying.items[i].content, copying.items[i].size);
    memory_free(copying.allocator, copying.items, size);
    return status;
}

/* The records of a program's ids. */
struct id_items {
    struct recipe_item *items; /* NULL: the ids are only counted */
    size_t count;
    const uint8_t *program;
};

static void put_id(void *user, const uint8_t *digest)
{
    struct id_items *ids = user;
    if (ids->items != NULL) {
        struct recipe_item *item = &ids->items[ids->count];
        *item = (struct recipe_item){.kind = RECIPE_RECORD_ID, .size = INGOT_RECIPE_KEY_SIZE, .content = ids->program};
        memcpy(item->key, digest, sizeof(item->key));
    }
    ++ids->count;
}

/* Appends the records of a program's ids, unless the file already has them. */
static ingot_status_t copy_ids(ingot_recipe_writer_t writer, ingot_recipe_t recipe, size_t index,
                               const ingot_recipe_program_t *program)
{
    const ingot_allocator_t *allocator = writer_allocator(writer);
    struct id_items ids = {NULL, 0, program->key};
    recipe_visit_ids(recipe, index, put_id, &ids);
    const size_t size = ids.count * sizeof(*ids.items);
    if (size == 0)
        return INGOT_SUCCESS;
    ids.items = memory_allocate(allocator, size);
    if (ids.items == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a program's ids");
    ids.count = 0;
    recipe_visit_ids(recipe, index, put_id, &ids);
    const ingot_status_t status = writer_append(writer, ids.count, ids.items);
    memory_free(allocator, ids.items, size);
    return status;
}

/* Copies a program, and then its ids and its kernels. If `recipe` has only a damaged copy of the program, but the
 * writer's file already has the program, copies only the ids and kernels. */
static ingot_status_t copy_with_ids(ingot_recipe_writer_t writer, ingot_recipe_t recipe, size_t index,
                                    const ingot_recipe_program_t *program)
{
    ingot_status_t status = copy_program(writer, recipe, index, program);
    if (status == INGOT_SUCCESS)
        status = copy_ids(writer, recipe, index, program);
    for (size_t i = 0; i < program->kernel_count && status == INGOT_SUCCESS; ++i)
        status = writer_add_kernel(writer, program->key, program->kernels[i]);
    return status;
}

ingot_status_t ingot_recipe_writer_copy(ingot_recipe_writer_t writer, ingot_recipe_t recipe, size_t index)
{
    ingot_recipe_program_t program = INGOT_RECIPE_PROGRAM_INIT;
    if (writer == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "writer is NULL");
    const ingot_status_t status = ingot_recipe_get_program(recipe, index, &program);
    return status == INGOT_SUCCESS ? copy_with_ids(writer, recipe, index, &program) : status;
}
