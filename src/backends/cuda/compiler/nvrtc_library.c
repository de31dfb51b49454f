/*
 * nvrtc_library.c - opens NVRTC and looks up its functions.
 *
 * Opening a library that is already open costs only a few look-ups, far less than a compilation. So nothing is
 * cached, and there is nothing to lock.
 */
#include "backends/cuda/compiler/nvrtc_library.h"

static const struct library_symbol symbols[] = {
    {"nvrtcGetErrorString", offsetof(struct cuda_nvrtc, error_string)},
    {"nvrtcCreateProgram", offsetof(struct cuda_nvrtc, create)},
    {"nvrtcDestroyProgram", offsetof(struct cuda_nvrtc, destroy)},
    {"nvrtcAddNameExpression", offsetof(struct cuda_nvrtc, add_name_expression)},
    {"nvrtcCompileProgram", offsetof(struct cuda_nvrtc, compile)},
    {"nvrtcGetProgramLogSize", offsetof(struct cuda_nvrtc, log_size)},
    {"nvrtcGetProgramLog", offsetof(struct cuda_nvrtc, log)},
    {"nvrtcGetLoweredName", offsetof(struct cuda_nvrtc, lowered_name)},
    {"nvrtcGetCUBINSize", offsetof(struct cuda_nvrtc, cubin_size)},
    {"nvrtcGetCUBIN", offsetof(struct cuda_nvrtc, cubin)},
};

ingot_status_t cuda_nvrtc_open(int driver_version, struct cuda_nvrtc *nvrtc)
{
    const unsigned newest = (unsigned)driver_version / 1000;
    memset(nvrtc, 0, sizeof(*nvrtc));
    if (!library_open_newest("libnvrtc", CUDA_NVRTC_OLDEST_MAJOR, newest, nvrtc->library,
                             sizeof(symbols) / sizeof(symbols[0]), symbols, nvrtc))
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "no libnvrtc of version %u to %u was found",
                                      CUDA_NVRTC_OLDEST_MAJOR, newest);
    return INGOT_SUCCESS;
}
