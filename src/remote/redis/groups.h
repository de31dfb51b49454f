/*
 * groups.h - reads several objects from Redis and Valkey in one round trip.
 */
#ifndef INGOT_REMOTE_REDIS_GROUPS_H
#define INGOT_REMOTE_REDIS_GROUPS_H

#include "remote/base/transport.h"

/* Operations on several objects. Their `self` is that of a transport from redis_open. */
extern const struct group_transport_ops redis_groups;

#endif
