/*
 * last_work.h - what storages do while the process ends.
 */
#ifndef INGOT_PERSIST_STORAGE_LAST_WORK_H
#define INGOT_PERSIST_STORAGE_LAST_WORK_H

#include <ingot/storage.h>

/* A storage has something to be stored; any number of times. remove when nothing comes any more. */
void last_work_add(ingot_storage_t storage);
void last_work_remove(ingot_storage_t storage);

/* Has the threads of all storages store what waits, each for as long as its storage may hold up the end, and waits for
 * that. Returns the longest such time. */
uint64_t last_work_do(uint64_t now_ns);
/* Tells of what was not stored. */
void last_work_tell(void);

#endif
