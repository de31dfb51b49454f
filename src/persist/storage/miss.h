/*
 * miss.h - what a request does that a storage cannot answer: makes the program or artifact, reports that, or fails.
 */
#ifndef INGOT_PERSIST_STORAGE_MISS_H
#define INGOT_PERSIST_STORAGE_MISS_H

#include <ingot/persist.h>

/* Returns what a storage does on a miss: its own policy, or that of a chain's first tier that has one. */
ingot_persist_on_miss_t storage_on_miss(ingot_storage_t storage);

/* Applies the storage's policy to a request that found nothing. Reports to the context, or to the storage's callback if
 * the context is NULL. id: NULL if there is none; the thread's error message then says why. Returns INGOT_SUCCESS if
 * the caller may make what was requested. Otherwise INGOT_NOT_FOUND, with the reason. */
ingot_status_t storage_judge_miss(ingot_storage_t storage, const struct ingot_context *context, size_t id_size,
                                  const uint8_t *id);

/* Writes a line about a miss to standard error. */
void miss_print(const char *reason);

#endif
