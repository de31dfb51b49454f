/*
 * remote.c - loads the module with which the layer connects to the server that machines share; see remote.h.
 *
 * Connections to servers need large libraries, but the OpenCL loader loads the layer into every process that uses
 * OpenCL. So only the module, a file beside the layer, links these libraries, and the layer loads it only if the user
 * names a server.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "layers/common/remote/remote.h"

#include <dlfcn.h>
#include <ingot/backend.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/common/remote/host.h"

#define PATH_CAPACITY 4096u

/* Writes the path of the module, which is beside the layer's own file. */
static bool find_module(char path[PATH_CAPACITY])
{
    static const char here = 0;
    Dl_info info;
    if (dladdr(&here, &info) == 0 || info.dli_fname == NULL)
        return false;
    const char *slash = strrchr(info.dli_fname, '/');
    const int folder = slash != NULL ? (int)(slash - info.dli_fname + 1) : 0;
    const int length = snprintf(path, PATH_CAPACITY, "%.*s" REMOTE_MODULE_FILE, folder, info.dli_fname);
    return length > 0 && (size_t)length < PATH_CAPACITY;
}

/* Loads the module. It stays loaded, because exit() calls a handler that the module registers. */
static ingot_status_t load_module(remote_open_t *open)
{
    char path[PATH_CAPACITY];
    if (!find_module(path))
        return ingot_set_error_detail(INGOT_NOT_FOUND, "the layer's folder is unknown");
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    void *entry = module != NULL ? dlsym(module, REMOTE_MODULE_ENTRY) : NULL;
    if (entry == NULL) {
        const char *why = dlerror();
        return ingot_set_error_detail(INGOT_NOT_FOUND, "%s; it is part of the package ingot-tools",
                                      why != NULL ? why : path);
    }
    memcpy(open, &entry, sizeof(*open)); /* C cannot convert a pointer to an object to a pointer to a function */
    return INGOT_SUCCESS;
}

static ingot_status_t open_remote(ingot_storage_t *storage, ingot_storage_t local, ingot_event_callback_t on_event)
{
    static const struct remote_host host = {
        .struct_size = sizeof(host),
        .version = REMOTE_HOST_VERSION,
        .set_error = ingot_set_error,
        .last_error_detail = ingot_last_error_detail,
        .storage_create = ingot_storage_create,
        .storage_release = ingot_storage_release,
        .persist_chain = ingot_persist_chain,
        .persist_set_settings = ingot_persist_set_settings,
        .persist_set_trust = ingot_persist_set_trust,
    };
    remote_open_t open = NULL;
    ingot_status_t status = load_module(&open);
    if (status == INGOT_SUCCESS)
        status = open(&host, storage, local, on_event);
    if (status == INGOT_BLOB_VERSION)
        (void)ingot_set_error_detail(status, REMOTE_MODULE_FILE " is of another version than the layer");
    return status;
}

ingot_status_t remote_open_behind(ingot_storage_t *storage, ingot_storage_t local, ingot_event_callback_t on_event)
{
    const char *url = secure_getenv("INGOT_PERSIST_REMOTE");
    *storage = NULL;
    return url != NULL && *url != '\0' ? open_remote(storage, local, on_event) : INGOT_SUCCESS;
}
