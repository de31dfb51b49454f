/*
 * state.c - reads the driver's strings for the rest of the backend.
 *
 * Every string is read in two steps, first its size and then its content, and gets a NUL, whatever the driver wrote.
 */
#include "backends/opencl/state.h"

/* A query to the driver, without its last three arguments. */
struct query {
    const cl_icd_dispatch *cl;
    const char *call;
    cl_platform_id platform; /* NULL: the query is about the program, or if that is NULL, too, about the device */
    cl_program program;
    cl_device_id device; /* of a program, NULL unless the query is about its build for a device */
    cl_uint name;
};

static cl_int ask(const struct query *query, size_t capacity, void *value, size_t *size)
{
    const cl_icd_dispatch *cl = query->cl;
    if (query->platform != NULL)
        return cl->clGetPlatformInfo(query->platform, query->name, capacity, value, size);
    if (query->program == NULL)
        return cl->clGetDeviceInfo(query->device, query->name, capacity, value, size);
    if (query->device == NULL)
        return cl->clGetProgramInfo(query->program, query->name, capacity, value, size);
    return cl->clGetProgramBuildInfo(query->program, query->device, query->name, capacity, value, size);
}

static ingot_status_t query_text(const ingot_allocator_t *allocator, const struct query *query,
                                 struct opencl_text *text)
{
    struct opencl_text read = {NULL, 0};
    size_t size = 0;
    cl_int error = ask(query, 0, NULL, &size);
    if (error != CL_SUCCESS)
        return opencl_fail(INGOT_BACKEND_ERROR, query->call, error);
    read.size = size + 1; /* with room for a NUL, because not every driver terminates an empty string */
    read.chars = ingot_allocate(allocator, read.size);
    if (read.chars == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu bytes of text", read.size);
    if (size > 0)
        error = ask(query, size, read.chars, NULL);
    if (error != CL_SUCCESS) {
        opencl_text_fini(allocator, &read);
        return opencl_fail(INGOT_BACKEND_ERROR, query->call, error);
    }
    *text = read;
    return INGOT_SUCCESS;
}

ingot_status_t opencl_platform_text(const cl_icd_dispatch *cl, const ingot_allocator_t *allocator,
                                    cl_platform_id platform, cl_platform_info name, struct opencl_text *text)
{
    const struct query query = {.cl = cl, .call = "clGetPlatformInfo", .platform = platform, .name = name};
    return query_text(allocator, &query, text);
}

ingot_status_t opencl_device_text(const struct opencl_state *state, cl_device_id device, cl_device_info name,
                                  struct opencl_text *text)
{
    const struct query query = {.cl = state->cl, .call = "clGetDeviceInfo", .device = device, .name = name};
    return query_text(&state->allocator, &query, text);
}

ingot_status_t opencl_build_log_text(const struct opencl_state *state, cl_program program, cl_device_id device,
                                     struct opencl_text *text)
{
    const struct query query = {.cl = state->cl,
                                .call = "clGetProgramBuildInfo",
                                .device = device,
                                .program = program,
                                .name = CL_PROGRAM_BUILD_LOG};
    return query_text(&state->allocator, &query, text);
}

ingot_status_t opencl_program_text(const struct opencl_state *state, cl_program program, cl_program_info name,
                                   struct opencl_text *text)
{
    const struct query query = {.cl = state->cl, .call = "clGetProgramInfo", .program = program, .name = name};
    return query_text(&state->allocator, &query, text);
}

void opencl_text_fini(const ingot_allocator_t *allocator, struct opencl_text *text)
{
    ingot_deallocate(allocator, text->chars, text->size);
    text->chars = NULL;
    text->size = 0;
}
