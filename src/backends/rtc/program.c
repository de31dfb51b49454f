/*
 * program.c - contexts of devices, and programs: their native modules, and the images that these were loaded from.
 *
 * Of several identical devices, the core requests only one. So this file compiles for every requested device. A binary
 * is an image (compiler.h): machine code, and nothing that a driver could compile; rtc_image_read refuses PTX, because
 * the driver would accept and compile it. A native kernel belongs to its module, which has one for each entry point. So
 * nothing is created or destroyed for kernels, and they cannot be cloned.
 */
#include "backends/rtc/vendor.h"

#include <string.h>

#define ROOM_ALIGNMENT 16u

/* A program's part for one device: a module, and its image. The image is kept, because a driver does not return the
 * images that it loaded. */
struct rtc_part {
    uint32_t device_index;
    void *module; /* NULL: not loaded */
    size_t size;
    const uint8_t *bytes;   /* the image; parts of identical devices share it */
    struct rtc_image image; /* parsed from the bytes */
    /* holds the image if it was compiled in this process; a loaded image follows the parts in the program's block */
    struct rtc_bytes built;
};

struct rtc_program {
    size_t block_size;
    size_t part_count;
    struct rtc_part parts[];
};

void rtc_destroy(void *opaque)
{
    struct rtc_state *state = opaque;
    if (state == NULL)
        return;
    const ingot_allocator_t allocator = state->allocator;
    ingot_deallocate(&allocator, state, state->size);
}

int rtc_accepts(void *opaque, ingot_source_kind_t kind)
{
    const struct rtc_vendor *vendor = ((const struct rtc_state *)opaque)->vendor;
    return kind == vendor->kinds[0] || kind == vendor->kinds[1];
}

ingot_status_t rtc_state_create(const struct rtc_vendor *vendor, const ingot_allocator_t *allocator, uint32_t count,
                                const void *natives, struct rtc_state **out)
{
    const size_t size = vendor->state_size + count * sizeof(struct rtc_device);
    struct rtc_state *state = ingot_allocate(allocator, size);
    if (state == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a context of %u devices", (unsigned)count);
    state->vendor = vendor;
    state->allocator = *allocator;
    state->size = size;
    state->device_count = count;
    state->devices = (struct rtc_device *)(void *)((char *)state + vendor->state_size);
    const ingot_status_t status = vendor->init(state, natives);
    if (status == INGOT_SUCCESS)
        *out = state;
    else
        rtc_destroy(state);
    return status;
}

ingot_status_t rtc_context_create(const struct rtc_vendor *vendor, ingot_context_t *context, uint32_t count,
                                  const void *natives, const ingot_context_info_t *info)
{
    const ingot_allocator_t allocator = ingot_context_info_get_allocator(info);
    struct rtc_state *state = NULL;
    ingot_status_t status = rtc_state_create(vendor, &allocator, count, natives, &state);
    if (status != INGOT_SUCCESS)
        return status;
    status = ingot_context_create(context, vendor->ops, state, count, info);
    if (status != INGOT_SUCCESS)
        rtc_destroy(state);
    return status;
}

ingot_status_t rtc_fail(const struct rtc_state *state, ingot_status_t otherwise, const char *call, int result)
{
    const ingot_status_t status = result == RTC_DRIVER_OUT_OF_MEMORY ? INGOT_OUT_OF_MEMORY : otherwise;
    const char *name = state->vendor->error_name(state, result);
    return ingot_set_error(status, (int64_t)result, "%s%s: %s (%d)", state->vendor->prefix, call,
                           name != NULL ? name : "unknown result", result);
}

static size_t room_offset(size_t part_count)
{
    const size_t size = sizeof(struct rtc_program) + part_count * sizeof(struct rtc_part);
    return (size + ROOM_ALIGNMENT - 1) / ROOM_ALIGNMENT * ROOM_ALIGNMENT;
}

/* Creates a program for these devices, without images and modules. The program's block also has `room` bytes for
 * images, because a separate allocation would slow loading noticeably. */
static ingot_status_t program_create(const struct rtc_state *state, size_t device_count, const uint32_t *device_indices,
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

/* Returns the part for a device. If the program was not made for the device, sets the error detail and returns NULL. */
static const struct rtc_part *program_part(const struct rtc_program *program, uint32_t device_index)
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

/* Loads the part's image as its module. Returns `refused` if the driver refuses the image. */
static ingot_status_t part_load(const struct rtc_state *state, struct rtc_part *part, ingot_status_t refused)
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

ingot_status_t rtc_build(void *opaque, const ingot_build_request_t *request, size_t device_count,
                         const uint32_t *device_indices, ingot_sink_t *log, void **out)
{
    const struct rtc_state *state = opaque;
    struct rtc_program *program = NULL;
    ingot_status_t status = program_create(state, device_count, device_indices, 0, &program);
    for (size_t i = 0; i < device_count && status == INGOT_SUCCESS; ++i) {
        struct rtc_part *part = &program->parts[i];
        const struct rtc_target target = {state->allocator, state->driver_major,
                                          state->devices[part->device_index].architecture};
        status = state->vendor->compile(&target, request, log, &part->built);
        part->size = part->built.size;
        part->bytes = part->built.bytes;
        if (status == INGOT_SUCCESS)
            status = rtc_image_read(&part->image, state->vendor->format, target.architecture, part->size, part->bytes);
        /* The driver refuses this code only if an option named an architecture other than the device's. */
        if (status == INGOT_SUCCESS)
            status = part_load(state, part, INGOT_BUILD_FAILED);
    }
    if (status == INGOT_SUCCESS) {
        *out = program;
        program = NULL;
    }
    rtc_destroy_program(opaque, program);
    return status;
}

ingot_status_t rtc_get_binary(void *state, void *opaque_program, uint32_t device_index, ingot_sink_t *binary)
{
    const struct rtc_program *program = opaque_program;
    const struct rtc_part *part = program_part(program, device_index);
    (void)state;
    if (part == NULL)
        return INGOT_INVALID_ARGUMENTS;
    return ingot_sink_write(binary, part->size, part->bytes);
}

/* Returns the index of the first binary that is the same as the binary at `index`. Identical devices get the same
 * binary, and the program keeps only one copy of it. */
static size_t first_with(const ingot_binary_t *binaries, size_t index)
{
    size_t first = 0;
    while (binaries[first].bytes != binaries[index].bytes || binaries[first].size != binaries[index].size)
        ++first;
    return first;
}

/* Rounds up to a multiple of 8, so that each image is aligned. */
static size_t pad_image_size(size_t size)
{
    return (size + 7) / 8 * 8;
}

static size_t size_of_all(size_t count, const ingot_binary_t *binaries)
{
    size_t size = 0;
    for (size_t i = 0; i < count; ++i)
        size += first_with(binaries, i) == i ? pad_image_size(binaries[i].size) : 0;
    return size;
}

static ingot_status_t load_rtc_part(const struct rtc_state *state, const ingot_build_request_t *request,
                                    struct rtc_part *part)
{
    const ingot_status_t status = rtc_image_read(
        &part->image, state->vendor->format, state->devices[part->device_index].architecture, part->size, part->bytes);
    if (status != INGOT_SUCCESS)
        return status;
    if (!rtc_image_has_expressions(&part->image, request->name_expression_count, request->name_expressions))
        return ingot_set_error_detail(INGOT_BLOB_REJECTED, "the binary was built with other name expressions");
    return part_load(state, part, INGOT_BLOB_REJECTED);
}

ingot_status_t rtc_load(void *opaque, const ingot_build_request_t *request, size_t device_count,
                        const uint32_t *device_indices, const ingot_binary_t *binaries, void **out)
{
    const struct rtc_state *state = opaque;
    struct rtc_program *program = NULL;
    ingot_status_t status =
        program_create(state, device_count, device_indices, size_of_all(device_count, binaries), &program);
    uint8_t *place = status == INGOT_SUCCESS ? ((uint8_t *)program + room_offset(program->part_count)) : NULL;
    for (size_t i = 0; i < device_count && status == INGOT_SUCCESS; ++i) {
        struct rtc_part *part = &program->parts[i];
        const size_t first = first_with(binaries, i);
        part->size = binaries[i].size;
        part->bytes = first == i ? place : program->parts[first].bytes;
        if (first == i && part->size > 0) {
            memcpy(place, binaries[i].bytes, part->size);
            place += pad_image_size(part->size);
        }
        status = load_rtc_part(state, request, part);
    }
    if (status == INGOT_SUCCESS) {
        *out = program;
        program = NULL;
    }
    rtc_destroy_program(opaque, program);
    return status;
}

ingot_status_t rtc_create_kernel(void *opaque, void *program, uint32_t device_index, const char *name, void **kernel)
{
    const struct rtc_state *state = opaque;
    const struct rtc_part *part = program_part(program, device_index);
    void *native = NULL;
    int previous = 0;
    if (part == NULL)
        return INGOT_INVALID_ARGUMENTS;
    const struct rtc_device *device = &state->devices[device_index];
    if (device->number == RTC_NO_DEVICE)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "the context is for the architecture %s, without a device",
                                      device->architecture);
    const ingot_status_t status = state->vendor->enter(state, device, &previous);
    if (status != INGOT_SUCCESS)
        return status;
    const char *lowered_name = rtc_image_lowered_name(&part->image, name);
    const int result = state->get_function(&native, part->module, lowered_name != NULL ? lowered_name : name);
    state->vendor->leave(state, device, previous);
    if (result != RTC_DRIVER_SUCCESS)
        return rtc_fail(state, result == RTC_DRIVER_NOT_FOUND ? INGOT_NOT_FOUND : INGOT_BACKEND_ERROR,
                        "ModuleGetFunction", result);
    *kernel = native;
    return INGOT_SUCCESS;
}

void rtc_destroy_kernel(void *state, void *kernel)
{
    (void)state;
    (void)kernel; /* the module owns it */
}

ingot_status_t rtc_get_native_kernel(const struct rtc_vendor *vendor, const_ingot_kernel_t handle, void *native)
{
    if (handle == NULL || native == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is NULL", handle == NULL ? "kernel" : "native");
    void *kernel = ingot_kernel_get_backend_kernel(handle, vendor->ops);
    if (kernel == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "kernel does not belong to the %s backend",
                                      vendor->format->vendor);
    memcpy(native, &kernel, sizeof(kernel));
    return INGOT_SUCCESS;
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
    const struct rtc_part *part = program != NULL ? program_part(program, device_index) : NULL;
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
