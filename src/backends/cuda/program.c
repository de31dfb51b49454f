/*
 * program.c - holds a program's native modules, their devices, and the images that they were loaded from.
 */
#include "backends/cuda/program.h"

#include "backends/cuda/backend.h"
#include "backends/cuda/errors.h"

#define ROOM_ALIGNMENT 16u

static size_t room_offset(size_t part_count)
{
    const size_t size = sizeof(struct cuda_program) + part_count * sizeof(struct cuda_part);
    return (size + ROOM_ALIGNMENT - 1) / ROOM_ALIGNMENT * ROOM_ALIGNMENT;
}

ingot_status_t cuda_program_create(const struct cuda_state *state, size_t device_count, const uint32_t *device_indices,
                                   size_t room, struct cuda_program **out)
{
    const size_t offset = room_offset(device_count);
    struct cuda_program *program = ingot_allocate(&state->allocator, offset + room);
    if (program == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a program of %zu devices", device_count);
    program->block_size = offset + room;
    program->part_count = device_count;
    for (size_t i = 0; i < device_count; ++i)
        program->parts[i].device_index = device_indices[i];
    *out = program;
    return INGOT_SUCCESS;
}

uint8_t *cuda_program_room(struct cuda_program *program)
{
    return (uint8_t *)program + room_offset(program->part_count);
}

const struct cuda_part *cuda_program_part(const struct cuda_program *program, uint32_t device_index)
{
    for (size_t i = 0; i < program->part_count; ++i) {
        if (program->parts[i].device_index == device_index)
            return &program->parts[i];
    }
    (void)ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the program was not made for device %u",
                                 (unsigned)device_index);
    return NULL;
}

ingot_status_t cuda_part_load(const struct cuda_state *state, struct cuda_part *part, ingot_status_t refused)
{
    bool pushed = false;
    const ingot_status_t status = cuda_enter(&state->driver, state->devices[part->device_index].context, &pushed);
    if (status != INGOT_SUCCESS)
        return status;
    const CUresult result = state->driver.load_module(&part->module, part->image.cubin);
    cuda_leave(&state->driver, pushed);
    if (result == CUDA_SUCCESS)
        return INGOT_SUCCESS;
    part->module = NULL;
    return cuda_fail(&state->driver, cuda_refused_image(result) ? refused : INGOT_BACKEND_ERROR, "cuModuleLoadData",
                     result);
}

static void destroy_cuda_part(const struct cuda_state *state, struct cuda_part *part)
{
    bool pushed = false;
    if (part->module != NULL &&
        cuda_enter(&state->driver, state->devices[part->device_index].context, &pushed) == INGOT_SUCCESS) {
        (void)state->driver.unload_module(part->module);
        cuda_leave(&state->driver, pushed);
    }
    cuda_bytes_fini(&part->built, &state->allocator);
}

void cuda_destroy_program(void *opaque, void *opaque_program)
{
    const struct cuda_state *state = opaque;
    struct cuda_program *program = opaque_program;
    if (program == NULL)
        return;
    for (size_t i = 0; i < program->part_count; ++i)
        destroy_cuda_part(state, &program->parts[i]);
    ingot_deallocate(&state->allocator, program, program->block_size);
}

/* All devices have the same kernels, so the first device's names are enough. */
ingot_status_t cuda_get_kernel_names(void *state, void *opaque_program, ingot_sink_t *names)
{
    const struct cuda_program *program = opaque_program;
    (void)state;
    return cuda_image_write_kernel_names(&program->parts[0].image, names);
}

size_t cuda_get_program_size(void *state, void *opaque_program)
{
    const struct cuda_program *program = opaque_program;
    size_t total = 0;
    (void)state;
    for (size_t i = 0; i < program->part_count; ++i)
        total += program->parts[i].built.size + program->parts[i].image.cubin_size; /* on the host, and on the device */
    return total + program->block_size - room_offset(program->part_count);
}

static const struct cuda_program *get_cuda_program(const_ingot_program_t handle, const void *out)
{
    const struct cuda_program *program = NULL;
    if (handle == NULL || out == NULL) {
        (void)ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is NULL", handle == NULL ? "program" : "the output");
        return NULL;
    }
    program = ingot_program_get_backend_program(handle, &cuda_ops);
    if (program == NULL)
        (void)ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "program does not belong to the CUDA backend");
    return program;
}

ingot_status_t ingot_cuda_program_get_native(const_ingot_program_t handle, uint32_t device_index, CUmodule *native)
{
    const struct cuda_program *program = get_cuda_program(handle, native);
    const struct cuda_part *part = program != NULL ? cuda_program_part(program, device_index) : NULL;
    if (part == NULL)
        return INGOT_INVALID_ARGUMENTS;
    *native = part->module;
    return INGOT_SUCCESS;
}

CUmodule cuda_take_module(void *opaque_program)
{
    struct cuda_program *program = opaque_program;
    CUmodule module = program->parts[0].module;
    program->parts[0].module = NULL;
    return module;
}

ingot_status_t ingot_cuda_program_get_lowered_name(const_ingot_program_t handle, const char *expression,
                                                   const char **lowered_name)
{
    const struct cuda_program *program = get_cuda_program(handle, lowered_name);
    if (program == NULL)
        return INGOT_INVALID_ARGUMENTS;
    if (expression == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "expression is NULL");
    const char *found = cuda_image_lowered_name(&program->parts[0].image, expression);
    if (found == NULL)
        return ingot_set_error_detail(INGOT_NOT_FOUND, "the program has no name expression %s", expression);
    *lowered_name = found;
    return INGOT_SUCCESS;
}
