/*
 * opencl.c - replaces clCreateProgramWithSource and clBuildProgram.
 *
 * Whatever goes wrong with the cache, the driver's own calls make the program. If the compiler refuses it, the
 * application gets the program that was refused. If Ingot compiled it in parts, the driver's own calls build it once
 * more, so that its state and its build log are exactly the driver's.
 */
#include <ingot/backend.h>
#include <ingot/private/opencl.h>
#include <stdlib.h>
#include <string.h>

#include "front/loader/opencl.h"
#include "front/request.h"

struct build {
    const cl_icd_dispatch *cl;
    cl_context context;
    cl_uint device_count; /* 0: all devices of the context */
    const cl_device_id *devices;
    const char *source;
    size_t source_size;
    const char *options;
};

/* Gets the devices of the native context. The caller frees *devices. */
static ingot_status_t get_context_devices(const struct build *build, cl_uint *count, cl_device_id **devices)
{
    size_t size = 0;
    cl_device_id *found = NULL;
    if (build->cl->clGetContextInfo(build->context, CL_CONTEXT_DEVICES, 0, NULL, &size) != CL_SUCCESS || size == 0)
        return ingot_set_error_detail(INGOT_BACKEND_ERROR, "the devices of the OpenCL context are unknown");
    found = malloc(size);
    if (found == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu bytes of devices", size);
    if (build->cl->clGetContextInfo(build->context, CL_CONTEXT_DEVICES, size, found, NULL) != CL_SUCCESS) {
        free(found);
        return ingot_set_error_detail(INGOT_BACKEND_ERROR, "the devices of the OpenCL context are unknown");
    }
    *count = (cl_uint)(size / sizeof(*found));
    *devices = found;
    return INGOT_SUCCESS;
}

/* Sub-devices are not remembered, because another one may get the same handle after a release. */
static request_device_t request_device_of(const cl_icd_dispatch *cl, cl_device_id device)
{
    cl_device_id parent = NULL;
    const cl_int error = cl->clGetDeviceInfo(device, CL_DEVICE_PARENT_DEVICE, sizeof(parent), &parent, NULL);
    return error == CL_SUCCESS && parent == NULL ? (request_device_t)device : 0;
}

static ingot_status_t retain_native_program(const struct build *build, ingot_program_t program, cl_program *native)
{
    const ingot_status_t status = ingot_opencl_program_get_native(program, native);
    if (status != INGOT_SUCCESS)
        return status;
    const cl_int error = build->cl->clRetainProgram(*native);
    return error == CL_SUCCESS ? INGOT_SUCCESS
                               : ingot_set_error(INGOT_BACKEND_ERROR, error, "clRetainProgram: error %d", (int)error);
}

static ingot_status_t request_native_program(struct ingot_cache *cache, const struct build *build, cl_uint count,
                                             const cl_device_id *devices, cl_program *native, ingot_origin_t *origin)
{
    const struct request wanted = {.cache = cache,
                                   .kind = INGOT_SOURCE_OPENCL_C,
                                   .bytes = build->source,
                                   .size = build->source_size,
                                   .options = build->options};
    const ingot_context_info_t info = request_context_info(cache);
    ingot_context_t context = NULL;
    ingot_program_t program = NULL;
    request_device_t *known = calloc(count, sizeof(*known));
    if (known == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %u devices", (unsigned)count);
    for (cl_uint i = 0; i < count; ++i)
        known[i] = request_device_of(build->cl, devices[i]);
    ingot_status_t status =
        ingot_opencl_context_create_with(&context, build->cl, build->context, count, devices, &info);
    if (status == INGOT_SUCCESS)
        status = request_program(&wanted, context, known, &program, origin);
    if (status == INGOT_SUCCESS)
        status = retain_native_program(build, program, native);
    ingot_program_release(program);
    ingot_context_release(context);
    free(known);
    return status;
}

static ingot_status_t get_program_from_cache(struct ingot_cache *cache, const struct build *build, cl_program *native,
                                             ingot_origin_t *origin)
{
    cl_device_id *all = NULL;
    cl_uint count = build->device_count;
    ingot_status_t status = count == 0 ? get_context_devices(build, &count, &all) : INGOT_SUCCESS;
    if (status == INGOT_SUCCESS)
        status = request_native_program(cache, build, count, all != NULL ? all : build->devices, native, origin);
    free(all);
    return status;
}

/* True if the compiler refused the program or its options, so that the program has a build log. */
static bool is_refusal(cl_int error)
{
    return error == CL_BUILD_PROGRAM_FAILURE || error == CL_INVALID_BUILD_OPTIONS || error == CL_OUT_OF_RESOURCES;
}

static ingot_status_t fail_opencl_call(const char *call, cl_int error)
{
    return ingot_set_error(error == CL_OUT_OF_HOST_MEMORY ? INGOT_OUT_OF_MEMORY : INGOT_BACKEND_ERROR, error,
                           "%s: error %d", call, (int)error);
}

/* Sets the detail to the build log of the first device. */
static ingot_status_t fail_build(const struct build *build, cl_program program, cl_int error)
{
    cl_device_id *devices = NULL;
    cl_uint count = 0;
    size_t size = 0;
    char *log = NULL;
    const cl_device_id *first = build->devices;
    if (first == NULL && get_context_devices(build, &count, &devices) == INGOT_SUCCESS)
        first = devices;
    if (first != NULL &&
        build->cl->clGetProgramBuildInfo(program, *first, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) == CL_SUCCESS)
        log = calloc(1, size + 1);
    if (log != NULL)
        (void)build->cl->clGetProgramBuildInfo(program, *first, CL_PROGRAM_BUILD_LOG, size, log, NULL);
    (void)ingot_set_error(INGOT_BUILD_FAILED, error, "clBuildProgram: error %d\n%s", (int)error,
                          log != NULL ? log : "");
    free(log);
    free(devices);
    return INGOT_BUILD_FAILED;
}

static ingot_status_t build_natively(const struct build *build, cl_program *program)
{
    cl_int error = CL_SUCCESS;
    cl_program made = build->cl->clCreateProgramWithSource(build->context, 1, (const char *[]){build->source},
                                                           &build->source_size, &error);
    if (made == NULL)
        return fail_opencl_call("clCreateProgramWithSource", error);
    error = build->cl->clBuildProgram(made, build->device_count, build->devices, build->options, NULL, NULL);
    if (error != CL_SUCCESS && !is_refusal(error)) {
        (void)build->cl->clReleaseProgram(made);
        return fail_opencl_call("clBuildProgram", error);
    }
    *program = made;
    return error == CL_SUCCESS ? INGOT_SUCCESS : fail_build(build, made, error);
}

static ingot_status_t get_or_build(struct ingot_cache *cache, const struct build *build, cl_program *program,
                                   ingot_origin_t *origin)
{
    ingot_status_t status = INGOT_NOT_FOUND;
    if (cache_storage(cache) != NULL) {
        cl_program refused = NULL;
        cl_program *const before = loader_opencl_keep_refused(&refused);
        status = get_program_from_cache(cache, build, program, origin);
        (void)loader_opencl_keep_refused(before);
        if (status == INGOT_BUILD_FAILED && refused != NULL) {
            *program = refused; /* the detail holds the log */
            return status;
        }
        if (refused != NULL)
            (void)build->cl->clReleaseProgram(refused);
        if (status == INGOT_SUCCESS)
            return status;
    }
    const ingot_status_t may_build = status != INGOT_BUILD_FAILED ? request_pass_through(cache, status) : INGOT_SUCCESS;
    if (may_build != INGOT_SUCCESS)
        return may_build;
    *origin = INGOT_ORIGIN_BUILD;
    return build_natively(build, program);
}

ingot_status_t ingot_cache_opencl_build(ingot_cache_t cache, cl_context context, cl_uint device_count,
                                        const cl_device_id *devices, const char *source, size_t source_size,
                                        const char *options, cl_program *program, ingot_origin_t *origin)
{
    ingot_origin_t found = INGOT_ORIGIN_BUILD;
    cl_program made = NULL;
    if (context == NULL || source == NULL || program == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is NULL",
                                      context == NULL  ? "context"
                                      : source == NULL ? "source"
                                                       : "program");
    if ((device_count == 0) != (devices == NULL))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "device_count is %u, and devices is%s NULL",
                                      (unsigned)device_count, devices == NULL ? "" : " not");
    struct build build = {.context = context,
                          .device_count = device_count,
                          .devices = devices,
                          .source = source,
                          .source_size = source_size != 0 ? source_size : strlen(source),
                          .options = options};
    build.cl = loader_opencl();
    if (build.cl == NULL)
        return INGOT_UNIMPLEMENTED;
    const ingot_status_t status = get_or_build(cache, &build, &made, &found);
    if (status == INGOT_SUCCESS || status == INGOT_BUILD_FAILED)
        *program = made;
    if (status == INGOT_SUCCESS && origin != NULL)
        *origin = found;
    return status;
}
