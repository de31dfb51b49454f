/*
 * artifact.c - gets, stores and makes artifacts; see ingot/artifact.h.
 */
#include <ingot/artifact.h>
#include <ingot/backend.h>
#include <stdbool.h>
#include <stdlib.h>

#include "front/artifact/turn.h"
#include "front/cache.h"
#include "front/request.h"
#include "persist/base/kept_error.h"
#include "persist/base/memory.h"
#include "persist/storage/blobs.h"
#include "persist/storage/miss.h"

/* The id of a key. Most ids fit in the bytes here. */
struct key_id {
    size_t size;
    uint8_t *bytes;
    uint8_t here[1024];
};

static ingot_status_t make_artifact_id(struct key_id *id, const ingot_artifact_key_t *key)
{
    id->size = sizeof(id->here);
    id->bytes = id->here;
    ingot_status_t status = ingot_artifact_key_get_id(key, &id->size, id->here);
    if (status != INGOT_BUFFER_TOO_SMALL)
        return status;
    id->bytes = malloc(id->size);
    if (id->bytes == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for the id of an artifact");
    status = ingot_artifact_key_get_id(key, &id->size, id->bytes);
    return status;
}

static void free_id(struct key_id *id)
{
    if (id->bytes != id->here)
        free(id->bytes);
}

ingot_status_t ingot_artifact_get(ingot_cache_t cache, const ingot_artifact_key_t *key, ingot_buffer_t *value)
{
    struct key_id id;
    bool was_refused = false;
    if (value == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "value is NULL");
    *value = (ingot_buffer_t)INGOT_BUFFER_INIT;
    ingot_status_t status = make_artifact_id(&id, key);
    if (status == INGOT_SUCCESS && cache_storage(cache) != NULL)
        status = artifact_blob_load(cache_storage(cache), id.size, id.bytes, value, &was_refused);
    else if (status == INGOT_SUCCESS)
        status = cache_refuse(cache, INGOT_NOT_FOUND);
    if (status == INGOT_NOT_FOUND && cache_storage(cache) != NULL)
        (void)storage_judge_miss(cache_storage(cache), NULL, id.size, id.bytes);
    free_id(&id);
    return status;
}

ingot_status_t ingot_artifact_put(ingot_cache_t cache, const ingot_artifact_key_t *key,
                                  const ingot_artifact_info_t *info, size_t size, const void *bytes)
{
    struct key_id id;
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    ingot_status_t status = make_artifact_id(&id, key);
    if (status == INGOT_SUCCESS)
        status = cache_check(cache);
    if (status == INGOT_SUCCESS)
        status = artifact_blob_store(cache_storage(cache), id.size, id.bytes, info, size, bytes, &blob);
    memory_release_buffer(&blob);
    free_id(&id);
    return status;
}

ingot_status_t ingot_artifact_remove(ingot_cache_t cache, const ingot_artifact_key_t *key)
{
    struct key_id id;
    ingot_status_t status = make_artifact_id(&id, key);
    if (status == INGOT_SUCCESS)
        status = cache_check(cache);
    if (status == INGOT_SUCCESS)
        status = cache_storage(cache) != NULL ? ingot_storage_remove(cache_storage(cache), id.size, id.bytes)
                                              : cache_refuse(cache, INGOT_NOT_FOUND);
    free_id(&id);
    return status;
}

/* Calls turn_begin, unless the cache has no storage and may not make anything. */
static ingot_status_t begin_turn_if_allowed(ingot_cache_t cache, const struct key_id *id, uint64_t max_wait_ms,
                                            ingot_buffer_t *value, ingot_turn_t *turn)
{
    const ingot_status_t may_make =
        cache_storage(cache) == NULL ? request_pass_through(cache, INGOT_NOT_FOUND) : INGOT_SUCCESS;
    return may_make == INGOT_SUCCESS ? turn_begin(cache_storage(cache), id->size, id->bytes, max_wait_ms, value, turn)
                                     : may_make;
}

ingot_status_t ingot_artifact_begin(ingot_cache_t cache, const ingot_artifact_key_t *key, uint64_t max_wait_ms,
                                    ingot_buffer_t *value, ingot_turn_t *turn)
{
    struct key_id id;
    if (value == NULL || turn == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "value or turn is NULL");
    *value = (ingot_buffer_t)INGOT_BUFFER_INIT;
    *turn = NULL;
    ingot_status_t status = make_artifact_id(&id, key);
    if (status == INGOT_SUCCESS)
        status = begin_turn_if_allowed(cache, &id, max_wait_ms, value, turn);
    free_id(&id);
    return status;
}

/* ---- making ---- */

struct making {
    ingot_storage_t storage; /* NULL: none */
    const struct key_id *id;
    ingot_artifact_maker_t make;
    void *user;
};

/* Ends the turn with what the maker made, and returns that as a value, also if it could not be stored. */
static ingot_status_t finish_making(const struct making *making, ingot_turn_t turn, const ingot_artifact_info_t *info,
                                    const ingot_buffer_t *made, ingot_buffer_t *value)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    ingot_status_t status = making->storage != NULL ? turn_finish(turn, info, made->size, made->bytes, &blob)
                                                    : ingot_artifact_pack(making->id->size, making->id->bytes, info,
                                                                          made->size, made->bytes, &blob);
    if (blob.bytes != NULL)
        status = ingot_artifact_unpack(making->id->size, making->id->bytes, &blob, value);
    memory_release_buffer(&blob);
    return status;
}

static ingot_status_t make_value(const struct making *making, ingot_turn_t turn, ingot_buffer_t *value)
{
    ingot_artifact_info_t info = INGOT_ARTIFACT_INFO_INIT;
    ingot_buffer_t made = INGOT_BUFFER_INIT;
    ingot_status_t status = making->make(making->user, &info, &made);
    if (status == INGOT_SUCCESS)
        status = finish_making(making, turn, &info, &made, value);
    else
        ingot_turn_abandon(turn, status != INGOT_BUILD_FAILED);
    if (made.release != NULL) {
        struct kept_error kept;
        kept_error_save(&kept); /* the maker may call Ingot again */
        made.release(&made);
        kept_error_restore(&kept);
    }
    return status;
}

ingot_status_t ingot_artifact_get_or_create(ingot_cache_t cache, const ingot_artifact_key_t *key,
                                            ingot_artifact_maker_t make, void *user, ingot_buffer_t *value,
                                            ingot_origin_t *origin)
{
    struct key_id id;
    ingot_turn_t turn = NULL;
    ingot_origin_t from = INGOT_ORIGIN_STORAGE;
    if (make == NULL || value == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "make or value is NULL");
    *value = (ingot_buffer_t)INGOT_BUFFER_INIT;
    ingot_status_t status = make_artifact_id(&id, key);
    if (status == INGOT_SUCCESS)
        status = begin_turn_if_allowed(cache, &id, INGOT_UNLIMITED, value, &turn);
    if (status == INGOT_SUCCESS && turn != NULL) {
        const struct making making = {cache_storage(cache), &id, make, user};
        status = make_value(&making, turn, value);
        from = INGOT_ORIGIN_BUILD;
    }
    if (status == INGOT_SUCCESS && origin != NULL)
        *origin = from;
    free_id(&id);
    return status;
}
