/*
 * wishes.h - keeps wishes in a directory store.
 */
#ifndef INGOT_PERSIST_DIRECTORY_WISHES_H
#define INGOT_PERSIST_DIRECTORY_WISHES_H

#include <ingot/storage.h>

/* look_wish of struct storage_own_ops. */
ingot_status_t wishes_look(void *self, size_t id_size, const uint8_t *id);
/* leave_wish of ingot_storage_ops_t, after wishes_look. */
ingot_status_t wishes_leave(void *self, size_t id_size, const uint8_t *id);

#endif
