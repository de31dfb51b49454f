/*
 * kernel.c - finds native kernels.
 *
 * A native kernel belongs to its module, which has one for each entry point. So nothing is created or destroyed here,
 * and kernels cannot be cloned.
 */
#include "backends/rtc/program.h"

#include <string.h>

ingot_status_t rtc_create_kernel(void *opaque, void *program, uint32_t device_index, const char *name, void **kernel)
{
    const struct rtc_state *state = opaque;
    const struct rtc_part *part = rtc_program_part(program, device_index);
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
