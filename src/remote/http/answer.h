/*
 * answer.h - what an HTTP server's answer means: its status code, and its body within a limit.
 */
#ifndef INGOT_REMOTE_HTTP_ANSWER_H
#define INGOT_REMOTE_HTTP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "remote/base/request.h"

enum http_method { HTTP_GET, HTTP_HEAD, HTTP_PUT, HTTP_DELETE };

/* The outcome of a status code. Sets the sentence if it is a failure. */
enum outcome answer_outcome(enum http_method method, long code, struct request *request);

/* A body that is being received. */
struct answer_body {
    size_t max_size;
    size_t size;
    size_t capacity;
    uint8_t *bytes; /* of malloc */
    bool is_too_large;
    bool has_no_memory;
};

/* Adds bytes. announced: the size that the server has announced, which is only a hint, or a negative number. Returns
 * false if the body is too large or memory runs out. */
bool answer_body_add(struct answer_body *body, int64_t announced, size_t size, const void *bytes);

#endif
