/*
 * context.c - creates Ingot contexts for HIP devices, and returns native objects.
 */
#include <ingot/private/hip.h>
#include <ingot/private/program.h>

#include "backends/hip/backend.h"
#include "backends/hip/compiler/compile.h"

static ingot_status_t build(void *state, const ingot_build_request_t *request, size_t device_count,
                            const uint32_t *device_indices, ingot_sink_t *log, void **program)
{
    return rtc_build(state, request, device_count, device_indices, log, program);
}

const ingot_backend_ops_t hip_ops = RTC_OPS("hip", build, hip_identify_device, hip_get_text_rules);

/* Of hipError_t. */
enum {
    HIP_INVALID_VALUE = 1,
    HIP_INVALID_IMAGE = 200,
    HIP_NO_BINARY_FOR_GPU = 209,
    HIP_INVALID_KERNEL_FILE = 218,
    HIP_INVALID_SOURCE = 300,
    HIP_FILE_NOT_FOUND = 301,
    HIP_SYMBOL_NOT_FOUND = 302,
    HIP_INIT_FAILED = 303
};

const struct rtc_vendor hip_vendor = {
    .format = &hip_code_object,
    .ops = &hip_ops,
    .prefix = "hip",
    .kinds = {INGOT_SOURCE_HIP_CPP, INGOT_SOURCE_HIP_CODE},
    .refusals = {HIP_INVALID_VALUE, HIP_INVALID_IMAGE, HIP_NO_BINARY_FOR_GPU, HIP_INVALID_KERNEL_FILE,
                 HIP_INVALID_SOURCE, HIP_FILE_NOT_FOUND, HIP_SYMBOL_NOT_FOUND, HIP_INIT_FAILED},
    .state_size = sizeof(struct hip_state),
    .init = hip_init,
    .error_name = hip_error_name,
    .enter = hip_enter,
    .leave = hip_leave,
    .compile = hip_compile,
};

ingot_status_t ingot_hip_context_create(ingot_context_t *context, uint32_t device_count, const int *devices,
                                        const ingot_context_info_t *info)
{
    const struct hip_natives natives = {devices, NULL};
    if (context == NULL || devices == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is NULL", context == NULL ? "context" : "devices");
    if (device_count == 0)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "device_count is 0");
    for (uint32_t i = 0; i < device_count; ++i) {
        for (uint32_t j = 0; j <= i; ++j) {
            if (devices[i] < 0 || (j < i && devices[j] == devices[i]))
                return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "devices: %d is %s", devices[i],
                                              devices[i] < 0 ? "not a device" : "given twice");
        }
    }
    return rtc_context_create(&hip_vendor, context, device_count, &natives, info);
}

ingot_status_t ingot_hip_context_create_for(ingot_context_t *context, const char *architecture,
                                            const ingot_context_info_t *info)
{
    const struct hip_natives natives = {NULL, architecture};
    if (context == NULL || architecture == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is NULL",
                                      context == NULL ? "context" : "architecture");
    return rtc_context_create(&hip_vendor, context, 1, &natives, info);
}

ingot_status_t ingot_hip_context_get_architecture(const_ingot_context_t context, uint32_t device_index,
                                                  const char **architecture)
{
    if (context == NULL || architecture == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is NULL",
                                      context == NULL ? "context" : "architecture");
    const struct rtc_state *state = ingot_context_get_backend_state(context, &hip_ops);
    if (state == NULL || device_index >= state->device_count)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "context has no HIP device %u", (unsigned)device_index);
    *architecture = state->devices[device_index].architecture;
    return INGOT_SUCCESS;
}

ingot_status_t ingot_hip_program_get_native(const_ingot_program_t program, uint32_t device_index, hipModule_t *native)
{
    return rtc_get_native_module(&hip_vendor, program, device_index, native);
}

ingot_status_t ingot_hip_program_get_lowered_name(const_ingot_program_t program, const char *expression,
                                                  const char **lowered_name)
{
    return rtc_get_lowered_name(&hip_vendor, program, expression, lowered_name);
}

ingot_status_t ingot_hip_kernel_get_native(const_ingot_kernel_t kernel, hipFunction_t *native)
{
    return rtc_get_native_kernel(&hip_vendor, kernel, native);
}
