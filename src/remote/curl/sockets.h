/*
 * sockets.h - opens and closes the sockets of a libcurl handle, so that none is confused with a file of the
 * application (util/kept_file.h).
 *
 * libcurl keeps connections between requests. If the application has closed the socket of one, as daemons do when they
 * start, its number may belong to a file or connection of the application. libcurl would use and close that. So whoever
 * keeps a handle calls sockets_are_own before each use and before destroying it, and abandons the handle if not.
 */
#ifndef INGOT_REMOTE_CURL_SOCKETS_H
#define INGOT_REMOTE_CURL_SOCKETS_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

#include "util/kept_file.h"

#define SOCKETS_MOST 40u /* idle connections, and two attempts to connect for each parallel transfer */

/* The sockets that one multi handle has open. Only one thread at a time may use it. */
struct sockets {
    struct kept_file files[SOCKETS_MOST];
    bool is_connecting[SOCKETS_MOST]; /* libcurl 7.88 closes such a socket without a call of ours */
    struct sockets *next_abandoned;
};

void sockets_init(struct sockets *sockets);
/* Makes an easy handle open and close its sockets here. `sockets` must outlive its connections. */
CURLcode sockets_apply(struct sockets *sockets, CURL *easy);
/* Returns how many sockets are open. */
size_t sockets_count(const struct sockets *sockets);
/* Notes which sockets are connected, and which libcurl has closed while they were not. To be called after transfers,
 * and after connecting: what others close later is theirs. */
void sockets_settle(struct sockets *sockets);
/* Returns false if others have closed one of the sockets. */
bool sockets_are_own(struct sockets *sockets);
/* Gives up a handle some of whose descriptors may belong to the application now, including those that libcurl opens
 * without asking. The caller must not use or destroy the handle any more; its memory is never freed. */
void sockets_abandon(struct sockets *sockets);

#endif
