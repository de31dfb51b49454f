/*
 * host.h - the interface between the layer and its module for servers: the functions with which they call each
 * other.
 *
 * The module contains the remote tiers but no copy of persist, because a storage must belong to the copy of persist
 * that uses it. So the module calls the layer's core and persist through this table. The layer and the module come from
 * one build.
 */
#ifndef INGOT_LAYERS_COMMON_REMOTE_HOST_H
#define INGOT_LAYERS_COMMON_REMOTE_HOST_H

#include <ingot/remote.h>

#define REMOTE_MODULE_FILE "libIngotOpenCLLayerRemote.so"
#define REMOTE_MODULE_ENTRY "ingot_opencl_layer_open_remote"
#define REMOTE_HOST_VERSION                                                                                            \
    (INGOT_VERSION_MAJOR * UINT32_C(1000000) + INGOT_VERSION_MINOR * UINT32_C(1000) + INGOT_VERSION_PATCH)

struct remote_host {
    size_t struct_size;
    uint32_t version; /* REMOTE_HOST_VERSION of the layer */
    ingot_status_t (*set_error)(ingot_status_t status, int64_t code, const char *format, ...);
    const char *(*last_error_detail)(void);
    ingot_status_t (*storage_create)(ingot_storage_t *storage, const ingot_storage_ops_t *ops, void *self);
    void (*storage_release)(ingot_storage_t storage);
    ingot_status_t (*persist_chain)(ingot_storage_t *storage, size_t tier_count, const ingot_storage_t *tiers);
    ingot_status_t (*persist_set_settings)(ingot_storage_t storage, const ingot_persist_settings_t *settings);
    ingot_status_t (*persist_set_trust)(ingot_storage_t storage, const ingot_persist_trust_t *trust);
};

/*
 * The type of the module's only exported function, which puts the server that the environment variables name behind a
 * storage. `host` must live as long as the module.
 * @retval INGOT_BLOB_VERSION  The module has another version.
 * Otherwise, the statuses are those of ingot_remote_info_from_environment and ingot_remote_open.
 */
typedef ingot_status_t (*remote_open_t)(const struct remote_host *host, ingot_storage_t *storage, ingot_storage_t local,
                                        ingot_event_callback_t on_event);

#endif
