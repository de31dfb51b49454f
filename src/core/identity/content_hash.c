/*
 * content_hash.c - hashes a file of a compiler, or finds its hash in the memo, and adds files to an identity; see
 * device_identity.h.
 */
#include "core/identity/device_identity.h"

#include <ingot/private/backend.h>
#include <stdio.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "core/base/error.h"
#include "util/little_endian.h"
#include "util/memory.h"

enum {
    HASH_SIZE = 16,
    SMALL_FILE_BYTES = 128 << 10, /* reading less takes no longer than loading what a store remembers of it */
    MAX_PATHS = 256
};

ingot_status_t content_hash_of(struct ingot_header_memo *memo, const ingot_allocator_t *allocator, const char *path,
                               char text[CONTENT_HASH_TEXT])
{
    uint8_t key[DIGEST_SIZE];
    struct bytes_writer hash;
    ingot_status_t status = INGOT_SUCCESS;
    struct os_file_state state;
    text[0] = '\0';
    if (memo != NULL && os_get_file_state(path, &state) == INGOT_SUCCESS && state.size < SMALL_FILE_BYTES)
        memo = NULL;
    bytes_writer_init(&hash, allocator);
    bytes_print(&hash, "hash of the compiler's file %s", path); /* the keys of resolutions begin with other bytes */
    if (!digest_of_written(&hash, key))
        return INGOT_OUT_OF_MEMORY;
    if (memo == NULL || !header_memo_lookup(memo, key, &hash) || hash.size != HASH_SIZE) {
        hash.size = 0;
        struct witness witness;
        struct hash128 read = {0, 0};
        witness_init(&witness, allocator);
        if (memo != NULL)
            header_memo_watch(memo, &witness);
        status = witness_hash_file(&witness, path, &read);
        bytes_put_u64(&hash, read.low);
        bytes_put_u64(&hash, read.high);
        if (status == INGOT_SUCCESS && memo != NULL)
            header_memo_learn(memo, key, &witness, &hash);
        witness_fini(&witness);
    }
    if (hash.failed)
        status = INGOT_OUT_OF_MEMORY;
    if (status == INGOT_SUCCESS)
        (void)snprintf(text, CONTENT_HASH_TEXT, "%016llx%016llx", (unsigned long long)le_get_u64(hash.bytes + 8),
                       (unsigned long long)le_get_u64(hash.bytes));
    bytes_writer_fini(&hash);
    return status;
}

/* ---- data files: device libraries, bundled headers and settings ---- */

/* Makes the line that identifies a file: its name and hash. *line stays NULL if the file does not exist. */
static ingot_status_t make_line(const ingot_identity_t *identity, struct arena *arena, const char *path, char **line)
{
    char hash[CONTENT_HASH_TEXT];
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const ingot_status_t status = content_hash_of(identity->memo, arena->allocator, path, hash);
    if (status == INGOT_NOT_FOUND)
        return INGOT_SUCCESS;
    if (status == INGOT_OUT_OF_MEMORY)
        return error_out_of_memory();
    if (status != INGOT_SUCCESS)
        return ingot_set_error(INGOT_BACKEND_ERROR, ingot_last_error_code(), "the compiler's file %s could not be read",
                               path);
    *line = arena_print(arena, "%s %s\n", name, hash);
    return *line != NULL ? INGOT_SUCCESS : error_out_of_memory();
}

ingot_status_t ingot_identity_add_files(ingot_identity_t *identity, const char *name, const char *const *paths)
{
    const char *lines[MAX_PATHS];
    size_t count = 0;
    struct arena arena;
    ingot_status_t status = INGOT_SUCCESS;

    const ingot_allocator_t *allocator = identity->fields.allocator;
    arena_init(&arena, allocator);
    for (; status == INGOT_SUCCESS && *paths != NULL; ++paths) {
        char *line = NULL;
        witness_put_file(&identity->files, *paths); /* before the file is read */
        if (count == MAX_PATHS)
            status = error_set(INGOT_BACKEND_ERROR, "a compiler has more than %d data files", MAX_PATHS);
        else
            status = make_line(identity, &arena, *paths, &line);
        if (line != NULL)
            lines[count++] = line;
    }
    if (status == INGOT_SUCCESS && count != 0) {
        /* A digest of all lines instead of the lines, which would be the longest part of an id. */
        struct bytes_writer text;
        texts_sort(count, lines);
        bytes_writer_init(&text, identity->fields.allocator);
        for (size_t i = 0; i < count; ++i)
            bytes_put_text(&text, lines[i]);
        status = text.failed ? error_out_of_memory() : ingot_identity_add_digest(identity, name, text.size, text.bytes);
        bytes_writer_fini(&text);
    }
    arena_fini(&arena);
    return status;
}
