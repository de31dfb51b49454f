/*
 * kernel.c - creates, clones and destroys native kernels.
 *
 * A Level Zero kernel belongs to one module, and so to one device. The module is stored with the kernel, because
 * clones are created from it.
 */
#include "backends/level_zero/backend.h"
#include "backends/level_zero/errors.h"
#include "backends/level_zero/program.h"

struct level_zero_kernel {
    ze_kernel_handle_t native;
    ze_module_handle_t module;
};

static ingot_status_t wrap_native_kernel(const struct level_zero_state *state, ze_module_handle_t module,
                                         ze_kernel_handle_t native, void **out)
{
    struct level_zero_kernel *kernel = ingot_allocate(&state->allocator, sizeof(*kernel));
    if (kernel == NULL) {
        (void)zeKernelDestroy(native);
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a kernel");
    }
    kernel->native = native;
    kernel->module = module;
    *out = kernel;
    return INGOT_SUCCESS;
}

ingot_status_t level_zero_create_kernel(void *opaque, void *opaque_program, uint32_t device_index, const char *name,
                                        void **kernel)
{
    const struct level_zero_program *program = opaque_program;
    const ze_module_handle_t *modules = level_zero_program_modules(program, device_index);
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_result_t result = ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
    if (modules == NULL)
        return INGOT_INVALID_ARGUMENTS;
    for (size_t i = 0; i < program->module_count && result == ZE_RESULT_ERROR_INVALID_KERNEL_NAME; ++i) {
        ze_kernel_handle_t native = NULL;
        result = zeKernelCreate(modules[i], &desc, &native);
        if (result == ZE_RESULT_SUCCESS)
            return wrap_native_kernel(opaque, modules[i], native, kernel);
    }
    return level_zero_fail(result == ZE_RESULT_ERROR_INVALID_KERNEL_NAME ? INGOT_NOT_FOUND : INGOT_BACKEND_ERROR,
                           "zeKernelCreate", result);
}

void level_zero_destroy_kernel(void *opaque, void *opaque_kernel)
{
    const struct level_zero_state *state = opaque;
    struct level_zero_kernel *kernel = opaque_kernel;
    (void)zeKernelDestroy(kernel->native);
    ingot_deallocate(&state->allocator, kernel, sizeof(*kernel));
}

ingot_status_t level_zero_clone_kernel(void *opaque, void *program, void *opaque_kernel, void **clone)
{
    const struct level_zero_state *state = opaque;
    const struct level_zero_kernel *kernel = opaque_kernel;
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC};
    ze_kernel_handle_t native = NULL;
    char *name = NULL;
    size_t size = 0;
    (void)program;
    ze_result_t result = zeKernelGetName(kernel->native, &size, NULL);
    if (result != ZE_RESULT_SUCCESS)
        return level_zero_fail(INGOT_BACKEND_ERROR, "zeKernelGetName", result);
    name = ingot_allocate(&state->allocator, size + 1); /* with room for a NUL */
    if (name == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a kernel's name of %zu bytes", size);
    const size_t room = size + 1;
    result = zeKernelGetName(kernel->native, &size, name);
    desc.pKernelName = name;
    if (result == ZE_RESULT_SUCCESS)
        result = zeKernelCreate(kernel->module, &desc, &native);
    ingot_deallocate(&state->allocator, name, room);
    return result == ZE_RESULT_SUCCESS ? wrap_native_kernel(state, kernel->module, native, clone)
                                       : level_zero_fail(INGOT_BACKEND_ERROR, "zeKernelCreate of a clone", result);
}

ingot_status_t ingot_level_zero_kernel_get_native(const_ingot_kernel_t handle, ze_kernel_handle_t *native)
{
    const struct level_zero_kernel *kernel = NULL;
    if (handle == NULL || native == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is NULL", handle == NULL ? "kernel" : "native");
    kernel = ingot_kernel_get_backend_kernel(handle, &level_zero_ops);
    if (kernel == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "kernel does not belong to the Level Zero backend");
    *native = kernel->native;
    return INGOT_SUCCESS;
}
