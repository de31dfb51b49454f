/*
 * identity_watch.c - compares files and environment variables with what an identity was made from; see
 * identity_watch.h.
 *
 * A file's state counts, not its content: a file that was replaced and put back may have been used in between.
 */
#include "core/identity/identity_watch.h"

#include <string.h>

#include "core/base/os_file.h"

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

void identity_watch_environment(struct bytes_writer *watched, const char *const *names, size_t size, const char *text)
{
    size_t count = 0;
    while (names[count] != NULL)
        ++count;
    bytes_put_u32(watched, WATCHED_ENVIRONMENT);
    bytes_put_u64(watched, count);
    for (size_t i = 0; i < count; ++i)
        bytes_put_framed(watched, strlen(names[i]) + 1, names[i]);
    bytes_put_framed(watched, size, text);
}

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

const char *identity_watch_check(size_t size, const uint8_t *watched, const ingot_allocator_t *allocator)
{
    struct bytes_reader reader;
    const char *change = NULL;
    bytes_reader_init(&reader, size, watched);
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
