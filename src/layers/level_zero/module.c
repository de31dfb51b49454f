/*
 * module.c - replaces the driver's zeModuleCreate by one that asks the cache first.
 *
 * A module that comes from the store is the driver's own, made from its native binary, so the layer wraps nothing. If
 * anything is wrong with the cache, the driver's function makes the module as the application asked.
 */
#include <ingot/level_zero.h>
#include <level_zero/ze_ddi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "front/cache.h"
#include "layers/common/common.h"
#include "layers/level_zero/layer.h"

static _Atomic(ze_pfnModuleCreate_t) native_create; /* written when the loader asks for the table */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static ingot_cache_t cache;          /* NULL: nothing is cached; written once */
static _Thread_local bool is_passed; /* true if the driver makes this thread's module as the application asked */

/* ---- build logs of the layer's own ----
 *
 * The application passes a log to the same functions as the driver's logs, so these functions first look in the list of
 * the layer's own logs, which is empty unless the layer has refused a module. */

struct own_log {
    struct own_log *next;
    size_t size; /* of the text, with its NUL */
    char text[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list */
static struct own_log *logs;
static _Atomic(ze_pfnModuleBuildLogDestroy_t) native_destroy; /* written when the loader asks for the table */
static _Atomic(ze_pfnModuleBuildLogGetString_t) native_get;

/* Returns a log with a copy of the text, for a module that the layer refuses to compile, or NULL if memory runs out.
 * The application destroys it as it does a log of the driver. */
static ze_module_build_log_handle_t build_log_create(const char *text)
{
    const size_t size = strlen(text) + 1;
    struct own_log *log = malloc(sizeof(*log) + size);
    if (log == NULL)
        return NULL;
    log->size = size;
    memcpy(log->text, text, size);
    (void)pthread_mutex_lock(&lock);
    log->next = logs;
    logs = log;
    (void)pthread_mutex_unlock(&lock);
    return (ze_module_build_log_handle_t)(void *)log;
}

/* Returns the place of the list's pointer to this log, or NULL if it is the driver's. The caller holds the lock. */
static struct own_log **find_own_log(ze_module_build_log_handle_t handle)
{
    struct own_log **place = &logs;
    while (*place != NULL && (void *)*place != (void *)handle)
        place = &(*place)->next;
    return *place != NULL ? place : NULL;
}

static ze_result_t ZE_APICALL destroy_build_log(ze_module_build_log_handle_t handle)
{
    (void)pthread_mutex_lock(&lock);
    struct own_log **place = find_own_log(handle);
    struct own_log *own = place != NULL ? *place : NULL;
    if (place != NULL)
        *place = own->next;
    (void)pthread_mutex_unlock(&lock);
    free(own);
    return own != NULL ? ZE_RESULT_SUCCESS : atomic_load(&native_destroy)(handle);
}

static ze_result_t ZE_APICALL get_string(ze_module_build_log_handle_t handle, size_t *size, char *text)
{
    (void)pthread_mutex_lock(&lock);
    struct own_log **place = find_own_log(handle);
    const struct own_log *own = place != NULL ? *place : NULL;
    (void)pthread_mutex_unlock(&lock);
    if (own == NULL)
        return atomic_load(&native_get)(handle, size, text);
    if (size == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (text != NULL && *size != 0) { /* a smaller buffer gets the beginning */
        const size_t copied = *size < own->size ? *size : own->size;
        memcpy(text, own->text, copied);
        text[copied - 1] = '\0';
    }
    *size = own->size;
    return ZE_RESULT_SUCCESS;
}

__attribute__((visibility("default"))) ze_result_t ZE_APICALL
zeGetModuleBuildLogProcAddrTable(ze_api_version_t version, ze_module_build_log_dditable_t *table)
{
    const ze_result_t result = driver_fill_table(__func__, version, table);
    if (result == ZE_RESULT_SUCCESS && table->pfnDestroy != destroy_build_log) {
        atomic_store(&native_destroy, table->pfnDestroy);
        atomic_store(&native_get, table->pfnGetString);
        table->pfnDestroy = destroy_build_log;
        table->pfnGetString = get_string;
    }
    return result;
}

static void count_event(const ingot_event_t *event, void *user)
{
    (void)user;
    if (event->kind == INGOT_EVENT_PASSED_THROUGH) {
        statistics_add(STATISTIC_PASSED, 1);
        is_passed = true;
    }
    if (event->kind == INGOT_EVENT_BUILD && event->status == INGOT_SUCCESS)
        statistics_add(STATISTIC_BUILD_NS, event->duration_ns);
}

static void open_cache(void)
{
    if (settings_are_off())
        return;
    statistics_init();
    settings_open_store("the Level Zero layer caches nothing", layer_trace);
    ingot_cache_t opened = NULL;
    (void)cache_open_over(&opened, settings_store(), count_event);
    if (opened != NULL && settings_store() == NULL && opened->on_miss == INGOT_PERSIST_ON_MISS_COMPILE) {
        ingot_cache_release(opened);
        opened = NULL;
    }
    cache = opened;
}

static ze_result_t ZE_APICALL create_cached_module(ze_context_handle_t context, ze_device_handle_t device,
                                                   const ze_module_desc_t *desc, ze_module_handle_t *module,
                                                   ze_module_build_log_handle_t *log)
{
    const ze_pfnModuleCreate_t native = atomic_load(&native_create);
    ingot_origin_t origin = INGOT_ORIGIN_BUILD;
    ze_module_build_log_handle_t made = NULL;
    (void)pthread_once(&once, open_cache);
    if (cache == NULL || context == NULL || device == NULL || desc == NULL || module == NULL ||
        desc->format != ZE_MODULE_FORMAT_IL_SPIRV)
        return native(context, device, desc, module, log);
    is_passed = false;
    const ingot_status_t status =
        ingot_cache_level_zero_create(cache, context, device, desc, module, log != NULL ? &made : NULL, &origin);
    if (status == INGOT_NOT_FOUND) { /* nothing may be compiled */
        *module = NULL;
        if (log != NULL)
            *log = build_log_create(ingot_last_error_detail());
        return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
    }
    const ze_result_t result = status != INGOT_SUCCESS ? (ze_result_t)ingot_last_error_code() : ZE_RESULT_SUCCESS;
    if (status == INGOT_SUCCESS) {
        /* If Ingot passed the call to the driver, count_event has counted that. */
        statistics_add(STATISTIC_PROGRAMS, 1);
        if (!is_passed)
            statistics_add(origin == INGOT_ORIGIN_BUILD ? STATISTIC_BUILDS : STATISTIC_HITS, 1);
    } else if (is_passed)
        statistics_add(STATISTIC_FAILED, 1);
    statistics_add_store();
    if (status != INGOT_SUCCESS && result == ZE_RESULT_SUCCESS) { /* Ingot refused it, not the driver */
        if (made != NULL)
            (void)zeModuleBuildLogDestroy(made);
        return native(context, device, desc, module, log);
    }
    if (log != NULL)
        *log = made;
    return result;
}

__attribute__((visibility("default"))) ze_result_t ZE_APICALL zeGetModuleProcAddrTable(ze_api_version_t version,
                                                                                       ze_module_dditable_t *table)
{
    const ze_result_t result = driver_fill_table(__func__, version, table);
    if (result == ZE_RESULT_SUCCESS && table->pfnCreate != create_cached_module) {
        atomic_store(&native_create, table->pfnCreate);
        table->pfnCreate = create_cached_module;
    }
    return result;
}
