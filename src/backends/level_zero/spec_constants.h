/*
 * spec_constants.h - converts the specialization constants of a request to the form that Level Zero takes.
 */
#ifndef INGOT_BACKENDS_LEVEL_ZERO_SPEC_CONSTANTS_H
#define INGOT_BACKENDS_LEVEL_ZERO_SPEC_CONSTANTS_H

#include "backends/level_zero/state.h"

/* A request's constants in the form that the driver takes: for each source, the constants that this source has. */
struct level_zero_spec_constants {
    size_t size;                            /* of the block with all of the following */
    uint64_t *storage;                      /* a value per constant; NULL: the request has no constants */
    ze_module_constants_t *of_source;       /* one per source */
    const ze_module_constants_t **pointers; /* to the elements of `of_source` */
    const void **values;                    /* one per constant of each source */
    uint32_t *ids;
};

/* Converts the constants of a request that ingot_spirv_check_request has accepted. The caller must call
 * level_zero_spec_constants_fini, even after a failure. */
ingot_status_t level_zero_spec_constants_init(const struct level_zero_state *state,
                                              const ingot_build_request_t *request,
                                              struct level_zero_spec_constants *constants);
void level_zero_spec_constants_fini(const struct level_zero_state *state, struct level_zero_spec_constants *constants);

#endif
