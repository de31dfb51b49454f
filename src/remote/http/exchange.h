/*
 * exchange.h - makes requests to an HTTP server with libcurl.
 */
#ifndef INGOT_REMOTE_HTTP_EXCHANGE_H
#define INGOT_REMOTE_HTTP_EXCHANGE_H

#include <ingot/ingot.h>
#include <pthread.h>

#include "remote/curl/access.h"
#include "remote/http/answer.h"

#define HTTP_MOST_PARALLEL 8u

/* Connections to HTTP servers that are kept for later requests. Any number of threads may use a pool at once. */
struct http_pool {
    pthread_mutex_t lock;
    struct http_handle *idle; /* `lock` guards idle and idle_count */
    unsigned idle_count;
};

/* Initializes libcurl, too. @retval INGOT_OUT_OF_MEMORY, INGOT_UNIMPLEMENTED */
ingot_status_t http_pool_init(struct http_pool *pool);
void http_pool_fini(struct http_pool *pool);

/* What a protocol above HTTP adds to a request, and needs to know of the answer. */
struct exchange_detail {
    const char *headers[2]; /* NULL: none; for PUT, one of them is the Content-Type */
    long status;            /* of the answer */
    char location[2048];    /* headers of the answer; "": it has none, or a longer one */
    char challenge[1024];
    char retry_after[32];
};

struct exchange {
    enum http_method method;
    const char *base; /* the URL is the base and then the path */
    const char *path;
    const struct access *access;
    size_t sent_size; /* for PUT */
    const uint8_t *sent;
    struct answer_body body; /* for GET; the caller sets max_size */
    struct request *request;
    struct exchange_detail *detail; /* NULL: none. Otherwise each answer is OUTCOME_DONE, whatever its status */
    enum outcome outcome;           /* outcome and ended_ns are set when the exchange ends */
    uint64_t ended_ns;
};

/* Performs up to HTTP_MOST_PARALLEL requests at once, each with its own time limits. The caller frees the body of a GET
 * that is OUTCOME_DONE. */
void exchange_perform(struct http_pool *pool, size_t count, struct exchange *exchanges);

#endif
