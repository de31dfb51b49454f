/*
 * exchange.h - one request to an HTTP server and its answer, by libcurl.
 */
#ifndef INGOT_REMOTE_HTTP_EXCHANGE_H
#define INGOT_REMOTE_HTTP_EXCHANGE_H

#include <curl/curl.h>

#include "remote/http/access.h"
#include "remote/http/answer.h"

/* A connection that libcurl keeps alive, for one thread at a time. */
struct http_handle {
    CURLM *multi;
    CURL *easy;
    struct http_handle *next; /* of the pool */
};

/* NULL: no memory. */
struct http_handle *http_handle_create(void);
void http_handle_destroy(struct http_handle *handle);

struct exchange {
    enum http_method method;
    const char *address;
    const struct access *access;
    size_t sent_size; /* of a PUT */
    const uint8_t *sent;
    struct answer_body body; /* of a GET; max_size is set */
};

/* The caller frees the body's bytes, whatever the outcome. */
enum outcome exchange_perform(struct http_handle *handle, struct request *request, struct exchange *exchange);

#endif
