/*
 * program.c - holds a native program and the devices that it was made for.
 *
 * After a build for some devices, a driver lists binaries either for only those devices or for all devices of the
 * native context. To tell the two cases apart, native_binary.c needs the devices of the build. They are kept in the
 * order of the native context, in which drivers list them.
 */
#include "backends/opencl/program.h"

#include "backends/opencl/backend.h"

#include <string.h>

static size_t opencl_program_size(size_t device_count)
{
    return sizeof(struct opencl_program) + device_count * sizeof(cl_device_id);
}

static size_t position_of(const struct opencl_state *state, cl_device_id id)
{
    uint32_t at = 0;
    while (state->devices[at].id != id)
        ++at;
    return state->devices[at].context_position;
}

ingot_status_t opencl_program_create(const struct opencl_state *state, size_t device_count,
                                     const uint32_t *device_indices, struct opencl_program **out)
{
    struct opencl_program *program = ingot_allocate(&state->allocator, opencl_program_size(device_count));
    if (program == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a program of %zu devices", device_count);
    for (size_t i = 0; i < device_count; ++i) {
        /* insert it in the context's order */
        const struct opencl_device *device = &state->devices[device_indices[i]];
        size_t at = program->device_count;
        while (at > 0 && position_of(state, program->devices[at - 1]) > device->context_position) {
            program->devices[at] = program->devices[at - 1];
            --at;
        }
        program->devices[at] = device->id;
        ++program->device_count;
    }
    *out = program;
    return INGOT_SUCCESS;
}

void opencl_destroy_program(void *opaque, void *opaque_program)
{
    const struct opencl_state *state = opaque;
    struct opencl_program *program = opaque_program;
    if (program == NULL)
        return;
    if (program->native != NULL)
        (void)state->cl->clReleaseProgram(program->native);
    if (program->options != NULL)
        ingot_deallocate(&state->allocator, program->options, strlen(program->options) + 1);
    ingot_deallocate(&state->allocator, program, opencl_program_size(program->device_count));
}

ingot_status_t ingot_opencl_program_get_native(const_ingot_program_t handle, cl_program *native)
{
    const struct opencl_program *program = NULL;
    if (handle == NULL || native == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is NULL", handle == NULL ? "program" : "native");
    program = ingot_program_get_backend_program(handle, &opencl_ops);
    if (program == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "program does not belong to the OpenCL backend");
    *native = program->native;
    return INGOT_SUCCESS;
}
