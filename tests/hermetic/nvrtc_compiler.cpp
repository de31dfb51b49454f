/*
 * nvrtc_compiler.cpp - builds programs with CUDA's compiler, directly and through Ingot, without a driver.
 */
#include <cstring>

#include <ingot/backend.h>

#include "hermetic/rtc_compiler.h"

extern "C" {
#include "backends/cuda/backend.h"
}

namespace hermetic
{

namespace
{

ingot_status_t init_without_driver(rtc_state *state, const void *)
{
    state->driver_major = 13;
    state->devices[0].number = RTC_NO_DEVICE;
    std::strcpy(state->devices[0].architecture, "sm_90");
    return INGOT_SUCCESS;
}

ingot_status_t identify(void *, uint32_t, ingot_identity_t *identity)
{
    return ingot_identity_add(identity, "device", 7, "nothing");
}

} // namespace

std::unique_ptr<Compiler> make_nvrtc_compiler()
{
    static ingot_backend_ops_t ops = cuda_ops;
    ops.identify_device = identify;
    rtc_vendor vendor = cuda_vendor;
    vendor.ops = &ops;
    vendor.init = init_without_driver;
    return std::make_unique<RtcCompiler>("NVRTC", vendor, nullptr);
}

} // namespace hermetic
