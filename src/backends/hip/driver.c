/*
 * driver.c - looks up the functions of HIP's runtime that the backend uses, in libamdhip64.so.MAJOR.
 */
#include "backends/hip/driver.h"

#include <stdlib.h>

#include "util/library.h"

static const struct library_symbol symbols[] = {
    {"hipGetErrorName", offsetof(struct hip_driver, get_error_name)},
    {"hipGetDevice", offsetof(struct hip_driver, get_device)},
    {"hipSetDevice", offsetof(struct hip_driver, set_device)},
    {"hipGetDeviceProperties", offsetof(struct hip_driver, get_properties)},
    {"hipModuleLoadData", offsetof(struct hip_driver, load_module)},
    {"hipModuleUnload", offsetof(struct hip_driver, unload_module)},
    {"hipModuleGetFunction", offsetof(struct hip_driver, get_function)},
};
/* From ROCm 6 on, the function above is for programs that were compiled with ROCm 5. */
static const struct library_symbol newer[] = {
    {"hipGetDevicePropertiesR0600", offsetof(struct hip_driver, get_properties)}};

/* Two runtimes in a process would not know each other's devices and modules. */
static bool is_loaded(const char *name)
{
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    return library != NULL && dlclose(library) == 0;
}

ingot_status_t hip_driver_open(struct hip_driver *driver)
{
    const size_t count = sizeof(symbols) / sizeof(symbols[0]);
    char name[LIBRARY_NAME_SIZE] = "";
    unsigned oldest = HIP_OLDEST_MAJOR;
    unsigned newest = HIP_NEWEST_MAJOR;
    for (unsigned major = newest; major >= oldest; --major) {
        (void)snprintf(name, sizeof(name), "libamdhip64.so.%u", major);
        if (is_loaded(name))
            oldest = newest = major;
    }
    if (!library_open_newest("libamdhip64", oldest, newest, name, count, symbols, driver))
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED,
                                      "there is no HIP runtime (libamdhip64.so.%u to %u; Debian package libamdhip64-5)",
                                      HIP_OLDEST_MAJOR, HIP_NEWEST_MAJOR);
    driver->major = (unsigned)strtoul(strrchr(name, '.') + 1, NULL, 10);
    struct hip_driver with_newer = *driver;
    if (library_open(name, 1, newer, &with_newer) == NULL)
        *driver = with_newer;
    return INGOT_SUCCESS;
}
