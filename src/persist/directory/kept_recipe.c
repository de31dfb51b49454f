/*
 * kept_recipe.c - makes a store keep the recipe of its programs in programs.recipe, opens it, and removes it.
 *
 * The recipe's writer opens programs.recipe by its path for each addition. The functions in this file need no lock,
 * because the writer has its own.
 */
#include "persist/directory/kept_recipe.h"

#include <errno.h>
#include <ingot/backend.h>
#include <ingot/private/recipe.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/base/memory.h"
#include "persist/directory/format/paths.h"
#include "persist/directory/root.h"
#include "persist/recipe/recording.h"
#include "util/limit.h"

#define DEFAULT_BYTES ((uint64_t)64 << 20)
#define MOST_BYTES ((uint64_t)1 << 30) /* the largest recipe that can be read */

/* Returns the absolute path of a namespace's programs.recipe, or NULL if memory runs out. The caller frees it. */
static char *path_of(const struct directory *directory, const char *name_space, size_t *size)
{
    char below[PATH_CAPACITY];
    const size_t root_length = strlen(directory->path);
    paths_in_name_space(below, name_space, PATHS_RECIPE);
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

static int remove_recipe_file(const struct root *root, const char *name_space, const char *name)
{
    char path[PATH_CAPACITY];
    paths_in_name_space(path, name_space, name);
    const int result = files_remove(root->fd, path);
    return result == -ENOENT ? 0 : result;
}

static ingot_status_t remove_of(const struct root *root, const char *name_space)
{
    int result = remove_recipe_file(root, name_space, PATHS_RECIPE);
    if (result == 0)
        result = remove_recipe_file(root, name_space, PATHS_RECIPE_REWRITE);
    return result < 0 ? files_write_failed(result, "removing", PATHS_RECIPE) : INGOT_SUCCESS;
}

struct removing {
    const struct root *root;
    ingot_status_t status;
};

static bool remove_namespace_recipe(void *user, const char *name)
{
    struct removing *removing = user;
    struct file_facts facts;
    if (paths_is_namespace(name) && files_facts_at(removing->root->fd, name, &facts) == 0 && facts.is_directory &&
        files_are_private(&facts, removing->root->directory->owner))
        removing->status = remove_of(removing->root, name);
    return removing->status == INGOT_SUCCESS;
}

ingot_status_t kept_recipe_remove(const struct root *root, const char *name_space)
{
    struct removing removing = {root, INGOT_SUCCESS};
    removing.status = remove_of(root, name_space != NULL ? name_space : "");
    if (removing.status != INGOT_SUCCESS || name_space != NULL)
        return removing.status;
    const int result = files_list(root->fd, ".", remove_namespace_recipe, &removing);
    return result < 0 ? files_read_failed(result, "listing", "the store") : removing.status;
}

/* ---- reading ---- */

/* Returns INGOT_SUCCESS if only the store's owner can have written the file. */
static ingot_status_t check_recipe_owner(const struct root *root, const char *name_space)
{
    char path[PATH_CAPACITY];
    struct file_facts facts;
    paths_in_name_space(path, name_space, PATHS_RECIPE);
    const int result = files_facts_at(root->fd, path, &facts);
    if (result == -ENOENT || result == -ENOTDIR)
        return ingot_set_error(INGOT_NOT_FOUND, ENOENT, "the store keeps no recipe: %s is missing", path);
    if (result < 0)
        return files_read_failed(result, "examining", path);
    if (!facts.is_file || !files_are_private(&facts, root->directory->owner))
        return files_untrusted(&facts, false, root->directory->owner, path);
    return INGOT_SUCCESS;
}

ingot_status_t ingot_persist_open_recipe(ingot_storage_t storage, const char *name_space, ingot_recipe_t *recipe)
{
    struct root root;
    size_t size = 0;
    const char *wanted = name_space != NULL ? name_space : "";
    ingot_status_t status = root_open_of(storage, &root);
    if (status == INGOT_SUCCESS && (recipe == NULL || (wanted[0] != '\0' && !paths_is_namespace(wanted))))
        status = ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                        "recipe is NULL, or \"%.80s\" is not the name of a namespace", wanted);
    if (status == INGOT_SUCCESS)
        status = check_recipe_owner(&root, wanted);
    char *path = status == INGOT_SUCCESS ? path_of(root.directory, wanted, &size) : NULL;
    if (status == INGOT_SUCCESS)
        status = path != NULL ? ingot_recipe_open(recipe, path, NULL) : INGOT_OUT_OF_MEMORY;
    if (path != NULL)
        memory_free(&root.directory->allocator, path, size);
    root_close(&root);
    return status;
}
