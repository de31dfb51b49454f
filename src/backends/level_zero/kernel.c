/*
 * kernel.c - creates and destroys native kernels. A backend kernel is the native handle itself.
 */
#include "backends/level_zero/backend.h"
#include "backends/level_zero/errors.h"
#include "backends/level_zero/program.h"

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
