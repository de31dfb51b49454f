/*
 * compiler.c - CUDA's compilers, opened when they are needed.
 *
 * Opening a library that is open already costs a few lookups, far less than compiling; so nothing is remembered, and
 * there is nothing to lock.
 */
#include "backends/cuda/compiler.h"

#include "backends/cuda/libraries.h"

#include <stdio.h>
#include <string.h>

#define OLDEST_MAJOR 12
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct library_symbol nvrtc_symbols[] = {
    {"nvrtcVersion", offsetof(struct cuda_nvrtc, version)},
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

static const struct library_symbol linker_symbols[] = {
    {"nvJitLinkCreate", offsetof(struct cuda_linker, create)},
    {"nvJitLinkDestroy", offsetof(struct cuda_linker, destroy)},
    {"nvJitLinkAddData", offsetof(struct cuda_linker, add_data)},
    {"nvJitLinkComplete", offsetof(struct cuda_linker, complete)},
    {"nvJitLinkGetLinkedCubinSize", offsetof(struct cuda_linker, cubin_size)},
    {"nvJitLinkGetLinkedCubin", offsetof(struct cuda_linker, cubin)},
    {"nvJitLinkGetErrorLogSize", offsetof(struct cuda_linker, error_log_size)},
    {"nvJitLinkGetErrorLog", offsetof(struct cuda_linker, error_log)},
    {"nvJitLinkGetInfoLogSize", offsetof(struct cuda_linker, info_log_size)},
    {"nvJitLinkGetInfoLog", offsetof(struct cuda_linker, info_log)},
};

/* `library` has the name afterwards. */
static ingot_status_t open_newest(const char *base, int driver_version, char *library, size_t symbol_count,
                                  const struct library_symbol *symbols, void *table)
{
    for (int major = driver_version / 1000; major >= OLDEST_MAJOR; --major) {
        (void)snprintf(library, CUDA_LIBRARY_NAME_SIZE, "%s.so.%d", base, major);
        if (cuda_open_library(library, symbol_count, symbols, table) == NULL)
            return INGOT_SUCCESS;
    }
    return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "there is no %s of version %d to %d", base, OLDEST_MAJOR,
                                  driver_version / 1000);
}

ingot_status_t cuda_nvrtc_open(int driver_version, struct cuda_nvrtc *nvrtc)
{
    memset(nvrtc, 0, sizeof(*nvrtc));
    const ingot_status_t status =
        open_newest("libnvrtc", driver_version, nvrtc->library, COUNT(nvrtc_symbols), nvrtc_symbols, nvrtc);
    if (status != INGOT_SUCCESS)
        return status;
    const nvrtcResult result = nvrtc->version(&nvrtc->major, &nvrtc->minor);
    if (result != NVRTC_SUCCESS)
        return ingot_set_error(INGOT_BACKEND_ERROR, (int64_t)result, "nvrtcVersion: %s", nvrtc->error_string(result));
    (void)snprintf(nvrtc->builtins, sizeof(nvrtc->builtins), "libnvrtc-builtins.so.%d.%d", nvrtc->major, nvrtc->minor);
    return INGOT_SUCCESS;
}

ingot_status_t cuda_linker_open(int driver_version, struct cuda_linker *linker)
{
    memset(linker, 0, sizeof(*linker));
    return open_newest("libnvJitLink", driver_version, linker->library, COUNT(linker_symbols), linker_symbols, linker);
}
