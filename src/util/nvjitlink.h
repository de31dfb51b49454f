/*
 * nvjitlink.h - opens nvJitLink, the CUDA toolkit's linker, which also translates PTX to machine code.
 *
 * nvJitLink needs no GPU, no driver and no CUDA context. Its functions are declared here without its header, because
 * developers of OpenCL applications do not have the header. They return 0 on success. Every result must be checked,
 * because after an error nvJitLink continues and makes a cubin without kernels.
 */
#ifndef INGOT_UTIL_NVJITLINK_H
#define INGOT_UTIL_NVJITLINK_H

#include "util/library.h"

#include <stdint.h>

#define NVJITLINK_OLDEST_MAJOR 12u

struct nvjitlink {
    int (*create)(void **handle, uint32_t option_count, const char *const *options);
    int (*destroy)(void **handle);
    int (*add_data)(void *handle, int type, const void *bytes, size_t size, const char *name);
    int (*complete)(void *handle);
    int (*cubin_size)(void *handle, size_t *size);
    int (*cubin)(void *handle, void *bytes);
    int (*error_log_size)(void *handle, size_t *size);
    int (*error_log)(void *handle, char *text);
    int (*info_log_size)(void *handle, size_t *size);
    int (*info_log)(void *handle, char *text);
};

/* Opens the newest nvJitLink whose major version is not larger than that of the driver's CUDA version. */
static inline bool nvjitlink_open(unsigned driver_major, struct nvjitlink *linker)
{
    static const struct library_symbol symbols[] = {
        {"nvJitLinkCreate", offsetof(struct nvjitlink, create)},
        {"nvJitLinkDestroy", offsetof(struct nvjitlink, destroy)},
        {"nvJitLinkAddData", offsetof(struct nvjitlink, add_data)},
        {"nvJitLinkComplete", offsetof(struct nvjitlink, complete)},
        {"nvJitLinkGetLinkedCubinSize", offsetof(struct nvjitlink, cubin_size)},
        {"nvJitLinkGetLinkedCubin", offsetof(struct nvjitlink, cubin)},
        {"nvJitLinkGetErrorLogSize", offsetof(struct nvjitlink, error_log_size)},
        {"nvJitLinkGetErrorLog", offsetof(struct nvjitlink, error_log)},
        {"nvJitLinkGetInfoLogSize", offsetof(struct nvjitlink, info_log_size)},
        {"nvJitLinkGetInfoLog", offsetof(struct nvjitlink, info_log)},
    };
    return library_open_newest("libnvJitLink", NVJITLINK_OLDEST_MAJOR, driver_major,
                               sizeof(symbols) / sizeof(symbols[0]), symbols, linker) != 0;
}

#endif
