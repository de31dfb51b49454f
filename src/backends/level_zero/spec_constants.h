/*
 * spec_constants.h - converts the specialization constants of a request to the form that Level Zero takes.
 */
#ifndef INGOT_BACKENDS_LEVEL_ZERO_SPEC_CONSTANTS_H
#define INGOT_BACKENDS_LEVEL_ZERO_SPEC_CONSTANTS_H

#include "backends/level_zero/state.h"

/* A request's constants in the form that the driver takes: for each source, the constants that this source has. */
struct level_zero_spec_constants {
    size_t source_count;
    size_t constant_count;
    ze_module_constants_t *of_source;       /* [source_count]; NULL: the request has no constants */
    const ze_module_constants_t **pointers; /* to the elements of `of_source` */
    uint32_t *ids;                          /* [source_count][constant_count] */
    const void **values;                    /* [source_count][constant_count] */
    uint64_t *storage;                      /* [constant_count] */
};

/* Converts the constants of a request that ingot_spirv_check_request has accepted. The caller must call
 * level_zero_spec_constants_fini, even after a failure. */
ingot_status_t level_zero_spec_constants_init(const struct level_zero_state *state,
                                              const ingot_build_request_t *request,
                                              struct level_zero_spec_constants *constants);
void level_zero_spec_constants_fini(const struct level_zero_state *state, struct level_zero_spec_constants *constants);

#endif
