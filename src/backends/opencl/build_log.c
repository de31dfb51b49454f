/*
 * build_log.c - copies the messages of the compiler, and converts the outcome of a build to a status.
 *
 * If the compiler refuses a program once, it always refuses it. No other failure is certain to repeat itself, so a
 * refusal has its own status, INGOT_BUILD_FAILED. Drivers report a refusal with different codes. After a build,
 * CL_OUT_OF_RESOURCES is one of these codes, because a compiler returns it if the program does not fit the device. In
 * other calls, it means that the driver ran out of memory. If this file also converted it to INGOT_OUT_OF_MEMORY, the
 * core would empty the in-memory cache in vain.
 */
#include "backends/opencl/backend.h"
#include "backends/opencl/errors.h"
#include "backends/opencl/state.h"

static ingot_status_t collect_log(const struct opencl_state *state, cl_program native, size_t device_count,
                                  const cl_device_id *devices, ingot_sink_t *log)
{
    ingot_status_t status = INGOT_SUCCESS;
    for (size_t i = 0; i < device_count && native != NULL && status == INGOT_SUCCESS; ++i) {
        struct opencl_text text = {NULL, 0};
        status = opencl_build_log_text(state, native, devices[i], &text);
        if (status == INGOT_SUCCESS)
            status = ingot_sink_write_log(log, text.chars);
        opencl_text_fini(&state->allocator, &text);
    }
    return status;
}

static bool compiler_refused(cl_int error)
{
    switch (error) {
    case CL_BUILD_PROGRAM_FAILURE:
    case CL_COMPILE_PROGRAM_FAILURE:
    case CL_LINK_PROGRAM_FAILURE:
    case CL_INVALID_BUILD_OPTIONS:
    case CL_INVALID_COMPILER_OPTIONS:
    case CL_INVALID_LINKER_OPTIONS:
    case CL_INVALID_BINARY:   /* Intel's linker: an unresolved symbol */
    case CL_OUT_OF_RESOURCES: /* Intel's compiler: the program needs more local memory than the device has */
        return true;
    default: return false;
    }
}

/* Explains an error that the driver's log does not mention. */
static const char *explanation_of(cl_int error)
{
    return error == CL_OUT_OF_RESOURCES
               ? ": the program needs more of a resource, e.g. local memory, than the device has"
               : "";
}

ingot_status_t opencl_conclude(const struct opencl_state *state, const char *call, cl_int error, cl_program native,
                               size_t device_count, const cl_device_id *devices, ingot_sink_t *log)
{
    const ingot_status_t status = collect_log(state, native, device_count, devices, log);
    if (error == CL_SUCCESS)
        return status;
    if (compiler_refused(error))
        return ingot_refuse_program(log, error, "%s: %s (%d)%s", call, opencl_error_name(error), (int)error,
                                    explanation_of(error));
    if (error == CL_COMPILER_NOT_AVAILABLE || error == CL_LINKER_NOT_AVAILABLE)
        return opencl_fail(INGOT_UNIMPLEMENTED, call, error);
    return opencl_fail(INGOT_BACKEND_ERROR, call, error);
}
