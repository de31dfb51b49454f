/*
 * program.c - holds a program's native modules, their devices, and the images that they were loaded from.
 */
#include "backends/rtc/program.h"

#include <string.h>

#define ROOM_ALIGNMENT 16u

static size_t room_offset(size_t part_count)
{
    const size_t size = sizeof(struct rtc_program) + part_count * sizeof(struct rtc_part);
    return (size + ROOM_ALIGNMENT - 1) / ROOM_ALIGNMENT * ROOM_ALIGNMENT;
}

ingot_status_t rtc_program_create(const struct rtc_state *state, size_t device_count, const uint32_t *device_indices,
                                  size_t room, struct rtc_program **out)
{
    const size_t offset = room_offset(device_count);
    struct rtc_program *program = ingot_allocate(&state->allocator, offset + room);
    if (program == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a program of %zu devices", device_count);
    program->block_size = offset + room;
    program->part_count = device_count;
    for (size_t i = 0; i < device_count; ++i)
        program->parts[i].device_index = device_indices[i];
    *out = program;
    return INGOT_SUCCESS;
}

uint8_t *rtc_program_room(struct rtc_program *program)
{
    return (uint8_t *)program + room_offset(program->part_count);
}

const struct rtc_part *rtc_program_part(const struct rtc_program *program, uint32_t device_index)
{
    for (size_t i = 0; i < program->part_count; ++i) {
        if (program->parts[i].device_index == device_index)
            return &program->parts[i];
    }
    (void)ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the program was not made for device %u",
                                 (unsigned)device_index);
    return NULL;
}

static bool is_refusal(const struct rtc_vendor *vendor, int result)
{
    const int *refusal = vendor->refusals;
    while (*refusal != 0 && *refusal != result)
        ++refusal;
    return *refusal != 0;
}

ingot_status_t rtc_part_load(const struct rtc_state *state, struct rtc_part *part, ingot_status_t refused)
{
    const struct rtc_vendor *vendor = state->vendor;
    const struct rtc_device *device = &state->devices[part->device_index];
    void *module = NULL;
    int previous = 0;
    if (device->number == RTC_NO_DEVICE)
        return INGOT_SUCCESS;
    const ingot_status_t status = vendor->enter(state, device, &previous);
    if (status != INGOT_SUCCESS)
        return status;
    const int result = state->load_module(&module, part->image.code);
    vendor->leave(state, device, previous);
    if (result != RTC_DRIVER_SUCCESS)
        return rtc_fail(state, is_refusal(vendor, result) ? refused : INGOT_BACKEND_ERROR, "ModuleLoadData", result);
    part->module = module;
    return INGOT_SUCCESS;
}

static void unload_part(const struct rtc_state *state, const struct rtc_part *part)
{
    const struct rtc_device *device = &state->devices[part->device_index];
    int previous = 0;
    if (part->module == NULL || state->vendor->enter(state, device, &previous) != INGOT_SUCCESS)
        return;
    (void)state->unload_module(part->module);
    state->vendor->leave(state, device, previous);
}

void rtc_destroy_program(void *opaque, void *opaque_program)
{
    const struct rtc_state *state = opaque;
    struct rtc_program *program = opaque_program;
    if (program == NULL)
        return;
    for (size_t i = 0; i < program->part_count; ++i) {
        unload_part(state, &program->parts[i]);
        rtc_bytes_fini(&program->parts[i].built, &state->allocator);
    }
    ingot_deallocate(&state->allocator, program, program->block_size);
}

/* All devices have the same kernels, so the first device's names are enough. */
ingot_status_t rtc_get_kernel_names(void *state, void *opaque_program, ingot_sink_t *names)
{
    const struct rtc_program *program = opaque_program;
    (void)state;
    return rtc_image_write_kernel_names(&program->parts[0].image, names);
}

size_t rtc_get_program_size(void *state, void *opaque_program)
{
    const struct rtc_program *program = opaque_program;
    size_t total = 0;
    (void)state;
    for (size_t i = 0; i < program->part_count; ++i)
        total += program->parts[i].built.size + program->parts[i].image.code_size; /* on the host, and on the device */
    return total + program->block_size - room_offset(program->part_count);
}

int rtc_takes_name_expressions(void *state)
{
    (void)state;
    return 1;
}

static const struct rtc_program *get_program(const struct rtc_vendor *vendor, const_ingot_program_t handle,
                                             const void *out)
{
    const struct rtc_program *program = NULL;
    if (handle == NULL || out == NULL) {
        (void)ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is NULL", handle == NULL ? "program" : "the output");
        return NULL;
    }
    program = ingot_program_get_backend_program(handle, vendor->ops);
    if (program == NULL)
        (void)ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "program does not belong to the %s backend",
                                     vendor->format->vendor);
    return program;
}

ingot_status_t rtc_get_native_module(const struct rtc_vendor *vendor, const_ingot_program_t handle,
                                     uint32_t device_index, void *native)
{
    const struct rtc_program *program = get_program(vendor, handle, native);
    const struct rtc_part *part = program != NULL ? rtc_program_part(program, device_index) : NULL;
    if (part == NULL)
        return INGOT_INVALID_ARGUMENTS;
    memcpy(native, &part->module, sizeof(part->module));
    return INGOT_SUCCESS;
}

void rtc_take_module(void *opaque, void *module)
{
    struct rtc_program *program = opaque;
    memcpy(module, &program->parts[0].module, sizeof(program->parts[0].module));
    program->parts[0].module = NULL;
}

ingot_status_t rtc_get_lowered_name(const struct rtc_vendor *vendor, const_ingot_program_t handle,
                                    const char *expression, const char **lowered_name)
{
    const struct rtc_program *program = get_program(vendor, handle, lowered_name);
    if (program == NULL)
        return INGOT_INVALID_ARGUMENTS;
    if (expression == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "expression is NULL");
    const char *found = rtc_image_lowered_name(&program->parts[0].image, expression);
    if (found == NULL)
        return ingot_set_error_detail(INGOT_NOT_FOUND, "the program has no name expression %s", expression);
    *lowered_name = found;
    return INGOT_SUCCESS;
}
