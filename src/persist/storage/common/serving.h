/*
 * serving.h - determines whether a storage is on, and for which backends.
 */
#ifndef INGOT_PERSIST_STORAGE_COMMON_SERVING_H
#define INGOT_PERSIST_STORAGE_COMMON_SERVING_H

#include <ingot/persist.h>
#include <stdbool.h>

/* True if the storage is on. If it is off, nothing is loaded from it or stored to it. */
bool storage_is_on(ingot_storage_t storage);
/* True if the storage serves requests of this context. */
bool storage_serves(ingot_storage_t storage, const struct ingot_context *context);
/* True if a list of backends is short enough and consists of names, each with an optional minus before it. */
bool serving_is_list(const char *list);
/* Sets the backends to a list for which serving_is_list is true; "" means all. */
void serving_set_backends(ingot_storage_t storage, const char *backends);
/* Copies the list. */
void serving_get_backends(ingot_storage_t storage, char backends[INGOT_PERSIST_BACKENDS_CAPACITY]);

#endif
