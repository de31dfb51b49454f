/*
 * record.h - records the requests for programs in stores, and asks builders for a program that a storage lacks.
 */
#ifndef INGOT_PERSIST_REQUEST_RECORD_H
#define INGOT_PERSIST_REQUEST_RECORD_H

#include <ingot/persist.h>

/* Makes a new directory store record as `info` says: in itself, in the store of record_path, in both or not at all. If
 * that store cannot be opened, an event reports that. */
void record_begin(ingot_storage_t storage, const ingot_persist_info_t *info);

/* Stores the program's request, and leaves a wish for it, in each tier of the storage that keeps wishes. Returns
 * INGOT_BUSY if there is a wish for it now, or somebody compiles it. Otherwise nobody will: INGOT_NOT_FOUND, no tier
 * keeps wishes; INGOT_NOT_CACHEABLE, no builder could compile it; INGOT_BUILD_FAILED, one has just failed; or the
 * failure of a tier, which an event has reported. */
ingot_status_t wish_leave(ingot_storage_t storage, const_ingot_program_desc_t desc);

#endif
