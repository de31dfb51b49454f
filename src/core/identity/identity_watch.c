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
#include "core/base/os_file.h"

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

/* ---- what is watched ---- */

enum watched { WATCHED_FILE, WATCHED_ENVIRONMENT };

static const char file_changed[] = "a file of the compiler has changed since the context identified it";
static const char environment_changed[] =
    "an environment variable of the compiler has changed since the context read it";

static void put_state(struct bytes_writer *out, const char *path)
{
    struct os_file_state state = {.size = 0};
    const ingot_status_t status = os_get_file_state(path, &state);
    bytes_put_u64(out, (uint64_t)status);
    bytes_put_u64(out, state.identity.device);
    bytes_put_u64(out, state.identity.inode);
    bytes_put_u64(out, state.size);
    bytes_put_u64(out, state.modified_ns);
    bytes_put_u64(out, state.changed_ns);
}

void identity_watch_file(struct bytes_writer *watched, const char *path)
{
    bytes_put_u32(watched, WATCHED_FILE);
    bytes_put_framed(watched, strlen(path) + 1, path);
    put_state(watched, path);
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
        bytes_put_u32(&identity->watched, WATCHED_ENVIRONMENT);
        bytes_put_u64(&identity->watched, count);
        for (size_t i = 0; i < count; ++i)
            bytes_put_framed(&identity->watched, strlen(variables[i]) + 1, variables[i]);
        bytes_put_framed(&identity->watched, text.size, text.bytes);
    }
    if (status == INGOT_SUCCESS && text.size != 0)
        status = ingot_identity_add(identity, "environment", text.size, text.bytes);
    bytes_writer_fini(&text);
    return status;
}

/* ---- what has changed ---- */

static bool is_file_same(struct bytes_reader *reader, struct bytes_writer *now)
{
    size_t size = 0;
    const char *path = (const char *)bytes_get_framed(reader, &size);
    if (path == NULL)
        return false;
    put_state(now, path);
    const uint8_t *then = bytes_get(reader, now->size);
    return then != NULL && memcmp(then, now->bytes, now->size) == 0;
}

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
    const char *change = NULL;
    bytes_reader_init(&reader, identity->watched_size, identity->watched);
    while (change == NULL && bytes_left(&reader) != 0) {
        struct bytes_writer now;
        bytes_writer_init(&now, allocator);
        if (bytes_get_u32(&reader) == WATCHED_FILE)
            change = is_file_same(&reader, &now) && !now.failed ? NULL : file_changed;
        else
            change = is_environment_same(&reader, &now) && !now.failed ? NULL : environment_changed;
        bytes_writer_fini(&now);
    }
    return change;
}
