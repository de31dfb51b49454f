/*
 * answer.h - interprets the status code of an HTTP server and collects the body of its answer, up to a limit.
 */
#ifndef INGOT_REMOTE_HTTP_ANSWER_H
#define INGOT_REMOTE_HTTP_ANSWER_H

#include "remote/base/base.h"
#include "remote/curl/curl.h"

#include <ingot/storage.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum http_method { HTTP_GET, HTTP_HEAD, HTTP_PUT, HTTP_DELETE };

/* Returns the outcome of a status code. If it is a failure, writes the request's error message. page: the error page as
 * text; if it is one of S3, its code and message become part of the error message. */
enum outcome answer_outcome(enum http_method method, long code, const char *page, struct request *request);

/* A body that is being received. */
struct answer_body {
    size_t max_size;
    size_t size;
    size_t capacity;
    uint8_t *bytes; /* allocated with malloc */
    bool is_too_large;
    bool has_no_memory;
};

/* Visits the keys of objects that a page of an S3 listing names. `last` receives the last one and, if more pages
 * follow, keeps it; otherwise it becomes "". Returns false if the page is none. */
bool answer_list(const char *page, char last[TRANSPORT_CURSOR_CAPACITY], void (*visit)(void *user, const char *key),
                 void *user);

/* Appends bytes. announced: the size of the body according to the server, which may be wrong; negative: unknown.
 * Returns false if the body is too large or memory runs out. */
bool answer_body_add(struct answer_body *body, int64_t announced, size_t size, const void *bytes);

#endif
