/*
 * desc_texts.h - resolves the includes of a descriptor's text sources: for its key when it is made, and for the
 * compiler when it is built.
 */
#ifndef INGOT_CORE_DESCRIPTOR_DESC_TEXTS_H
#define INGOT_CORE_DESCRIPTOR_DESC_TEXTS_H

#include "core/descriptor/program_desc.h"
#include "core/hermetic/hermetic.h"

/* Finds what the descriptor's key and id say about its texts. The caller has initialized hermetic. Sets
 * *has_directories if the options name include directories, which no compiler is given. */
ingot_status_t desc_texts_resolve(struct hermetic *hermetic, const struct ingot_context *context,
                                  const ingot_program_info_t *info, bool *has_directories);

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
