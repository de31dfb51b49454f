/*
 * redis.h - the transport to Redis and Valkey: GET, SET with a time to live, DEL and PING.
 */
#ifndef INGOT_REMOTE_REDIS_REDIS_H
#define INGOT_REMOTE_REDIS_REDIS_H

#include <ingot/ingot.h>

#include "remote/base/transport.h"
#include "remote/settings/url.h"

/* Connects to nothing yet. time_to_live_s: 0: no limit. name_space is for keys and lives as long as the transport.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_UNTRUSTED, INGOT_NOT_FOUND, INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY */
ingot_status_t redis_open(struct transport *transport, const struct url *url, const char *name_space,
                          uint64_t time_to_live_s);

#endif
