/*
 * hiprtc_compiler.cpp - builds programs with hipRTC, directly and through Ingot, for a device that need not exist.
 */
#include "hermetic/rtc_compiler.h"

extern "C" {
#include "backends/hip/backend.h"
}

namespace hermetic
{

std::unique_ptr<Compiler> make_hiprtc_compiler()
{
    const hip_natives natives{nullptr, "gfx90a"};
    return std::make_unique<RtcCompiler>("hipRTC", hip_vendor, &natives);
}

} // namespace hermetic
