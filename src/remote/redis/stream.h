/*
 * stream.h - a connection through libcurl, over which bytes go in both directions. No function blocks longer than its
 * request allows, and none raises SIGPIPE.
 *
 * libcurl connects and encrypts (CURLOPT_CONNECT_ONLY). hiredis could do so, too, but it has no deadline for a whole
 * reply, and Debian 12 does not package its support for TLS.
 */
#ifndef INGOT_REMOTE_REDIS_STREAM_H
#define INGOT_REMOTE_REDIS_STREAM_H

#include <curl/curl.h>
#include <stddef.h>

#include "remote/base/request.h"
#include "remote/curl/access.h"
#include "remote/curl/sockets.h"

#define STREAM_URL_CAPACITY 320u /* "https://", a host of at most 255 bytes, ":" and a port */
#define STREAM_PATH_CAPACITY 108u

/* A server, which is constant. */
struct stream_server {
    char url[STREAM_URL_CAPACITY];          /* of the scheme https if connections are encrypted, otherwise http */
    char socket_path[STREAM_PATH_CAPACITY]; /* of a Unix socket; "": none */
    struct access access;
};

/* Only one thread at a time may use a stream. */
struct stream {
    CURLM *multi;
    CURL *easy;
    struct sockets sockets;
    curl_socket_t socket;
    char error[CURL_ERROR_SIZE];
};

/* Connects to the first of the server's addresses that accepts a connection. Also if that fails, the caller closes the
 * stream. */
enum outcome stream_open(const struct stream_server *server, struct request *request, struct stream *stream);
/* Closes the stream, or abandons it if the application has closed its descriptor. Then returns false, and the memory
 * of the stream must never be freed. */
bool stream_close(struct stream *stream);
/* True if an idle connection is still usable: the server has neither closed it nor sent anything on it, and the
 * application has not closed its descriptor. */
bool stream_is_idle(struct stream *stream);
/* Sends all bytes. */
enum outcome stream_send(struct stream *stream, struct request *request, size_t size, const void *bytes);
/* Receives at least one byte. Returns OUTCOME_UNREACHABLE if the server has closed the connection. */
enum outcome stream_receive(struct stream *stream, struct request *request, size_t capacity, void *bytes, size_t *size);

#endif
