/*
 * answer.c - interprets the status code of an HTTP server and collects the body of its answer; see answer.h.
 */
#include "remote/http/answer.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_CAPACITY 4096u
#define MOST_TRUSTED (UINT64_C(1) << 20) /* the most bytes that are allocated only because a server announces them */

enum outcome answer_outcome(enum http_method method, long code, struct request *request)
{
    const bool is_read = method == HTTP_GET || method == HTTP_HEAD;
    if (is_read ? code == 200 : code >= 200 && code <= 204)
        return OUTCOME_DONE;
    if ((code == 404 || code == 410) && method != HTTP_PUT)
        return OUTCOME_MISSING;
    if (code == 401 || code == 403 || code == 407)
        return request_fail(request, OUTCOME_REFUSED, "the server rejects the credentials: HTTP status %ld", code);
    if (code == 413 && method == HTTP_PUT)
        return request_fail(request, OUTCOME_TOO_LARGE, "the server takes no object of this size: HTTP status %ld",
                            code);
    if (code == 405 || code == 501)
        return request_fail(request, OUTCOME_REFUSED, "the server does not allow this method: HTTP status %ld", code);
    if (code >= 300 && code <= 399)
        return request_fail(request, OUTCOME_BAD_ANSWER,
                            "the server redirects (HTTP status %ld), which is not followed; use the address it names",
                            code);
    return request_fail(request, OUTCOME_BAD_ANSWER, "the server answers with HTTP status %ld", code);
}

static bool grow_body(struct answer_body *body, int64_t announced, size_t size)
{
    const uint64_t hint = announced > 0 && (uint64_t)announced < MOST_TRUSTED ? (uint64_t)announced : MOST_TRUSTED;
    size_t capacity = body->capacity != 0 ? body->capacity * 2 : announced > 0 ? (size_t)hint : LEAST_CAPACITY;
    if (capacity < size)
        capacity = size;
    if (capacity > body->max_size)
        capacity = body->max_size;
    uint8_t *bytes = realloc(body->bytes, capacity);
    if (bytes == NULL)
        return false;
    body->bytes = bytes;
    body->capacity = capacity;
    return true;
}

bool answer_body_add(struct answer_body *body, int64_t announced, size_t size, const void *bytes)
{
    if (size == 0)
        return true;
    body->is_too_large =
        size > body->max_size - body->size || (announced > 0 && (uint64_t)announced > (uint64_t)body->max_size);
    if (body->is_too_large)
        return false;
    body->has_no_memory = size > body->capacity - body->size && !grow_body(body, announced, body->size + size);
    if (body->has_no_memory)
        return false;
    memcpy(body->bytes + body->size, bytes, size);
    body->size += size;
    return true;
}

static void release_object(ingot_buffer_t *object)
{
    free(object->owner);
}

ingot_buffer_t answer_object(size_t size, uint8_t *bytes)
{
    return (ingot_buffer_t){.size = size, .bytes = bytes, .release = release_object, .owner = bytes};
}
