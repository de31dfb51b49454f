/*
 * artifact.c - gets, stores and makes artifacts, and begins and ends turns; see ingot/artifact.h.
 *
 * Whoever gets the turn first looks in the storage, and then competes with other threads, processes and machines
 * (persist/storage/turns/build_turn.h). If the storage does not keep what this process makes, waiting would be useless,
 * so everyone gets a turn at once. A thread never waits for what it makes itself.
 */
#include <ingot/backend.h>
#include <ingot/private/artifact.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/artifact/artifact_id.h"
#include "front/cache.h"
#include "front/request.h"
#include "persist/base/base.h"
#include "persist/storage/storage.h"
#include "persist/storage/turns/build_turn.h"
#include "util/limit.h"
#include "util/nanoseconds.h"
#include "util/process_number.h"
#include "util/struct_size.h"

/* Writes the id of a key. The caller must call bytes_writer_fini, also after a failure. */
static ingot_status_t make_artifact_id(struct bytes_writer *id, const ingot_artifact_key_t *key)
{
    bytes_writer_init(id, &memory_c_allocator);
    return artifact_id_write(id, key);
}

/* ---- counting ---- */

/* Counts an artifact that was loaded (saved_ns: how long making it took) or made. */
static void count_artifact(const char *origin, size_t id_size, const uint8_t *id, ingot_metric_t time, uint64_t time_ns,
                           uint64_t saved_ns)
{
    char kind[ARTIFACT_MAX_KIND_SIZE + 1];
    if (!metrics_are_on() || artifact_id_read_kind(id_size, id, kind) != INGOT_SUCCESS)
        return;
    ingot_metrics_add(INGOT_METRIC_REQUESTS, origin, kind, "artifact", 1);
    ingot_metrics_add(time, kind, "artifact", NULL, time_ns);
    if (saved_ns != 0)
        ingot_metrics_add(INGOT_METRIC_SAVED_NS, kind, "artifact", NULL, saved_ns);
}

/* ---- loading and storing ---- */

/* Loads an artifact and counts the load. An envelope that cannot be used is a miss, as for programs: removes it, and
 * sets *was_refused, which otherwise stays unchanged. May return INGOT_NOT_FOUND or INGOT_OUT_OF_MEMORY. */
static ingot_status_t load_artifact(ingot_storage_t storage, size_t id_size, const uint8_t *id, ingot_buffer_t *value,
                                    bool *was_refused)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    const uint64_t started_ns = files_steady_clock_ns();
    ingot_status_t status = ingot_storage_load(storage, id_size, id, &blob);
    if (status == INGOT_NOT_FOUND)
        return status;
    if (status == INGOT_SUCCESS) {
        const size_t size = blob.size;
        status = ingot_artifact_unpack(id_size, id, &blob, value);
        if (status != INGOT_SUCCESS && status != INGOT_OUT_OF_MEMORY) {
            /* the reason is that of the thread's error message */
            struct kept_error kept;
            kept_error_save(&kept);
            storage_tell(storage, INGOT_EVENT_STORAGE_LOAD, status, size, started_ns, "", kept.text);
            storage_reject(storage, id_size, id);
            kept_error_restore(&kept);
        }
        memory_release_buffer(&blob);
    }
    ingot_artifact_info_t info = INGOT_ARTIFACT_INFO_INIT;
    if (status == INGOT_SUCCESS && ingot_artifact_get_info(value, &info) == INGOT_SUCCESS)
        count_artifact("storage", id_size, id, INGOT_METRIC_LOAD_NS, files_steady_clock_ns() - started_ns,
                       info.make_time_ms * NS_PER_MS);
    *was_refused = *was_refused || status == INGOT_UNTRUSTED || storage_is_refusal(status);
    return status == INGOT_SUCCESS || status == INGOT_OUT_OF_MEMORY ? status : INGOT_NOT_FOUND;
}

/* Stores an artifact. Sets *blob to its envelope also if the storage, which may be NULL, does not take it. */
static ingot_status_t store_artifact(ingot_storage_t storage, size_t id_size, const uint8_t *id,
                                     const ingot_artifact_info_t *info, size_t size, const void *bytes,
                                     ingot_buffer_t *blob)
{
    ingot_status_t status = ingot_artifact_pack(id_size, id, info, size, bytes, blob);
    ingot_artifact_info_t known = INGOT_ARTIFACT_INFO_INIT;
    if (status == INGOT_SUCCESS && (info == NULL || STRUCT_READ_OVER(known, info)))
        count_artifact("build", id_size, id, INGOT_METRIC_COMPILE_NS, known.make_time_ms * NS_PER_MS, 0);
    if (status == INGOT_SUCCESS && storage != NULL)
        status = ingot_storage_store(storage, id_size, id, blob->size, blob->bytes);
    return status;
}

/* ---- turns ---- */

struct ingot_turn {
    unsigned long process;
    uint64_t began_ns;
    struct build_turn *build; /* NULL: nobody waits for this turn */
    ingot_storage_t storage;  /* a reference */
    size_t id_size;
    uint8_t id[];
};

/* The turn that does nothing, if there is no storage. */
static struct ingot_turn no_turn;

/* True if there is nothing to do for a turn. In a forked child, that also goes for its parent's turns, which it leaks.
 */
static bool is_nothing(const struct ingot_turn *turn)
{
    return turn == NULL || turn == &no_turn || turn->process != process_number();
}

static struct ingot_turn *create_turn(ingot_storage_t storage, size_t id_size, const uint8_t *id)
{
    struct ingot_turn *turn = memory_allocate(storage_allocator(storage), sizeof(*turn) + id_size);
    if (turn == NULL)
        return NULL;
    *turn = (struct ingot_turn){.process = process_number(), .storage = storage, .id_size = id_size};
    memcpy(turn->id, id, id_size);
    ingot_storage_retain(storage);
    return turn;
}

static void destroy_turn(struct ingot_turn *turn)
{
    ingot_storage_t storage = turn->storage;
    memory_free(storage_allocator(storage), turn, sizeof(*turn) + turn->id_size);
    ingot_storage_release(storage);
}

/* Begins the part of a turn for others. Returns INGOT_NOT_FOUND if the turn is the caller's. */
static ingot_status_t compete_for_turn(struct ingot_turn *turn, uint64_t until_ns, bool was_refused,
                                       ingot_buffer_t *value)
{
    ingot_status_t status = INGOT_NOT_FOUND;
    if (!storage_is_on(turn->storage) || !storage_is_writable(turn->storage))
        return status;
    turn->build = build_turn_begin_artifact(turn->storage, turn->id_size, turn->id, was_refused, until_ns);
    if (turn->build == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a turn");
    while (status == INGOT_NOT_FOUND && build_turn_wait(turn->build))
        status = load_artifact(turn->storage, turn->id_size, turn->id, value, &was_refused);
    if (status == INGOT_NOT_FOUND && build_turn_is_busy(turn->build))
        status = ingot_set_error_detail(INGOT_BUSY, "another maker has the turn to make the artifact");
    if (status != INGOT_NOT_FOUND)
        build_turn_end(turn->build, status == INGOT_SUCCESS ? BUILD_TURN_LOADED : BUILD_TURN_NOT_STORED);
    return status;
}

static ingot_status_t load_or_begin_turn(ingot_storage_t storage, size_t id_size, const uint8_t *id,
                                         uint64_t max_wait_ms, ingot_buffer_t *value, ingot_turn_t *turn)
{
    bool was_refused = false;
    ingot_status_t status = load_artifact(storage, id_size, id, value, &was_refused);
    if (status != INGOT_NOT_FOUND)
        return status;
    if (storage_on_miss(storage) == INGOT_PERSIST_ON_MISS_FAIL)
        return storage_judge_miss(storage, NULL, id_size, id);
    struct ingot_turn *made = create_turn(storage, id_size, id);
    if (made == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a turn");
    const bool is_own = flight_is_own(id_size, id);
    const uint64_t wait_ns = limit_time_ns(max_wait_ms, 0);
    status = compete_for_turn(made, files_steady_clock_ns() + (is_own ? 0 : wait_ns), was_refused, value);
    if (status == INGOT_BUSY && is_own && wait_ns != 0)
        status = ingot_set_error_detail(INGOT_DEADLOCK, "this thread requested the artifact that it is making");
    if (status == INGOT_NOT_FOUND) {
        (void)storage_judge_miss(storage, NULL, id_size, id);
        made->began_ns = files_steady_clock_ns();
        *turn = made;
        return INGOT_SUCCESS;
    }
    destroy_turn(made);
    return status;
}

static enum build_turn_end end_of_store(ingot_status_t status)
{
    switch (status) {
    case INGOT_SUCCESS: return BUILD_TURN_STORED;
    case INGOT_NO_SPACE:
    case INGOT_READ_ONLY:
    case INGOT_UNTRUSTED: return BUILD_TURN_POINTLESS;
    default: return BUILD_TURN_NOT_STORED;
    }
}

/* If the bytes could be packed, sets *blob to the envelope, whatever the status. */
static ingot_status_t finish_turn(ingot_turn_t turn, const ingot_artifact_info_t *info, size_t size, const void *bytes,
                                  ingot_buffer_t *blob)
{
    ingot_artifact_info_t known = INGOT_ARTIFACT_INFO_INIT;
    struct kept_error kept;
    if (is_nothing(turn))
        return INGOT_SUCCESS;
    ingot_status_t status = info == NULL || STRUCT_READ_OVER(known, info)
                                ? INGOT_SUCCESS
                                : ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info's struct_size is not set");
    if (known.make_time_ms == 0)
        known.make_time_ms = (files_steady_clock_ns() - turn->began_ns) / NS_PER_MS + 1; /* 0 would be unknown */
    if (status == INGOT_SUCCESS)
        status = store_artifact(turn->storage, turn->id_size, turn->id, &known, size, bytes, blob);
    kept_error_save(&kept);
    build_turn_end(turn->build, end_of_store(status));
    destroy_turn(turn);
    if (status != INGOT_SUCCESS)
        kept_error_restore(&kept);
    return status;
}

ingot_status_t ingot_turn_finish(ingot_turn_t turn, const ingot_artifact_info_t *info, size_t size, const void *bytes)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    const ingot_status_t status = finish_turn(turn, info, size, bytes, &blob);
    memory_release_buffer(&blob);
    return status;
}

void ingot_turn_abandon(ingot_turn_t turn, int may_others_take)
{
    struct kept_error kept;
    if (is_nothing(turn))
        return;
    kept_error_save(&kept);
    build_turn_end(turn->build, may_others_take != 0 ? BUILD_TURN_NOT_STORED : BUILD_TURN_POINTLESS);
    destroy_turn(turn);
    kept_error_restore(&kept);
}

/* ---- requests ---- */

ingot_status_t ingot_artifact_get(ingot_cache_t cache, const ingot_artifact_key_t *key, ingot_buffer_t *value)
{
    struct bytes_writer id;
    bool was_refused = false;
    if (value == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "value is NULL");
    *value = (ingot_buffer_t)INGOT_BUFFER_INIT;
    ingot_status_t status = make_artifact_id(&id, key);
    if (status == INGOT_SUCCESS && cache_storage(cache) != NULL)
        status = load_artifact(cache_storage(cache), id.size, id.bytes, value, &was_refused);
    else if (status == INGOT_SUCCESS)
        status = cache_refuse(cache, INGOT_NOT_FOUND);
    if (status == INGOT_NOT_FOUND && cache_storage(cache) != NULL)
        (void)storage_judge_miss(cache_storage(cache), NULL, id.size, id.bytes);
    bytes_writer_fini(&id);
    return status;
}

ingot_status_t ingot_artifact_put(ingot_cache_t cache, const ingot_artifact_key_t *key,
                                  const ingot_artifact_info_t *info, size_t size, const void *bytes)
{
    struct bytes_writer id;
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    ingot_status_t status = make_artifact_id(&id, key);
    if (status == INGOT_SUCCESS)
        status = cache_check(cache);
    if (status == INGOT_SUCCESS)
        status = store_artifact(cache_storage(cache), id.size, id.bytes, info, size, bytes, &blob);
    memory_release_buffer(&blob);
    bytes_writer_fini(&id);
    return status;
}

ingot_status_t ingot_artifact_remove(ingot_cache_t cache, const ingot_artifact_key_t *key)
{
    struct bytes_writer id;
    ingot_status_t status = make_artifact_id(&id, key);
    if (status == INGOT_SUCCESS)
        status = cache_check(cache);
    if (status == INGOT_SUCCESS)
        status = cache_storage(cache) != NULL ? ingot_storage_remove(cache_storage(cache), id.size, id.bytes)
                                              : cache_refuse(cache, INGOT_NOT_FOUND);
    bytes_writer_fini(&id);
    return status;
}

/* Loads the artifact or begins a turn. That is one that does nothing if the cache has no storage and may make what it
 * lacks. */
static ingot_status_t begin_turn(ingot_cache_t cache, const struct bytes_writer *id, uint64_t max_wait_ms,
                                 ingot_buffer_t *value, ingot_turn_t *turn)
{
    if (cache_storage(cache) != NULL)
        return load_or_begin_turn(cache_storage(cache), id->size, id->bytes, max_wait_ms, value, turn);
    const ingot_status_t may_make = request_pass_through(cache, INGOT_NOT_FOUND);
    if (may_make == INGOT_SUCCESS)
        *turn = &no_turn;
    return may_make;
}

ingot_status_t ingot_artifact_begin(ingot_cache_t cache, const ingot_artifact_key_t *key, uint64_t max_wait_ms,
                                    ingot_buffer_t *value, ingot_turn_t *turn)
{
    struct bytes_writer id;
    if (value == NULL || turn == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "value or turn is NULL");
    *value = (ingot_buffer_t)INGOT_BUFFER_INIT;
    *turn = NULL;
    ingot_status_t status = make_artifact_id(&id, key);
    if (status == INGOT_SUCCESS)
        status = begin_turn(cache, &id, max_wait_ms, value, turn);
    bytes_writer_fini(&id);
    return status;
}

/* ---- making ---- */

static ingot_status_t make_value(ingot_turn_t turn, const struct bytes_writer *id, ingot_artifact_maker_t make,
                                 void *user, ingot_buffer_t *value)
{
    ingot_artifact_info_t info = INGOT_ARTIFACT_INFO_INIT;
    ingot_buffer_t made = INGOT_BUFFER_INIT;
    ingot_status_t status = make(user, &info, &made);
    if (status == INGOT_SUCCESS) {
        /* Ends the turn with what was made, and returns that as a value, also if it could not be stored. */
        ingot_buffer_t blob = INGOT_BUFFER_INIT;
        status = turn != &no_turn ? finish_turn(turn, &info, made.size, made.bytes, &blob)
                                  : ingot_artifact_pack(id->size, id->bytes, &info, made.size, made.bytes, &blob);
        if (blob.bytes != NULL)
            status = ingot_artifact_unpack(id->size, id->bytes, &blob, value);
        memory_release_buffer(&blob);
    } else
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
    struct bytes_writer id;
    ingot_turn_t turn = NULL;
    ingot_origin_t from = INGOT_ORIGIN_STORAGE;
    if (make == NULL || value == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "make or value is NULL");
    *value = (ingot_buffer_t)INGOT_BUFFER_INIT;
    ingot_status_t status = make_artifact_id(&id, key);
    if (status == INGOT_SUCCESS)
        status = begin_turn(cache, &id, INGOT_UNLIMITED, value, &turn);
    if (status == INGOT_SUCCESS && turn != NULL) {
        status = make_value(turn, &id, make, user, value);
        from = INGOT_ORIGIN_BUILD;
    }
    if (status == INGOT_SUCCESS && origin != NULL)
        *origin = from;
    bytes_writer_fini(&id);
    return status;
}
