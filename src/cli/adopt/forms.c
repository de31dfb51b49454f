/*
 * forms.c - converts files to and from the form in which they are stored; see forms.h.
 */
#include "cli/adopt/forms.h"

#include <stdlib.h>
#include <string.h>

#include "cli/adopt/ninja.h"
#include "cli/base/memory.h"

#define PLACEHOLDER "@INGOT-ADOPTED-DIRECTORY@"

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

bool adopt_forms_to_stored(enum adopt_rule rule, const char *directory, struct adopt_content *content)
{
    const bool is_ambiguous = rule == ADOPT_RELOCATE && has_content_text(content, PLACEHOLDER);
    return !is_ambiguous && convert_content(rule, directory, PLACEHOLDER, 0, content);
}

bool adopt_forms_from_stored(enum adopt_rule rule, const char *directory, uint64_t now_ns,
                             struct adopt_content *content)
{
    return convert_content(rule, PLACEHOLDER, directory, now_ns, content);
}
