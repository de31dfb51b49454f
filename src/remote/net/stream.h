/*
 * stream.h - a connection to a server that never blocks longer than its request allows and never raises SIGPIPE.
 */
#ifndef INGOT_REMOTE_NET_STREAM_H
#define INGOT_REMOTE_NET_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "remote/base/request.h"
#include "remote/net/address.h"

/* Connects to the first address that accepts. */
enum outcome stream_open(struct address_book *book, struct request *request, int *socket);
void stream_close(int socket);
/* True if the server has neither closed an idle connection nor sent anything on it. */
bool stream_is_idle(int socket);
/* Sends all bytes. */
enum outcome stream_send(int socket, struct request *request, size_t size, const void *bytes);
/* Receives at least one byte. Returns OUTCOME_UNREACHABLE if the server has closed the connection. */
enum outcome stream_receive(int socket, struct request *request, size_t capacity, void *bytes, size_t *size);

#endif
