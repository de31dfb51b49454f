/*
 * wait.h - waits for a socket, until a given time at most, or until the request ends early.
 */
#ifndef INGOT_REMOTE_NET_WAIT_H
#define INGOT_REMOTE_NET_WAIT_H

#include <stdint.h>

#include "remote/base/request.h"

/* How often a wait checks whether its request must end early, in milliseconds. */
#define WAIT_SLICE_MS 20

/* Returns the time from now to a moment, in milliseconds and rounded up, but at most WAIT_SLICE_MS. */
int wait_slice_ms(uint64_t now_ns, uint64_t moment_ns);

/* Waits until poll reports one of the events or an error on the socket. poll is a cancellation point, so an
 * application's thread must have deferred cancellation (util/cancellation.h). */
enum outcome wait_for_socket(struct request *request, int socket, short events, uint64_t moment_ns);

#endif
