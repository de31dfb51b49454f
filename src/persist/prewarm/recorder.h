/*
 * recorder.h - records the ids that are requested from a storage, and saves them in a manifest.
 */
#ifndef INGOT_PERSIST_PREWARM_RECORDER_H
#define INGOT_PERSIST_PREWARM_RECORDER_H

#include <ingot/prewarm.h>

/* Notes an id if the storage is being recorded. */
void recorder_note(ingot_storage_t storage, size_t id_size, const uint8_t *id);
/* Saves the ids that were noted since the last save. */
ingot_status_t recorder_save(ingot_storage_t storage);

#endif
