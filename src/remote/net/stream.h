/*
 * stream.h - connects to a server. No function blocks longer than its request allows, and none raises SIGPIPE.
 */
#ifndef INGOT_REMOTE_NET_STREAM_H
#define INGOT_REMOTE_NET_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "remote/base/request.h"
#include "remote/net/address.h"
#include "remote/net/tls.h"
#include "util/kept_file.h"

/* A connection; it belongs to one thread at a time. */
struct stream {
    int socket;
    SSL *session;          /* NULL: not encrypted */
    struct kept_file kept; /* the same socket */
};

/* Connects to the first address that accepts a connection. Encrypts the connection unless tls is NULL. */
enum outcome stream_open(struct address_book *book, const struct tls *tls, struct request *request,
                         struct stream *stream);
void stream_close(struct stream *stream);
/* True if an idle connection is still usable: the server has neither closed it nor sent anything on it, and the
 * application has not closed its descriptor. */
bool stream_is_idle(const struct stream *stream);
/* Sends all bytes. */
enum outcome stream_send(const struct stream *stream, struct request *request, size_t size, const void *bytes);
/* Receives at least one byte. Returns OUTCOME_UNREACHABLE if the server has closed the connection. */
enum outcome stream_receive(const struct stream *stream, struct request *request, size_t capacity, void *bytes,
                            size_t *size);

#endif
