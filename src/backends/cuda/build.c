/*
 * build.c - compiles and links programs; see rtc/build.c.
 */
#include "backends/cuda/backend.h"
#include "backends/cuda/compiler/compile.h"
#include "backends/cuda/state.h"

ingot_status_t cuda_compile_for(const struct rtc_state *common, uint32_t device_index,
                                const ingot_build_request_t *request, ingot_sink_t *log, struct rtc_bytes *image)
{
    const struct cuda_state *state = (const struct cuda_state *)common;
    const struct cuda_device *device = &state->devices[device_index];
    const struct cuda_target target = {common->allocator, state->driver.version, device->major, device->minor};
    return cuda_compile(&target, request, log, image);
}

ingot_status_t cuda_build(void *state, const ingot_build_request_t *request, size_t device_count,
                          const uint32_t *device_indices, ingot_sink_t *log, void **program)
{
    return rtc_build(state, request, device_count, device_indices, log, program);
}
