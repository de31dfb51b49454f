/*
 * recorder.h - what a storage was asked for, on its way into a manifest.
 */
#ifndef INGOT_PERSIST_PREWARM_RECORDER_H
#define INGOT_PERSIST_PREWARM_RECORDER_H

#include <ingot/prewarm.h>

/* Notes an id if the storage records. */
void recorder_note(ingot_storage_t storage, size_t id_size, const uint8_t *id);
/* Saves what was noted since the last time. */
ingot_status_t recorder_save(ingot_storage_t storage);

#endif
