/*
 * include_closure.h - what text sources can reach by #include, as bytes for an id.
 *
 * Conditions are not evaluated: an #include counts whether or not it is active, because what decides that may differ
 * between compilers. What cannot be resolved to bytes is refused with a reason, never guessed.
 */
#ifndef INGOT_CORE_INCLUDE_CLOSURE_H
#define INGOT_CORE_INCLUDE_CLOSURE_H

#include <ingot/backend.h>

#include "core/bytes.h"

struct include_closure {
    struct bytes_writer files; /* reached outside of the sources and embedded headers; see doc/blob-format.md */
    char *reason;              /* alloc_text; why no id can vouch for the sources, or NULL */
};

/* Whether a text has anything that the closure must look at: a directive that includes, or a macro such as __TIME__
 * or __FILE__. Cheap; asked once a source. */
bool include_closure_concerns(size_t size, const char *text);
/* Likewise of options: whether they by themselves read a file or define such a macro. One pass; -I alone does not. */
bool include_closure_options_concern(const char *options);

/*
 * Reads all that sources and headers (text kinds only; others are passed over) reach. Returns a failure for
 * INGOT_OUT_OF_MEMORY only; what cannot be resolved or read is a reason. init before, fini after, on failure too.
 */
void include_closure_init(struct include_closure *closure, const ingot_allocator_t *allocator);
void include_closure_fini(struct include_closure *closure);
ingot_status_t include_closure_resolve(struct include_closure *closure, const ingot_source_view_t *sources,
                                       size_t source_count, const ingot_source_view_t *headers, size_t header_count,
                                       const char *compile_options);

/* The options without what only says where files are (-I DIR, joined or apart): the closure stands for these. */
ingot_status_t options_without_paths(const ingot_allocator_t *allocator, const char *options, char **result);

#endif
