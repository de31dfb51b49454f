/*
 * no_nvrtc.cpp - replaces nvrtc_compiler.cpp in builds without a CUDA toolkit.
 */
#include <stdexcept>

#include "hermetic/compilers.h"

namespace hermetic
{

std::unique_ptr<Compiler> make_nvrtc_compiler()
{
    throw std::runtime_error("NVRTC was not there when this was configured");
}

} // namespace hermetic
