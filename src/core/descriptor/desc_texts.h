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
    bool has_directories;             /* of -I in any options of texts, which no compiler is given */
    bool has_kept_options;            /* the program's own options have -I */
    struct bytes_writer kept_options; /* where has_kept_options: without -I, with a NUL */
};

void desc_texts_init(struct desc_texts *texts, const struct ingot_context *context);
void desc_texts_fini(struct desc_texts *texts);
ingot_status_t desc_texts_resolve(struct desc_texts *texts, const struct ingot_context *context,
                                  const ingot_program_info_t *info);

/* A request whose texts include nothing and whose options name no directory. */
struct hermetic_request {
    struct hermetic hermetic;
    ingot_build_request_t request;
    bool is_there;
    const char *refusal; /* why it was not made, valid as long as this structure; NULL: the caller may use the native
                          * request */
};

void hermetic_request_init(struct hermetic_request *request, const struct ingot_program_desc *desc);
void hermetic_request_fini(struct hermetic_request *request);
/* Reads the files again. native is the application's request; the arena holds what the new one needs. */
ingot_status_t hermetic_request_make(struct hermetic_request *request, const struct ingot_program_desc *desc,
                                     const ingot_build_request_t *native, struct arena *arena);

#endif
