/*
 * open_trusted.c - opens a recipe, and checks its seal against a trust policy; see ingot/recipe.h.
 */
#include <ingot/backend.h>

#include "persist/base/memory.h"
#include "persist/recipe/reader.h"
#include "util/struct_size.h"

ingot_status_t ingot_recipe_open(ingot_recipe_t *recipe, const char *path, const ingot_persist_trust_t *trust)
{
    ingot_persist_trust_t known = INGOT_PERSIST_TRUST_INIT;
    ingot_allocator_t allocator;
    struct keyring *keyring = NULL;
    struct recipe_check check;
    ingot_recipe_t opened = NULL;
    if (recipe == NULL || path == NULL || path[0] == '\0')
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "recipe or path is missing");
    if (trust != NULL && !STRUCT_READ_OVER(known, trust))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "trust's struct_size is missing");
    (void)memory_init(&allocator, NULL);
    ingot_status_t status = keyring_create(&keyring, &known, &allocator);
    if (status != INGOT_SUCCESS)
        return status;
    if (keyring != NULL)
        recipe_check_init(&check, keyring);
    status = recipe_open_checked(&opened, path, keyring != NULL ? &check : NULL);
    if (status == INGOT_SUCCESS && keyring != NULL)
        status = recipe_check_end(&check, path);
    if (status == INGOT_SUCCESS)
        *recipe = opened;
    else
        ingot_recipe_release(opened);
    keyring_release(keyring);
    return status;
}
