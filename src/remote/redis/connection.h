/*
 * connection.h - a connection to Redis or Valkey: sends one command at a time and receives its reply. No function
 * blocks longer than its request allows, and none raises SIGPIPE.
 *
 * libcurl connects, encrypts, and then passes bytes (CURLOPT_CONNECT_ONLY). hiredis only writes commands and parses
 * replies: it has no deadline for a whole reply, and Debian 12 does not package its support for TLS. A connection
 * belongs to one thread at a time.
 */
#ifndef INGOT_REMOTE_REDIS_CONNECTION_H
#define INGOT_REMOTE_REDIS_CONNECTION_H

#include <hiredis/hiredis.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "remote/curl/curl.h"

#if HIREDIS_MAJOR >= 1
typedef size_t redis_element_count_t;
#else
typedef int redis_element_count_t;
#endif

#define REDIS_CHUNK_SIZE (16u * 1024u)

struct redis_connection {
    struct handle handle; /* first, so that a handle of a pool is a connection */
    curl_socket_t socket;
    redisReader *reader;
    redisReplyObjectFunctions functions; /* those of hiredis, except that createArray refuses long lists */
    void *(*create_list)(const redisReadTask *task, redis_element_count_t count); /* hiredis's createArray */
    size_t element_count;         /* of all lists in the reply that is being received */
    char chunk[REDIS_CHUNK_SIZE]; /* received bytes on their way to the reader */
};

/* Connects to the first of the server's addresses that accepts a connection, but does not authenticate. url: names the
 * server, with the scheme https if connections are encrypted, and otherwise http. */
enum outcome redis_connection_open(const char *url, const struct access *access, struct request *request,
                                   struct redis_connection **connection);
void redis_connection_close(struct redis_connection *connection);
/* True if an idle connection is still usable: the server has neither closed it nor sent anything on it, and the
 * application has not closed its descriptor. */
bool redis_connection_is_idle(struct redis_connection *connection);

/*
 * Sends a command and receives its reply, of at most max_size bytes unless it arrived in full: a string, a number, nil,
 * a status, an error, or, if the request takes one, a list with at most 65,536 elements. The format is that of
 * redisCommand. The caller frees the reply. If the outcome is not OUTCOME_DONE, the caller must close the connection.
 */
enum outcome redis_connection_ask(struct redis_connection *connection, struct request *request, size_t max_size,
                                  redisReply **reply, const char *format, va_list arguments);

/* Sets *reply if the reader has a complete reply. Refuses replies of kinds that redis_connection_ask does not list,
 * before any memory is allocated for their elements. */
enum outcome redis_reply_take(redisReader *reader, struct request *request, redisReply **reply);

#endif
