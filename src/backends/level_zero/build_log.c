/*
 * build_log.c - copies the messages of the compiler, and converts the outcome of a build to a status.
 *
 * If the compiler refuses a program once, it always refuses it. No other failure is certain to repeat itself, so a
 * refusal has its own status, INGOT_BUILD_FAILED.
 */
#include "backends/level_zero/backend.h"
#include "backends/level_zero/errors.h"
#include "backends/level_zero/state.h"

ingot_status_t level_zero_conclude(const struct level_zero_state *state, const char *call, ze_result_t result,
                                   ze_module_build_log_handle_t native_log, ingot_sink_t *log)
{
    struct level_zero_text text = {NULL, 0};
    ingot_status_t status = level_zero_take_log_text(state, native_log, &text);
    if (status == INGOT_SUCCESS && text.chars != NULL)
        status = ingot_sink_write_log(log, text.chars);
    level_zero_text_fini(state, &text);
    if (result == ZE_RESULT_SUCCESS)
        return status;
    switch (result) {
    case ZE_RESULT_ERROR_MODULE_BUILD_FAILURE:
    case ZE_RESULT_ERROR_MODULE_LINK_FAILURE:
        return ingot_refuse_program(log, (int64_t)result, "%s: %s (0x%x)", call, level_zero_result_name(result),
                                    (unsigned)result);
    case ZE_RESULT_ERROR_UNSUPPORTED_FEATURE:
    case ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE: /* there is no compiler */
        return level_zero_fail(INGOT_UNIMPLEMENTED, call, result);
    default: return level_zero_fail(INGOT_BACKEND_ERROR, call, result);
    }
}
