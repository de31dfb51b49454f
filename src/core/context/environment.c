/*
 * environment.c - reads the INGOT_* environment variables for a context; see environment.h.
 *
 * Values that are not used are not checked, such as the capacity if the application sets it or if the cache is off.
 */
#include "core/context/environment.h"

#include <ingot/private/event.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "core/base/error.h"
#include "util/environment.h"
#include "util/struct_size.h"
#include "util/write_signals.h"

static atomic_bool is_silent;

void ingot_environment_be_silent(void)
{
    atomic_store_explicit(&is_silent, true, memory_order_relaxed);
}

ingot_status_t ingot_environment_refuse(const char *name, const char *format, ...)
{
    static atomic_uint_fast64_t told; /* a bit for each name: a line about a variable is written once */
    char line[1024] = "ingot: ";
    char *sentence = line + strlen(line);
    size_t at = 0;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(sentence, 1000, format, arguments);
    va_end(arguments);
    const ingot_status_t status = error_set(INGOT_INVALID_ARGUMENTS, "%s", sentence);
    while (environment_names()[at] != NULL && strcmp(environment_names()[at], name) != 0)
        ++at;
    const uint64_t bit = UINT64_C(1) << (at % 64);
    if (atomic_load_explicit(&is_silent, memory_order_relaxed) ||
        (atomic_fetch_or_explicit(&told, bit, memory_order_relaxed) & bit) != 0)
        return status;
    strcat(line, "\n");
    const struct write_signals held = write_signals_hold();
    if (write(STDERR_FILENO, line, strlen(line)) < 0) {
        /* there is nobody to tell */
    }
    write_signals_allow(&held);
    return status;
}

/* Returns "" if the variable is not set, or if the process has more rights than its user (setuid). */
static const char *get_variable_text(const char *name)
{
    const char *text = secure_getenv(name);
    return text != NULL ? text : "";
}

/* Reads a variable's value. Leaves *value unchanged if the variable is not set. */
static ingot_status_t read_environment_value(const char *name, enum environment_kind kind, uint64_t *value)
{
    const char *text = get_variable_text(name);

    if (*text == '\0' || environment_parse(kind, text, value))
        return INGOT_SUCCESS;
    return ingot_environment_refuse(name, "%s: \"%.80s\" is not %s", name, text, environment_expected(kind));
}

_Static_assert(INGOT_UNLIMITED == LIMIT_UNLIMITED && INGOT_NONE == LIMIT_NONE, "util/limit.h has the same values");

/* Returns a limit of the cache, in which `unlimited` is the value for no limit. */
static size_t size_of_limit(uint64_t given, size_t unlimited)
{
    return given < SIZE_MAX ? (size_t)given : unlimited;
}

static ingot_status_t read_capacity(const ingot_cache_capacity_t *capacity, struct memory_cache_limits *limits)
{
    ingot_cache_capacity_t known;
    if (!STRUCT_READ(known, capacity))
        return error_set(INGOT_INVALID_ARGUMENTS, "the struct_size of cache_capacity is not set");
    if ((known.flags & ~(uint32_t)(INGOT_CACHE_OFF | INGOT_CACHE_LRU_GROUPS)) != 0)
        return error_set(INGOT_INVALID_ARGUMENTS, "cache_capacity has unknown flags: %#x", (unsigned)known.flags);
    limits->max_entries =
        known.max_programs != 0 ? size_of_limit(known.max_programs, SIZE_MAX) : INGOT_CACHE_DEFAULT_PROGRAMS;
    if ((known.flags & INGOT_CACHE_OFF) != 0 || known.max_programs == INGOT_NONE || known.max_bytes == INGOT_NONE ||
        known.max_groups == INGOT_NONE)
        limits->max_entries = 0;
    limits->max_bytes = size_of_limit(known.max_bytes, 0);
    limits->max_groups = size_of_limit(known.max_groups, 0);
    limits->drops_least_used_group = (known.flags & INGOT_CACHE_LRU_GROUPS) != 0;
    return INGOT_SUCCESS;
}

ingot_status_t environment_read(struct environment *environment, bool ignore, const ingot_cache_capacity_t *capacity)
{
    *environment = (struct environment){.compile_options = "",
                                        .link_options = "",
                                        .header_memo = true,
                                        .limits = {.max_entries = INGOT_CACHE_DEFAULT_PROGRAMS}};
    if (capacity != NULL) {
        const ingot_status_t status = read_capacity(capacity, &environment->limits);
        if (status != INGOT_SUCCESS)
            return status;
    }
    if (ignore)
        return INGOT_SUCCESS;
    environment->trace = secure_getenv("INGOT_TRACE");
    environment->compile_options = get_variable_text("INGOT_COMPILE_OPTIONS");
    environment->link_options = get_variable_text("INGOT_LINK_OPTIONS");
    uint64_t header_memo = 1;
    ingot_status_t status = read_environment_value("INGOT_HEADER_MEMO", ENVIRONMENT_SWITCH, &header_memo);
    environment->header_memo = header_memo != 0;
    if (status != INGOT_SUCCESS || capacity != NULL)
        return status;
    ingot_cache_capacity_t read = INGOT_CACHE_CAPACITY_INIT;
    uint64_t is_on = 1;
    status = read_environment_value("INGOT_CACHE", ENVIRONMENT_SWITCH, &is_on);
    if (status == INGOT_SUCCESS && is_on == 0) {
        environment->limits.max_entries = 0;
        return INGOT_SUCCESS;
    }
    if (status == INGOT_SUCCESS)
        status = read_environment_value("INGOT_CACHE_CAPACITY", ENVIRONMENT_SIZE, &read.max_programs);
    if (status == INGOT_SUCCESS)
        status = read_environment_value("INGOT_CACHE_MAX_BYTES", ENVIRONMENT_SIZE, &read.max_bytes);
    if (status == INGOT_SUCCESS)
        status = read_environment_value("INGOT_CACHE_GROUPS", ENVIRONMENT_SIZE, &read.max_groups);
    return status == INGOT_SUCCESS ? read_capacity(&read, &environment->limits) : status;
}

void environment_tell_unknown(const struct trace *trace)
{
    struct error_detail kept;

    if (!trace_wanted(trace))
        return;
    error_save(&kept);
    /* in a setuid process, no variable has an effect */
    for (char **each = environ; each != NULL && *each != NULL && getauxval(AT_SECURE) == 0; ++each) {
        const size_t size = strcspn(*each, "=");
        const char *renamed = environment_renamed(*each, size);
        const char *nearest = renamed == NULL ? environment_nearest(*each, size) : NULL;
        char name[128];
        if (renamed == NULL && nearest == NULL)
            continue;
        ingot_event_t event = INGOT_EVENT_INIT;
        (void)snprintf(name, sizeof(name), "%.*s", (int)size, *each);
        event.kind = INGOT_EVENT_ENVIRONMENT;
        event.status =
            renamed != NULL
                ? error_set(INGOT_NOT_FOUND, "%s has no effect any more: set %s instead", name, renamed)
                : error_set(INGOT_NOT_FOUND, "%s is not an Ingot variable; the nearest one is %s", name, nearest);
        event.name = name;
        event.reason = ingot_last_error_detail();
        trace_emit(trace, &event);
    }
    error_restore(&kept);
}
