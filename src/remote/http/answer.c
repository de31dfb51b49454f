/*
 * answer.c - interprets the status code of an HTTP server and collects the body of its answer; see answer.h.
 */
#include "remote/http/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote/object/envelope.h"

#define LEAST_CAPACITY 4096u
#define MOST_TRUSTED (UINT64_C(1) << 20) /* the most bytes that are allocated only because a server announces them */

/* Copies the text of an element of S3's XML. Returns "" if there is none. */
static const char *read_element(const char *page, const char *name, size_t capacity, char *text)
{
    char tag[32];
    (void)snprintf(tag, sizeof(tag), "<%s>", name);
    const char *begin = strstr(page, tag);
    text[0] = '\0';
    if (begin != NULL) {
        begin += strlen(tag);
        (void)snprintf(text, capacity, "%.*s", (int)strcspn(begin, "<"), begin);
    }
    return text;
}

static enum outcome fail_with_page(struct request *request, enum outcome outcome, const char *what, long code,
                                   const char *page)
{
    char name[64];
    char message[160];
    if (strstr(page, "<Error>") == NULL)
        return request_fail(request, outcome, "%s: HTTP status %ld", what, code);
    return request_fail(request, outcome, "%s: HTTP status %ld, %s: %s", what, code,
                        read_element(page, "Code", sizeof(name), name),
                        read_element(page, "Message", sizeof(message), message));
}

enum outcome answer_outcome(enum http_method method, long code, const char *page, struct request *request)
{
    const bool is_read = method == HTTP_GET || method == HTTP_HEAD;
    if (is_read ? code == 200 : code >= 200 && code <= 204)
        return OUTCOME_DONE;
    if (code == 404 && strstr(page, "<Code>NoSuchBucket</Code>") != NULL)
        return fail_with_page(request, OUTCOME_REFUSED, "the server has no such bucket", code, page);
    if ((code == 404 || code == 410) && method != HTTP_PUT)
        return OUTCOME_MISSING;
    if (code == 401 || code == 403 || code == 407 || (code == 400 && strstr(page, "Token</Code>") != NULL))
        return fail_with_page(request, OUTCOME_REFUSED, "the server rejects the credentials", code, page);
    if (code == 413 && method == HTTP_PUT)
        return fail_with_page(request, OUTCOME_TOO_LARGE, "the server takes no object of this size", code, page);
    if (code == 405 || code == 501)
        return fail_with_page(request, OUTCOME_REFUSED, "the server does not allow this method", code, page);
    if (code >= 300 && code <= 399)
        return fail_with_page(request, OUTCOME_BAD_ANSWER,
                              "the server redirects, which is not followed; use the address it names", code, page);
    return fail_with_page(request, OUTCOME_BAD_ANSWER, "the server answers with an error", code, page);
}

bool answer_list(const char *page, char last[TRANSPORT_CURSOR_CAPACITY], void (*visit)(void *user, const char *key),
                 void *user)
{
    char text[8];
    bool has_any = false;
    if (strstr(page, "<ListBucketResult") == NULL)
        return false;
    for (const char *at = page; (at = strstr(at, "<Key>")) != NULL;) {
        at += strlen("<Key>");
        const size_t size = strcspn(at, "<");
        const char *key = size > OBJECT_KEY_HEX_SIZE ? at + size - OBJECT_KEY_HEX_SIZE : NULL;
        if (key == NULL || key[-1] != '/' || strspn(key, "0123456789abcdef") != OBJECT_KEY_HEX_SIZE)
            continue; /* something else */
        (void)snprintf(last, TRANSPORT_CURSOR_CAPACITY, "%.*s", (int)OBJECT_KEY_HEX_SIZE, key);
        visit(user, last);
        has_any = true;
    }
    if (!has_any || strcmp(read_element(page, "IsTruncated", sizeof(text), text), "true") != 0)
        last[0] = '\0';
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
    if (size > body->capacity - body->size) {
        const uint64_t hint = announced > 0 && (uint64_t)announced < MOST_TRUSTED ? (uint64_t)announced : MOST_TRUSTED;
        size_t capacity = body->capacity != 0 ? body->capacity * 2 : announced > 0 ? (size_t)hint : LEAST_CAPACITY;
        if (capacity < body->size + size)
            capacity = body->size + size;
        if (capacity > body->max_size)
            capacity = body->max_size;
        uint8_t *grown = realloc(body->bytes, capacity);
        body->has_no_memory = grown == NULL;
        if (grown == NULL)
            return false;
        body->bytes = grown;
        body->capacity = capacity;
    }
    memcpy(body->bytes + body->size, bytes, size);
    body->size += size;
    return true;
}
