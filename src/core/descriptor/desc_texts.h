/*
 * desc_texts.h - resolves the includes of a descriptor's text sources: for its key when it is made, and for the
 * compiler when it is built.
 */
#ifndef INGOT_CORE_DESCRIPTOR_DESC_TEXTS_H
#define INGOT_CORE_DESCRIPTOR_DESC_TEXTS_H

#include "core/descriptor/program_desc.h"
#include "core/hermetic/hermetic.h"

/* What the descriptor's key and id say about its texts and options. */
struct desc_texts {
    struct hermetic hermetic;
    /* some options of a text source have -I, which a hermetic build does not pass on */
    bool has_directories;
    bool has_kept_options;            /* the program's own options have -I */
    struct bytes_writer kept_options; /* if has_kept_options: the options without -I, with a NUL */
    /* set by the caller; NULL: included files are read */
    const struct ingot_includes *includes;
};

void desc_texts_init(struct desc_texts *texts, const struct ingot_context *context);
void desc_texts_fini(struct desc_texts *texts);
ingot_status_t desc_texts_resolve(struct desc_texts *texts, const struct ingot_context *context,
                                  const ingot_program_info_t *info);

/* Resolves the includes of a descriptor again, and records what they lead to. INGOT_BLOB_STALE: a file has changed. */
ingot_status_t desc_texts_record(const struct ingot_program_desc *desc, struct include_record *record);

/* Resolves the texts with these includes. INGOT_NOT_CACHEABLE: the result does not have the descriptor's id. */
ingot_status_t desc_texts_check(const struct ingot_program_desc *desc, const struct ingot_includes *includes);

/* A request whose texts include nothing and whose options name no directory. */
struct hermetic_request {
    struct hermetic hermetic; /* only if is_begun */
    ingot_build_request_t request;
    bool is_begun; /* false for most loads, which need no texts */
    bool is_there;
    /* why the request was not made, valid as long as this structure; NULL: the caller may use the native request */
    const char *refusal;
};

void hermetic_request_init(struct hermetic_request *request);
void hermetic_request_fini(struct hermetic_request *request);
/* Reads the files again and makes the request. native is the application's request; the arena holds what the new
 * request needs. */
ingot_status_t hermetic_request_make(struct hermetic_request *request, const struct ingot_program_desc *desc,
                                     const ingot_build_request_t *native, struct arena *arena);

#endif
