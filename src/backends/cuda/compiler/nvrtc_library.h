/*
 * nvrtc_library.h - opens NVRTC, which compiles CUDA C++ to machine code, and looks up its functions.
 */
#ifndef INGOT_BACKENDS_CUDA_COMPILER_NVRTC_LIBRARY_H
#define INGOT_BACKENDS_CUDA_COMPILER_NVRTC_LIBRARY_H

#include "util/library.h"

#include <ingot/backend.h>

#include <nvrtc.h>

#define CUDA_NVRTC_OLDEST_MAJOR 12u

struct cuda_nvrtc {
    char library[LIBRARY_NAME_SIZE];
    const char *(*error_string)(nvrtcResult);
    nvrtcResult (*create)(nvrtcProgram *, const char *, const char *, int, const char *const *, const char *const *);
    nvrtcResult (*destroy)(nvrtcProgram *);
    nvrtcResult (*add_name_expression)(nvrtcProgram, const char *);
    nvrtcResult (*compile)(nvrtcProgram, int, const char *const *);
    nvrtcResult (*log_size)(nvrtcProgram, size_t *);
    nvrtcResult (*log)(nvrtcProgram, char *);
    nvrtcResult (*lowered_name)(nvrtcProgram, const char *, const char **);
    nvrtcResult (*cubin_size)(nvrtcProgram, size_t *);
    nvrtcResult (*cubin)(nvrtcProgram, char *);
};

/* Opens the newest NVRTC whose major version is not newer than the driver's, because the driver may refuse code from a
 * newer NVRTC. Returns INGOT_UNIMPLEMENTED if there is none. */
ingot_status_t cuda_nvrtc_open(int driver_version, struct cuda_nvrtc *nvrtc);

#endif
