/*
 * kinds.c - the table of tools, and the forms in which their files are stored; see kinds.h.
 *
 * All but the last two kinds name their files or folders by a hash of what they are made from, so a file either is
 * right or does not exist. The last two build with ninja, which compares times; see ninja.h.
 */
#include "cli/adopt/kinds.h"

#include <fnmatch.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/adopt/ninja.h"
#include "cli/base/memory.h"
#include "cli/base/text.h"

#define PLACEHOLDER "@INGOT-ADOPTED-DIRECTORY@"

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

/* ---- the form in which a file is stored ---- */

static bool has_content_text(const struct adopt_content *content, const char *text)
{
    return memmem(content->bytes, content->size, text, strlen(text)) != NULL;
}

/* Replaces each occurrence of a text. */
static void replace_text(struct adopt_content *content, const char *from, const char *to)
{
    const size_t from_size = strlen(from);
    const size_t to_size = strlen(to);
    const uint8_t *end = content->bytes + content->size;
    const uint8_t *at = content->bytes;
    size_t count = 0;
    while ((at = memmem(at, (size_t)(end - at), from, from_size)) != NULL) {
        ++count;
        at += from_size;
    }
    if (count == 0)
        return;
    uint8_t *made = memory_get(content->size + count * to_size);
    size_t size = 0;
    at = content->bytes;
    while (at < end) {
        const uint8_t *found = memmem(at, (size_t)(end - at), from, from_size);
        const size_t plain = (size_t)((found != NULL ? found : end) - at);
        memcpy(made + size, at, plain);
        size += plain;
        at += plain;
        if (found == NULL)
            break;
        memcpy(made + size, to, to_size);
        size += to_size;
        at += from_size;
    }
    free(content->bytes);
    content->bytes = made;
    content->size = size;
}

/* Replaces the path `from` by `to`, or sets the times of outputs. */
static bool convert_content(enum adopt_rule rule, const char *from, const char *to, uint64_t time_ns,
                            struct adopt_content *content)
{
    switch (rule) {
    case ADOPT_RELOCATE: replace_text(content, from, to); break;
    case ADOPT_NINJA_LOG: return ninja_set_log_times(content, time_ns);
    case ADOPT_NINJA_DEPS: return ninja_set_deps_times(content, time_ns);
    case ADOPT_SKIP: return false;
    case ADOPT_REPLACE:
    case ADOPT_LEAVE: break;
    }
    return true;
}

bool adopt_rule_to_stored(enum adopt_rule rule, const char *directory, struct adopt_content *content)
{
    const bool is_ambiguous = rule == ADOPT_RELOCATE && has_content_text(content, PLACEHOLDER);
    return !is_ambiguous && convert_content(rule, directory, PLACEHOLDER, 0, content);
}

bool adopt_rule_from_stored(enum adopt_rule rule, const char *directory, uint64_t now_ns, struct adopt_content *content)
{
    return convert_content(rule, PLACEHOLDER, directory, now_ns, content);
}
