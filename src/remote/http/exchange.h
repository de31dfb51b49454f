/*
 * exchange.h - makes requests to an HTTP server with libcurl.
 */
#ifndef INGOT_REMOTE_HTTP_EXCHANGE_H
#define INGOT_REMOTE_HTTP_EXCHANGE_H

#include <curl/curl.h>

#include "remote/curl/access.h"
#include "remote/curl/sockets.h"
#include "remote/http/answer.h"

#define HTTP_MOST_PARALLEL 8u
#define HTTP_URL_CAPACITY 4352u

/* Connections that libcurl keeps alive. Only one thread at a time may use a handle. */
struct http_handle {
    CURLM *multi;
    CURL *easy[HTTP_MOST_PARALLEL]; /* NULL: not needed yet */
    struct sockets sockets;         /* those of multi */
    struct http_handle *next;       /* the next idle handle in the pool */
};

/* Returns NULL if out of memory. */
struct http_handle *http_handle_create(void);
/* Destroys the handle, or abandons it if the application has closed one of its descriptors. */
void http_handle_destroy(struct http_handle *handle);

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
void exchange_perform(struct http_handle *handle, size_t count, struct exchange *exchanges);

#endif
