/*
 * file_identity.c - identifies a compiler's data files: device libraries, bundled headers and settings.
 */
#include <ingot/private/backend.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/identity/content_hash.h"
#include "core/identity/device_identity.h"
#include "util/memory.h"

enum { MAX_PATHS = 256 };

/* Makes the line that identifies a file: its name and hash. *line stays NULL if the file does not exist. */
static ingot_status_t make_line(const ingot_identity_t *identity, struct arena *arena, const char *path, char **line)
{
    char hash[CONTENT_HASH_TEXT];
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const size_t room = strlen(name) + CONTENT_HASH_TEXT + 2;

    const ingot_status_t status = content_hash_of(identity->memo, arena->allocator, path, hash);
    if (status == INGOT_NOT_FOUND)
        return INGOT_SUCCESS;
    if (status == INGOT_OUT_OF_MEMORY)
        return error_out_of_memory();
    if (status != INGOT_SUCCESS)
        return ingot_set_error(INGOT_BACKEND_ERROR, ingot_last_error_code(), "the compiler's file %s could not be read",
                               path);
    char *text = arena_take(arena, room);
    if (text == NULL)
        return error_out_of_memory();
    (void)snprintf(text, room, "%s %s\n", name, hash);
    *line = text;
    return INGOT_SUCCESS;
}

/* Adds a digest of all lines instead of the lines, which would be the longest part of an id. */
static ingot_status_t add_lines(ingot_identity_t *identity, const char *name, const char **lines, size_t count)
{
    struct bytes_writer text;
    texts_sort(count, lines);
    bytes_writer_init(&text, identity->fields.allocator);
    for (size_t i = 0; i < count; ++i)
        bytes_put_text(&text, lines[i]);
    const ingot_status_t status =
        text.failed ? error_out_of_memory() : ingot_identity_add_digest(identity, name, text.size, text.bytes);
    bytes_writer_fini(&text);
    return status;
}

ingot_status_t ingot_identity_add_files(ingot_identity_t *identity, const char *name, const char *const *paths)
{
    const char *lines[MAX_PATHS];
    size_t count = 0;
    struct arena arena;
    ingot_status_t status = INGOT_SUCCESS;

    if (identity == NULL || paths == NULL)
        return error_null_argument(identity == NULL ? "identity" : "paths");
    const ingot_allocator_t *allocator = identity->fields.allocator;
    arena_init(&arena, allocator);
    for (; status == INGOT_SUCCESS && *paths != NULL; ++paths) {
        char *line = NULL;
        identity_watch_file(&identity->watched, *paths);
        if (count == MAX_PATHS)
            status = error_set(INGOT_BACKEND_ERROR, "a compiler has more than %d data files", MAX_PATHS);
        else
            status = make_line(identity, &arena, *paths, &line);
        if (line != NULL)
            lines[count++] = line;
    }
    if (status == INGOT_SUCCESS && count != 0)
        status = add_lines(identity, name, lines, count);
    arena_fini(&arena);
    return status;
}
