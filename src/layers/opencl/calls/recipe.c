/*
 * recipe.c - compiles objects of a recipe, for `ingot build`; see util/recipe_call.h.
 *
 * A recipe is a file that records what programs are compiled from, and may come from anywhere. So its objects are
 * compiled only from what their ids cover. The application's original call is never passed to the driver, because the
 * driver could then read files on this machine.
 */
#include <ingot/recipe.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/opencl/calls/compile.h"
#include "layers/opencl/lock.h"

static struct {
    ingot_recipe_t recipe;
    char *path;
} last; /* the recipe that was opened last; guarded by the lock of lock.h */

/* Returns the last recipe, with a reference, or NULL if it was opened from another path. */
static ingot_recipe_t find_last(const char *path)
{
    lock_take();
    ingot_recipe_t recipe = last.path != NULL && strcmp(last.path, path) == 0 ? last.recipe : NULL;
    if (recipe != NULL)
        (void)ingot_recipe_retain(recipe);
    lock_release();
    return recipe;
}

/* Opens a recipe once for all of its objects. The caller releases it. */
static ingot_status_t open_recipe(const char *path, ingot_recipe_t *recipe)
{
    *recipe = find_last(path);
    if (*recipe != NULL)
        return INGOT_SUCCESS;
    const ingot_status_t status = ingot_recipe_open(recipe, path);
    char *copy = status == INGOT_SUCCESS ? strdup(path) : NULL;
    if (copy == NULL)
        return status;
    (void)ingot_recipe_retain(*recipe);
    lock_take();
    ingot_recipe_t before = last.recipe;
    char *path_before = last.path;
    last.recipe = *recipe;
    last.path = copy;
    lock_release();
    ingot_recipe_release(before);
    free(path_before);
    return INGOT_SUCCESS;
}

static ingot_status_t find_object(ingot_recipe_t recipe, const uint8_t *key, size_t *index,
                                  ingot_recipe_program_t *object)
{
    ingot_status_t status = ingot_recipe_find(recipe, key, index);
    if (status == INGOT_SUCCESS)
        status = ingot_recipe_get_program(recipe, *index, object);
    if (status == INGOT_SUCCESS && object->status != INGOT_SUCCESS)
        return ingot_set_error_detail(object->status, "%s", object->reason);
    if (status == INGOT_SUCCESS && object->kind != INGOT_RECIPE_OBJECT)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the recipe's program is not an object");
    return status;
}

/* Creates a program from the object's source, without compiling it. */
static ingot_status_t create_program(cl_context context, ingot_recipe_t recipe, const ingot_recipe_program_t *object,
                                     cl_program *program)
{
    size_t size = 0;
    cl_int error = CL_SUCCESS;
    ingot_status_t status = ingot_recipe_get_text(recipe, object->sources[0].text, &size, NULL);
    char *text = status == INGOT_SUCCESS ? malloc(size + 1) : NULL;
    const char *string = text;
    if (status == INGOT_SUCCESS && text == NULL)
        status = ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a source of %zu bytes", size);
    if (status == INGOT_SUCCESS)
        status = ingot_recipe_get_text(recipe, object->sources[0].text, &size, (uint8_t *)text);
    if (status == INGOT_SUCCESS) {
        text[size] = '\0';
        *program = layer_create_with_source(context, 1, &string, NULL, &error);
        if (*program == NULL)
            status = ingot_set_error(INGOT_BACKEND_ERROR, error, "clCreateProgramWithSource: %d", (int)error);
    }
    free(text);
    return status;
}

static ingot_status_t make_object(const struct shadow *shadow, ingot_recipe_t recipe, size_t index,
                                  const ingot_recipe_program_t *facts, struct object **object)
{
    struct object_headers none = {0, NULL};
    ingot_program_desc_t desc = NULL;
    const char *reason = "";
    ingot_status_t status = ingot_recipe_desc_create(&desc, recipe, index, shadow->context->objects, 0, NULL);
    if (status == INGOT_SUCCESS && ingot_program_desc_is_cacheable(desc, &reason) != INGOT_SUCCESS)
        status = ingot_set_error_detail(INGOT_NOT_CACHEABLE, "%s", reason);
    if (status == INGOT_SUCCESS)
        status = compile_object(shadow, desc, facts->has_options != 0 ? facts->compile_options : NULL, &none, object);
    if (status == INGOT_SUCCESS)
        (*object)->is_of_recipe = true; /* before another thread can find it */
    ingot_program_desc_release(desc);
    return status;
}

static ingot_status_t set_object(cl_program program, ingot_recipe_t recipe, size_t index,
                                 const ingot_recipe_program_t *facts)
{
    struct object *object = NULL;
    struct shadow *shadow = shadow_find(program);
    if (shadow == NULL)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "the OpenCL layer caches no programs of this platform "
                                                           "(INGOT_LAYER_PLATFORMS), or its store cannot be opened");
    shadow_begin_work(shadow, true);
    ingot_status_t status = compile_find_context(shadow);
    if (status == INGOT_SUCCESS)
        status = make_object(shadow, recipe, index, facts, &object);
    if (status == INGOT_SUCCESS)
        shadow_set_object(shadow, object);
    shadow_end_work(shadow);
    return status;
}

void *layer_create_of_recipe(void *context, const char *path, const uint8_t *key, size_t reason_size, char *reason)
{
    ingot_recipe_t recipe = NULL;
    ingot_recipe_program_t facts = INGOT_RECIPE_PROGRAM_INIT;
    cl_program program = NULL;
    size_t index = 0;
    ingot_status_t status = open_recipe(path, &recipe);
    if (status == INGOT_SUCCESS)
        status = find_object(recipe, key, &index, &facts);
    if (status == INGOT_SUCCESS)
        status = create_program(context, recipe, &facts, &program);
    if (status == INGOT_SUCCESS)
        status = set_object(program, recipe, index, &facts);
    if (status != INGOT_SUCCESS)
        (void)snprintf(reason, reason_size, "%s: %s", ingot_status_name(status), ingot_last_error_detail());
    if (status != INGOT_SUCCESS && program != NULL) {
        (void)layer_release(program);
        program = NULL;
    }
    ingot_recipe_release(recipe);
    return program;
}
