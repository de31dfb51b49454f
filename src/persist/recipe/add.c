/*
 * add.c - adds programs and kernels to a recipe file; see ingot/recipe.h.
 *
 * A repeated request for a kernel does not access the file. If the file is replaced, the writer notices that at the
 * next request for a program. A later request for the kernel then adds it to the new file.
 */
#include <ingot/backend.h>
#include <ingot/private/descriptor.h>
#include <string.h>

#include "persist/recipe/draft.h"
#include "persist/recipe/reader.h"
#include "persist/recipe/writer.h"

/* ---- a descriptor ---- */

/* Sets *is_there to true if the file has the program, and copies its key. Does not read the program's include files,
 * because they may have changed since the program was recorded. If the file does not have the program, and adding it
 * would probably fail, returns the status that the addition would return. */
static ingot_status_t look_up_program(ingot_recipe_writer_t writer, const_ingot_program_desc_t desc,
                                      uint8_t program_key[INGOT_RECIPE_KEY_SIZE], bool *is_there)
{
    uint8_t key[INGOT_RECIPE_KEY_SIZE];
    if (recipe_id_key(desc, key) != INGOT_SUCCESS)
        memset(key, 0, sizeof(key)); /* no id has this digest, so a search does not find it */
    const ingot_status_t status = writer_look_up(writer, RECIPE_RECORD_ID, key, is_there);
    *is_there = *is_there && writer_find_program(writer, key, program_key);
    return status;
}

ingot_status_t ingot_recipe_writer_add(ingot_recipe_writer_t writer, const_ingot_program_desc_t desc,
                                       const_ingot_program_t program, uint8_t *key)
{
    struct recipe_draft draft;
    bool is_there = false;
    if (writer == NULL || desc == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "writer or desc is NULL");
    recipe_draft_init(&draft, writer_allocator(writer));
    ingot_status_t status = look_up_program(writer, desc, draft.key, &is_there);
    if (status == INGOT_SUCCESS && !is_there) {
        status = recipe_draft_make(&draft, desc, program);
        if (status == INGOT_SUCCESS)
            status = writer_append(writer, draft.item_count, draft.items);
    }
    if (status == INGOT_SUCCESS && key != NULL)
        memcpy(key, draft.key, sizeof(draft.key));
    recipe_draft_fini(&draft);
    return status;
}

/* ---- a kernel ---- */

/* The content of a kernel's record: the program's key, and the kernel's name. */
struct kernel_content {
    uint8_t bytes[INGOT_RECIPE_KEY_SIZE + RECIPE_MAX_KERNEL_NAME];
};

/* Makes the record of a kernel in `content`. The name must have at most RECIPE_MAX_KERNEL_NAME bytes. */
static struct recipe_item kernel_item(struct kernel_content *content, const uint8_t *program_key, const char *name)
{
    const size_t length = strlen(name);
    struct recipe_item item = {.kind = RECIPE_RECORD_KERNEL, .size = INGOT_RECIPE_KEY_SIZE + length};
    memcpy(content->bytes, program_key, INGOT_RECIPE_KEY_SIZE);
    memcpy(content->bytes + INGOT_RECIPE_KEY_SIZE, name, length);
    recipe_digest(item.size, content->bytes, item.key);
    item.content = content->bytes;
    return item;
}

ingot_status_t writer_add_kernel(ingot_recipe_writer_t writer, const uint8_t *program_key, const char *name)
{
    struct kernel_content content;
    bool is_there = false;
    struct recipe_item item = kernel_item(&content, program_key, name);
    if (writer_knows(writer, item.kind, item.key))
        return INGOT_SUCCESS;
    const ingot_status_t status = writer_look_up(writer, item.kind, item.key, &is_there);
    return status == INGOT_SUCCESS && !is_there ? writer_append(writer, 1, &item) : status;
}

ingot_status_t ingot_recipe_writer_add_kernel(ingot_recipe_writer_t writer, const_ingot_program_desc_t desc,
                                              const char *name)
{
    uint8_t id_key[INGOT_RECIPE_KEY_SIZE];
    uint8_t program_key[INGOT_RECIPE_KEY_SIZE];
    bool is_there = false;
    const size_t length = name != NULL ? strnlen(name, RECIPE_MAX_KERNEL_NAME + 1) : 0;
    if (writer == NULL || desc == NULL || length == 0 || length > RECIPE_MAX_KERNEL_NAME)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                      "writer or desc is NULL, or the kernel's name does not have 1 to %u bytes",
                                      RECIPE_MAX_KERNEL_NAME);
    if (recipe_id_key(desc, id_key) != INGOT_SUCCESS)
        return ingot_set_error_detail(INGOT_NOT_FOUND, "the program of kernel %s has no id", name);
    if (writer_find_program(writer, id_key, program_key))
        return writer_add_kernel(writer, program_key, name);
    const ingot_status_t status = writer_look_up(writer, RECIPE_RECORD_ID, id_key, &is_there);
    if (writer_find_program(writer, id_key, program_key))
        return writer_add_kernel(writer, program_key, name);
    return status != INGOT_SUCCESS
               ? status
               : ingot_set_error_detail(INGOT_NOT_FOUND, "the recipe does not have the program of kernel %s", name);
}

/* ---- a program of another file ---- */

/* A program's records that are being copied. */
struct copying {
    struct recipe_draft draft;
    ingot_recipe_t recipe;
    const struct recipe_node *node;
};

static ingot_status_t fail_records_memory(void)
{
    return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a program's records");
}

/* Leaves out the texts of an unrecorded program, which the recipe does not have. */
static ingot_status_t copy_texts(struct copying *copying, size_t count, const ingot_recipe_text_t *texts)
{
    ingot_status_t status = INGOT_SUCCESS;
    for (size_t i = 0; i < count && status == INGOT_SUCCESS; ++i) {
        const ingot_recipe_text_t *text = &texts[i];
        size_t size = (size_t)text->size;
        if (text->text != SIZE_MAX) {
            uint8_t *bytes = arena_take(&copying->draft.arena, size);
            if (bytes == NULL)
                return fail_records_memory();
            status = ingot_recipe_get_text(copying->recipe, text->text, &size, bytes);
            recipe_draft_add(&copying->draft, RECIPE_RECORD_TEXT, recipe_text_at(copying->recipe, text->text)->key,
                             size, bytes);
        }
        if (status == INGOT_SUCCESS)
            status = copy_texts(copying, text->header_count, text->headers);
    }
    return status;
}

/* True if a recorded program cannot be built, because parts of it are missing in the recipe or are too large. */
static bool is_damaged(const ingot_recipe_program_t *program)
{
    return program->status == INGOT_NOT_FOUND || program->status == INGOT_NO_SPACE;
}

/* Copies the program's texts and its record. */
static ingot_status_t copy_program(struct copying *copying)
{
    const ingot_recipe_program_t *program = &copying->node->fields.program;
    if (is_damaged(program))
        return ingot_set_error_detail(program->status, "%s", program->reason);
    ingot_status_t status = copy_texts(copying, program->source_count, program->sources);
    if (status == INGOT_SUCCESS)
        status = copy_texts(copying, program->header_count, program->headers);
    if (status == INGOT_SUCCESS)
        status = copy_texts(copying, program->file_count, program->files);
    recipe_draft_add(&copying->draft, RECIPE_RECORD_PROGRAM, copying->node->key, copying->node->size,
                     copying->node->content);
    return status;
}

/* Copies a program and its ids, and then its kernels. If `recipe` has only a damaged copy of the program, but the
 * writer's file already has the program, copies only the ids and kernels. */
static ingot_status_t copy_recorded_program(ingot_recipe_writer_t writer, struct copying *copying)
{
    const ingot_recipe_program_t *program = &copying->node->fields.program;
    const uint8_t *key = copying->node->key;
    bool is_there = false;
    ingot_status_t status = writer_look_up(writer, RECIPE_RECORD_PROGRAM, key, &is_there);
    if (status == INGOT_SUCCESS && !is_there)
        status = copy_program(copying);
    for (size_t at = copying->node->last_id; at != 0; at = recipe_id_at(copying->recipe, at - 1)->before)
        recipe_draft_add(&copying->draft, RECIPE_RECORD_ID, recipe_id_at(copying->recipe, at - 1)->digest,
                         INGOT_RECIPE_KEY_SIZE, key);
    if (status == INGOT_SUCCESS && copying->draft.arena.failed)
        status = fail_records_memory();
    if (status == INGOT_SUCCESS)
        status = writer_append(writer, copying->draft.item_count, copying->draft.items);
    for (size_t i = 0; i < program->kernel_count && status == INGOT_SUCCESS; ++i)
        status = writer_add_kernel(writer, key, program->kernels[i]);
    return status;
}

ingot_status_t ingot_recipe_writer_copy(ingot_recipe_writer_t writer, ingot_recipe_t recipe, size_t index)
{
    struct copying copying = {.recipe = recipe};
    if (writer == NULL || recipe == NULL || index >= recipe->summary.program_count)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "writer or recipe is NULL, or there is no program %zu",
                                      index);
    copying.node = recipe_node_at(recipe, index);
    recipe_draft_init(&copying.draft, writer_allocator(writer));
    const ingot_status_t status = copy_recorded_program(writer, &copying);
    recipe_draft_fini(&copying.draft);
    return status;
}
