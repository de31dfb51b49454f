/*
 * vendor.h - what the backends for run-time compilers (NVRTC, hipRTC) tell the code that they share, and its functions.
 *
 * The shared code makes programs of images (compiler.h): it compiles them, loads one module for each device, and finds
 * kernels. Modules and kernels are the driver's handles, as pointers. The functions for them, and their results, are
 * the same in both drivers but for the names.
 */
#ifndef INGOT_BACKENDS_RTC_VENDOR_H
#define INGOT_BACKENDS_RTC_VENDOR_H

#include "backends/rtc/compiler.h"

#define RTC_ARCHITECTURE_SIZE 64u
#define RTC_NAME_SIZE 256u
#define RTC_NO_DEVICE (-1)

/* Results that both drivers have. */
enum { RTC_DRIVER_SUCCESS = 0, RTC_DRIVER_OUT_OF_MEMORY = 2, RTC_DRIVER_NOT_FOUND = 500 };

struct rtc_device {
    void *context;                            /* the application's CUDA context; NULL for HIP */
    int number;                               /* RTC_NO_DEVICE: programs are compiled for it, and not loaded */
    char architecture[RTC_ARCHITECTURE_SIZE]; /* as in "sm_90", "gfx90a:sramecc+:xnack-" */
    char name[RTC_NAME_SIZE];                 /* of CUDA's devices; a part of ids */
};

/* The state of an Ingot context. rtc_state_create writes everything here once. Afterwards it is only read, so it needs
 * no lock. A backend's own state begins with it. */
struct rtc_state {
    const struct rtc_vendor *vendor;
    ingot_allocator_t allocator;
    size_t size;
    unsigned driver_major; /* selects the compilers */
    int (*load_module)(void **module, const void *code);
    int (*unload_module)(void *module);
    int (*get_function)(void **kernel, void *module, const char *name);
    uint32_t device_count;
    struct rtc_device *devices;
};

/* What distinguishes a backend. */
struct rtc_vendor {
    const struct rtc_format *format;
    const ingot_backend_ops_t *ops;
    const char *prefix;           /* of the driver's functions */
    ingot_source_kind_t kinds[2]; /* of sources */
    int refusals[9];              /* by which the driver refuses code itself; 0 ends them */
    size_t state_size;            /* of the backend's own state */
    /* Opens the driver, and describes the devices that `natives` names. */
    ingot_status_t (*init)(struct rtc_state *state, const void *natives);
    const char *(*error_name)(const struct rtc_state *state, int result); /* NULL: unknown */
    /* Makes a device the thread's current one until `leave`, which gets what `enter` wrote to *previous. */
    ingot_status_t (*enter)(const struct rtc_state *state, const struct rtc_device *device, int *previous);
    void (*leave)(const struct rtc_state *state, const struct rtc_device *device, int previous);
    /* Compiles a request to an image. Returns INGOT_BUILD_FAILED if a compiler refused the program; `log` then has the
     * compiler's messages. Returns INGOT_UNIMPLEMENTED if there is no compiler. */
    ingot_status_t (*compile)(const struct rtc_target *target, const ingot_build_request_t *request, ingot_sink_t *log,
                              struct rtc_bytes *image);
};

/* Creates the state of `count` devices. */
ingot_status_t rtc_state_create(const struct rtc_vendor *vendor, const ingot_allocator_t *allocator, uint32_t count,
                                const void *natives, struct rtc_state **state);
/* Creates an Ingot context for devices. */
ingot_status_t rtc_context_create(const struct rtc_vendor *vendor, ingot_context_t *context, uint32_t count,
                                  const void *natives, const ingot_context_info_t *info);

/* Returns INGOT_OUT_OF_MEMORY if the driver ran out of memory, so that the core empties the in-memory cache and retries
 * once, otherwise `otherwise`. Sets an error detail with the call and the result's name and number. */
ingot_status_t rtc_fail(const struct rtc_state *state, ingot_status_t otherwise, const char *call, int result);

/* The functions of a backend's header. `native` points to a handle of the vendor's type, as `module` below. */
ingot_status_t rtc_get_native_module(const struct rtc_vendor *vendor, const_ingot_program_t program,
                                     uint32_t device_index, void *native);
ingot_status_t rtc_get_lowered_name(const struct rtc_vendor *vendor, const_ingot_program_t program,
                                    const char *expression, const char **lowered_name);
ingot_status_t rtc_get_native_kernel(const struct rtc_vendor *vendor, const_ingot_kernel_t kernel, void *native);
/* Transfers the module of the only device to the caller, who unloads it. The program can only be destroyed afterwards.
 */
void rtc_take_module(void *program, void *module);

/* The table of operations. Each backend wraps rtc_build, because the core distinguishes backends by ops->build. */
#define RTC_OPS(backend_name, own_build, own_identify_device, own_get_text_rules)                                      \
    {                                                                                                                  \
        .struct_size = sizeof(ingot_backend_ops_t), .name = (backend_name), .destroy = rtc_destroy,                    \
        .identify_device = (own_identify_device), .accepts = rtc_accepts, .build = (own_build),                        \
        .destroy_program = rtc_destroy_program, .get_kernel_names = rtc_get_kernel_names,                              \
        .get_binary = rtc_get_binary, .load = rtc_load, .create_kernel = rtc_create_kernel,                            \
        .destroy_kernel = rtc_destroy_kernel, .get_program_size = rtc_get_program_size,                                \
        .takes_name_expressions = rtc_takes_name_expressions, .get_text_rules = (own_get_text_rules)                   \
    }

void rtc_destroy(void *state);
/* Requires a state: sources are made in contexts over a target, and never in a target, which has none. */
int rtc_accepts(void *state, ingot_source_kind_t kind);
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
