/*
 * exchange.h - makes requests to an HTTP server with libcurl.
 */
#ifndef INGOT_REMOTE_HTTP_EXCHANGE_H
#define INGOT_REMOTE_HTTP_EXCHANGE_H

#include "remote/curl/curl.h"
#include "remote/http/answer.h"

struct exchange {
    enum http_method method;
    const char *base; /* the URL is the base and then the path */
    const char *path;
    const struct access *access;
    size_t sent_size; /* for PUT */
    const uint8_t *sent;
    struct answer_body body; /* for GET; the caller sets max_size */
    struct request *request;
};

/* Performs a request on a connection of the pool. The caller frees the body of a GET that is OUTCOME_DONE. */
enum outcome exchange_perform(struct pool *pool, struct exchange *exchange);
/* Closes the connections of the pool. */
void exchange_end_pool(struct pool *pool);

#endif
