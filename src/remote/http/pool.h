/*
 * pool.h - keeps idle libcurl handles, with their connections, for later requests.
 */
#ifndef INGOT_REMOTE_HTTP_POOL_H
#define INGOT_REMOTE_HTTP_POOL_H

#include <ingot/ingot.h>
#include <pthread.h>

#include "remote/http/exchange.h"

/* Any number of threads may use a pool at once. */
struct http_pool {
    pthread_mutex_t lock;
    struct http_handle *idle; /* `lock` guards idle and idle_count */
    unsigned idle_count;
};

/* Initializes libcurl, too. @retval INGOT_OUT_OF_MEMORY */
ingot_status_t http_pool_init(struct http_pool *pool);
void http_pool_fini(struct http_pool *pool);
/* Performs exchanges with an idle handle or a new one (exchange_perform). */
void http_pool_perform(struct http_pool *pool, size_t count, struct exchange *exchanges);

#endif
