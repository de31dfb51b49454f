/*
 * build.c - compiles programs; see rtc/build.c.
 */
#include "backends/hip/backend.h"
#include "backends/hip/compiler/compile.h"
#include "backends/hip/state.h"

ingot_status_t hip_compile_for(const struct rtc_state *common, uint32_t device_index,
                               const ingot_build_request_t *request, ingot_sink_t *log, struct rtc_bytes *image)
{
    const struct hip_state *state = (const struct hip_state *)common;
    const struct hip_target target = {common->allocator, state->driver.major,
                                      state->devices[device_index].architecture};
    return hip_compile(&target, request, log, image);
}

ingot_status_t hip_build(void *state, const ingot_build_request_t *request, size_t device_count,
                         const uint32_t *device_indices, ingot_sink_t *log, void **program)
{
    return rtc_build(state, request, device_count, device_indices, log, program);
}
