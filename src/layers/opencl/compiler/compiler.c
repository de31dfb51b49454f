/*
 * compiler.c - counts and traces the builds that reach the driver's compiler; see compiler.h.
 */
#include "layers/opencl/compiler/compiler.h"

#include <ingot/backend.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "layers/common/settings.h"
#include "layers/common/statistics.h"
#include "layers/common/trace.h"
#include "layers/opencl/compiler/side_entry.h"
#include "util/little_endian.h"
#include "util/nanoseconds.h"

#define KIND "opencl-refusal"
#define ERROR_SIZE 4u
#define DAY_MS (UINT64_C(24) * 60 * 60 * 1000)

static cl_icd_dispatch table;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* What this thread does. */
static _Thread_local struct {
    struct refusal *refusal; /* NULL: nobody needs it */
    const_ingot_program_desc_t desc;
    cl_program loaded; /* made from a binary, so that its build compiles nothing */
} current;

/* ---- what the store remembers ---- */

static uint64_t now_ms(void)
{
    return nanoseconds_of(CLOCK_REALTIME) / NS_PER_MS;
}

/* Reads a refusal from its entry. Returns false if it is too old, or not one. */
static bool read_refusal(struct refusal *refusal, const ingot_buffer_t *value)
{
    ingot_artifact_info_t info = INGOT_ARTIFACT_INFO_INIT;
    const uint64_t now = now_ms();
    if (ingot_artifact_get_info(value, &info) != INGOT_SUCCESS || value->size < ERROR_SIZE ||
        info.made_at_unix_ms > now || now - info.made_at_unix_ms > DAY_MS)
        return false;
    refusal->error = (cl_int)le_get_u32(value->bytes);
    refusal->log = strndup((const char *)value->bytes + ERROR_SIZE, value->size - ERROR_SIZE);
    return refusal->error != CL_SUCCESS && refusal->log != NULL;
}

static bool lookup_refusal(struct refusal *refusal, const_ingot_program_desc_t desc)
{
    ingot_buffer_t value = INGOT_BUFFER_INIT;
    if (side_entry_load(settings_local_store(), KIND, desc, &value) != INGOT_SUCCESS)
        return false;
    const bool is_valid = read_refusal(refusal, &value);
    if (value.release != NULL)
        value.release(&value);
    if (!is_valid)
        side_entry_remove(settings_local_store(), KIND, desc);
    return is_valid;
}

static void store_refusal(const struct refusal *refusal, const_ingot_program_desc_t desc)
{
    ingot_artifact_info_t info = INGOT_ARTIFACT_INFO_INIT;
    const size_t log_size = strlen(refusal->log);
    const ingot_artifact_part_t parts[] = {{"error", ERROR_SIZE}, {"log", log_size}};
    uint8_t *bytes = malloc(ERROR_SIZE + log_size);
    if (bytes == NULL)
        return;
    le_put_u32(bytes, (uint32_t)refusal->error);
    memcpy(bytes + ERROR_SIZE, refusal->log, log_size);
    info.label = "refused by the compiler";
    info.part_count = sizeof(parts) / sizeof(parts[0]);
    info.parts = parts;
    side_entry_store(settings_local_store(), KIND, desc, &info, ERROR_SIZE + log_size, bytes);
    free(bytes);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* True if the log has a place in the source, such as ":2:14: ", or is about the source's assembly, for which Intel's
 * compiler names no place. Other refusals may come from a fault that passes, such as a full disk. */
static bool names_a_place(const char *log)
{
    if (strstr(log, "inline assembly failed") != NULL)
        return true;
    for (const char *at = strchr(log, ':'); at != NULL; at = strchr(at + 1, ':')) {
        const size_t line = strspn(at + 1, "0123456789");
        const char *second = at + 1 + line;
        if (line > 0 && *second == ':' && is_digit(second[1]))
            return true;
    }
    return false;
}

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

bool compiler_complete_refusal(struct refusal *refusal, const_ingot_program_desc_t desc, cl_device_id device,
                               bool may_be_kept)
{
    if (refusal->log != NULL)
        return true;
    if (refusal->native == NULL || refusal->error != CL_BUILD_PROGRAM_FAILURE)
        return false;
    refusal->log = compiler_read_log(refusal->native, device);
    if (refusal->log != NULL && may_be_kept && names_a_place(refusal->log))
        store_refusal(refusal, desc);
    return refusal->log != NULL;
}

void compiler_refusal_fini(struct refusal *refusal)
{
    if (refusal->native != NULL)
        (void)layer_target.clReleaseProgram(refusal->native);
    free(refusal->log);
    *refusal = (struct refusal){CL_SUCCESS, NULL, NULL};
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

static void note_refused(struct refusal *refusal, cl_program native, cl_int error)
{
    if (layer_target.clRetainProgram(native) != CL_SUCCESS)
        return;
    compiler_refusal_fini(refusal);
    refusal->native = native;
    refusal->error = error;
}

static cl_int CL_API_CALL build_unless_refused(cl_program native, cl_uint device_count, const cl_device_id *devices,
                                               const char *options, program_callback_t notify, void *user)
{
    struct refusal *refusal = current.refusal;
    if (native == current.loaded) {
        current.loaded = NULL;
        return layer_target.clBuildProgram(native, device_count, devices, options, notify, user);
    }
    if (refusal != NULL && refusal->log != NULL)
        return refusal->error; /* of the text without includes; Ingot then tries the program's own */
    if (refusal != NULL && refusal->native == NULL && lookup_refusal(refusal, current.desc)) {
        statistics_add(STATISTIC_HITS, 1);
        return refusal->error;
    }
    const uint64_t started_ns = statistics_clock_ns();
    const cl_int error = layer_target.clBuildProgram(native, device_count, devices, options, notify, user);
    statistics_add(STATISTIC_BUILDS, 1);
    statistics_add(STATISTIC_BUILD_NS, statistics_clock_ns() - started_ns);
    if (error != CL_SUCCESS && refusal != NULL)
        note_refused(refusal, native, error);
    return error;
}

static void make_table(void)
{
    table = layer_target;
    table.clCreateProgramWithBinary = create_with_binary;
    table.clBuildProgram = build_unless_refused;
}

const cl_icd_dispatch *compiler_table(void)
{
    (void)pthread_once(&once, make_table);
    return &table;
}

void compiler_begin(struct refusal *refusal, const_ingot_program_desc_t desc)
{
    current.refusal = refusal;
    current.desc = desc;
    current.loaded = NULL;
}

void compiler_end(void)
{
    current.refusal = NULL;
}

/* ---- the layer's own builds ---- */

cl_int compiler_build(cl_program native, const char *options, const char *purpose)
{
    ingot_event_t event = INGOT_EVENT_INIT;
    const uint64_t started_ns = statistics_clock_ns();
    const cl_int error = layer_target.clBuildProgram(native, 0, NULL, options, NULL, NULL);
    event.kind = INGOT_EVENT_BUILD;
    event.status = error == CL_SUCCESS ? INGOT_SUCCESS : INGOT_BUILD_FAILED;
    event.duration_ns = statistics_clock_ns() - started_ns;
    event.reason = purpose;
    statistics_add(STATISTIC_BUILDS, 1);
    statistics_add(STATISTIC_BUILD_NS, event.duration_ns);
    layer_trace(&event, NULL);
    return error;
}
