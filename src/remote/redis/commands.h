/*
 * commands.h - sends one command to Redis or Valkey on one of the transport's connections.
 */
#ifndef INGOT_REMOTE_REDIS_COMMANDS_H
#define INGOT_REMOTE_REDIS_COMMANDS_H

#include "remote/redis/connection.h"

#define REDIS_NAME_CAPACITY 192u /* "ingot:1:", a namespace of at most 64 bytes, ":", and a digest of 64 digits */

struct redis;

/* Sends a command and receives its reply, which the caller frees. The format is that of redisCommand. An error reply
 * becomes a failed outcome, and nil OUTCOME_MISSING. */
enum outcome redis_ask(struct redis *redis, struct request *request, size_t max_size, redisReply **reply,
                       const char *format, ...);
/* Does the same for a command whose reply is the number of keys that it found. OUTCOME_MISSING: 0. */
enum outcome redis_count(struct redis *redis, struct request *request, const char *format, ...);
/* Writes the name that the object with this key has on the server. */
void redis_write_name(const struct redis *redis, const char *key, char name[REDIS_NAME_CAPACITY]);

#endif
