/*
 * environment_identity.c - adds to an identity the environment variables that affect the code that a compiler
 * generates.
 *
 * The variables are read when a device is identified, once per context, and compared after each build
 * (identity_watch.h). (The driver itself reads some of them only once per process.)
 */
#include <ingot/backend.h>
#include <stdbool.h>
#include <string.h>

#include "core/base/error.h"
#include "core/identity/device_identity.h"
#include "core/identity/identity_watch.h"

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

static bool variable_matches_name(const char *variable, const char *name)
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
        if (**names == '!' && variable_matches_name(variable, *names + 1))
            return false;
        is_in = is_in || (**names != '!' && variable_matches_name(variable, *names));
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
    texts_sort(*count, found);
    return INGOT_SUCCESS;
}

ingot_status_t environment_put(struct bytes_writer *text, const char *const *names)
{
    const char *found[MAX_VARIABLES];
    size_t count = 0;
    const ingot_status_t status = find_variables(names, found, &count);
    for (size_t i = 0; status == INGOT_SUCCESS && i < count; ++i) {
        if (i != 0)
            bytes_put_text(text, "\n");
        bytes_put_text(text, found[i]);
    }
    if (status == INGOT_SUCCESS && text->failed)
        return error_out_of_memory();
    return status;
}

ingot_status_t ingot_identity_add_environment(ingot_identity_t *identity, const char *const *variables)
{
    struct bytes_writer text;
    if (identity == NULL || variables == NULL)
        return error_null_argument(identity == NULL ? "identity" : "variables");
    bytes_writer_init(&text, identity->fields.allocator);
    ingot_status_t status = environment_put(&text, variables);
    if (status == INGOT_SUCCESS)
        identity_watch_environment(&identity->watched, variables, text.size, (const char *)text.bytes);
    if (status == INGOT_SUCCESS && text.size != 0)
        status = ingot_identity_add(identity, "environment", text.size, text.bytes);
    bytes_writer_fini(&text);
    return status;
}
