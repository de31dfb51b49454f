/*
 * level_zero.c - binds the Level Zero backend to the loader at run time.
 *
 * libingot-level-zero is linked with the loader (libze_loader.so.1). This library is not, so that it can be loaded on
 * machines without it. Here are functions with the names and types of the loader's, which are local to this library and
 * forward to the loader. If the application has loaded it already, dlopen returns the same one.
 */
#include "front/loader/level_zero.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "util/library.h"

static const char *loader = "libze_loader.so.1";

/* Calls WITH(name, parameters, arguments) for each function that the backend and this library call. */
#define EACH_FUNCTION(WITH)                                                                                            \
    WITH(zeDeviceGet, (ze_driver_handle_t driver, uint32_t * count, ze_device_handle_t * devices),                     \
         (driver, count, devices))                                                                                     \
    WITH(zeDeviceGetModuleProperties, (ze_device_handle_t device, ze_device_module_properties_t * properties),         \
         (device, properties))                                                                                         \
    WITH(zeDeviceGetProperties, (ze_device_handle_t device, ze_device_properties_t * properties),                      \
         (device, properties))                                                                                         \
    WITH(zeDeviceGetSubDevices, (ze_device_handle_t device, uint32_t * count, ze_device_handle_t * devices),           \
         (device, count, devices))                                                                                     \
    WITH(zeDriverGet, (uint32_t * count, ze_driver_handle_t * drivers), (count, drivers))                              \
    WITH(zeDriverGetApiVersion, (ze_driver_handle_t driver, ze_api_version_t * version), (driver, version))            \
    WITH(zeDriverGetExtensionFunctionAddress, (ze_driver_handle_t driver, const char *name, void **address),           \
         (driver, name, address))                                                                                      \
    WITH(zeDriverGetExtensionProperties,                                                                               \
         (ze_driver_handle_t driver, uint32_t * count, ze_driver_extension_properties_t * properties),                 \
         (driver, count, properties))                                                                                  \
    WITH(zeDriverGetProperties, (ze_driver_handle_t driver, ze_driver_properties_t * properties),                      \
         (driver, properties))                                                                                         \
    WITH(zeKernelCreate, (ze_module_handle_t module, const ze_kernel_desc_t *desc, ze_kernel_handle_t *kernel),        \
         (module, desc, kernel))                                                                                       \
    WITH(zeKernelDestroy, (ze_kernel_handle_t kernel), (kernel))                                                       \
    WITH(zeKernelGetName, (ze_kernel_handle_t kernel, size_t * size, char *name), (kernel, size, name))                \
    WITH(zeModuleBuildLogGetString, (ze_module_build_log_handle_t log, size_t * size, char *text), (log, size, text))  \
    WITH(zeModuleCreate,                                                                                               \
         (ze_context_handle_t context, ze_device_handle_t device, const ze_module_desc_t *desc,                        \
          ze_module_handle_t *module, ze_module_build_log_handle_t *log),                                              \
         (context, device, desc, module, log))                                                                         \
    WITH(zeModuleDestroy, (ze_module_handle_t module), (module))                                                       \
    WITH(zeModuleDynamicLink, (uint32_t count, ze_module_handle_t * modules, ze_module_build_log_handle_t * log),      \
         (count, modules, log))                                                                                        \
    WITH(zeModuleGetKernelNames, (ze_module_handle_t module, uint32_t * count, const char **names),                    \
         (module, count, names))                                                                                       \
    WITH(zeModuleGetNativeBinary, (ze_module_handle_t module, size_t * size, uint8_t * binary),                        \
         (module, size, binary))                                                                                       \
    WITH(zeModuleGetProperties, (ze_module_handle_t module, ze_module_properties_t * properties), (module, properties))

#define FIELD(name, parameters, arguments) ze_result_t(ZE_APICALL *name) parameters;
#define SYMBOL(name, parameters, arguments) {#name, offsetof(struct functions, name)},

/* zeModuleBuildLogDestroy does more than forward. */
#define EACH_SYMBOL(WITH)                                                                                              \
    EACH_FUNCTION(WITH)                                                                                                \
    WITH(zeModuleBuildLogDestroy, (ze_module_build_log_handle_t log), (log))

struct functions {
    EACH_SYMBOL(FIELD)
};

static const struct library_symbol symbols[] = {EACH_SYMBOL(SYMBOL)};
static struct functions functions;
static pthread_once_t is_open = PTHREAD_ONCE_INIT;

void loader_level_zero_use(const char *library)
{
    loader = library;
}

static void open_loader(void)
{
    if (library_open(loader, sizeof(symbols) / sizeof(symbols[0]), symbols, &functions) != NULL)
        functions = (struct functions){0};
}

/* Without a loader, no application has a handle to pass. The check is for wrong arguments. */
#define FORWARD(name, parameters, arguments)                                                                           \
    ze_result_t ZE_APICALL name parameters                                                                             \
    {                                                                                                                  \
        (void)pthread_once(&is_open, open_loader);                                                                     \
        return functions.name != NULL ? functions.name arguments : ZE_RESULT_ERROR_UNINITIALIZED;                      \
    }

EACH_FUNCTION(FORWARD)

static _Thread_local ze_module_build_log_handle_t *place_of_log; /* NULL: the thread keeps no log */

ze_module_build_log_handle_t *loader_level_zero_keep_log(ze_module_build_log_handle_t *log)
{
    ze_module_build_log_handle_t *const before = place_of_log;
    place_of_log = log;
    return before;
}

ze_result_t ZE_APICALL zeModuleBuildLogDestroy(ze_module_build_log_handle_t log)
{
    (void)pthread_once(&is_open, open_loader);
    if (functions.zeModuleBuildLogDestroy == NULL)
        return ZE_RESULT_ERROR_UNINITIALIZED;
    if (place_of_log != NULL) {
        const ze_module_build_log_handle_t earlier = *place_of_log;
        *place_of_log = log;
        log = earlier;
    }
    return log != NULL ? functions.zeModuleBuildLogDestroy(log) : ZE_RESULT_SUCCESS;
}

/* Lists the devices of a driver or, if that is not NULL, the sub-devices of a device. */
static ze_result_t list_devices(ze_driver_handle_t driver, ze_device_handle_t parent, uint32_t *count,
                                ze_device_handle_t *devices)
{
    return parent == NULL ? zeDeviceGet(driver, count, devices) : zeDeviceGetSubDevices(parent, count, devices);
}

/* True if the device is in the list, or in a list of sub-devices below it. Sub-devices have none of their own. */
static bool lists_device(ze_driver_handle_t driver, ze_device_handle_t parent, ze_device_handle_t device)
{
    uint32_t count = 0;
    bool is_found = false;
    if (list_devices(driver, parent, &count, NULL) != ZE_RESULT_SUCCESS || count == 0)
        return false;
    ze_device_handle_t *devices = calloc(count, sizeof(*devices));
    if (devices == NULL)
        return false;
    if (list_devices(driver, parent, &count, devices) == ZE_RESULT_SUCCESS) {
        for (uint32_t i = 0; i < count && !is_found; ++i)
            is_found = devices[i] == device ||
                       (parent == NULL && devices[i] != NULL && lists_device(driver, devices[i], device));
    }
    free(devices);
    return is_found;
}

ze_driver_handle_t loader_level_zero_driver_of(ze_device_handle_t device)
{
    uint32_t count = 0;
    ze_driver_handle_t found = NULL;
    if (zeDriverGet(&count, NULL) != ZE_RESULT_SUCCESS || count == 0)
        return NULL;
    ze_driver_handle_t *drivers = calloc(count, sizeof(*drivers));
    if (drivers == NULL)
        return NULL;
    if (zeDriverGet(&count, drivers) == ZE_RESULT_SUCCESS) {
        for (uint32_t i = 0; i < count && found == NULL; ++i)
            found = lists_device(drivers[i], NULL, device) ? drivers[i] : NULL;
    }
    free(drivers);
    return found;
}
