/*
 * groups.h - reads several objects from Redis and Valkey in one round trip.
 */
#ifndef INGOT_REMOTE_REDIS_GROUPS_H
#define INGOT_REMOTE_REDIS_GROUPS_H

#include "remote/base/transport.h"

/* The operations. `self` is that of a transport that redis_open made. */
extern const struct group_transport_ops redis_groups;

#endif
