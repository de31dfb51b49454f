/*
 * turn.c - begins and ends turns; see turn.h.
 *
 * Whoever gets the turn first looks in the storage, and then competes with other threads, processes and machines
 * (persist/storage/turns/build_turn.h). If the storage does not keep what this process makes, waiting would be useless,
 * so everyone gets a turn at once. A thread never waits for what it makes itself.
 */
#include "front/artifact/turn.h"

#include <ingot/backend.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/base/kept_error.h"
#include "persist/base/memory.h"
#include "persist/storage/blobs.h"
#include "persist/storage/miss.h"
#include "persist/storage/serving.h"
#include "persist/storage/storage.h"
#include "persist/storage/turns/build_turn.h"
#include "util/limit.h"
#include "util/nanoseconds.h"
#include "util/process_number.h"
#include "util/struct_size.h"

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

static uint64_t time_after(uint64_t now_ns, uint64_t time_ms)
{
    return time_ms < (UINT64_MAX - now_ns) / NS_PER_MS ? now_ns + time_ms * NS_PER_MS : UINT64_MAX;
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
        status = artifact_blob_load(turn->storage, turn->id_size, turn->id, value, &was_refused);
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
    ingot_status_t status = artifact_blob_load(storage, id_size, id, value, &was_refused);
    if (status != INGOT_NOT_FOUND)
        return status;
    if (storage_on_miss(storage) == INGOT_PERSIST_ON_MISS_FAIL)
        return storage_judge_miss(storage, NULL, id_size, id);
    struct ingot_turn *made = create_turn(storage, id_size, id);
    if (made == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a turn");
    const bool is_own = build_turn_is_own(id_size, id);
    const uint64_t wait_ms = is_own ? 0 : limit_of(max_wait_ms, 0);
    status = compete_for_turn(made, time_after(files_steady_clock_ns(), wait_ms), was_refused, value);
    if (status == INGOT_BUSY && is_own && limit_of(max_wait_ms, 0) != 0)
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

ingot_status_t turn_begin(ingot_storage_t storage, size_t id_size, const uint8_t *id, uint64_t max_wait_ms,
                          ingot_buffer_t *value, ingot_turn_t *turn)
{
    *value = (ingot_buffer_t)INGOT_BUFFER_INIT;
    *turn = storage == NULL ? &no_turn : NULL;
    if (storage == NULL)
        return INGOT_SUCCESS;
    return load_or_begin_turn(storage, id_size, id, max_wait_ms, value, turn);
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

ingot_status_t turn_finish(ingot_turn_t turn, const ingot_artifact_info_t *info, size_t size, const void *bytes,
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
        status = artifact_blob_store(turn->storage, turn->id_size, turn->id, &known, size, bytes, blob);
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
    const ingot_status_t status = turn_finish(turn, info, size, bytes, &blob);
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
