/*
 * recorder.h - what a storage was asked for, on its way into a manifest.
 */
#ifndef INGOT_PERSIST_PREWARM_RECORDER_H
#define INGOT_PERSIST_PREWARM_RECORDER_H

#include <ingot/prewarm.h>
#include <stdbool.h>

#include "persist/base/process_lock.h"

struct record;

struct recorder {
    struct process_lock lock;
    struct record *record;    /* under lock; NULL: nothing is recorded */
    atomic_bool is_recording; /* whether it is worth taking the lock; relaxed, the lock decides */
};

ingot_status_t recorder_init(struct recorder *recorder);
/* Saves; the storage's last reference is gone. */
void recorder_fini(struct recorder *recorder);
void recorder_note(struct recorder *recorder, size_t id_size, const uint8_t *id);
/* Saves what was noted since the last time. */
ingot_status_t recorder_save(struct recorder *recorder);

#endif
