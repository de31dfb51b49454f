/*
 * kernel.c - finds native kernels.
 *
 * A native kernel belongs to its module, which has one for each entry point. So nothing is created or destroyed here,
 * and kernels cannot be cloned.
 */
#include "backends/rtc/program.h"

ingot_status_t rtc_create_kernel(void *opaque, void *program, uint32_t device_index, const char *name, void **kernel)
{
    const struct rtc_state *state = opaque;
    const struct rtc_part *part = rtc_program_part(program, device_index);
    if (part == NULL)
        return INGOT_INVALID_ARGUMENTS;
    const char *lowered_name = rtc_image_lowered_name(&part->image, name);
    return state->vendor->find(state, device_index, part->module, lowered_name != NULL ? lowered_name : name, kernel);
}

void rtc_destroy_kernel(void *state, void *kernel)
{
    (void)state;
    (void)kernel; /* the module owns it */
}

ingot_status_t rtc_get_native_kernel(const struct rtc_vendor *vendor, const_ingot_kernel_t handle, const void *out,
                                     void **kernel)
{
    if (handle == NULL || out == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is NULL", handle == NULL ? "kernel" : "native");
    *kernel = ingot_kernel_get_backend_kernel(handle, vendor->ops);
    if (*kernel == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "kernel does not belong to the %s backend",
                                      vendor->format->vendor);
    return INGOT_SUCCESS;
}
