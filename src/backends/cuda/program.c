/*
 * program.c - loads and unloads modules, and returns the application native programs.
 */
#include "backends/cuda/backend.h"
#include "backends/cuda/errors.h"
#include "backends/cuda/state.h"

ingot_status_t cuda_load_module(const struct rtc_state *common, uint32_t device_index, const void *code,
                                ingot_status_t refused, void **module)
{
    const struct cuda_state *state = (const struct cuda_state *)common;
    CUmodule loaded = NULL;
    bool pushed = false;
    const ingot_status_t status = cuda_enter(&state->driver, state->devices[device_index].context, &pushed);
    if (status != INGOT_SUCCESS)
        return status;
    const CUresult result = state->driver.load_module(&loaded, code);
    cuda_leave(&state->driver, pushed);
    if (result != CUDA_SUCCESS)
        return cuda_fail(&state->driver, cuda_refused_image(result) ? refused : INGOT_BACKEND_ERROR, "cuModuleLoadData",
                         result);
    *module = loaded;
    return INGOT_SUCCESS;
}

void cuda_unload_module(const struct rtc_state *common, uint32_t device_index, void *module)
{
    const struct cuda_state *state = (const struct cuda_state *)common;
    bool pushed = false;
    if (cuda_enter(&state->driver, state->devices[device_index].context, &pushed) == INGOT_SUCCESS) {
        (void)state->driver.unload_module(module);
        cuda_leave(&state->driver, pushed);
    }
}

ingot_status_t ingot_cuda_program_get_native(const_ingot_program_t handle, uint32_t device_index, CUmodule *native)
{
    void *module = NULL;
    const ingot_status_t status = rtc_get_native_module(&cuda_vendor, handle, device_index, native, &module);
    if (status == INGOT_SUCCESS)
        *native = module;
    return status;
}

ingot_status_t ingot_cuda_program_get_lowered_name(const_ingot_program_t handle, const char *expression,
                                                   const char **lowered_name)
{
    return rtc_get_lowered_name(&cuda_vendor, handle, expression, lowered_name);
}
