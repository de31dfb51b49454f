/*
 * groups.h - reads objects from Redis and Valkey, several of them in one round trip.
 */
#ifndef INGOT_REMOTE_REDIS_GROUPS_H
#define INGOT_REMOTE_REDIS_GROUPS_H

#include "remote/base/transport.h"

#define REDIS_MOST_OBJECTS 16u

/* The operation `get` of a transport from redis_open. */
size_t redis_get(void *self, size_t count, struct fetch *fetches);

#endif
