/*
 * connection.h - a connection to Redis or Valkey: sends one command at a time and receives its reply.
 *
 * hiredis writes commands and parses replies; the bytes go through stream.h. A connection belongs to one thread at a
 * time.
 */
#ifndef INGOT_REMOTE_REDIS_CONNECTION_H
#define INGOT_REMOTE_REDIS_CONNECTION_H

#include <hiredis/hiredis.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "remote/base/request.h"
#include "remote/redis/stream.h"

#define REDIS_CHUNK_SIZE (16u * 1024u)

struct redis_connection {
    struct stream stream;
    redisReader *reader;
    struct redis_connection *next; /* the next idle connection in the pool */
    uint64_t idle_since_ns; /* when it came to the pool; of CLOCK_BOOTTIME, which goes on while the machine sleeps */
    char chunk[REDIS_CHUNK_SIZE]; /* received bytes on their way to the reader */
};

/* Connects, but does not authenticate. */
enum outcome redis_connection_open(const struct stream_server *server, struct request *request,
                                   struct redis_connection **connection);
void redis_connection_close(struct redis_connection *connection);

/*
 * Sends a command and receives its reply, of at most max_size bytes unless it arrived in full: a string, a number, nil,
 * a status or an error. The format is that of redisCommand. The caller frees the reply. If the outcome is not
 * OUTCOME_DONE, the caller must close the connection.
 */
enum outcome redis_connection_ask(struct redis_connection *connection, struct request *request, size_t max_size,
                                  redisReply **reply, const char *format, va_list arguments);

/* Feeds bytes to a reader. Refuses replies of kinds that redis_connection_ask does not list, before any memory is
 * allocated for them. */
enum outcome redis_reply_feed(redisReader *reader, struct request *request, size_t size, const char *bytes);
/* Sets *reply if the reader has a complete reply. Refuses replies as redis_reply_feed does, and incomplete ones of more
 * than max_size bytes. */
enum outcome redis_reply_take(redisReader *reader, struct request *request, size_t max_size, redisReply **reply);

#endif
