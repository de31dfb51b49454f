/*
 * text_digests.h - what a key and an id contain of the texts that the compiler gets: a digest of each text that is not
 * the source itself, and the names of sources if they affect the result.
 *
 * The bytes are empty if neither is the case. They never leave the machine (core/memo), but may come from a file.
 */
#ifndef INGOT_CORE_HERMETIC_TEXT_DIGESTS_H
#define INGOT_CORE_HERMETIC_TEXT_DIGESTS_H

#include "core/base/bytes.h"
#include "core/base/digest.h"

/* Begins to write. `directory` is the digest of the current directory, or NULL if the result does not have it. */
void text_digests_begin(struct bytes_writer *out, bool names_matter, const uint8_t *directory);
/* Adds a source. `text` is what the compiler gets, or NULL if that is the source itself. */
void text_digests_put(struct bytes_writer *out, bool names_matter, const char *name, const void *text, size_t size);

struct text_digests {
    bool names_matter;
    const uint8_t *directory; /* NULL if the result does not have it */
    struct bytes_reader sources;
};

/* Begins to read. Returns false if the bytes are not well-formed digests of this many sources. */
bool text_digests_read(struct text_digests *digests, size_t size, const uint8_t *bytes, size_t source_count);
/* Returns the digest of the next source's text, or NULL if the text is the source itself. */
const uint8_t *text_digests_next(struct text_digests *digests);

#endif
