/*
 * lessor.h - finds and calls the lessor, which is the one of a chain's storages that gives leases.
 *
 * The machine that has the lease of a program builds the program, and other machines wait.
 */
#ifndef INGOT_PERSIST_STORAGE_TURNS_LESSOR_H
#define INGOT_PERSIST_STORAGE_TURNS_LESSOR_H

#include <ingot/storage.h>

/* Returns a reference to a storage that gives leases and in which every blob of the application is stored, or NULL.
 * This is the given storage or the first suitable one behind it. */
ingot_storage_t lessor_find(ingot_storage_t storage);

/* Call the lessor's operations. */
ingot_lease_answer_t lessor_take(ingot_storage_t lessor, size_t id_size, const uint8_t *id, int is_blob_useless,
                                 void **lease);
void lessor_end(ingot_storage_t lessor, void *lease, int may_others_take);

#endif
