/*
 * desc_texts.h - resolves the includes of a descriptor's text sources: for the descriptor's key when it is made, and
 * for the compiler when the program is built.
 */
#ifndef INGOT_CORE_DESCRIPTOR_DESC_TEXTS_H
#define INGOT_CORE_DESCRIPTOR_DESC_TEXTS_H

#include "core/descriptor/program_desc.h"
#include "core/hermetic/hermetic.h"

/* Resolves the includes of a descriptor that was made with a plain key, or checks the texts of a request, which is NULL
 * otherwise. `hermetic` is initialized. Sets *has_directories if options of the program or the environment have -I,
 * which a hermetic build does not pass on. */
ingot_status_t desc_texts_resolve(struct hermetic *hermetic, const struct ingot_program_desc *desc,
                                  const struct request *request, bool *has_directories);

/* A request for a hermetic build: its texts contain all that they include, and its options name no directory. */
struct hermetic_request {
    struct hermetic hermetic;
    ingot_build_request_t request;
    bool is_there;
    /* why the request could not be made although it is needed, or NULL; valid as long as this structure */
    const char *refusal;
};

/* Reads the included files again and makes the request, if it is possible and needed. `native` is the application's
 * request. The arena holds what the new request points to. request->hermetic is initialized, and the rest is zeroed. */
ingot_status_t hermetic_request_make(struct hermetic_request *request, const struct ingot_program_desc *desc,
                                     const ingot_build_request_t *native, struct arena *arena);

#endif
