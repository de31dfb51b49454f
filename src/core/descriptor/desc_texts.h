/*
 * desc_texts.h - the text sources of a descriptor: what they reach, when the descriptor is made; and the hermetic
 * request, when they are compiled.
 */
#ifndef INGOT_CORE_DESCRIPTOR_DESC_TEXTS_H
#define INGOT_CORE_DESCRIPTOR_DESC_TEXTS_H

#include "core/descriptor/program_desc.h"
#include "core/hermetic/hermetic.h"

/* What the descriptor's key and id say of its texts. hermetic is initialized; *has_directories: the options name places
 * to look for files, which no compiler is given. */
ingot_status_t desc_texts_resolve(struct hermetic *hermetic, const struct ingot_context *context,
                                  const ingot_program_info_t *info, bool *has_directories);

/* A request whose texts include nothing and whose options name no directory. */
struct hermetic_request {
    struct hermetic hermetic;
    ingot_build_request_t request;
    bool is_there;
    const char *refusal; /* why it is not: a sentence that lives as long as this; NULL: the native request is one */
};

void hermetic_request_init(struct hermetic_request *request, const struct ingot_program_desc *desc);
void hermetic_request_fini(struct hermetic_request *request);
/* Reads the files anew. native is what the application asked for, arena takes what the request needs. */
ingot_status_t hermetic_request_make(struct hermetic_request *request, const struct ingot_program_desc *desc,
                                     const ingot_build_request_t *native, struct arena *arena);

#endif
