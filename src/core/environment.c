/*
 * environment.c - the INGOT_* variables that a context reads; see environment.h.
 */
#include "core/environment.h"

#include <string.h>

#include "core/error.h"
#include "core/os.h"

static const char *text_of(const char *name)
{
    const char *text = os_environment(name);
    return text != NULL ? text : "";
}

/* A decimal number, with K, M or G for powers of 1024. Not set leaves the value as it is. */
static ingot_status_t read_size(const char *name, size_t *value)
{
    const char *text = text_of(name);
    const char *c = text;
    size_t number = 0;
    unsigned shift = 0;

    if (*text == '\0')
        return INGOT_SUCCESS;
    for (; *c >= '0' && *c <= '9'; ++c) {
        const size_t digit = (size_t)(*c - '0');
        if (number > (SIZE_MAX - digit) / 10)
            return error_set(INGOT_INVALID_ARGUMENTS, "%s=%s is too large", name, text);
        number = number * 10 + digit;
    }
    if (c != text && *c != '\0' && c[1] == '\0') {
        shift = *c == 'K' ? 10 : *c == 'M' ? 20 : *c == 'G' ? 30 : 0;
        c += shift != 0 ? 1 : 0;
    }
    if (c == text || *c != '\0')
        return error_set(INGOT_INVALID_ARGUMENTS, "%s=%s is no number, nor one with K, M or G behind it", name, text);
    if (number > SIZE_MAX >> shift)
        return error_set(INGOT_INVALID_ARGUMENTS, "%s=%s is too large", name, text);
    *value = number << shift;
    return INGOT_SUCCESS;
}

static ingot_status_t read_limits(struct memory_cache_limits *limits)
{
    const char *on = text_of("INGOT_CACHE");

    ingot_status_t status = read_size("INGOT_CACHE_CAPACITY", &limits->max_entries);
    if (limits->max_entries == 0)
        limits->max_entries = INGOT_CACHE_DEFAULT_PROGRAMS; /* zero means default; INGOT_CACHE=0 turns it off */
    if (status == INGOT_SUCCESS)
        status = read_size("INGOT_CACHE_MAX_BYTES", &limits->max_bytes);
    if (status == INGOT_SUCCESS)
        status = read_size("INGOT_CACHE_GROUPS", &limits->max_groups);
    if (status != INGOT_SUCCESS)
        return status;
    if (strcmp(on, "0") == 0)
        limits->max_entries = 0;
    else if (*on != '\0' && strcmp(on, "1") != 0)
        return error_set(INGOT_INVALID_ARGUMENTS, "INGOT_CACHE=%s is neither 0 nor 1", on);
    return INGOT_SUCCESS;
}

ingot_status_t environment_read(struct environment *environment, bool ignore)
{
    *environment = (struct environment){
        .compile_options = "", .link_options = "", .limits = {.max_entries = INGOT_CACHE_DEFAULT_PROGRAMS}};
    if (ignore)
        return INGOT_SUCCESS;
    environment->trace = os_environment("INGOT_TRACE");
    environment->compile_options = text_of("INGOT_COMPILE_OPTIONS");
    environment->link_options = text_of("INGOT_LINK_OPTIONS");
    return read_limits(&environment->limits);
}
