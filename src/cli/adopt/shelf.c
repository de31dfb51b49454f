/*
 * shelf.c - loads and stores artifacts of adopted directories; see shelf.h.
 */
#include "cli/adopt/shelf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/exit_code.h"
#include "cli/base/memory.h"
#include "cli/base/options.h"
#include "cli/store/server_behind.h"
#include "cli/store/store.h"

#define KIND "adopted"

/* Puts the server that the environment names behind the store. Returns false, with a message, on failure. */
static bool add_server_to_shelf(struct adopt_shelf *shelf, ingot_persist_trust_policy_t policy)
{
    ingot_storage_t chain = NULL;
    const ingot_status_t status = server_behind_open(&chain, &shelf->server, shelf->storage, store_tell_event, NULL);
    if (status != INGOT_SUCCESS)
        (void)store_failed("opening the server", status);
    if (chain == NULL)
        return status == INGOT_SUCCESS;
    ingot_storage_release(shelf->storage);
    shelf->storage = chain;
    if (policy == INGOT_PERSIST_TRUST_REQUIRE)
        return true;
    (void)fprintf(stderr,
                  "ingot run: --adopt %s: the files run as code, so they come from a server only if seals are "
                  "required: set INGOT_PERSIST_TRUST=require and INGOT_PERSIST_KEYS\n",
                  shelf->kind->name);
    return false;
}

static void flush_server(const struct adopt_shelf *shelf)
{
    if (server_behind_flush(shelf->server, INGOT_UNLIMITED) != INGOT_SUCCESS)
        (void)fprintf(stderr, "ingot run: --adopt %s: the server did not get everything: %s\n", shelf->kind->name,
                      ingot_last_error_detail());
}

bool adopt_shelf_open(struct adopt_shelf *shelf)
{
    struct common_options options = {.obeys_age = true};
    ingot_persist_trust_t trust = INGOT_PERSIST_TRUST_INIT;
    store_take_namespace(&options);
    shelf->is_read_only = store_is_on("INGOT_PERSIST_READ_ONLY");
    if (store_open(&shelf->storage, &options, STORE_MAKE, NULL) == EXIT_DONE &&
        store_read_trust(&trust, &options) == EXIT_DONE && add_server_to_shelf(shelf, trust.policy))
        return true;
    adopt_shelf_close(shelf);
    return false;
}

void adopt_shelf_close(struct adopt_shelf *shelf)
{
    flush_server(shelf);
    ingot_storage_release(shelf->storage);
    ingot_storage_release(shelf->server);
    shelf->storage = NULL;
    shelf->server = NULL;
}

static ingot_artifact_field_t field_of(const char *name, const char *value)
{
    return (ingot_artifact_field_t){name, strlen(value), value};
}

/* Returns the id of a path's artifact, which the caller frees. */
static uint8_t *make_path_id(const struct adopt_shelf *shelf, const char *path, size_t *size)
{
    const ingot_artifact_field_t fields[] = {
        field_of("tool", shelf->kind->name),
        field_of("versions", shelf->identity.versions),
        field_of("device", shelf->identity.device),
        field_of("driver", shelf->identity.driver),
        field_of("path", path),
        field_of("processor", shelf->identity.processor),
    };
    const ingot_artifact_key_t key = {sizeof(key), KIND, sizeof(fields) / sizeof(fields[0]), fields};
    *size = 0;
    if (ingot_artifact_key_get_id(&key, size, NULL) != INGOT_SUCCESS)
        return NULL;
    uint8_t *id = memory_get(*size);
    if (ingot_artifact_key_get_id(&key, size, id) == INGOT_SUCCESS)
        return id;
    free(id);
    return NULL;
}

bool adopt_shelf_load(const struct adopt_shelf *shelf, const char *path, ingot_buffer_t *value)
{
    size_t size = 0;
    uint8_t *id = make_path_id(shelf, path, &size);
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    *value = (ingot_buffer_t)INGOT_BUFFER_INIT;
    const bool is_loaded = id != NULL && ingot_storage_load(shelf->storage, size, id, &blob) == INGOT_SUCCESS &&
                           ingot_artifact_unpack(size, id, &blob, value) == INGOT_SUCCESS;
    store_release_blob(&blob);
    free(id);
    return is_loaded;
}

bool adopt_shelf_store(const struct adopt_shelf *shelf, const char *path, size_t size, const void *bytes)
{
    size_t id_size = 0;
    uint8_t *id = make_path_id(shelf, path, &id_size);
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    ingot_artifact_info_t info = INGOT_ARTIFACT_INFO_INIT;
    info.label = path;
    ingot_status_t status =
        id != NULL ? ingot_artifact_pack(id_size, id, &info, size, bytes, &blob) : INGOT_INVALID_ARGUMENTS;
    if (status == INGOT_SUCCESS)
        status = ingot_storage_store(shelf->storage, id_size, id, blob.size, blob.bytes);
    if (status != INGOT_SUCCESS)
        (void)fprintf(stderr, "ingot run: --adopt %s: \"%s\" was not stored: %s\n", shelf->kind->name, path,
                      ingot_last_error_detail());
    store_release_blob(&blob);
    free(id);
    return status == INGOT_SUCCESS;
}
