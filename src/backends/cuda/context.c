/*
 * context.c - creates Ingot contexts for the application's own CUDA contexts, and returns native objects.
 *
 * The CUDA contexts belong to the application, which keeps them alive: CUDA does not count references. Ingot neither
 * configures nor retains them.
 */
#include "backends/cuda/backend.h"
#include "backends/cuda/compiler/compile.h"
#include "util/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cuda_state {
    struct rtc_state common; /* first */
    int version;             /* of the driver: 1000 * major + 10 * minor */
    CUresult (*get_error_name)(CUresult, const char **);
    CUresult (*get_version)(int *);
    CUresult (*get_current)(CUcontext *);
    CUresult (*push_context)(CUcontext);
    CUresult (*pop_context)(CUcontext *);
    CUresult (*get_device)(CUdevice *);
    CUresult (*get_device_name)(char *, int, CUdevice);
    CUresult (*get_device_attribute)(int *, CUdevice_attribute, CUdevice);
};

/* ---- the options that NVRTC accepts, and how it finds included files ----
 *
 * The rules come from NVRTC's documentation and from experiments. The list has no options that read or write files, or
 * that change where NVRTC looks for files: --pre-include, --no-source-include, --use-pch and similar options, --time,
 * --fdevice-time-trace, --options-file. A program with one of these is not cacheable. The rule for quotes is that of
 * rtc/compiler.c, which splits options into words. */

#define BOTH(name) "--" name, "-" name /* most options may begin with one hyphen or with two */

static const char *const options[] = {
    "--include-path",
    "--define-macro",
    "--undefine-macro",
    "--gpu-architecture=*",
    "-arch=*",
    "--device-c",
    "-dc",
    "--device-w",
    "-dw",
    "--relocatable-device-code=*",
    "-rdc=*",
    "--extensible-whole-program",
    "-ewp",
    "--device-debug",
    "-G",
    "--generate-line-info",
    "-lineinfo",
    BOTH("dopt"),
    BOTH("dopt=*"),
    "--Ofast-compile=*",
    "-Ofc=*",
    BOTH("maxrregcount=*"),
    BOTH("ftz=*"),
    BOTH("prec-sqrt=*"),
    BOTH("prec-div=*"),
    BOTH("fmad=*"),
    BOTH("use_fast_math"),
    BOTH("extra-device-vectorization"),
    BOTH("modify-stack-limit=*"),
    "--dlink-time-opt",
    "-dlto",
    "--gen-opt-lto",
    BOTH("optix-ir"),
    "--jump-table-density=*",
    "-jtd=*",
    BOTH("device-stack-protector=*"),
    BOTH("no-cache"),
    BOTH("frandom-seed=*"),
    BOTH("std=*"),
    BOTH("builtin-move-forward=*"),
    BOTH("builtin-initializer-list=*"),
    "--disable-warnings",
    "-w",
    BOTH("Wreorder"),
    "--warning-as-error=*",
    "-Werror=*",
    BOTH("restrict"),
    "--device-as-default-execution-space",
    "-default-device",
    BOTH("device-int128"),
    BOTH("device-float128"),
    "--optimization-info=*",
    "-opt-info=*",
    "--display-error-number",
    "-err-no",
    "--no-display-error-number",
    "-no-err-no",
    BOTH("diag-error=*"),
    BOTH("diag-suppress=*"),
    BOTH("diag-warn=*"),
    "--brief-diagnostics=*",
    "-brief-diag=*",
    BOTH("minimal"),
    BOTH("fdevice-syntax-only"),
    BOTH("version-ident=*"),
    BOTH("split-compile=*"),
    NULL,
};
static const char *const options_with_value[] = {
    "--gpu-architecture", "-arch",      BOTH("std"),        BOTH("maxrregcount"),  BOTH("ftz"),       BOTH("prec-sqrt"),
    BOTH("prec-div"),     BOTH("fmad"), BOTH("diag-error"), BOTH("diag-suppress"), BOTH("diag-warn"), NULL,
};
static const char *const variables[] = {"NVRTC_PREPEND_FLAGS", "NVRTC_APPEND_FLAGS", NULL};

static void get_text_rules(void *state, ingot_text_rules_t *rules)
{
    (void)state;
    rules->option_quotes = INGOT_QUOTES_SHELL;
    rules->current_directory = INGOT_CURRENT_NEVER;
    rules->searches_beside_source = 1;
    rules->knows_all_directories = 1;
    rules->unnamed_source = "default_program";
    rules->options = options;
    rules->options_with_value = options_with_value;
    rules->option_variables = variables;
}

/* ---- the fields that identify a device, its driver and the compilers ----
 *
 * Devices with equal fields share binaries. The compute capability selects the code, NVRTC (with its library of
 * built-in functions) and nvJitLink generate it, and the driver loads it. So the build-ids of these libraries are
 * fields, and so are the environment variables that add options for NVRTC. Whatever belongs to one machine or one
 * process (UUIDs, ordinals, clock rates, memory sizes, handles) is not a field. */

/* Environment variables that change the code: NVRTC_APPEND_FLAGS and whatever else NVRTC reads. */
static const char *const code_variables[] = {"NVRTC_*", NULL};

enum { MAJORS = 8, MINORS = 16, MAX_NAMES = MAJORS * (MINORS + 2) };

struct compiler_names {
    size_t count;
    const char *names[MAX_NAMES + 1]; /* NULL-terminated */
    char texts[MAX_NAMES][LIBRARY_NAME_SIZE];
};

static ingot_status_t add_identity_text(ingot_identity_t *identity, const char *name, const char *text)
{
    return ingot_identity_add(identity, name, strlen(text), text);
}

static ingot_status_t add_version(ingot_identity_t *identity, const char *name, int major, int minor)
{
    char text[32] = "";
    (void)snprintf(text, sizeof(text), "%d.%d", major, minor);
    return add_identity_text(identity, name, text);
}

static void add_compiler_name(struct compiler_names *names, const char *format, unsigned major, unsigned minor)
{
    char *text = names->texts[names->count];
    (void)snprintf(text, sizeof(names->texts[0]), format, major, minor);
    names->names[names->count++] = text;
}

static ingot_status_t identify_device(void *opaque, uint32_t device_index, ingot_identity_t *identity)
{
    const struct cuda_state *state = opaque;
    const struct rtc_device *device = &state->common.devices[device_index];
    const int capability = atoi(device->architecture + strlen("sm_"));
    ingot_status_t status = add_identity_text(identity, "device_name", device->name);
    if (status == INGOT_SUCCESS)
        status = add_version(identity, "compute_capability", capability / 10, capability % 10);
    if (status == INGOT_SUCCESS)
        status = add_version(identity, "driver_version", state->version / 1000, state->version % 1000 / 10);
    if (status == INGOT_SUCCESS) {
        /* Adds all compilers that the driver is new enough for. NVRTC's library of built-in functions is added with
         * every minor version, because NVRTC reports its own minor version only when it is loaded, and loading it would
         * take longer than everything else here. A machine without a compiler has a different identity, so it does not
         * load what compilers made on other machines. */
        struct compiler_names names = {.count = 0};
        const void *driver_function = NULL;
        for (unsigned major = state->common.driver_major; major >= CUDA_NVRTC_OLDEST_MAJOR && names.count < MAX_NAMES;
             --major) {
            add_compiler_name(&names, "libnvrtc.so.%u", major, 0);
            add_compiler_name(&names, "libnvJitLink.so.%u", major, 0);
            for (unsigned minor = 0; minor < MINORS; ++minor)
                add_compiler_name(&names, "libnvrtc-builtins.so.%u.%u", major, minor);
        }
        memcpy(&driver_function, &state->common.load_module, sizeof(driver_function));
        status = ingot_identity_add_compiler(identity, driver_function, names.names);
    }
    return status == INGOT_SUCCESS ? ingot_identity_add_environment(identity, code_variables) : status;
}

/* ---- the driver ---- */

#define DRIVER_LIBRARY "libcuda.so.1"
#define OLDEST_VERSION 12000

static const struct library_symbol symbols[] = {
    {"cuGetErrorName", offsetof(struct cuda_state, get_error_name)},
    {"cuDriverGetVersion", offsetof(struct cuda_state, get_version)},
    {"cuCtxGetCurrent", offsetof(struct cuda_state, get_current)},
    {"cuCtxPushCurrent_v2", offsetof(struct cuda_state, push_context)},
    {"cuCtxPopCurrent_v2", offsetof(struct cuda_state, pop_context)},
    {"cuCtxGetDevice", offsetof(struct cuda_state, get_device)},
    {"cuDeviceGetName", offsetof(struct cuda_state, get_device_name)},
    {"cuDeviceGetAttribute", offsetof(struct cuda_state, get_device_attribute)},
    {"cuModuleLoadData", offsetof(struct cuda_state, common.load_module)},
    {"cuModuleUnload", offsetof(struct cuda_state, common.unload_module)},
    {"cuModuleGetFunction", offsetof(struct cuda_state, common.get_function)},
};

static const char *error_name(const struct rtc_state *common, int result)
{
    const struct cuda_state *state = (const struct cuda_state *)common;
    const char *name = NULL;
    return state->get_error_name((CUresult)result, &name) == CUDA_SUCCESS ? name : NULL;
}

static ingot_status_t enter(const struct rtc_state *common, const struct rtc_device *device, int *pushed)
{
    const struct cuda_state *state = (const struct cuda_state *)common;
    CUcontext current = NULL;
    *pushed = state->get_current(&current) != CUDA_SUCCESS || current != device->context;
    const int result = *pushed ? (int)state->push_context(device->context) : RTC_DRIVER_SUCCESS;
    return result == RTC_DRIVER_SUCCESS ? INGOT_SUCCESS
                                        : rtc_fail(common, INGOT_BACKEND_ERROR, "CtxPushCurrent", result);
}

static void leave(const struct rtc_state *common, const struct rtc_device *device, int pushed)
{
    const struct cuda_state *state = (const struct cuda_state *)common;
    CUcontext context = NULL;
    (void)device;
    if (pushed)
        (void)state->pop_context(&context); /* fails only if the context has been destroyed */
}

static ingot_status_t open_driver(struct cuda_state *state)
{
    const char *missing = library_open(DRIVER_LIBRARY, sizeof(symbols) / sizeof(symbols[0]), symbols, state);
    if (missing != NULL)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "there is no CUDA driver (" DRIVER_LIBRARY "): %s", missing);
    const int result = (int)state->get_version(&state->version);
    if (result != RTC_DRIVER_SUCCESS)
        return rtc_fail(&state->common, INGOT_BACKEND_ERROR, "DriverGetVersion", result);
    if (state->version < OLDEST_VERSION)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "the CUDA driver has version %d; %d or later is needed",
                                      state->version, OLDEST_VERSION);
    state->common.driver_major = (unsigned)state->version / 1000;
    return INGOT_SUCCESS;
}

static ingot_status_t init_device(const struct cuda_state *state, CUcontext context, struct rtc_device *device)
{
    const struct rtc_state *common = &state->common;
    int pushed = 0;
    int major = 0;
    int minor = 0;
    device->context = context;
    const ingot_status_t status = enter(common, device, &pushed);
    if (status != INGOT_SUCCESS)
        return status;
    int result = (int)state->get_device(&device->number);
    leave(common, device, pushed);
    if (result != RTC_DRIVER_SUCCESS)
        return rtc_fail(common, INGOT_BACKEND_ERROR, "CtxGetDevice", result);
    result = (int)state->get_device_name(device->name, (int)sizeof(device->name), device->number);
    if (result != RTC_DRIVER_SUCCESS)
        return rtc_fail(common, INGOT_BACKEND_ERROR, "DeviceGetName", result);
    result = (int)state->get_device_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device->number);
    if (result == RTC_DRIVER_SUCCESS)
        result = (int)state->get_device_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device->number);
    if (result != RTC_DRIVER_SUCCESS)
        return rtc_fail(common, INGOT_BACKEND_ERROR, "DeviceGetAttribute", result);
    (void)snprintf(device->architecture, sizeof(device->architecture), "sm_%d%d", major, minor);
    return INGOT_SUCCESS;
}

static ingot_status_t init(struct rtc_state *common, const void *natives)
{
    const CUcontext *contexts = natives;
    struct cuda_state *state = (struct cuda_state *)common;
    ingot_status_t status = open_driver(state);
    for (uint32_t i = 0; i < common->device_count && status == INGOT_SUCCESS; ++i)
        status = init_device(state, contexts[i], &common->devices[i]);
    return status;
}

static ingot_status_t build(void *state, const ingot_build_request_t *request, size_t device_count,
                            const uint32_t *device_indices, ingot_sink_t *log, void **program)
{
    return rtc_build(state, request, device_count, device_indices, log, program);
}

const ingot_backend_ops_t cuda_ops = RTC_OPS("cuda", build, identify_device, get_text_rules);

const struct rtc_vendor cuda_vendor = {
    .format = &cuda_cubin,
    .ops = &cuda_ops,
    .prefix = "cu",
    .kinds = {INGOT_SOURCE_CUDA_CPP, INGOT_SOURCE_PTX},
    .refusals = {CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_NO_BINARY_FOR_GPU, CUDA_ERROR_INVALID_PTX,
                 CUDA_ERROR_INVALID_SOURCE, CUDA_ERROR_UNSUPPORTED_PTX_VERSION, CUDA_ERROR_JIT_COMPILATION_DISABLED,
                 CUDA_ERROR_JIT_COMPILER_NOT_FOUND, CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND},
    .state_size = sizeof(struct cuda_state),
    .init = init,
    .error_name = error_name,
    .enter = enter,
    .leave = leave,
    .compile = cuda_compile,
};

ingot_status_t ingot_cuda_context_create(ingot_context_t *context, uint32_t context_count,
                                         const CUcontext *cuda_contexts, const ingot_context_info_t *info)
{
    if (context == NULL || cuda_contexts == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is NULL",
                                      context == NULL ? "context" : "cuda_contexts");
    if (context_count == 0)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "context_count is 0");
    for (uint32_t i = 0; i < context_count; ++i) {
        for (uint32_t j = 0; j <= i; ++j) {
            if (cuda_contexts[i] == NULL || (j < i && cuda_contexts[j] == cuda_contexts[i]))
                return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "cuda_contexts: context %u is %s", (unsigned)i,
                                              cuda_contexts[i] == NULL ? "NULL" : "given twice");
        }
    }
    return rtc_context_create(&cuda_vendor, context, context_count, cuda_contexts, info);
}

ingot_status_t ingot_cuda_program_get_native(const_ingot_program_t program, uint32_t device_index, CUmodule *native)
{
    return rtc_get_native_module(&cuda_vendor, program, device_index, native);
}

ingot_status_t ingot_cuda_program_get_lowered_name(const_ingot_program_t program, const char *expression,
                                                   const char **lowered_name)
{
    return rtc_get_lowered_name(&cuda_vendor, program, expression, lowered_name);
}

ingot_status_t ingot_cuda_kernel_get_native(const_ingot_kernel_t kernel, CUfunction *native)
{
    return rtc_get_native_kernel(&cuda_vendor, kernel, native);
}
