/*
 * store_cost.h - collects what is known about the cost of a program's blob, and remembers it for later processes.
 */
#ifndef INGOT_PERSIST_STORAGE_STORE_COST_H
#define INGOT_PERSIST_STORAGE_STORE_COST_H

#include <ingot/storage.h>

#include "persist/storage/common/costs.h"

/* Returns the cost of a program that was just built for a device that generates code at launch. */
struct store_cost store_cost_of(ingot_storage_t storage, const_ingot_program_t program, size_t id_size,
                                const uint8_t *id, uint64_t build_ns);

/* Remembers in the directory store to which the storage stores that a program's blob takes at least this time, or
 * COSTS_NEVER. Does nothing if there is no such store. */
void store_cost_note(ingot_storage_t storage, size_t id_size, const uint8_t *id, uint64_t known_ns);

#endif
