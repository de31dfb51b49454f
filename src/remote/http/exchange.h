/*
 * exchange.h - makes requests to an HTTP server with libcurl.
 */
#ifndef INGOT_REMOTE_HTTP_EXCHANGE_H
#define INGOT_REMOTE_HTTP_EXCHANGE_H

#include <ingot/ingot.h>
#include <pthread.h>

#include "remote/curl/access.h"
#include "remote/http/answer.h"

/* Connections to HTTP servers that are kept for later requests. Any number of threads may use a pool at once. */
struct http_pool {
    pthread_mutex_t lock;
    struct http_handle *idle; /* `lock` guards idle and idle_count */
    unsigned idle_count;
};

/* Initializes libcurl, too. @retval INGOT_OUT_OF_MEMORY, INGOT_UNIMPLEMENTED */
ingot_status_t http_pool_init(struct http_pool *pool);
void http_pool_fini(struct http_pool *pool);

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

/* Performs a request. The caller frees the body of a GET that is OUTCOME_DONE. */
enum outcome exchange_perform(struct http_pool *pool, struct exchange *exchange);

#endif
