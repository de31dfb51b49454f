/*
 * nvrtc_library.c - opens NVRTC and looks up its functions.
 */
#include "backends/cuda/compiler/nvrtc_library.h"

static const struct library_symbol symbols[] = RTC_SYMBOLS("nvrtc", "CUBIN");

ingot_status_t cuda_nvrtc_open(int driver_version, struct rtc_compiler *nvrtc)
{
    const unsigned newest = (unsigned)driver_version / 1000;
    *nvrtc = (struct rtc_compiler){.prefix = "nvrtc"};
    if (!library_open_newest("libnvrtc", CUDA_NVRTC_OLDEST_MAJOR, newest, nvrtc->library,
                             sizeof(symbols) / sizeof(symbols[0]), symbols, nvrtc))
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "no libnvrtc of version %u to %u was found",
                                      CUDA_NVRTC_OLDEST_MAJOR, newest);
    return INGOT_SUCCESS;
}
