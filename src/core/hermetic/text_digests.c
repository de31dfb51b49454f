/*
 * text_digests.c - writes and reads the digests of texts; see text_digests.h.
 */
#include "core/hermetic/text_digests.h"

#include <string.h>

void text_digests_begin(struct bytes_writer *out, bool names_matter, const uint8_t *directory)
{
    bytes_put_u32(out, names_matter ? 1 : 0);
    bytes_put_framed(out, directory != NULL ? DIGEST_SIZE : 0, directory);
}

void text_digests_put(struct bytes_writer *out, bool names_matter, const char *name, const void *text, size_t size)
{
    uint8_t digest[DIGEST_SIZE];
    bytes_put_framed(out, names_matter ? strlen(name) : 0, name);
    if (text != NULL)
        digest_of(size, text, digest);
    bytes_put_framed(out, text != NULL ? DIGEST_SIZE : 0, digest);
}

bool text_digests_read(struct text_digests *digests, size_t size, const uint8_t *bytes, size_t source_count)
{
    size_t directory_size = 0;
    size_t digest_size = 0;
    *digests = (struct text_digests){.directory = NULL};
    bytes_reader_init(&digests->sources, size, bytes);
    if (size == 0)
        return true;
    digests->names_matter = bytes_get_u32(&digests->sources) != 0;
    digests->directory = bytes_get_framed(&digests->sources, &directory_size);
    bool is_good = directory_size == 0 || directory_size == DIGEST_SIZE;
    if (directory_size == 0)
        digests->directory = NULL;
    struct bytes_reader check = digests->sources;
    for (size_t i = 0; i < source_count; ++i) {
        (void)bytes_get_framed(&check, &digest_size);
        (void)bytes_get_framed(&check, &digest_size);
        is_good = is_good && (digest_size == 0 || digest_size == DIGEST_SIZE);
    }
    return is_good && !check.failed && bytes_left(&check) == 0;
}

const uint8_t *text_digests_next(struct text_digests *digests)
{
    size_t name_size = 0;
    size_t digest_size = 0;
    if (bytes_left(&digests->sources) == 0)
        return NULL;
    (void)bytes_get_framed(&digests->sources, &name_size);
    const uint8_t *digest = bytes_get_framed(&digests->sources, &digest_size);
    return digest_size != 0 ? digest : NULL;
}
