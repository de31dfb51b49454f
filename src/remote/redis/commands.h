/*
 * commands.h - sends one command to Redis or Valkey on one of the transport's connections.
 */
#ifndef INGOT_REMOTE_REDIS_COMMANDS_H
#define INGOT_REMOTE_REDIS_COMMANDS_H

#include "remote/redis/connection.h"

#define REDIS_NAME_CAPACITY 192u /* "ingot:1:", a namespace of at most 64 bytes, ":", and a digest of 64 digits */

struct redis;

/* Takes an idle connection from the pool, or creates one. */
enum outcome redis_take_connection(struct redis *redis, struct request *request, struct redis_connection **connection);
/* Returns a connection to the pool. No answer may be pending on it. */
void redis_give_connection(struct redis *redis, struct redis_connection *connection);
/* Returns the outcome of an error reply, and writes the request's error message. */
enum outcome redis_explain_error(struct request *request, const redisReply *reply);

/* Sends a command and receives its reply, which the caller frees. An error reply becomes a failed outcome. */
enum outcome redis_ask(struct redis *redis, struct request *request, const struct redis_command *command,
                       redisReply **reply);
/* Writes the name that the object with this key has on the server. Returns the length of the name. */
size_t redis_write_name(const struct redis *redis, const char *key, char name[REDIS_NAME_CAPACITY]);

#endif
