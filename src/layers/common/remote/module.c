/*
 * module.c - the module for servers: connects the remote tiers with the layer's persist; see host.h.
 *
 * The remote tiers are the object files of the library remote. The functions of core and persist that they call are
 * defined here, and call the layer's functions.
 */
#include <ingot/backend.h>
#include <ingot/remote.h>
#include <stdarg.h>
#include <stdio.h>

#include "layers/common/remote/host.h"

#define URL_CAPACITY 4096u
#define DETAIL_CAPACITY 1024u

static const struct remote_host *host; /* set before anything else in the module is called */

ingot_status_t ingot_set_error_detail(ingot_status_t status, const char *format, ...)
{
    char text[DETAIL_CAPACITY];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return host->set_error(status, 0, "%s", text);
}

ingot_status_t ingot_set_error(ingot_status_t status, int64_t code, const char *format, ...)
{
    char text[DETAIL_CAPACITY];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return host->set_error(status, code, "%s", text);
}

const char *ingot_last_error_detail(void)
{
    return host->last_error_detail();
}

ingot_status_t ingot_storage_create(ingot_storage_t *storage, const ingot_storage_ops_t *ops, void *self)
{
    return host->storage_create(storage, ops, self);
}

void ingot_storage_release(ingot_storage_t storage)
{
    host->storage_release(storage);
}

ingot_status_t ingot_persist_chain(ingot_storage_t *storage, size_t tier_count, const ingot_storage_t *tiers)
{
    return host->persist_chain(storage, tier_count, tiers);
}

ingot_status_t ingot_persist_set_settings(ingot_storage_t storage, const ingot_persist_settings_t *settings)
{
    return host->persist_set_settings(storage, settings);
}

ingot_status_t ingot_persist_set_trust(ingot_storage_t storage, const ingot_persist_trust_t *trust)
{
    return host->persist_set_trust(storage, trust);
}

INGOT_API ingot_status_t ingot_opencl_layer_open_remote(const struct remote_host *given, ingot_storage_t *storage,
                                                        ingot_storage_t local, ingot_event_callback_t on_event);

ingot_status_t ingot_opencl_layer_open_remote(const struct remote_host *given, ingot_storage_t *storage,
                                              ingot_storage_t local, ingot_event_callback_t on_event)
{
    char url[URL_CAPACITY];
    ingot_remote_info_t info = INGOT_REMOTE_INFO_INIT;
    ingot_persist_trust_t trust = INGOT_PERSIST_TRUST_INIT;
    if (given->struct_size != sizeof(*given) || given->version != REMOTE_HOST_VERSION)
        return INGOT_BLOB_VERSION;
    host = given;
    info.on_event = on_event;
    info.local = local;
    const ingot_status_t status = ingot_remote_info_from_environment(&info, &trust, sizeof(url), url);
    return status == INGOT_SUCCESS ? ingot_remote_open(storage, &info) : status;
}
