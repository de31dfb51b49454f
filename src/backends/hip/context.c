/*
 * context.c - creates Ingot contexts for HIP devices, and returns native objects.
 */
#include <ingot/private/hip.h>
#include <ingot/private/program.h>
#include <string.h>

#include "backends/hip/backend.h"
#include "backends/hip/compiler/compile.h"
#include "util/library.h"

struct hip_state {
    struct rtc_state common; /* first */
    const char *(*get_error_name)(int);
    int (*get_device)(int *);
    int (*set_device)(int);
    int (*get_properties)(void *, int);
};

/* ---- the options that hipRTC accepts, and how it finds included files ----
 *
 * It is clang: the rules come from clang's documentation and from experiments. The list has no options that read or
 * write files, or that change where clang looks for files. Neither has it -g, whose result has the random path of the
 * file that hipRTC writes the text to, and -mllvm, some of whose options read files. A program with one of these is not
 * cacheable. The rule for quotes is that of rtc/compiler.c, which splits options into words. */

static const char *const options[] = {
    "--offload-arch=*",
    "--gpu-architecture=*",
    "-O0",
    "-O1",
    "-O2",
    "-O3",
    "-Ofast",
    "-std=*",
    "--std=*",
    "-w",
    "-W",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-*",
    "-ffast-math",
    "-fno-fast-math",
    "-ffp-contract=*",
    "-fdenormal-fp-math=*",
    "-fgpu-flush-denormals-to-zero",
    "-fno-gpu-flush-denormals-to-zero",
    "-fgpu-approx-transcendentals",
    "-fno-gpu-approx-transcendentals",
    "-fno-math-errno",
    "-fno-signed-zeros",
    "-fno-trapping-math",
    "-fassociative-math",
    "-freciprocal-math",
    "-ffinite-math-only",
    "-fno-exceptions",
    "-fno-rtti",
    "-funroll-loops",
    "-fno-unroll-loops",
    "-mcumode",
    "-mno-cumode",
    "-mwavefrontsize64",
    "-mno-wavefrontsize64",
    "-munsafe-fp-atomics",
    "-mno-unsafe-fp-atomics",
    "--gpu-max-threads-per-block=*",
    NULL,
};
static const char *const variables[] = {"HIPRTC_COMPILE_OPTIONS_APPEND", NULL};

static void get_text_rules(void *state, ingot_text_rules_t *rules)
{
    (void)state;
    rules->option_quotes = INGOT_QUOTES_SHELL;
    rules->current_directory = INGOT_CURRENT_NEVER;
    rules->unnamed_source = "CompileSource";
    rules->options = options;
    rules->option_variables = variables;
    rules->assembler_reads_files = 1;
}

/* ---- the fields that identify a device and the compiler ----
 *
 * Devices with equal fields share binaries. The architecture with its features selects the code, and hipRTC, comgr
 * and hipRTC's headers generate it. HIP's version numbers do not tell rebuilt libraries apart, and a path may name
 * another file than the one that is mapped. So hipRTC is made to load what it compiles with, and the build-ids are
 * those of the mapped libraries. The device's marketing name is not a field, so a machine without a GPU has the same
 * ids. */

/* Environment variables that change the code: HIPRTC_COMPILE_OPTIONS_APPEND and whatever else hipRTC reads. */
static const char *const code_variables[] = {"HIPRTC_*", NULL};

/* hipRTC includes its own header before the text by -include, which prefers files in the current directory. */
static const char *const files[] = {"hiprtc_runtime.h", "hiprtc_runtime.h.pch", "hiprtc_runtime.h.gch", NULL};

enum { OWN = 3 }; /* libraries whose names have the version of HIP */

static ingot_status_t identify_device(void *opaque, uint32_t device_index, ingot_identity_t *identity)
{
    const struct rtc_state *state = opaque;
    const char *architecture = state->devices[device_index].architecture;
    ingot_status_t status = ingot_identity_add(identity, "device_name", strlen(architecture), architecture);
    if (status == INGOT_SUCCESS) {
        static const char *const bases[] = {"libamdhip64", "libhiprtc", "libhiprtc-builtins"};
        char texts[OWN][LIBRARY_NAME_SIZE];
        const char *names[] = {NULL, NULL, NULL, "libamd_comgr.so.2", "libamd_comgr.so.3", NULL};
        const void *function = NULL;
        struct rtc_compiler hiprtc;
        for (size_t i = 0; i < OWN; ++i) {
            (void)snprintf(texts[i], sizeof(texts[i]), "%s.so.%u", bases[i], state->driver_major);
            names[i] = texts[i];
        }
        if (hip_hiprtc_open(state->driver_major, &hiprtc) == INGOT_SUCCESS) {
            /* hipRTC loads the compiler's libraries, as it does for every program */
            void *program = NULL;
            if (hiprtc.create(&program, " ", NULL, 0, NULL, NULL) == 0)
                (void)hiprtc.destroy(&program);
            memcpy(&function, &hiprtc.create, sizeof(function));
        } else {
            memcpy(&function, &state->load_module, sizeof(function));
        }
        status = ingot_identity_add_compiler(identity, function, names);
    }
    if (status == INGOT_SUCCESS)
        status = ingot_identity_add_files(identity, "files", files);
    return status == INGOT_SUCCESS ? ingot_identity_add_environment(identity, code_variables) : status;
}

/* ---- the runtime, libamdhip64.so.MAJOR ---- */

#define OLDEST_MAJOR 5u
#define NEWEST_MAJOR 7u

static const struct library_symbol symbols[] = {
    {"hipGetErrorName", offsetof(struct hip_state, get_error_name)},
    {"hipGetDevice", offsetof(struct hip_state, get_device)},
    {"hipSetDevice", offsetof(struct hip_state, set_device)},
    {"hipGetDeviceProperties", offsetof(struct hip_state, get_properties)},
    {"hipModuleLoadData", offsetof(struct hip_state, common.load_module)},
    {"hipModuleUnload", offsetof(struct hip_state, common.unload_module)},
    {"hipModuleGetFunction", offsetof(struct hip_state, common.get_function)},
};
/* From ROCm 6 on, hipGetDeviceProperties is for programs that were compiled with ROCm 5. */
static const struct library_symbol newer[] = {
    {"hipGetDevicePropertiesR0600", offsetof(struct hip_state, get_properties)}};

static const char *error_name(const struct rtc_state *common, int result)
{
    return ((const struct hip_state *)common)->get_error_name(result);
}

static ingot_status_t enter(const struct rtc_state *common, const struct rtc_device *device, int *previous)
{
    const struct hip_state *state = (const struct hip_state *)common;
    const char *call = "GetDevice";
    int result = state->get_device(previous);
    if (result == RTC_DRIVER_SUCCESS && *previous != device->number) {
        result = state->set_device(device->number);
        call = "SetDevice";
    }
    return result == RTC_DRIVER_SUCCESS ? INGOT_SUCCESS : rtc_fail(common, INGOT_BACKEND_ERROR, call, result);
}

static void leave(const struct rtc_state *common, const struct rtc_device *device, int previous)
{
    if (previous != device->number)
        (void)((const struct hip_state *)common)->set_device(previous);
}

/* Two runtimes in a process would not know each other's devices and modules. */
static bool is_loaded(const char *name)
{
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    return library != NULL && dlclose(library) == 0;
}

/* Opens the runtime that the process uses already, or the newest one. */
static ingot_status_t open_driver(struct hip_state *state)
{
    char name[LIBRARY_NAME_SIZE] = "";
    unsigned oldest = OLDEST_MAJOR;
    unsigned newest = NEWEST_MAJOR;
    for (unsigned major = newest; major >= oldest; --major) {
        (void)snprintf(name, sizeof(name), "libamdhip64.so.%u", major);
        if (is_loaded(name))
            oldest = newest = major;
    }
    state->common.driver_major =
        library_open_newest("libamdhip64", oldest, newest, sizeof(symbols) / sizeof(symbols[0]), symbols, state);
    if (state->common.driver_major == 0)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED,
                                      "there is no HIP runtime (libamdhip64.so.%u to %u; Debian package libamdhip64-5)",
                                      OLDEST_MAJOR, NEWEST_MAJOR);
    (void)snprintf(name, sizeof(name), "libamdhip64.so.%u", state->common.driver_major);
    const struct hip_state older = *state;
    if (library_open(name, 1, newer, state) != NULL)
        state->get_properties = older.get_properties;
    return INGOT_SUCCESS;
}

/* Copies the name of an architecture. Returns false if the text is not one. */
static bool take_architecture(struct rtc_device *device, const char *text)
{
    const size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_:+-");
    if (length < 4 || length >= sizeof(device->architecture) || strncmp(text, "gfx", 3) != 0)
        return false;
    memcpy(device->architecture, text, length);
    device->architecture[length] = '\0';
    return true;
}

/* The properties' layout differs between versions of HIP. They begin with a name of 256 bytes, and the only other text
 * with "gfx" is the architecture's name. */
static ingot_status_t query_architecture(const struct hip_state *state, struct rtc_device *device)
{
    enum { NAME_SIZE = 256, SIZE = 8192 };
    char properties[SIZE];
    memset(properties, 0, sizeof(properties));
    const int result = state->get_properties(properties, device->number);
    if (result != RTC_DRIVER_SUCCESS)
        return rtc_fail(&state->common, INGOT_BACKEND_ERROR, "GetDeviceProperties", result);
    properties[SIZE - 1] = '\0';
    for (size_t i = NAME_SIZE; i < SIZE - 1; ++i) {
        if (take_architecture(device, properties + i))
            return INGOT_SUCCESS;
    }
    return ingot_set_error_detail(INGOT_BACKEND_ERROR, "HIP device %d tells no architecture (gcnArchName)",
                                  device->number);
}

static ingot_status_t init(struct rtc_state *common, const void *natives)
{
    const struct hip_natives *wanted = natives;
    struct rtc_device *devices = common->devices;
    struct hip_state *state = (struct hip_state *)common;
    ingot_status_t status = open_driver(state);
    if (status == INGOT_SUCCESS && wanted->architecture != NULL) {
        devices[0].number = RTC_NO_DEVICE;
        if (!take_architecture(&devices[0], wanted->architecture) ||
            strcmp(devices[0].architecture, wanted->architecture) != 0)
            return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "\"%.80s\" is not an architecture such as gfx90a",
                                          wanted->architecture);
        return INGOT_SUCCESS;
    }
    for (uint32_t i = 0; i < common->device_count && status == INGOT_SUCCESS; ++i) {
        devices[i].number = wanted->numbers[i];
        status = query_architecture(state, &devices[i]);
    }
    return status;
}

static ingot_status_t build(void *state, const ingot_build_request_t *request, size_t device_count,
                            const uint32_t *device_indices, ingot_sink_t *log, void **program)
{
    return rtc_build(state, request, device_count, device_indices, log, program);
}

const ingot_backend_ops_t hip_ops = RTC_OPS("hip", build, identify_device, get_text_rules);

/* Of hipError_t. */
enum {
    HIP_INVALID_VALUE = 1,
    HIP_INVALID_IMAGE = 200,
    HIP_NO_BINARY_FOR_GPU = 209,
    HIP_INVALID_KERNEL_FILE = 218,
    HIP_INVALID_SOURCE = 300,
    HIP_FILE_NOT_FOUND = 301,
    HIP_SYMBOL_NOT_FOUND = 302,
    HIP_INIT_FAILED = 303
};

const struct rtc_vendor hip_vendor = {
    .format = &hip_code_object,
    .ops = &hip_ops,
    .prefix = "hip",
    .kinds = {INGOT_SOURCE_HIP_CPP, INGOT_SOURCE_HIP_CODE},
    .refusals = {HIP_INVALID_VALUE, HIP_INVALID_IMAGE, HIP_NO_BINARY_FOR_GPU, HIP_INVALID_KERNEL_FILE,
                 HIP_INVALID_SOURCE, HIP_FILE_NOT_FOUND, HIP_SYMBOL_NOT_FOUND, HIP_INIT_FAILED},
    .state_size = sizeof(struct hip_state),
    .init = init,
    .error_name = error_name,
    .enter = enter,
    .leave = leave,
    .compile = hip_compile,
};

ingot_status_t ingot_hip_context_create(ingot_context_t *context, uint32_t device_count, const int *devices,
                                        const ingot_context_info_t *info)
{
    const struct hip_natives natives = {devices, NULL};
    if (context == NULL || devices == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is NULL", context == NULL ? "context" : "devices");
    if (device_count == 0)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "device_count is 0");
    for (uint32_t i = 0; i < device_count; ++i) {
        for (uint32_t j = 0; j <= i; ++j) {
            if (devices[i] < 0 || (j < i && devices[j] == devices[i]))
                return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "devices: %d is %s", devices[i],
                                              devices[i] < 0 ? "not a device" : "given twice");
        }
    }
    return rtc_context_create(&hip_vendor, context, device_count, &natives, info);
}

ingot_status_t ingot_hip_context_create_for(ingot_context_t *context, const char *architecture,
                                            const ingot_context_info_t *info)
{
    const struct hip_natives natives = {NULL, architecture};
    if (context == NULL || architecture == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is NULL",
                                      context == NULL ? "context" : "architecture");
    return rtc_context_create(&hip_vendor, context, 1, &natives, info);
}

ingot_status_t ingot_hip_context_get_architecture(const_ingot_context_t context, uint32_t device_index,
                                                  const char **architecture)
{
    if (context == NULL || architecture == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is NULL",
                                      context == NULL ? "context" : "architecture");
    const struct rtc_state *state = ingot_context_get_backend_state(context, &hip_ops);
    if (state == NULL || device_index >= state->device_count)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "context has no HIP device %u", (unsigned)device_index);
    *architecture = state->devices[device_index].architecture;
    return INGOT_SUCCESS;
}

ingot_status_t ingot_hip_program_get_native(const_ingot_program_t program, uint32_t device_index, hipModule_t *native)
{
    return rtc_get_native_module(&hip_vendor, program, device_index, native);
}

ingot_status_t ingot_hip_program_get_lowered_name(const_ingot_program_t program, const char *expression,
                                                  const char **lowered_name)
{
    return rtc_get_lowered_name(&hip_vendor, program, expression, lowered_name);
}

ingot_status_t ingot_hip_kernel_get_native(const_ingot_kernel_t kernel, hipFunction_t *native)
{
    return rtc_get_native_kernel(&hip_vendor, kernel, native);
}
