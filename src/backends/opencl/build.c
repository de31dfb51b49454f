/*
 * build.c - compiles and links a program.
 *
 * If there is only one source, without headers or link options, it is built in one step, which every driver handles
 * best. Otherwise, each source is compiled separately, and then all of them are linked. Every path releases the native
 * objects that it creates.
 */
#include "backends/opencl/state.h"

#include <CL/cl_ext.h>
#include <string.h>

/* The native programs of a request: one for each source, then one for each header. */
struct inputs {
    size_t source_count;
    size_t count;
    cl_program *programs;
    const char **names; /* names of the headers, at the same positions as their programs */
};

/* What a compiler refuses once, it always refuses. After a build, CL_OUT_OF_RESOURCES is a refusal, too. After other
 * calls, it means that the driver ran out of memory (errors.c). */
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

ingot_status_t opencl_conclude(const struct opencl_state *state, const char *call, cl_int error, cl_program native,
                               size_t device_count, const cl_device_id *devices, ingot_sink_t *log)
{
    ingot_status_t status = INGOT_SUCCESS;
    for (size_t i = 0; i < device_count && native != NULL && status == INGOT_SUCCESS; ++i) {
        struct opencl_text text = {NULL, 0};
        status = opencl_build_log_text(state, native, devices[i], &text);
        if (status == INGOT_SUCCESS)
            status = ingot_sink_write_log(log, text.chars);
        opencl_text_fini(&state->allocator, &text);
    }
    if (error == CL_SUCCESS)
        return status;
    if (compiler_refused(error))
        return ingot_refuse_program(
            log, error, "%s: %s (%d)%s", call, opencl_error_name(error), (int)error,
            error == CL_OUT_OF_RESOURCES
                ? ": the program needs more of a resource, e.g. local memory, than the device has"
                : "");
    if (error == CL_COMPILER_NOT_AVAILABLE || error == CL_LINKER_NOT_AVAILABLE)
        return opencl_fail(INGOT_UNIMPLEMENTED, call, error);
    return opencl_fail(INGOT_BACKEND_ERROR, call, error);
}

static ingot_status_t set_one(const struct opencl_state *state, const ingot_build_request_t *request,
                              const cl_program *programs, const ingot_spec_constant_t *constant)
{
    for (size_t i = 0; i < request->source_count; ++i) {
        if (!ingot_spirv_has_spec_constant(&request->sources[i], constant->id))
            continue;
        const cl_int error =
            state->cl->clSetProgramSpecializationConstant(programs[i], constant->id, constant->size, constant->value);
        if (error != CL_SUCCESS)
            return opencl_fail(error == CL_INVALID_OPERATION ? INGOT_UNIMPLEMENTED : INGOT_BACKEND_ERROR,
                               "clSetProgramSpecializationConstant", error);
    }
    return INGOT_SUCCESS;
}

/* Sets the specialization constants of a request in the native programs that have them. ingot_spirv_check_request must
 * have accepted the request. */
static ingot_status_t set_spec_constants(const struct opencl_state *state, const ingot_build_request_t *request,
                                         const cl_program *programs)
{
    ingot_status_t status = INGOT_SUCCESS;
    if (request->spec_constant_count > 0 &&
        (state->version < OPENCL_VERSION_2_2 || state->cl->clSetProgramSpecializationConstant == NULL))
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "specialization constants need OpenCL 2.2");
    for (size_t i = 0; i < request->spec_constant_count && status == INGOT_SUCCESS; ++i)
        status = set_one(state, request, programs, &request->spec_constants[i]);
    return status;
}

static cl_program create_with_il(const struct opencl_state *state, const ingot_source_view_t *source, cl_int *error)
{
    clCreateProgramWithILKHR_fn create = NULL;
    if (state->version >= OPENCL_VERSION_2_1 && state->cl->clCreateProgramWithIL != NULL)
        return state->cl->clCreateProgramWithIL(state->context, source->bytes, source->size, error);
    *(void **)&create =
        state->cl->clGetExtensionFunctionAddressForPlatform(state->platform, "clCreateProgramWithILKHR");
    *error = CL_INVALID_OPERATION;
    return create == NULL ? NULL : create(state->context, source->bytes, source->size, error);
}

static ingot_status_t create_native(const struct opencl_state *state, const ingot_source_view_t *source,
                                    ingot_sink_t *log, cl_program *native)
{
    cl_int error = CL_SUCCESS;
    const char *text = source->bytes;
    if (source->kind == INGOT_SOURCE_SPIRV) {
        *native = create_with_il(state, source, &error);
        if (*native == NULL && error == CL_INVALID_VALUE)
            return opencl_conclude(state, "clCreateProgramWithIL", CL_BUILD_PROGRAM_FAILURE, NULL, 0, NULL, log);
        return *native != NULL ? INGOT_SUCCESS : opencl_fail(INGOT_BACKEND_ERROR, "clCreateProgramWithIL", error);
    }
    *native = state->cl->clCreateProgramWithSource(state->context, 1, &text, &source->size, &error);
    return *native != NULL ? INGOT_SUCCESS : opencl_fail(INGOT_BACKEND_ERROR, "clCreateProgramWithSource", error);
}

static void inputs_fini(const struct opencl_state *state, struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->count && inputs->programs != NULL; ++i) {
        if (inputs->programs[i] != NULL)
            (void)state->cl->clReleaseProgram(inputs->programs[i]);
    }
    ingot_deallocate(&state->allocator, inputs->programs, inputs->count * sizeof(*inputs->programs));
    ingot_deallocate(&state->allocator, (void *)inputs->names, inputs->count * sizeof(*inputs->names));
}

/* Fills `inputs`. The caller must call inputs_fini, even after a failure. */
static ingot_status_t inputs_init(const struct opencl_state *state, const ingot_build_request_t *request,
                                  ingot_sink_t *log, struct inputs *inputs)
{
    ingot_status_t status = INGOT_SUCCESS;
    inputs->source_count = request->source_count;
    inputs->count = request->source_count + request->header_count;
    inputs->programs = ingot_allocate(&state->allocator, inputs->count * sizeof(*inputs->programs));
    inputs->names = ingot_allocate(&state->allocator, inputs->count * sizeof(*inputs->names));
    if (inputs->programs == NULL || inputs->names == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu sources", inputs->count);
    for (size_t i = 0; i < request->source_count && status == INGOT_SUCCESS; ++i)
        status = create_native(state, &request->sources[i], log, &inputs->programs[i]);
    for (size_t i = 0; i < request->header_count && status == INGOT_SUCCESS; ++i) {
        inputs->names[request->source_count + i] = request->headers[i].name;
        status = create_native(state, &request->headers[i], log, &inputs->programs[request->source_count + i]);
    }
    return status;
}

static ingot_status_t compile_and_link(const struct opencl_state *state, const ingot_build_request_t *request,
                                       const struct inputs *inputs, struct opencl_program *program, ingot_sink_t *log)
{
    cl_int error = CL_SUCCESS;
    ingot_status_t status = INGOT_SUCCESS;
    const size_t headers = inputs->source_count; /* where they begin */
    for (size_t i = 0; i < inputs->source_count && status == INGOT_SUCCESS; ++i) {
        const bool takes_headers = request->sources[i].kind == INGOT_SOURCE_OPENCL_C && request->header_count > 0;
        error = state->cl->clCompileProgram(
            inputs->programs[i], (cl_uint)program->device_count, program->devices, request->compile_options,
            takes_headers ? (cl_uint)request->header_count : 0, takes_headers ? inputs->programs + headers : NULL,
            takes_headers ? inputs->names + headers : NULL, NULL, NULL);
        status = opencl_conclude(state, "clCompileProgram", error, inputs->programs[i], program->device_count,
                                 program->devices, log);
    }
    if (status != INGOT_SUCCESS)
        return status;
    program->native = state->cl->clLinkProgram(state->context, (cl_uint)program->device_count, program->devices,
                                               request->link_options, (cl_uint)inputs->source_count, inputs->programs,
                                               NULL, NULL, &error);
    return opencl_conclude(state, "clLinkProgram", error, program->native, program->device_count, program->devices,
                           log);
}

static ingot_status_t build_in_one(const struct opencl_state *state, const ingot_build_request_t *request,
                                   struct inputs *inputs, struct opencl_program *program, ingot_sink_t *log)
{
    program->native = inputs->programs[0];
    inputs->programs[0] = NULL; /* the program owns it now */
    if (state->generates_code_at_launch && request->sources[0].kind == INGOT_SOURCE_OPENCL_C) {
        /* If memory runs out, the program is stored once, without the code that its launches generate. */
        const size_t size = strlen(request->compile_options) + 1;
        char *copy = ingot_allocate(&state->allocator, size);
        program->options = copy != NULL ? memcpy(copy, request->compile_options, size) : NULL;
    }
    const cl_int error = state->cl->clBuildProgram(program->native, (cl_uint)program->device_count, program->devices,
                                                   request->compile_options, NULL, NULL);
    return opencl_conclude(state, "clBuildProgram", error, program->native, program->device_count, program->devices,
                           log);
}

/* Checks that the last option has its value, because PoCL 3.1 ends the process if the value is missing. */
static ingot_status_t check_last_option(const char *options, ingot_sink_t *log)
{
    static const char *const with_value[] = {"-I", "-D"};
    size_t length = strlen(options);
    while (length > 0 && (options[length - 1] == ' ' || options[length - 1] == '\t'))
        --length;
    for (size_t i = 0; i < sizeof(with_value) / sizeof(with_value[0]); ++i) {
        const bool is_last = length >= 2 && strncmp(options + length - 2, with_value[i], 2) == 0 &&
                             (length == 2 || options[length - 3] == ' ' || options[length - 3] == '\t');
        if (is_last)
            return ingot_refuse_program(log, 0, "the option %s comes last and has no value", with_value[i]);
    }
    return INGOT_SUCCESS;
}

ingot_status_t opencl_build(void *opaque, const ingot_build_request_t *request, size_t device_count,
                            const uint32_t *device_indices, ingot_sink_t *log, void **out)
{
    const struct opencl_state *state = opaque;
    const bool in_one = request->source_count == 1 && *request->link_options == '\0' && request->header_count == 0;
    struct inputs inputs = {0, 0, NULL, NULL};
    struct opencl_program *program = NULL;
    ingot_status_t status = ingot_spirv_check_request(request, log);
    if (status == INGOT_SUCCESS)
        status = check_last_option(request->compile_options, log);
    if (status == INGOT_SUCCESS)
        status = opencl_program_create(state, device_count, device_indices, &program);
    if (status == INGOT_SUCCESS)
        status = inputs_init(state, request, log, &inputs);
    if (status == INGOT_SUCCESS)
        status = set_spec_constants(state, request, inputs.programs);
    if (status == INGOT_SUCCESS)
        status = in_one ? build_in_one(state, request, &inputs, program, log)
                        : compile_and_link(state, request, &inputs, program, log);
    if (status == INGOT_SUCCESS) {
        *out = program;
        program = NULL;
    }
    inputs_fini(state, &inputs);
    opencl_destroy_program(opaque, program);
    return status;
}
