/*
 * build_log.h - what the compiler said, and what became of the build.
 */
#ifndef INGOT_BACKENDS_LEVEL_ZERO_BUILD_LOG_H
#define INGOT_BACKENDS_LEVEL_ZERO_BUILD_LOG_H

#include "backends/level_zero/state.h"

/*
 * The status of a call that compiles or links, with its detail: INGOT_BUILD_FAILED where the compiler refused the
 * program. Takes the native log, and names the refusal in `log` too, since the driver keeps no word of some.
 */
ingot_status_t level_zero_conclude(const struct level_zero_state *state, const char *call, ze_result_t result,
                                   ze_module_build_log_handle_t native_log, ingot_sink_t *log);

#endif
