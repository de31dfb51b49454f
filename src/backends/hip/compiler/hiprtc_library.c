/*
 * hiprtc_library.c - opens hipRTC and looks up its functions. It is a part of libamdhip64, and later a library of its
 * own.
 */
#include "backends/hip/compiler/hiprtc_library.h"

static const struct library_symbol symbols[] = RTC_SYMBOLS("hiprtc", "Code");

ingot_status_t hip_hiprtc_open(unsigned major, struct rtc_compiler *hiprtc)
{
    static const char *const names[] = {"libhiprtc", "libamdhip64"};
    *hiprtc = (struct rtc_compiler){.prefix = "hiprtc"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        if (library_open_newest(names[i], major, major, hiprtc->library, sizeof(symbols) / sizeof(symbols[0]), symbols,
                                hiprtc))
            return INGOT_SUCCESS;
    }
    return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "neither libhiprtc.so.%u nor libamdhip64.so.%u has hipRTC",
                                  major, major);
}
