/*
 * hermetic.h - resolves the includes of text sources, which gives one text per source for the compiler, and digests of
 * these texts for the id.
 *
 * In these texts, every #include is replaced with the text that it includes, and the compiler gets no search path. So
 * it compiles exactly what the id identifies, even if it would find other files by itself. If an include cannot be
 * resolved with certainty, there is a gap: it becomes an #error, which makes the hermetic build fail if the compiler
 * reaches it. Then the program is built natively, as the application asked, and has no id. doc/hermetic-builds.md
 * explains every decision.
 */
#ifndef INGOT_CORE_HERMETIC_HERMETIC_H
#define INGOT_CORE_HERMETIC_HERMETIC_H

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "core/hermetic/hermetic_input.h"
#include "core/memo/witness.h"

struct hermetic {
    struct witness witness; /* looks up files and records the answers; the caller may set witness.files */
    /* what the id contains of the texts (text_digests.h); empty if they are the sources and names do not matter */
    struct bytes_writer digests;
    struct bytes_writer files; /* the included files, for people: for each, its digest and framed name */
    char *reason;              /* why the sources cannot have an id, or NULL; from alloc_text */
    char *gap;                 /* describes the first gap, or NULL if there is none; from alloc_text */
    char *assembly; /* says that the compiler reached asm, if it refuses that; NULL otherwise; from alloc_text */
    struct bytes_writer texts; /* the text of each source, which has no NUL, and a NUL; "" for a source that is not
                                * text */
    size_t scan_steps;         /* number of bytes that the scans of the texts looked at */
    bool must_look;            /* set by the caller to true if included files may affect the result */
    bool names_matter;         /* true if names of files and sources affect the result */
    bool has_directory;        /* true if the result has the current directory, whose digest is `directory` */
    uint8_t directory[DIGEST_SIZE];
};

/* True if sources of this kind are texts in a language with includes. PTX is a text without includes. */
bool hermetic_kind_has_includes(ingot_source_kind_t kind);

/* True if a text has a directive, or a macro such as __TIME__ or __FILE__, so that it may have to be resolved. May
 * be true for other texts, because it only searches for characters and words. Called once per source. */
bool hermetic_concerns(size_t size, const char *text);

/*
 * Resolves the includes of all sources. Fails only with INGOT_OUT_OF_MEMORY; an include that cannot be
 * resolved or read sets `reason` or `gap`. hermetic_init must be called before, and hermetic_fini afterwards, even on
 * failure.
 */
void hermetic_init(struct hermetic *hermetic, const ingot_allocator_t *allocator);
void hermetic_fini(struct hermetic *hermetic);
ingot_status_t hermetic_resolve(struct hermetic *hermetic, const struct hermetic_input *input);

#endif
