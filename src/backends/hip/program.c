/*
 * program.c - loads and unloads modules, and returns the application native programs.
 */
#include "backends/hip/backend.h"
#include "backends/hip/errors.h"
#include "backends/hip/state.h"

ingot_status_t hip_load_module(const struct rtc_state *common, uint32_t device_index, const void *code,
                               ingot_status_t refused, void **module)
{
    const struct hip_state *state = (const struct hip_state *)common;
    hipModule_t loaded = NULL;
    int previous = 0;
    if (state->devices[device_index].number == HIP_NO_DEVICE)
        return INGOT_SUCCESS;
    const ingot_status_t status = hip_enter(state, device_index, &previous);
    if (status != INGOT_SUCCESS)
        return status;
    const int result = state->driver.load_module(&loaded, code);
    hip_leave(state, device_index, previous);
    if (result != HIP_SUCCESS)
        return hip_fail(&state->driver, hip_refused_image(result) ? refused : INGOT_BACKEND_ERROR, "hipModuleLoadData",
                        result);
    *module = loaded;
    return INGOT_SUCCESS;
}

void hip_unload_module(const struct rtc_state *common, uint32_t device_index, void *module)
{
    const struct hip_state *state = (const struct hip_state *)common;
    int previous = 0;
    if (hip_enter(state, device_index, &previous) == INGOT_SUCCESS) {
        (void)state->driver.unload_module(module);
        hip_leave(state, device_index, previous);
    }
}

ingot_status_t ingot_hip_program_get_native(const_ingot_program_t handle, uint32_t device_index, hipModule_t *native)
{
    void *module = NULL;
    const ingot_status_t status = rtc_get_native_module(&hip_vendor, handle, device_index, native, &module);
    if (status == INGOT_SUCCESS)
        *native = module;
    return status;
}

ingot_status_t ingot_hip_program_get_lowered_name(const_ingot_program_t handle, const char *expression,
                                                  const char **lowered_name)
{
    return rtc_get_lowered_name(&hip_vendor, handle, expression, lowered_name);
}
