/*
 * lessor.h - finds the lessor, which is the one of a chain's storages that gives leases.
 *
 * The machine that has the lease of a program builds the program, and other machines wait.
 */
#ifndef INGOT_PERSIST_STORAGE_TURNS_LESSOR_H
#define INGOT_PERSIST_STORAGE_TURNS_LESSOR_H

#include <ingot/storage.h>

/* Returns a reference to a storage that gives leases and in which every blob of the application is stored, or NULL.
 * This is the given storage or the first suitable one behind it. */
ingot_storage_t lessor_find(ingot_storage_t storage);

#endif
