/*
 * kinds.c - the table of tools; see kinds.h.
 *
 * All but the last two kinds name their files or folders by a hash of what they are made from, so a file either is
 * right or does not exist. The last two build with ninja, which compares times; see ninja.h.
 */
#include "cli/adopt/kinds.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

#include "cli/base/text.h"

#define NINJA_PATTERNS                                                                                                 \
    {                                                                                                                  \
        {"lock", ADOPT_SKIP}, {"*.lock", ADOPT_SKIP}, {".ninja_log", ADOPT_NINJA_LOG},                                 \
            {".ninja_deps", ADOPT_NINJA_DEPS},                                                                         \
        {                                                                                                              \
            NULL, ADOPT_SKIP                                                                                           \
        }                                                                                                              \
    }

static const struct adopt_kind kinds[] = {
    {"warp", "warp-lang", "", true, {{"*.lock", ADOPT_SKIP}, {NULL, ADOPT_SKIP}}},
    {"taichi",
     "taichi",
     "",
     true,
     {{"*.lock", ADOPT_SKIP}, {"*.tcb", ADOPT_LEAVE}, {"*metadata*", ADOPT_LEAVE}, {NULL, ADOPT_SKIP}}},
    {"tilelang", "tilelang torch", "", false, {{"*.lock", ADOPT_SKIP}, {NULL, ADOPT_SKIP}}},
    {"deepgemm", "deep_gemm torch", "nvcc", false, {{"*.lock", ADOPT_SKIP}, {NULL, ADOPT_SKIP}}},
    {"triton",
     "triton torch",
     "",
     false,
     {{"*.lock", ADOPT_SKIP}, {"tmp.*", ADOPT_SKIP}, {"__grp__*", ADOPT_RELOCATE}, {NULL, ADOPT_SKIP}}},
    {"torch_extensions", "torch", "c++ nvcc ninja", true, NINJA_PATTERNS},
    {"flashinfer", "flashinfer-python torch", "c++ nvcc ninja", true, NINJA_PATTERNS},
};

enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]) };

const struct adopt_kind *adopt_kind_find(const char *name)
{
    for (size_t i = 0; i < KIND_COUNT; ++i)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

char *adopt_kind_names(void)
{
    char *names = NULL;
    for (size_t i = 0; i < KIND_COUNT; ++i)
        names = text_append(names, ", ", kinds[i].name);
    return names;
}

enum adopt_rule adopt_kind_rule(const struct adopt_kind *kind, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    for (const struct adopt_pattern *each = kind->patterns; each->pattern != NULL; ++each)
        if (fnmatch(each->pattern, name, 0) == 0)
            return each->rule;
    return ADOPT_REPLACE;
}
