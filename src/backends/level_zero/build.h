/*
 * build.h - compiling and linking.
 */
#ifndef INGOT_BACKENDS_LEVEL_ZERO_BUILD_H
#define INGOT_BACKENDS_LEVEL_ZERO_BUILD_H

#include "backends/level_zero/state.h"

ingot_status_t level_zero_build(void *state, const ingot_build_request_t *request, size_t device_count,
                                const uint32_t *device_indices, ingot_sink_t *log, void **program);

/* Compile options, link options, and `more`, joined by spaces. */
ingot_status_t level_zero_build_flags(const struct level_zero_state *state, const char *compile_options,
                                      const char *link_options, const char *more, struct level_zero_text *flags);

/* Resolves the imports of a device's modules among them; `log` may be NULL. */
ingot_status_t level_zero_link_modules(const struct level_zero_state *state, size_t count, ze_module_handle_t *modules,
                                       ingot_sink_t *log);

#endif
