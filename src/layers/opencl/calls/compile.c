/*
 * compile.c - implements clCompileProgram.
 *
 * If Ingot can answer a compilation, the shadow (program/shadow.h) gets an object (objects/object.h). Everything else
 * goes to the driver unchanged, as in build.c. This includes a second compilation of a program, and a compilation with
 * a callback, because the callback may link the program immediately.
 */
#include "layers/opencl/calls/compile.h"

#include <stdlib.h>

#include "layers/common/statistics.h"
#include "layers/opencl/calls/arguments.h"
#include "layers/opencl/calls/native_call.h"
#include "layers/opencl/program/describe.h"
#include "layers/opencl/program/repeats.h"
#include "layers/opencl/program/trace.h"

/* The arguments of the call. */
struct compilation {
    cl_uint device_count;
    const cl_device_id *devices;
    const char *options;
    cl_uint header_count;
    const cl_program *headers;
    const char **header_names;
    program_callback_t notify;
    void *user;
};

static enum arguments judge(struct shadow *shadow, const struct compilation *asked)
{
    return arguments_judge(shadow, asked->device_count, asked->devices, asked->notify, asked->user);
}

static bool are_wrong(struct shadow *shadow, const struct compilation *asked)
{
    return judge(shadow, asked) == ARGUMENTS_WRONG || (asked->header_count == 0) != (asked->headers == NULL) ||
           (asked->header_count == 0) != (asked->header_names == NULL);
}

static const char *why_not(struct shadow *shadow, const struct compilation *asked)
{
    if (are_wrong(shadow, asked))
        return "wrong arguments";
    if (judge(shadow, asked) != ARGUMENTS_ALL_DEVICES)
        return "a compilation for some of the devices";
    if (asked->notify != NULL)
        return "a compilation with a callback";
    if (shadow->is_drivers || shadow_has_result(shadow))
        return "a compilation after a build";
    if (shadow->kind != INGOT_SOURCE_OPENCL_C)
        return "a compilation of intermediate language";
    return shadow_count_uses(shadow) > 0 ? "a program that is in use" : NULL;
}

/* Copies the headers. Fails if a header is not a program with a text; the driver then gets the call and judges it. */
static ingot_status_t copy_headers(const struct compilation *asked, struct object_headers *headers)
{
    ingot_status_t status = INGOT_SUCCESS;
    headers->texts = calloc((size_t)asked->header_count + 1, sizeof(*headers->texts));
    if (headers->texts == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %u headers", (unsigned)asked->header_count);
    for (cl_uint i = 0; i < asked->header_count && status == INGOT_SUCCESS; ++i) {
        const struct shadow *header = shadow_find(asked->headers[i]);
        if (header == NULL || header->kind != INGOT_SOURCE_OPENCL_C || asked->header_names[i] == NULL)
            return ingot_set_error_detail(INGOT_NOT_CACHEABLE, "a header that has no text or no name");
        status = describe_header(header, asked->header_names[i], &headers->texts[i]);
        headers->count += status == INGOT_SUCCESS;
    }
    return status;
}

ingot_status_t compile_find_context(struct shadow *shadow)
{
    if (shadow->context == NULL)
        shadow->context = contexts_acquire(shadow->native);
    return shadow->context != NULL && shadow->context->objects != NULL
               ? INGOT_SUCCESS
               : ingot_set_error_detail(INGOT_NOT_CACHEABLE, "compilations are cached only for contexts with one "
                                                             "device and without options from the environment");
}

ingot_status_t compile_object(const struct shadow *shadow, ingot_program_desc_t desc, const char *options,
                              struct object_headers *headers, struct object **object)
{
    ingot_program_t program = NULL;
    bool is_shared = false; /* threads may share an object */
    const uint64_t started_ns = statistics_clock_ns();
    ingot_status_t status = repeats_create_program(&program, desc, &is_shared);
    if (status == INGOT_SUCCESS)
        status = object_create(object, desc, shadow->context->native, options, headers, program);
    if (status == INGOT_SUCCESS)
        statistics_add_program(program, statistics_clock_ns() - started_ns);
    ingot_program_release(program);
    return status;
}

static ingot_status_t make_object(struct shadow *shadow, const struct compilation *asked,
                                  struct object_headers *headers, struct object **object)
{
    ingot_program_desc_t desc = NULL;
    ingot_status_t status = copy_headers(asked, headers);
    if (status == INGOT_SUCCESS)
        status = describe_compilation(shadow, asked->options, headers, &desc);
    if (status == INGOT_SUCCESS)
        status = compile_object(shadow, desc, asked->options, headers, object);
    ingot_program_desc_release(desc);
    return status;
}

/* Compiles through Ingot. Returns false if the driver must compile. */
static bool compile_cached(struct shadow *shadow, const struct compilation *asked)
{
    struct object_headers headers = {0, NULL};
    struct object *object = NULL;
    shadow_begin_work(shadow, true);
    ingot_status_t status = compile_find_context(shadow);
    if (status == INGOT_SUCCESS)
        status = make_object(shadow, asked, &headers, &object);
    if (status == INGOT_SUCCESS)
        shadow_set_object(shadow, object);
    else
        trace_passed(shadow->native, status, ingot_last_error_detail());
    object_headers_fini(&headers);
    shadow_end_work(shadow);
    return status == INGOT_SUCCESS;
}

/* Returns an array of the driver's programs for these headers, or NULL if memory runs out. The caller frees it. */
static cl_program *map_headers(cl_uint count, const cl_program *headers)
{
    cl_program *mapped = malloc(count * sizeof(*mapped));
    for (cl_uint i = 0; i < count && mapped != NULL; ++i)
        mapped[i] = shadow_find_native(headers[i]);
    return mapped;
}

/* Compiles a program of the driver with the arguments of the call. */
static cl_int compile_with(cl_program native, const struct compilation *asked, program_callback_t notify, void *user)
{
    const bool has_headers = asked->header_count > 0 && asked->headers != NULL;
    cl_program *mapped = has_headers ? map_headers(asked->header_count, asked->headers) : NULL;
    if (has_headers && mapped == NULL)
        return CL_OUT_OF_HOST_MEMORY;
    const cl_int error =
        layer_target.clCompileProgram(native, asked->device_count, asked->devices, asked->options, asked->header_count,
                                      has_headers ? mapped : asked->headers, asked->header_names, notify, user);
    free(mapped);
    return error;
}

/* Lets the driver refuse a compilation; see refuse_build in build.c. */
static bool refuse_compilation(struct shadow *shadow, const struct compilation *asked, cl_int *error)
{
    struct callback_pair callback;
    const cl_program program = (cl_program)(void *)shadow;
    struct shadow_use use = shadow_begin_use(program);
    bool is_refused = true;
    *error = CL_OUT_OF_HOST_MEMORY;
    if (callback_pair_init(&callback, program, asked->notify, asked->user)) {
        *error = compile_with(use.native, asked, callback.notify, callback.user);
        is_refused = native_call_is_refused(shadow, callback.callback, *error);
    }
    shadow_end_use(&use);
    return is_refused;
}

static cl_int compile_native(struct shadow *shadow, const struct compilation *asked)
{
    struct native_call call;
    if (!native_call_begin(&call, shadow, asked->notify, asked->user))
        return CL_OUT_OF_HOST_MEMORY;
    return native_call_end(&call, compile_with(shadow->native, asked, call.callback.notify, call.callback.user));
}

cl_int CL_API_CALL layer_compile(cl_program program, cl_uint device_count, const cl_device_id *devices,
                                 const char *options, cl_uint header_count, const cl_program *headers,
                                 const char **header_names, program_callback_t notify, void *user)
{
    struct compilation asked = {device_count, devices, options, header_count, headers, header_names, notify, user};
    struct shadow *shadow = shadow_find(program);
    if (shadow == NULL)
        return compile_with(program, &asked, notify, user);
    cl_int error = CL_SUCCESS;
    if (native_call_is_for_result(shadow, are_wrong(shadow, &asked))) {
        if (refuse_compilation(shadow, &asked, &error))
            return error;
        asked.notify = NULL; /* the driver has the callback from the first attempt, and calls it */
        asked.user = NULL;
    }
    if (!native_call_continue(shadow))
        return CL_OUT_OF_HOST_MEMORY;
    const char *reason = why_not(shadow, &asked);
    if (reason == NULL && compile_cached(shadow, &asked))
        return CL_SUCCESS;
    if (reason != NULL)
        trace_passed(shadow->native, INGOT_UNIMPLEMENTED, reason);
    if (!are_wrong(shadow, &asked))
        (void)shadow_build_native(shadow); /* the program keeps this build if the driver refuses to compile */
    return compile_native(shadow, &asked);
}
