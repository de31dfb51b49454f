/*
 * run_layer.c - finds the libraries of the layers; see run.h.
 */
#include "cli/commands/run/run.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "cli/base/memory.h"
#include "cli/base/text.h"

#define LAYER_NAME "libIngotOpenCLLayer.so"
#define LEVEL_ZERO_NAME "libIngotLevelZeroLayer.so"

/* Where the layers may be. All but the last one are relative to the tool's directory: in an installation, and in the
 * build tree. The last one is the configured library directory, for a tool that was copied elsewhere. */
static const char *const places[] = {INGOT_LIB_FROM_BIN, "../layers/opencl", "../layers/level_zero", INGOT_FULL_LIBDIR};

enum { PLACE_COUNT = sizeof(places) / sizeof(places[0]) };

char *run_layer_absolute(const char *path)
{
    char *directory = path[0] != '/' ? getcwd(NULL, 0) : NULL;
    return directory != NULL ? text_append(directory, "/", path) : memory_copy_text(path);
}

/* Returns the tool's directory, without a trailing slash. */
static char *find_own_directory(void)
{
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    path[length > 0 ? length : 0] = '\0';
    if (length <= 0 && realpath((const char *)getauxval(AT_EXECFN), path) == NULL) /* there is no /proc */
        path[0] = '\0';
    char *slash = strrchr(path, '/');
    if (slash != NULL)
        *slash = '\0';
    return memory_copy_text(path);
}

static char *find_beside(const char *directory, const char *name)
{
    for (size_t i = 0; i < PLACE_COUNT; ++i) {
        char *beside = places[i][0] == '/' ? memory_copy_text(places[i])
                                           : text_append(memory_copy_text(directory), "/", places[i]);
        beside = text_append(beside, "/", name);
        char *found = realpath(beside, NULL);
        free(beside);
        if (found != NULL)
            return found;
    }
    return NULL;
}

char *run_layer_find(void)
{
    const char *named = getenv("INGOT_LAYER_PATH");
    const bool is_named = named != NULL && named[0] != '\0';
    char *directory = find_own_directory();
    char *layer = is_named ? run_layer_absolute(named) : find_beside(directory, LAYER_NAME);
    if (layer != NULL && (access(layer, R_OK) != 0 || strchr(layer, ':') != NULL)) {
        (void)fprintf(stderr, "ingot: the OpenCL layer %s %s\n", layer,
                      strchr(layer, ':') != NULL ? "has a colon in its path, which OPENCL_LAYERS does not allow"
                                                 : "cannot be read");
        free(layer);
        layer = NULL;
    } else if (layer == NULL) {
        (void)fprintf(stderr,
                      "ingot: the OpenCL layer is not installed: %s is neither in %s/%s nor in %s; install the package "
                      "ingot-opencl-layer, or name the file in INGOT_LAYER_PATH\n",
                      LAYER_NAME, directory, INGOT_LIB_FROM_BIN, INGOT_FULL_LIBDIR);
    }
    free(directory);
    return layer;
}

char *run_layer_find_level_zero(void)
{
    char *directory = find_own_directory();
    char *layer = find_beside(directory, LEVEL_ZERO_NAME);
    free(directory);
    if (layer == NULL || strchr(layer, ',') == NULL)
        return layer;
    (void)fprintf(
        stderr, "ingot: the Level Zero layer %s has a comma in its path, which " RUN_LAYER_DRIVERS " does not allow\n",
        layer);
    free(layer);
    return NULL;
}
