/*
 * leases.h - takes, extends and ends leases on Redis and Valkey; doc/remote-format.md specifies their keys.
 */
#ifndef INGOT_REMOTE_REDIS_LEASES_H
#define INGOT_REMOTE_REDIS_LEASES_H

#include "remote/base/transport.h"

/* Operations on leases. Their `self` is that of a transport from redis_open. */
extern const struct lease_transport_ops redis_leases;

#endif
