/*
 * environment_identity.c - adds to an identity the environment variables that affect the code that a compiler
 * generates.
 *
 * The variables are read when a device is identified, once per context. (The driver itself reads some of them only once
 * per process.)
 */
#include <ingot/backend.h>
#include <stdbool.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/identity/device_identity.h"

enum { MAX_VARIABLES = 128 };

extern char **environ;

static bool is_camel_case(const char *variable)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    static const char others[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const char *at = variable;
    bool has_small = false;
    if (*at < 'A' || *at > 'Z')
        return false;
    for (; *at != '=' && *at != '\0'; ++at) {
        const bool is_small = strchr(letters, *at) != NULL;
        if (!is_small && strchr(others, *at) == NULL)
            return false;
        has_small = has_small || is_small;
    }
    return has_small;
}

static bool is_named(const char *variable, const char *name)
{
    const size_t length = strlen(name);
    if (length == 0)
        return false;
    if (strcmp(name, "Aa*") == 0)
        return is_camel_case(variable);
    return name[length - 1] == '*' ? strncmp(variable, name, length - 1) == 0
                                   : strncmp(variable, name, length) == 0 && variable[length] == '=';
}

static bool is_asked_for(const char *variable, const char *const *names)
{
    bool is_in = false;
    for (; *names != NULL; ++names) {
        if (**names == '!' && is_named(variable, *names + 1))
            return false;
        is_in = is_in || (**names != '!' && is_named(variable, *names));
    }
    return is_in;
}

static ingot_status_t find_variables(const char *const *names, const char **found, size_t *count)
{
    *count = 0;
    for (char **variable = environ; variable != NULL && *variable != NULL; ++variable) {
        if (!is_asked_for(*variable, names))
            continue;
        if (*count == MAX_VARIABLES)
            return error_set(INGOT_BACKEND_ERROR, "more than %d environment variables affect a device's code",
                             MAX_VARIABLES);
        found[(*count)++] = *variable;
    }
    identity_sort(*count, found);
    return INGOT_SUCCESS;
}

ingot_status_t ingot_identity_add_environment(ingot_identity_t *identity, const char *const *variables)
{
    const char *found[MAX_VARIABLES];
    size_t count = 0;
    size_t size = 0;
    size_t at = 0;

    if (identity == NULL || variables == NULL)
        return error_null_argument(identity == NULL ? "identity" : "variables");
    ingot_status_t status = find_variables(variables, found, &count);
    if (status != INGOT_SUCCESS || count == 0)
        return status;
    for (size_t i = 0; i < count; ++i)
        size += strlen(found[i]) + 1;
    const ingot_allocator_t *allocator = identity_allocator(identity);
    char *text = alloc_bytes(allocator, size);
    if (text == NULL)
        return error_out_of_memory();
    for (size_t i = 0; i < count; ++i) {
        const size_t length = strlen(found[i]);
        memcpy(text + at, found[i], length);
        text[at + length] = '\n';
        at += length + 1;
    }
    status = ingot_identity_add(identity, "environment", size - 1, text);
    alloc_free(allocator, text, size);
    return status;
}
