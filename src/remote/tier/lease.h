/*
 * lease.h - takes and ends leases. Of all machines that share a server, only the one that holds a program's lease
 * compiles the program.
 */
#ifndef INGOT_REMOTE_TIER_LEASE_H
#define INGOT_REMOTE_TIER_LEASE_H

#include <ingot/storage.h>

/* Operations of ingot_storage_ops_t; self is a tier whose protocol has leases. */
ingot_lease_answer_t tier_take_lease(void *self, size_t id_size, const uint8_t *id, int is_blob_useless, void **lease);
void tier_end_lease(void *self, void *lease, int may_others_take);

#endif
