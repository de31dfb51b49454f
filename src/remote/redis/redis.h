/*
 * redis.h - the transport to Redis and Valkey: objects and leases by plain commands; doc/remote-format.md specifies
 * their keys.
 */
#ifndef INGOT_REMOTE_REDIS_REDIS_H
#define INGOT_REMOTE_REDIS_REDIS_H

#include <ingot/ingot.h>

#include "remote/base/transport.h"
#include "remote/curl/access.h"

/* Does not connect yet. access, name_space: valid as long as the transport; the latter is part of each key.
 * time_to_live_s: how long the server keeps an object; 0: no limit. @retval INGOT_INVALID_ARGUMENTS,
 * INGOT_OUT_OF_MEMORY */
ingot_status_t redis_open(struct transport *transport, const struct access *access, const char *name_space,
                          uint64_t time_to_live_s);

#endif
