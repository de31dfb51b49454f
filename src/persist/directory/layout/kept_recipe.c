/*
 * kept_recipe.c - makes a store keep the recipe of its programs in programs.recipe, opens it, and removes it.
 *
 * The store opens its root only once, but the recipe's writer opens programs.recipe by its path for each addition. The
 * functions in this file need no lock, because the writer has its own.
 */
#include "persist/directory/layout/kept_recipe.h"

#include <errno.h>
#include <ingot/backend.h>
#include <ingot/private/recipe.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/base/memory.h"
#include "persist/directory/layout/account.h"
#include "persist/directory/layout/root.h"
#include "persist/recipe/recording.h"
#include "util/limit.h"

#define DEFAULT_BYTES ((uint64_t)64 << 20)
#define MOST_BYTES ((uint64_t)1 << 30) /* the largest recipe that can be read */

/* Returns the absolute path of a namespace's programs.recipe, or NULL if memory runs out. The caller frees it. */
static char *path_of(const struct directory *directory, const char *name_space, size_t *size)
{
    char below[PATH_CAPACITY];
    const size_t root_length = strlen(directory->path);
    account_path(below, name_space, PATHS_RECIPE);
    *size = root_length + 1 + strlen(below) + 1;
    char *path = memory_allocate(&directory->allocator, *size);
    if (path == NULL) {
        (void)ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a path");
        return NULL;
    }
    memcpy(path, directory->path, root_length);
    path[root_length] = '/';
    memcpy(path + root_length + 1, below, strlen(below) + 1);
    return path;
}

void kept_recipe_begin(ingot_storage_t storage, const struct directory *directory, const ingot_persist_info_t *info)
{
    size_t size = 0;
    const uint64_t limit = limit_of(info->recipe_max_bytes, DEFAULT_BYTES);
    if (limit == 0)
        return;
    char *path = path_of(directory, directory->name_space, &size);
    if (path == NULL) {
        directory_tell(directory, INGOT_EVENT_STORAGE_DEGRADED, INGOT_OUT_OF_MEMORY, 0, files_steady_clock_ns(),
                       PATHS_RECIPE, ingot_last_error_detail());
        return;
    }
    recording_keep(storage, path, limit < MOST_BYTES ? limit : MOST_BYTES, info->on_event, info->on_event_user);
    memory_free(&directory->allocator, path, size);
}

/* ---- removing ---- */

static int remove_recipe_file(const struct directory *directory, const char *name_space, const char *name)
{
    char path[PATH_CAPACITY];
    account_path(path, name_space, name);
    const int result = files_remove(directory->root.fd, path);
    return result == -ENOENT ? 0 : result;
}

static ingot_status_t remove_of(const struct directory *directory, const char *name_space)
{
    int result = remove_recipe_file(directory, name_space, PATHS_RECIPE);
    if (result == 0)
        result = remove_recipe_file(directory, name_space, PATHS_RECIPE_REWRITE);
    return result < 0 ? files_write_failed(result, "removing", PATHS_RECIPE) : INGOT_SUCCESS;
}

struct removing {
    const struct directory *directory;
    ingot_status_t status;
};

static bool remove_namespace_recipe(void *user, const char *name)
{
    struct removing *removing = user;
    struct file_facts facts;
    if (paths_is_namespace(name) && files_facts_at(removing->directory->root.fd, name, &facts) == 0 &&
        facts.is_directory && files_are_private(&facts, removing->directory->owner))
        removing->status = remove_of(removing->directory, name);
    return removing->status == INGOT_SUCCESS;
}

ingot_status_t kept_recipe_remove(const struct directory *directory, const char *name_space)
{
    struct removing removing = {directory, INGOT_SUCCESS};
    removing.status = remove_of(directory, name_space != NULL ? name_space : "");
    if (removing.status != INGOT_SUCCESS || name_space != NULL)
        return removing.status;
    const int result = files_list(directory->root.fd, ".", remove_namespace_recipe, &removing);
    return result < 0 ? files_read_failed(result, "listing", "the store") : removing.status;
}

/* ---- reading ---- */

/* Returns INGOT_SUCCESS if only the store's owner can have written the file. */
static ingot_status_t check_recipe_owner(const struct directory *directory, const char *name_space)
{
    char path[PATH_CAPACITY];
    struct file_facts facts;
    account_path(path, name_space, PATHS_RECIPE);
    const int result = files_facts_at(directory->root.fd, path, &facts);
    if (result == -ENOENT || result == -ENOTDIR)
        return ingot_set_error(INGOT_NOT_FOUND, ENOENT, "the store keeps no recipe: %s is missing", path);
    if (result < 0)
        return files_read_failed(result, "examining", path);
    if (!facts.is_file || !files_are_private(&facts, directory->owner))
        return files_untrusted(&facts, false, directory->owner, path);
    return INGOT_SUCCESS;
}

ingot_status_t ingot_persist_open_recipe(ingot_storage_t storage, const char *name_space, ingot_recipe_t *recipe)
{
    struct directory *directory;
    size_t size = 0;
    const char *wanted = name_space != NULL ? name_space : "";
    ingot_status_t status = directory_get(storage, &directory);
    if (status != INGOT_SUCCESS)
        return status;
    if (recipe == NULL || (wanted[0] != '\0' && !paths_is_namespace(wanted)))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                      "recipe is NULL, or \"%.80s\" is not the name of a namespace", wanted);
    status = check_recipe_owner(directory, wanted);
    if (status != INGOT_SUCCESS)
        return status;
    char *path = path_of(directory, wanted, &size);
    if (path == NULL)
        return INGOT_OUT_OF_MEMORY;
    status = ingot_recipe_open(recipe, path, NULL);
    memory_free(&directory->allocator, path, size);
    return status;
}
