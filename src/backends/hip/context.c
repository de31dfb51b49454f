/*
 * context.c - creates an Ingot context for HIP devices.
 */
#include <ingot/private/program.h>

#include "backends/hip/backend.h"
#include "backends/hip/compiler/code_object.h"
#include "backends/hip/state.h"

static int accepts_hip_source(void *state, ingot_source_kind_t kind)
{
    (void)state;
    return kind == INGOT_SOURCE_HIP_CPP || kind == INGOT_SOURCE_HIP_CODE;
}

const ingot_backend_ops_t hip_ops = {
    .struct_size = sizeof(ingot_backend_ops_t),
    .name = "hip",
    .destroy = hip_state_destroy,
    .identify_device = hip_identify_device,
    .accepts = accepts_hip_source,
    .build = hip_build,
    .destroy_program = rtc_destroy_program,
    .get_kernel_names = rtc_get_kernel_names,
    .get_binary = rtc_get_binary,
    .load = rtc_load,
    .create_kernel = rtc_create_kernel,
    .destroy_kernel = rtc_destroy_kernel,
    .get_program_size = rtc_get_program_size,
    .takes_name_expressions = rtc_takes_name_expressions,
    .get_text_rules = hip_get_text_rules,
};

const struct rtc_vendor hip_vendor = {&hip_code_object, &hip_ops,          hip_compile_for,
                                      hip_load_module,  hip_unload_module, hip_find_kernel};

static ingot_status_t create_context(ingot_context_t *context, uint32_t count, const int *devices,
                                     const char *architecture, const ingot_context_info_t *info)
{
    const ingot_allocator_t allocator = ingot_context_info_get_allocator(info);
    struct hip_state *state = NULL;
    ingot_status_t status = hip_state_create(&state, &allocator, count, devices, architecture);
    if (status != INGOT_SUCCESS)
        return status;
    status = ingot_context_create(context, &hip_ops, state, state->common.device_count, info);
    if (status != INGOT_SUCCESS)
        hip_state_destroy(state);
    return status;
}

ingot_status_t ingot_hip_context_create(ingot_context_t *context, uint32_t device_count, const int *devices,
                                        const ingot_context_info_t *info)
{
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
    return create_context(context, device_count, devices, NULL, info);
}

ingot_status_t ingot_hip_context_create_for(ingot_context_t *context, const char *architecture,
                                            const ingot_context_info_t *info)
{
    if (context == NULL || architecture == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is NULL",
                                      context == NULL ? "context" : "architecture");
    return create_context(context, 1, NULL, architecture, info);
}

ingot_status_t ingot_hip_context_get_architecture(const_ingot_context_t context, uint32_t device_index,
                                                  const char **architecture)
{
    if (context == NULL || architecture == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is NULL",
                                      context == NULL ? "context" : "architecture");
    const struct hip_state *state = ingot_context_get_backend_state(context, &hip_ops);
    if (state == NULL || device_index >= state->common.device_count)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "context has no HIP device %u", (unsigned)device_index);
    *architecture = state->devices[device_index].architecture;
    return INGOT_SUCCESS;
}
