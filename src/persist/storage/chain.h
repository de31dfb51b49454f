/*
 * chain.h - keeps a chain's promotions from undoing what is stored or removed at the same time.
 *
 * A load reads a lower tier and then stores a copy in the tiers above. If the blob was stored or removed through the
 * chain since the load began, the copy is stale and is not stored. A change waits for a promotion of the same id that
 * is storing already, and then replaces or removes its copy.
 */
#ifndef INGOT_PERSIST_STORAGE_CHAIN_H
#define INGOT_PERSIST_STORAGE_CHAIN_H

#include <ingot/storage.h>
#include <pthread.h>
#include <stdbool.h>

enum chain_use_kind { CHAIN_LOAD, CHAIN_PROMOTION, CHAIN_CHANGE };

/* What a thread does with a blob of a chain, in the thread's stack. The chain's uses_lock guards all fields. */
struct chain_use {
    struct chain_use *next;
    enum chain_use_kind kind;
    bool is_stale; /* of a load: its blob must not be promoted */
    pthread_t thread;
    size_t id_size;
    const uint8_t *id;
};

void chain_begin_load(ingot_storage_t chain, struct chain_use *use, size_t id_size, const uint8_t *id);
/* Begins a store or a removal, possibly after a wait for promotions. */
void chain_begin_change(ingot_storage_t chain, struct chain_use *use, size_t id_size, const uint8_t *id);
/* Makes a load's use that of a promotion. Returns false if the blob must not be promoted. */
bool chain_begin_promotion(ingot_storage_t chain, struct chain_use *use);
/* Ends a use of any kind. */
void chain_end_use(ingot_storage_t chain, struct chain_use *use);

#endif
