/*
 * compiler.h - CUDA's compilers: NVRTC, from CUDA C++ to machine code, and nvJitLink, which links and takes PTX.
 */
#ifndef INGOT_BACKENDS_CUDA_COMPILER_H
#define INGOT_BACKENDS_CUDA_COMPILER_H

#include <ingot/backend.h>

#define NVJITLINK_NO_INLINE
#include <nvJitLink.h>
#include <nvrtc.h>

#include <stdint.h>

#define CUDA_LIBRARY_NAME_SIZE 40u

struct cuda_nvrtc {
    char library[CUDA_LIBRARY_NAME_SIZE];
    char builtins[CUDA_LIBRARY_NAME_SIZE]; /* what it opens itself to compile */
    int major;
    int minor;
    nvrtcResult (*version)(int *, int *);
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

struct cuda_linker {
    char library[CUDA_LIBRARY_NAME_SIZE];
    nvJitLinkResult (*create)(nvJitLinkHandle *, uint32_t, const char *const *);
    nvJitLinkResult (*destroy)(nvJitLinkHandle *);
    nvJitLinkResult (*add_data)(nvJitLinkHandle, nvJitLinkInputType, const void *, size_t, const char *);
    nvJitLinkResult (*complete)(nvJitLinkHandle);
    nvJitLinkResult (*cubin_size)(nvJitLinkHandle, size_t *);
    nvJitLinkResult (*cubin)(nvJitLinkHandle, void *);
    nvJitLinkResult (*error_log_size)(nvJitLinkHandle, size_t *);
    nvJitLinkResult (*error_log)(nvJitLinkHandle, char *);
    nvJitLinkResult (*info_log_size)(nvJitLinkHandle, size_t *);
    nvJitLinkResult (*info_log)(nvJitLinkHandle, char *);
};

/* The newest one whose major version the driver knows: what a newer one makes, the driver need not take.
 * INGOT_UNIMPLEMENTED where there is none. */
ingot_status_t cuda_nvrtc_open(int driver_version, struct cuda_nvrtc *nvrtc);
ingot_status_t cuda_linker_open(int driver_version, struct cuda_linker *linker);

#endif
