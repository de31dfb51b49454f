/*
 * add_kernel.c - adds the kernels that are requested to a recipe file; see ingot/recipe.h.
 *
 * A descriptor has the program's id, but not the program's key in the file, which must be read from the record of the
 * id. The writer therefore also remembers an added kernel by the id, so that a repeated request does not access the
 * file. If the file is replaced, the writer notices that at the next request for a program. A later request for the
 * kernel then adds it to the new file.
 */
#include <ingot/backend.h>
#include <string.h>

#include "persist/recipe/writer.h"

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
static ingot_status_t add(ingot_recipe_writer_t writer, const uint8_t *id_key, const char *name)
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
    return add(writer, id_key, name);
}
