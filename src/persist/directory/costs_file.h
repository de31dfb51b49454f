/*
 * costs_file.h - reads and writes costs.bin: programs of a namespace that cost too much to store.
 */
#ifndef INGOT_PERSIST_DIRECTORY_COSTS_FILE_H
#define INGOT_PERSIST_DIRECTORY_COSTS_FILE_H

#include "persist/storage/common/costs.h"

/* The operations of a directory store. */
extern const struct storage_cost_ops costs_file_operations;

#endif
