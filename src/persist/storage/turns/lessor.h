/*
 * lessor.h - finds and calls the lessor: the storage, among those behind another one, that gives leases.
 *
 * The machine that has the lease of a program builds it, and other machines wait.
 */
#ifndef INGOT_PERSIST_STORAGE_TURNS_LESSOR_H
#define INGOT_PERSIST_STORAGE_TURNS_LESSOR_H

#include <ingot/storage.h>

/* Returns a reference to the first storage behind this one that gives leases and gets every store, or NULL. */
ingot_storage_t lessor_find(ingot_storage_t storage);

/* Call the operations that the lessor's owner set with ingot_storage_set_leases. */
ingot_lease_answer_t lessor_take(ingot_storage_t lessor, size_t id_size, const uint8_t *id, int is_blob_useless,
                                 void **lease);
void lessor_end(ingot_storage_t lessor, void *lease, int may_others_take);

#endif
