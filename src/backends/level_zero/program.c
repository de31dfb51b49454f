/*
 * program.c - holds a program's native modules and their devices.
 */
#include "backends/level_zero/program.h"

#include <string.h>

/* Not a kernel: Intel's driver lists this name for the functions that other modules may call. */
#define FUNCTIONS_NAME "Intel_Symbol_Table_Void_Program"

static size_t program_block_size(size_t device_count, size_t module_count)
{
    return sizeof(struct level_zero_program) +
           device_count * (module_count * sizeof(ze_module_handle_t) + sizeof(uint32_t));
}

ingot_status_t level_zero_program_create(const struct level_zero_state *state, size_t device_count,
                                         const uint32_t *device_indices, size_t module_count,
                                         struct level_zero_program **out)
{
    struct level_zero_program *program =
        ingot_allocate(&state->allocator, program_block_size(device_count, module_count));
    if (program == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a program of %zu devices", device_count);
    program->device_count = device_count;
    program->module_count = module_count;
    program->device_indices = (uint32_t *)(program->modules + device_count * module_count);
    memcpy(program->device_indices, device_indices, device_count * sizeof(*device_indices));
    *out = program;
    return INGOT_SUCCESS;
}

ze_module_handle_t *level_zero_program_modules(struct level_zero_program *program, uint32_t device_index)
{
    for (size_t i = 0; i < program->device_count; ++i) {
        if (program->device_indices[i] == device_index)
            return program->modules + i * program->module_count;
    }
    (void)ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the program was not made for device %u",
                                 (unsigned)device_index);
    return NULL;
}

void level_zero_destroy_program(void *opaque, void *opaque_program)
{
    const struct level_zero_state *state = opaque;
    struct level_zero_program *program = opaque_program;
    if (program == NULL)
        return;
    for (size_t i = 0; i < program->device_count * program->module_count; ++i) {
        if (program->modules[i] != NULL)
            (void)zeModuleDestroy(program->modules[i]);
    }
    ingot_deallocate(&state->allocator, program, program_block_size(program->device_count, program->module_count));
}

static ingot_status_t write_names(const struct level_zero_state *state, ze_module_handle_t module, ingot_sink_t *sink)
{
    uint32_t count = 0;
    const char **names = NULL;
    ingot_status_t status = INGOT_SUCCESS;
    ze_result_t result = zeModuleGetKernelNames(module, &count, NULL);
    if (result != ZE_RESULT_SUCCESS)
        return level_zero_fail(INGOT_BACKEND_ERROR, "zeModuleGetKernelNames", result);
    if (count == 0)
        return INGOT_SUCCESS;
    const size_t size = count * sizeof(*names);
    names = ingot_allocate(&state->allocator, size);
    if (names == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %u kernel names", (unsigned)count);
    result = zeModuleGetKernelNames(module, &count, names);
    if (result != ZE_RESULT_SUCCESS)
        status = level_zero_fail(INGOT_BACKEND_ERROR, "zeModuleGetKernelNames", result);
    for (uint32_t i = 0; i < count && status == INGOT_SUCCESS; ++i) {
        if (strcmp(names[i], FUNCTIONS_NAME) != 0)
            status = ingot_sink_write(sink, strlen(names[i]) + 1, names[i]);
    }
    ingot_deallocate(&state->allocator, (void *)names, size);
    return status;
}

/* All devices have the same kernels, so the first device's names are enough. */
ingot_status_t level_zero_get_kernel_names(void *opaque, void *opaque_program, ingot_sink_t *names)
{
    const struct level_zero_program *program = opaque_program;
    ingot_status_t status = INGOT_SUCCESS;
    for (size_t i = 0; i < program->module_count && status == INGOT_SUCCESS; ++i)
        status = write_names(opaque, program->modules[i], names);
    return status;
}

size_t level_zero_get_program_size(void *state, void *opaque_program)
{
    const struct level_zero_program *program = opaque_program;
    size_t total = 0;
    (void)state;
    for (size_t i = 0; i < program->device_count * program->module_count; ++i) {
        size_t size = 0;
        if (zeModuleGetNativeBinary(program->modules[i], &size, NULL) == ZE_RESULT_SUCCESS)
            total += size;
    }
    return total;
}

/* Returns the modules of a device, the first of which is the native program. If an argument is wrong, sets the error
 * detail and returns NULL. */
static ze_module_handle_t *get_level_zero_modules(const_ingot_program_t handle, uint32_t device_index, const void *out)
{
    if (handle == NULL || out == NULL) {
        (void)ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is NULL", handle == NULL ? "program" : "native");
        return NULL;
    }
    struct level_zero_program *program = ingot_program_get_backend_program(handle, &level_zero_ops);
    if (program != NULL)
        return level_zero_program_modules(program, device_index);
    (void)ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "program does not belong to the Level Zero backend");
    return NULL;
}

ingot_status_t ingot_level_zero_program_get_native(const_ingot_program_t handle, uint32_t device_index,
                                                   ze_module_handle_t *native)
{
    const ze_module_handle_t *modules = get_level_zero_modules(handle, device_index, native);
    if (modules == NULL)
        return INGOT_INVALID_ARGUMENTS;
    *native = modules[0];
    return INGOT_SUCCESS;
}

ze_module_handle_t level_zero_take_module(void *opaque_program)
{
    struct level_zero_program *program = opaque_program;
    ze_module_handle_t module = program->modules[0];
    program->modules[0] = NULL;
    return module;
}

ingot_status_t level_zero_create_kernel(void *opaque, void *opaque_program, uint32_t device_index, const char *name,
                                        void **kernel)
{
    struct level_zero_program *program = opaque_program;
    const ze_module_handle_t *modules = level_zero_program_modules(program, device_index);
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_result_t result = ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
    (void)opaque;
    if (modules == NULL)
        return INGOT_INVALID_ARGUMENTS;
    for (size_t i = 0; i < program->module_count && result == ZE_RESULT_ERROR_INVALID_KERNEL_NAME; ++i) {
        ze_kernel_handle_t native = NULL;
        result = zeKernelCreate(modules[i], &desc, &native);
        if (result == ZE_RESULT_SUCCESS) {
            *kernel = native;
            return INGOT_SUCCESS;
        }
    }
    return level_zero_fail(result == ZE_RESULT_ERROR_INVALID_KERNEL_NAME ? INGOT_NOT_FOUND : INGOT_BACKEND_ERROR,
                           "zeKernelCreate", result);
}

void level_zero_destroy_kernel(void *opaque, void *kernel)
{
    (void)opaque;
    (void)zeKernelDestroy(kernel);
}

ingot_status_t ingot_level_zero_kernel_get_native(const_ingot_kernel_t handle, ze_kernel_handle_t *native)
{
    ze_kernel_handle_t kernel = NULL;
    if (handle == NULL || native == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is NULL", handle == NULL ? "kernel" : "native");
    kernel = ingot_kernel_get_backend_kernel(handle, &level_zero_ops);
    if (kernel == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "kernel does not belong to the Level Zero backend");
    *native = kernel;
    return INGOT_SUCCESS;
}
