/*
 * store_cost.h - estimates how long a driver that generates code at launch takes to provide a program's blob, and
 * remembers programs that cost too much.
 */
#ifndef INGOT_PERSIST_STORAGE_STORE_COST_H
#define INGOT_PERSIST_STORAGE_STORE_COST_H

#include <ingot/storage.h>

/* Returns the least time that the driver needs to provide the blob of a program that was just built, or STORAGE_NEVER
 * if the blob is not to be stored. */
uint64_t store_cost_of(ingot_storage_t storage, const_ingot_program_t program, size_t id_size, const uint8_t *id);

/* Remembers in the directory store to which the storage stores that a program's blob takes at least this time, or
 * STORAGE_NEVER. Does nothing if there is no such store. */
void store_cost_note(ingot_storage_t storage, size_t id_size, const uint8_t *id, uint64_t cost_ns);

#endif
