/*
 * key_disk.h - reads a key file if it can be trusted.
 */
#ifndef INGOT_PERSIST_TRUST_KEY_DISK_H
#define INGOT_PERSIST_TRUST_KEY_DISK_H

#include "persist/trust/key.h"

/* Reads the key. Returns the statuses of ingot_persist_key_describe. */
ingot_status_t key_disk_read(const char *path, struct key *key);

#endif
