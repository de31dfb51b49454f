/*
 * leases.h - leases on Redis and Valkey, by scripts; doc/remote-format.md specifies their keys.
 */
#ifndef INGOT_REMOTE_REDIS_LEASES_H
#define INGOT_REMOTE_REDIS_LEASES_H

#include "remote/base/transport.h"

/* The operations; self is that of the transport of redis.h. */
extern const struct lease_transport_ops redis_leases;

#endif
