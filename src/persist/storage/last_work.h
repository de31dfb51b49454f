/*
 * last_work.h - makes storages store their pending items, and save their counts, when the process ends.
 */
#ifndef INGOT_PERSIST_STORAGE_LAST_WORK_H
#define INGOT_PERSIST_STORAGE_LAST_WORK_H

#include <ingot/storage.h>

/* Registers a storage that has something to store or to save. May be called any number of times. */
void last_work_add(ingot_storage_t storage);
/* Unregisters a storage that is about to be destroyed. */
void last_work_remove(ingot_storage_t storage);
/* Called in a forked child: forgets the parent's storages. */
void last_work_begin_child(void);

#endif
