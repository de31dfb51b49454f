/*
 * watch.h - reports the progress of long work on a store to the caller's callback, which can end the work.
 */
#ifndef INGOT_PERSIST_DIRECTORY_UPKEEP_WATCH_H
#define INGOT_PERSIST_DIRECTORY_UPKEEP_WATCH_H

#include <ingot/persist.h>
#include <stdbool.h>

struct upkeep_watch {
    ingot_persist_upkeep_callback_t on_progress; /* may be NULL */
    void *user;
    ingot_persist_upkeep_progress_t progress;
    ingot_status_t ended; /* the status with which the callback ended the work; INGOT_SUCCESS if it did not */
};

static inline struct upkeep_watch upkeep_watch_of(ingot_persist_upkeep_callback_t on_progress, void *user)
{
    return (struct upkeep_watch){
        on_progress, user, {.struct_size = sizeof(ingot_persist_upkeep_progress_t)}, INGOT_SUCCESS};
}

/* Calls the callback with the progress so far. Returns false if the work should end. The caller must not hold a
 * lock. */
static inline bool upkeep_watch_tell(struct upkeep_watch *watch)
{
    if (watch->ended == INGOT_SUCCESS && watch->on_progress != NULL)
        watch->ended = watch->on_progress(&watch->progress, watch->user);
    return watch->ended == INGOT_SUCCESS;
}

static inline bool upkeep_watch_found(struct upkeep_watch *watch, uint64_t entry_count, uint64_t bytes)
{
    watch->progress.entry_count += entry_count;
    watch->progress.bytes += bytes;
    return upkeep_watch_tell(watch);
}

static inline bool upkeep_watch_removed(struct upkeep_watch *watch, uint64_t bytes)
{
    ++watch->progress.removed_count;
    watch->progress.removed_bytes += bytes;
    return upkeep_watch_tell(watch);
}

#endif
