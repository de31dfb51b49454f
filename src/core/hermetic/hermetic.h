/*
 * hermetic.h - text sources with all that they include, as bytes for an id and as text for the compiler.
 *
 * The compiler is given texts in which every #include is replaced by what it includes, and no search path. So what is
 * compiled is what the id says, whatever a compiler would have found by itself. An include that cannot be resolved for
 * certain becomes an #error: it costs nothing where it is not active, and makes the hermetic build fail where it is.
 * The program is then built as the application asked, and has no id. doc/hermetic-builds.md has every decision.
 */
#ifndef INGOT_CORE_HERMETIC_HERMETIC_H
#define INGOT_CORE_HERMETIC_HERMETIC_H

#include "core/base/bytes.h"
#include "core/hermetic/hermetic_input.h"

struct hermetic {
    struct bytes_writer files; /* for the id: what was reached and how; see doc/blob-format.md. Empty: nothing was */
    char *reason;              /* alloc_text; why no id can stand for the sources, or NULL */
    char *gap;                 /* alloc_text; the first include that became an #error, or NULL */
    struct bytes_writer texts; /* if wanted: one source after the other, each with a NUL */
    size_t *ends;              /* end_count of them, the NUL not counted; empty for a source that is not a text */
    size_t end_count;          /* of all inputs' sources */
    size_t source_count;       /* looked at so far */
};

/* True if a text has anything that must be looked at: a directive, or a macro such as __TIME__ or __FILE__. Cheap;
 * asked once per source. */
bool hermetic_concerns(size_t size, const char *text);

/*
 * Fails with INGOT_OUT_OF_MEMORY alone; what cannot be resolved or read is a reason or a gap. init before, fini after,
 * on failure too. Each input is looked at by itself.
 */
void hermetic_init(struct hermetic *hermetic, const ingot_allocator_t *allocator);
void hermetic_fini(struct hermetic *hermetic);
ingot_status_t hermetic_resolve(struct hermetic *hermetic, size_t input_count, const struct hermetic_input *inputs,
                                bool want_texts);

#endif
