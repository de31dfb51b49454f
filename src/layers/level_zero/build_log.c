/*
 * build_log.c - build logs of the layer's own; see layer.h.
 *
 * The application passes a log to the same functions as the driver's logs, so these functions first look in the list of
 * the layer's own logs, which is empty unless the layer has refused a module.
 * Locks: `lock` guards the list.
 */
#include "layers/level_zero/layer.h"

#include <level_zero/ze_ddi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct own_log {
    struct own_log *next;
    size_t size; /* of the text, with its NUL */
    char text[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct own_log *logs;
static _Atomic(ze_pfnModuleBuildLogDestroy_t) native_destroy; /* written when the loader asks for the table */
static _Atomic(ze_pfnModuleBuildLogGetString_t) native_get;

ze_module_build_log_handle_t build_log_create(const char *text)
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
