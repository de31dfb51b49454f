/*
 * vendor.h - what the backends for run-time compilers (NVRTC, hipRTC) tell the code that they share, and its functions.
 *
 * The shared code makes programs of images (image.h): it compiles them, loads one module for each device, and finds
 * kernels. A backend's state begins with struct rtc_state. Modules and kernels are the driver's handles, as pointers.
 */
#ifndef INGOT_BACKENDS_RTC_VENDOR_H
#define INGOT_BACKENDS_RTC_VENDOR_H

#include "backends/rtc/image.h"

struct rtc_state {
    ingot_allocator_t allocator;
    const struct rtc_vendor *vendor;
    uint32_t device_count;
};

struct rtc_vendor {
    const struct rtc_format *format;
    const ingot_backend_ops_t *ops;
    /* Compiles a request to an image for this device. */
    ingot_status_t (*compile)(const struct rtc_state *state, uint32_t device_index,
                              const ingot_build_request_t *request, ingot_sink_t *log, struct rtc_bytes *image);
    /* Loads code as a module. Returns `refused` if the driver refuses the code itself. */
    ingot_status_t (*load)(const struct rtc_state *state, uint32_t device_index, const void *code,
                           ingot_status_t refused, void **module);
    void (*unload)(const struct rtc_state *state, uint32_t device_index, void *module);
    /* Finds a kernel, which the module owns. */
    ingot_status_t (*find)(const struct rtc_state *state, uint32_t device_index, void *module, const char *name,
                           void **kernel);
};

/* Transfers the module of the only device to the caller, who unloads it. The program can only be destroyed afterwards.
 */
void *rtc_take_module(void *program);

/* The functions of a backend's header. `out` is the caller's output, which must not be NULL. */
ingot_status_t rtc_get_native_module(const struct rtc_vendor *vendor, const_ingot_program_t program,
                                     uint32_t device_index, const void *out, void **module);
ingot_status_t rtc_get_lowered_name(const struct rtc_vendor *vendor, const_ingot_program_t program,
                                    const char *expression, const char **lowered_name);
ingot_status_t rtc_get_native_kernel(const struct rtc_vendor *vendor, const_ingot_kernel_t handle, const void *out,
                                     void **kernel);

/* Operations. Each backend wraps rtc_build, because the core distinguishes backends by their build operations. */
ingot_status_t rtc_build(void *state, const ingot_build_request_t *request, size_t device_count,
                         const uint32_t *device_indices, ingot_sink_t *log, void **program);
ingot_status_t rtc_get_binary(void *state, void *program, uint32_t device_index, ingot_sink_t *binary);
ingot_status_t rtc_load(void *state, const ingot_build_request_t *request, size_t device_count,
                        const uint32_t *device_indices, const ingot_binary_t *binaries, void **program);
void rtc_destroy_program(void *state, void *program);
ingot_status_t rtc_get_kernel_names(void *state, void *program, ingot_sink_t *names);
size_t rtc_get_program_size(void *state, void *program);
ingot_status_t rtc_create_kernel(void *state, void *program, uint32_t device_index, const char *name, void **kernel);
void rtc_destroy_kernel(void *state, void *kernel);
int rtc_takes_name_expressions(void *state);

#endif
