/*
 * driver.c - opens HIP's runtime, libamdhip64.so.MAJOR, makes devices current, and queries them.
 */
#include "backends/hip/backend.h"

#include <stdlib.h>

#include "util/library.h"

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

const char *hip_error_name(const struct rtc_state *common, int result)
{
    return ((const struct hip_state *)common)->get_error_name(result);
}

ingot_status_t hip_enter(const struct rtc_state *common, const struct rtc_device *device, int *previous)
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

void hip_leave(const struct rtc_state *common, const struct rtc_device *device, int previous)
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
    if (!library_open_newest("libamdhip64", oldest, newest, name, sizeof(symbols) / sizeof(symbols[0]), symbols, state))
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED,
                                      "there is no HIP runtime (libamdhip64.so.%u to %u; Debian package libamdhip64-5)",
                                      OLDEST_MAJOR, NEWEST_MAJOR);
    state->common.driver_major = (unsigned)strtoul(strrchr(name, '.') + 1, NULL, 10);
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

ingot_status_t hip_init(struct rtc_state *common, const void *natives)
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
