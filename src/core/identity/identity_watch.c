/*
 * identity_watch.c - adds environment variables to an identity, and tells whether these or files have changed since it
 * was made.
 *
 * An identity is made once per context, but some compilers read these files and variables for each program. If one has
 * changed, the identity does not identify what the compiler used.
 *
 * A file's state counts, not its content: a file that was replaced and put back may have been used in between. (The
 * driver itself reads some of the variables only once per process.)
 */
#include "core/identity/device_identity.h"

#include <string.h>

#include "core/base/error.h"

enum { MAX_VARIABLES = 128 };

extern char **environ;

/* ---- the environment variables that affect the code of a compiler ---- */

/* True for a variable that begins with a capital and also has small letters, but only letters and digits. */
static bool is_camel_case(const char *variable)
{
    static const char others[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefghijklmnopqrstuvwxyz";
    const size_t size = strcspn(variable, "=");
    return *variable >= 'A' && *variable <= 'Z' && strspn(variable, others) == size &&
           strcspn(variable, others + 36) < size;
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

/* Appends the environment variables with these names, sorted, each followed by a newline except for the last. */
static ingot_status_t environment_put(struct bytes_writer *text, const char *const *names)
{
    const char *found[MAX_VARIABLES];
    size_t count = 0;
    for (char **variable = environ; variable != NULL && *variable != NULL; ++variable) {
        if (!is_asked_for(*variable, names))
            continue;
        if (count == MAX_VARIABLES)
            return error_set(INGOT_BACKEND_ERROR, "more than %d environment variables affect a device's code",
                             MAX_VARIABLES);
        found[count++] = *variable;
    }
    texts_sort(count, found);
    for (size_t i = 0; i < count; ++i) {
        bytes_put_text(text, i != 0 ? "\n" : "");
        bytes_put_text(text, found[i]);
    }
    return text->failed ? error_out_of_memory() : INGOT_SUCCESS;
}

ingot_status_t ingot_identity_add_environment(ingot_identity_t *identity, const char *const *variables)
{
    struct bytes_writer text;
    if (identity == NULL || variables == NULL)
        return error_null_argument(identity == NULL ? "identity" : "variables");
    bytes_writer_init(&text, identity->fields.allocator);
    ingot_status_t status = environment_put(&text, variables);
    if (status == INGOT_SUCCESS) {
        size_t count = 0;
        while (variables[count] != NULL)
            ++count;
        bytes_put_u64(&identity->variables, count);
        for (size_t i = 0; i < count; ++i)
            bytes_put_framed(&identity->variables, strlen(variables[i]) + 1, variables[i]);
        bytes_put_framed(&identity->variables, text.size, text.bytes);
    }
    if (status == INGOT_SUCCESS && text.size != 0)
        status = ingot_identity_add(identity, "environment", text.size, text.bytes);
    bytes_writer_fini(&text);
    return status;
}

/* ---- what has changed ---- */

static bool is_environment_same(struct bytes_reader *reader, struct bytes_writer *now)
{
    size_t size = 0;
    const uint64_t count = bytes_get_u64(reader);
    const char **names = memory_allocate_zeroed(now->allocator, ((size_t)count + 1) * sizeof(*names));
    for (uint64_t i = 0; names != NULL && i < count; ++i)
        names[i] = (const char *)bytes_get_framed(reader, &size);
    const uint8_t *then = bytes_get_framed(reader, &size);
    const bool is_same = names != NULL && !reader->failed && environment_put(now, names) == INGOT_SUCCESS &&
                         now->size == size && (size == 0 || memcmp(then, now->bytes, size) == 0);
    memory_free(now->allocator, names, ((size_t)count + 1) * sizeof(*names));
    return is_same;
}

const char *device_identity_change(const struct device_identity *identity, const ingot_allocator_t *allocator)
{
    struct bytes_reader reader;
    const char *change = witness_confirm(identity->files_size, identity->files)
                             ? NULL
                             : "a file of the compiler has changed since the context identified it";
    bytes_reader_init(&reader, identity->variables_size, identity->variables);
    while (change == NULL && bytes_left(&reader) != 0) {
        struct bytes_writer now;
        bytes_writer_init(&now, allocator);
        if (!is_environment_same(&reader, &now) || now.failed)
            change = "an environment variable of the compiler has changed since the context read it";
        bytes_writer_fini(&now);
    }
    return change;
}
