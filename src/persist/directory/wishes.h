/*
 * wishes.h - keeps wishes in a directory store.
 */
#ifndef INGOT_PERSIST_DIRECTORY_WISHES_H
#define INGOT_PERSIST_DIRECTORY_WISHES_H

#include <ingot/storage.h>

/* The operation leave_wish of ingot_storage_ops_t. */
ingot_status_t wishes_leave(void *self, size_t id_size, const uint8_t *id);

#endif
