/*
 * compiler.c - counts and traces the builds that reach the driver's compiler; see program.h.
 */
#include "layers/opencl/program/program.h"

#include <pthread.h>
#include <stdlib.h>

#include "layers/common/common.h"
#include "util/nanoseconds.h"

static cl_icd_dispatch table;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* What this thread does. */
static _Thread_local struct {
    struct refusal *refusal; /* NULL: nobody needs it */
    cl_program loaded;       /* made from a binary, so that its build compiles nothing */
    bool has_built;          /* so another build finds the program in the cache of the driver (PoCL) */
} current;

char *compiler_read_log(cl_program native, cl_device_id device)
{
    size_t size = 0;
    if (layer_target.clGetProgramBuildInfo(native, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) != CL_SUCCESS)
        size = 0;
    char *text = calloc(1, size + 1);
    if (text != NULL && size > 0 &&
        layer_target.clGetProgramBuildInfo(native, device, CL_PROGRAM_BUILD_LOG, size, text, NULL) != CL_SUCCESS)
        *text = '\0';
    return text;
}

void compiler_refusal_fini(struct refusal *refusal)
{
    if (refusal->native != NULL)
        (void)layer_target.clReleaseProgram(refusal->native);
    *refusal = (struct refusal){CL_SUCCESS, NULL};
}

static void note_refused(struct refusal *refusal, cl_program native, cl_int error)
{
    if (layer_target.clRetainProgram(native) != CL_SUCCESS)
        return;
    compiler_refusal_fini(refusal);
    *refusal = (struct refusal){error, native};
}

/* Lets the compiler build a program, and counts that. */
static cl_int build_counted(cl_program native, cl_uint device_count, const cl_device_id *devices, const char *options,
                            program_callback_t notify, void *user, uint64_t *duration_ns)
{
    const uint64_t started_ns = nanoseconds_of(CLOCK_MONOTONIC);
    const cl_int error = layer_target.clBuildProgram(native, device_count, devices, options, notify, user);
    *duration_ns = nanoseconds_of(CLOCK_MONOTONIC) - started_ns;
    statistics_add(STATISTIC_BUILDS, 1);
    statistics_add(STATISTIC_BUILD_NS, *duration_ns);
    return error;
}

/* ---- Ingot's builds ---- */

static cl_program CL_API_CALL create_with_binary(cl_context context, cl_uint device_count, const cl_device_id *devices,
                                                 const size_t *sizes, const unsigned char **binaries, cl_int *statuses,
                                                 cl_int *error)
{
    current.loaded =
        layer_target.clCreateProgramWithBinary(context, device_count, devices, sizes, binaries, statuses, error);
    return current.loaded;
}

static cl_int CL_API_CALL build(cl_program native, cl_uint device_count, const cl_device_id *devices,
                                const char *options, program_callback_t notify, void *user)
{
    uint64_t duration_ns = 0;
    if (native == current.loaded || current.has_built) {
        current.loaded = NULL;
        return layer_target.clBuildProgram(native, device_count, devices, options, notify, user);
    }
    const cl_int error = build_counted(native, device_count, devices, options, notify, user, &duration_ns);
    current.has_built = error == CL_SUCCESS;
    if (error != CL_SUCCESS && current.refusal != NULL)
        note_refused(current.refusal, native, error);
    return error;
}

static void make_table(void)
{
    table = layer_target;
    table.clCreateProgramWithBinary = create_with_binary;
    table.clBuildProgram = build;
}

const cl_icd_dispatch *compiler_table(void)
{
    (void)pthread_once(&once, make_table);
    return &table;
}

void compiler_begin(struct refusal *refusal)
{
    current.refusal = refusal;
    current.loaded = NULL;
    current.has_built = false;
}

void compiler_end(void)
{
    current.refusal = NULL;
    current.has_built = false;
}

/* ---- the layer's own builds ---- */

cl_int compiler_build(cl_program native, const char *options)
{
    ingot_event_t event = INGOT_EVENT_INIT;
    const cl_int error = build_counted(native, 0, NULL, options, NULL, NULL, &event.duration_ns);
    event.kind = INGOT_EVENT_BUILD;
    event.status = error == CL_SUCCESS ? INGOT_SUCCESS : INGOT_BUILD_FAILED;
    event.reason = "built for a call that only the driver's own program can answer";
    layer_trace(&event, NULL);
    return error;
}
