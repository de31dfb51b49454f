/*
 * hermetic.h - resolves text sources with everything that they include: as bytes for an id, and as one text for the
 * compiler.
 *
 * The compiler gets texts in which every #include is replaced by what it includes, and no search path. So the compiler
 * compiles what the id identifies, even if it would find other files. An include that cannot be resolved with certainty
 * becomes an #error, which makes the hermetic build fail if the compiler reaches it. Then the program is built
 * natively, as the application asked, and has no id. doc/hermetic-builds.md explains every decision.
 */
#ifndef INGOT_CORE_HERMETIC_HERMETIC_H
#define INGOT_CORE_HERMETIC_HERMETIC_H

#include "core/base/bytes.h"
#include "core/hermetic/hermetic_input.h"
#include "core/hermetic/include_answers.h"
#include "core/memo/witness.h"

struct hermetic {
    struct witness witness;    /* the caller may set its known files */
    struct bytes_writer files; /* for the id: what was included and how, see doc/blob-format.md; empty if nothing was */
    char *reason;              /* alloc_text; why the sources cannot have an id, or NULL */
    char *gap;                 /* alloc_text; the first include that became an #error, or NULL */
    struct bytes_writer texts; /* if requested: one source after the other, each with a NUL */
    size_t *ends;              /* end_count offsets in texts: the end of each source, without its NUL */
    size_t end_count;          /* the number of sources of all inputs */
    size_t source_count;       /* resolved so far */
    size_t expansion_steps;    /* of the inputs resolved so far; see macro_body.h */
    bool must_look;            /* set by the caller if files may matter in addition to texts and options */
    struct include_record *record; /* set by the caller to record what the includes lead to, or NULL */
    struct include_replay *replay; /* set by the caller to take the results from a record instead of files, or NULL */
};

/* True if a text has a directive, or a macro such as __TIME__ or __FILE__. This is cheap, and called once per
 * source. */
bool hermetic_concerns(size_t size, const char *text);

/*
 * Resolves the inputs independently. Fails only with INGOT_OUT_OF_MEMORY; an include that cannot be resolved or read
 * sets a reason or a gap. Call init before and fini after, even on failure.
 */
void hermetic_init(struct hermetic *hermetic, const ingot_allocator_t *allocator);
void hermetic_fini(struct hermetic *hermetic);
ingot_status_t hermetic_resolve(struct hermetic *hermetic, size_t input_count, const struct hermetic_input *inputs,
                                bool want_texts);

#endif
