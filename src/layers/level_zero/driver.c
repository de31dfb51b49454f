/*
 * driver.c - opens the driver behind the layer; see layer.h.
 *
 * The driver is Intel's, or the library that INGOT_LEVEL_ZERO_DRIVER names. It is opened when the loader asks for the
 * first table, and stays open. The cache calls the driver by its exported functions (cache/loader/level_zero.c), and
 * never the loader, because the loader would call the layer.
 */
#include "layers/level_zero/layer.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/loader/level_zero.h"

typedef ze_result_t(ZE_APICALL *fill_table_t)(ze_api_version_t version, void *table);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void *driver; /* NULL: there is none */

/* True if the library is this one, which would then call itself. */
static int is_own_library(void *library)
{
    Dl_info own;
    Dl_info other;
    void *function = dlsym(library, "zeGetModuleProcAddrTable");
    return function != NULL && dladdr(&driver, &own) != 0 && dladdr(function, &other) != 0 &&
           own.dli_fbase == other.dli_fbase;
}

static void open_driver(void)
{
    const char *wanted = secure_getenv("INGOT_LEVEL_ZERO_DRIVER");
    const char *name = wanted != NULL && *wanted != '\0' ? wanted : "libze_intel_gpu.so.1";
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    if (library == NULL && wanted != NULL && *wanted != '\0')
        (void)fprintf(stderr, "ingot: INGOT_LEVEL_ZERO_DRIVER: %s\n", dlerror());
    if (library == NULL || is_own_library(library))
        return;
    loader_level_zero_use(strdup(name)); /* kept for the life of the process */
    driver = library;
}

ze_result_t driver_fill_table(const char *name, ze_api_version_t version, void *table)
{
    fill_table_t fill = NULL;
    (void)pthread_once(&once, open_driver);
    if (driver == NULL)
        return ZE_RESULT_ERROR_UNINITIALIZED;
    void *function = dlsym(driver, name);
    memcpy(&fill, &function, sizeof(fill)); /* C cannot convert a pointer to an object to a pointer to a function */
    return fill != NULL ? fill(version, table) : ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

/* The list of tables is made from the installed headers (CMakeLists.txt). The driver fills each table itself, also one
 * of a later version than these headers, so all functions are the driver's own; module.c replaces some of them. */
#define TABLE(name)                                                                                                    \
    ze_result_t ZE_APICALL name(ze_api_version_t version, void *table);                                                \
    __attribute__((visibility("default"))) ze_result_t ZE_APICALL name(ze_api_version_t version, void *table)          \
    {                                                                                                                  \
        return driver_fill_table(#name, version, table);                                                               \
    }

#include "layers/level_zero/tables.inc"
