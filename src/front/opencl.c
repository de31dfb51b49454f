/*
 * opencl.c - replaces clCreateProgramWithSource and clBuildProgram.
 *
 * Whatever goes wrong with the cache, the driver's own calls make the program. If the compiler refuses it, the
 * application gets the program that was refused. If Ingot compiled it in parts, the driver's own calls build it once
 * more, so that its state and its build log are exactly the driver's.
 */
#include <stdlib.h>
#include <string.h>

#include "backends/opencl/state.h"
#include "core/context/context.h"
#include "front/loader/opencl.h"
#include "front/pending.h"

/* The arguments, and the program that is made for them. */
struct build {
    const cl_icd_dispatch *cl;
    cl_context context;
    cl_uint device_count; /* 0: all devices of the context */
    const cl_device_id *devices;
    const char *source;
    size_t source_size;
    const char *options;
    cl_program program; /* NULL: none */
    ingot_origin_t origin;
};

/* Sub-devices may end, and another one may get the same handle. */
static bool has_sub_device(const void *opaque)
{
    const struct opencl_state *state = opaque;
    bool has = false;
    for (uint32_t i = 0; i < state->device_count && !has; ++i) {
        cl_device_id parent = NULL;
        has = state->cl->clGetDeviceInfo(state->devices[i].id, CL_DEVICE_PARENT_DEVICE, sizeof(parent), &parent,
                                         NULL) != CL_SUCCESS ||
              parent != NULL;
    }
    return has;
}

static ingot_status_t open_build(const void *self, struct ingot_cache *cache, struct request *request,
                                 struct ingot_context **context)
{
    const struct build *build = self;
    *request = (struct request){
        .kind = INGOT_SOURCE_OPENCL_C, .bytes = build->source, .size = build->source_size, .options = build->options};
    const ingot_allocator_t allocator = {NULL, NULL, NULL};
    struct opencl_state *state = NULL;
    const ingot_status_t status =
        opencl_state_create(&state, build->cl, &allocator, build->context, build->device_count, build->devices);
    if (status != INGOT_SUCCESS)
        return status;
    const struct request_state of = {.ops = &opencl_ops,
                                     .state = state,
                                     .device_count = state->device_count,
                                     .key_size = state->device_count * sizeof(*state->devices),
                                     .key = state->devices,
                                     .learn = opencl_state_learn,
                                     .copy_facts = opencl_state_copy_facts,
                                     .may_end = has_sub_device};
    return request_make_context(cache, &of, context);
}

static ingot_status_t get_program_from_cache(struct ingot_cache *cache, struct build *build, enum program_miss miss)
{
    struct request wanted;
    struct made_program made = {NULL, NULL, INGOT_ORIGIN_BUILD};
    struct ingot_context *context = NULL;
    ingot_status_t status = open_build(build, cache, &wanted, &context);
    if (status == INGOT_SUCCESS)
        status = request_program(cache, &wanted, miss, context, &made);
    if (status == INGOT_SUCCESS) {
        const struct opencl_program *program = made.native;
        const cl_int error = build->cl->clRetainProgram(program->native);
        if (error != CL_SUCCESS)
            status = ingot_set_error(INGOT_BACKEND_ERROR, error, "clRetainProgram: error %d", (int)error);
        build->program = error == CL_SUCCESS ? program->native : NULL;
        build->origin = made.origin;
    }
    request_end(context, &made);
    return status;
}

static ingot_status_t fail_opencl_call(const char *call, cl_int error)
{
    return ingot_set_error(error == CL_OUT_OF_HOST_MEMORY ? INGOT_OUT_OF_MEMORY : INGOT_BACKEND_ERROR, error,
                           "%s: error %d", call, (int)error);
}

/* Sets the detail to the build log of the first device. */
static ingot_status_t fail_build(const struct build *build, cl_program program, cl_int error)
{
    const cl_icd_dispatch *cl = build->cl;
    cl_device_id *devices = NULL;
    size_t size = 0;
    char *log = NULL;
    if (cl->clGetProgramInfo(program, CL_PROGRAM_DEVICES, 0, NULL, &size) == CL_SUCCESS && size != 0)
        devices = malloc(size);
    if (devices != NULL && cl->clGetProgramInfo(program, CL_PROGRAM_DEVICES, size, devices, NULL) == CL_SUCCESS) {
        const cl_device_id first = build->devices != NULL ? build->devices[0] : devices[0];
        size = 0;
        if (cl->clGetProgramBuildInfo(program, first, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) == CL_SUCCESS)
            log = calloc(1, size + 1);
        if (log != NULL)
            (void)cl->clGetProgramBuildInfo(program, first, CL_PROGRAM_BUILD_LOG, size, log, NULL);
    }
    (void)ingot_set_error(INGOT_BUILD_FAILED, error, "clBuildProgram: error %d\n%s", (int)error,
                          log != NULL ? log : "");
    free(log);
    free(devices);
    return INGOT_BUILD_FAILED;
}

static ingot_status_t build_natively(struct build *build)
{
    cl_int error = CL_SUCCESS;
    cl_program made = build->cl->clCreateProgramWithSource(build->context, 1, (const char *[]){build->source},
                                                           &build->source_size, &error);
    if (made == NULL)
        return fail_opencl_call("clCreateProgramWithSource", error);
    error = build->cl->clBuildProgram(made, build->device_count, build->devices, build->options, NULL, NULL);
    if (error != CL_SUCCESS &&
        !(error == CL_BUILD_PROGRAM_FAILURE || error == CL_INVALID_BUILD_OPTIONS || error == CL_OUT_OF_RESOURCES)) {
        (void)build->cl->clReleaseProgram(made);
        return fail_opencl_call("clBuildProgram", error);
    }
    build->program = made;
    return error == CL_SUCCESS ? INGOT_SUCCESS : fail_build(build, made, error);
}

static ingot_status_t get_program(void *self, struct ingot_cache *cache, enum program_miss miss)
{
    struct build *build = self;
    ingot_status_t status = INGOT_NOT_FOUND;
    if (cache_storage(cache) != NULL) {
        cl_program refused = NULL;
        cl_program *const before = loader_opencl_keep_refused(&refused);
        status = get_program_from_cache(cache, build, miss);
        (void)loader_opencl_keep_refused(before);
        if (status == INGOT_BUILD_FAILED && refused != NULL) {
            build->program = refused; /* the detail holds the log */
            return status;
        }
        if (refused != NULL)
            (void)build->cl->clReleaseProgram(refused);
        if (status == INGOT_SUCCESS || (status == INGOT_BUSY && miss != PROGRAM_WAIT))
            return status;
    }
    const ingot_status_t may_build = status != INGOT_BUILD_FAILED ? request_pass_through(cache, status) : INGOT_SUCCESS;
    build->origin = INGOT_ORIGIN_BUILD;
    return may_build == INGOT_SUCCESS ? build_natively(build) : may_build;
}

/* Hands the program over to the application. */
static void give_program(void *self, ingot_status_t status, void *out, ingot_origin_t *origin)
{
    struct build *build = self;
    if (status == INGOT_SUCCESS || status == INGOT_BUILD_FAILED)
        *(cl_program *)out = build->program;
    if (status == INGOT_SUCCESS && origin != NULL)
        *origin = build->origin;
    build->program = NULL;
}

/* Checks the arguments, and makes a build of them. */
static ingot_status_t take_arguments(struct build *build, cl_context context, cl_uint device_count,
                                     const cl_device_id *devices, const char *source, size_t source_size,
                                     const char *options, const void *out)
{
    if (context == NULL || source == NULL || out == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "context, source or the place for the result is NULL");
    if ((device_count == 0) != (devices == NULL))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "device_count is %u, and devices is%s NULL",
                                      (unsigned)device_count, devices == NULL ? "" : " not");
    *build = (struct build){.cl = loader_opencl(),
                            .context = context,
                            .device_count = device_count,
                            .devices = devices,
                            .source = source,
                            .source_size = source_size != 0 ? source_size : strlen(source),
                            .options = options};
    return build->cl != NULL ? INGOT_SUCCESS : INGOT_UNIMPLEMENTED;
}

ingot_status_t ingot_cache_opencl_build(ingot_cache_t cache, cl_context context, cl_uint device_count,
                                        const cl_device_id *devices, const char *source, size_t source_size,
                                        const char *options, cl_program *program, ingot_origin_t *origin)
{
    struct build build = {.cl = NULL};
    ingot_status_t status =
        take_arguments(&build, context, device_count, devices, source, source_size, options, program);
    if (status != INGOT_SUCCESS)
        return status;
    status = get_program(&build, cache, cache_miss(cache));
    give_program(&build, status, program, origin);
    return status;
}

/* ---- begun programs ---- */

static void forget_program(void *self)
{
    struct build *build = self;
    if (build->program != NULL)
        (void)build->cl->clReleaseProgram(build->program);
    build->program = NULL;
}

static void release_arguments(void *self)
{
    const struct build *build = self;
    for (cl_uint i = 0; i < build->device_count; ++i)
        (void)build->cl->clReleaseDevice(build->devices[i]);
    (void)build->cl->clReleaseContext(build->context);
}

static const struct pending_ops begun_ops = {open_build, get_program, give_program, forget_program, release_arguments};

ingot_status_t ingot_cache_opencl_begin(ingot_cache_t cache, cl_context context, cl_uint device_count,
                                        const cl_device_id *devices, const char *source, size_t source_size,
                                        const char *options, ingot_pending_t *pending)
{
    struct build build = {.cl = NULL};
    const ingot_status_t status =
        take_arguments(&build, context, device_count, devices, source, source_size, options, pending);
    if (status != INGOT_SUCCESS)
        return status;
    const struct pending_part parts[] = {{offsetof(struct build, devices), device_count * sizeof(*devices)},
                                         {offsetof(struct build, options), PENDING_TEXT},
                                         {offsetof(struct build, source), build.source_size}};
    void *own = pending_copy(sizeof(build), &build, 3, parts);
    for (cl_uint i = 0; i < device_count && own != NULL; ++i)
        (void)build.cl->clRetainDevice(devices[i]); /* does something for sub-devices only */
    if (own != NULL)
        (void)build.cl->clRetainContext(context);
    return pending_begin(pending, cache, &begun_ops, own);
}

ingot_status_t ingot_cache_opencl_take(ingot_pending_t pending, cl_program *program, ingot_origin_t *origin)
{
    return pending_take(pending, &begun_ops, program, origin);
}
