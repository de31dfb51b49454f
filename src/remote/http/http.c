/*
 * http.c - implements the transport to HTTP servers; see base/transport.h.
 *
 * Each request takes a libcurl handle from a pool (exchange.h), so any number of threads may make requests at once.
 * doc/remote-format.md specifies the URLs of objects.
 */
#include <ingot/backend.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote/base/transport.h"
#include "remote/curl/curl.h"
#include "remote/http/exchange.h"

#define MOST_LIST_BYTES (16u << 20) /* of a page with 1000 keys */
#define BASE_CAPACITY (2 * URL_CAPACITY)
#define PATH_CAPACITY 160u
#define LIST_CAPACITY 1900u

struct http {
    struct transport_ops ops;
    const struct access *access;
    const char *name_space;
    char base[BASE_CAPACITY]; /* of the URLs of objects, without a slash at its end */
    char root[BASE_CAPACITY]; /* for S3, the base without the path; "": the server cannot list objects */
    struct pool pool;
};

/* ---- operations ---- */

/* Writes the path of an object in the server's folder, or that of the namespace's folder if the key is "". */
static void write_path(const struct http *http, const char *key, char path[PATH_CAPACITY])
{
    if (http->access->url.is_flat)
        (void)snprintf(path, PATH_CAPACITY, "/%s", key);
    else if (key[0] == '\0')
        (void)snprintf(path, PATH_CAPACITY, "/ingot-1/%s/", http->name_space);
    else
        (void)snprintf(path, PATH_CAPACITY, "/ingot-1/%s/%.2s/%s", http->name_space, key, key);
}

static enum outcome perform_key_exchange(struct http *http, struct request *request, const char *key,
                                         struct exchange *exchange)
{
    char path[PATH_CAPACITY];
    write_path(http, key, path);
    exchange->base = http->base;
    exchange->path = path;
    exchange->access = http->access;
    exchange->request = request;
    return exchange_perform(&http->pool, exchange);
}

static void release_body(ingot_buffer_t *object)
{
    free(object->owner);
}

static enum outcome http_get_object(void *self, struct request *request, const char *key, size_t max_size,
                                    ingot_buffer_t *object)
{
    struct exchange exchange = {.method = HTTP_GET, .body = {.max_size = max_size}};
    const enum outcome outcome = perform_key_exchange(self, request, key, &exchange);
    if (outcome == OUTCOME_DONE)
        *object = (ingot_buffer_t){exchange.body.size, exchange.body.bytes, release_body, exchange.body.bytes};
    return outcome;
}

static enum outcome http_put_object(void *self, struct request *request, const char *key, size_t size,
                                    const uint8_t *bytes)
{
    struct exchange exchange = {.method = HTTP_PUT, .sent_size = size, .sent = bytes};
    return perform_key_exchange(self, request, key, &exchange);
}

static enum outcome http_remove_object(void *self, struct request *request, const char *key)
{
    struct exchange exchange = {.method = HTTP_DELETE};
    return perform_key_exchange(self, request, key, &exchange);
}

static enum outcome http_has_object(void *self, struct request *request, const char *key)
{
    struct exchange exchange = {.method = HTTP_HEAD};
    return perform_key_exchange(self, request, key, &exchange);
}

/* Asks for a key that no object has. The root or a folder would not do: a server may have nothing there or refuse to
 * show it. S3 says why it refuses in the page that it sends, and an answer to HEAD has none. */
static enum outcome http_probe_server(void *self, struct request *request)
{
    static const char no_key[] = "0000000000000000000000000000000000000000000000000000000000000000";
    const struct http *http = self;
    ingot_buffer_t object = INGOT_BUFFER_INIT;
    if (http->root[0] == '\0')
        return http_has_object(self, request, no_key);
    const enum outcome outcome = http_get_object(self, request, no_key, 1, &object);
    if (outcome == OUTCOME_DONE)
        object.release(&object);
    return outcome;
}

/* Appends a text with escapes for all bytes that a signed query must not have. The text's own escapes stay. */
static void append_escaped(size_t capacity, char *path, const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~%";
    size_t used = strlen(path);
    for (; *text != '\0' && used + 4 < capacity; ++text)
        used += (size_t)snprintf(path + used, capacity - used, strchr(plain, *text) != NULL ? "%c" : "%%%02X",
                                 (unsigned char)*text);
}

/* Writes what follows the root in the URL that lists the objects after the one with this key; "": from the first one.
 * Returns false if it has no room. */
static bool write_list_path(const struct http *http, const char *key, size_t capacity, char *path)
{
    char object[PATH_CAPACITY];
    const char *prefix = http->access->url.path;
    const size_t slash = prefix[0] == '\0'; /* a key does not begin with one */
    write_path(http, "", object);
    (void)snprintf(path, capacity, "/?list-type=2&max-keys=1000&prefix="); /* in the order that is signed */
    append_escaped(capacity, path, prefix);
    append_escaped(capacity, path, object + slash);
    if (key[0] != '\0') {
        write_path(http, key, object);
        (void)snprintf(path + strlen(path), capacity - strlen(path), "&start-after=");
        append_escaped(capacity, path, prefix);
        append_escaped(capacity, path, object + slash);
    }
    return strlen(path) + 4 < capacity;
}

/* Asks S3 for a page of its list. The cursor is the key of the last object of the page before. */
static enum outcome s3_list_objects(void *self, struct request *request, char cursor[TRANSPORT_CURSOR_CAPACITY],
                                    void (*visit)(void *user, const char *key), void *user)
{
    struct http *http = self;
    char path[LIST_CAPACITY];
    char before[TRANSPORT_CURSOR_CAPACITY];
    struct exchange exchange = {.method = HTTP_GET,
                                .base = http->root,
                                .path = path,
                                .access = http->access,
                                .body = {.max_size = MOST_LIST_BYTES},
                                .request = request};
    if (!write_list_path(http, cursor, sizeof(path), path))
        return request_fail(request, OUTCOME_REFUSED, "the URL's path is too long to list objects");
    enum outcome outcome = exchange_perform(&http->pool, &exchange);
    if (outcome != OUTCOME_DONE)
        return outcome == OUTCOME_MISSING ? request_fail(request, OUTCOME_REFUSED, "the server has no such bucket")
                                          : outcome;
    const uint8_t end = 0;
    (void)snprintf(before, sizeof(before), "%s", cursor);
    if (!answer_body_add(&exchange.body, -1, 1, &end))
        outcome = request_fail(request, OUTCOME_NO_MEMORY, "no memory for a list of objects");
    else if (!answer_list((const char *)exchange.body.bytes, cursor, visit, user))
        outcome = request_fail(request, OUTCOME_BAD_ANSWER, "the answer is not a list of objects");
    else if (cursor[0] != '\0' && strcmp(cursor, before) <= 0)
        outcome = request_fail(request, OUTCOME_BAD_ANSWER, "the list of objects does not go on after the last key");
    free(exchange.body.bytes);
    return outcome;
}

static void destroy_http(void *self)
{
    struct http *http = self;
    exchange_end_pool(&http->pool);
    free(http);
}

/* ---- opening ---- */

static ingot_status_t take_target(struct http *http, const struct url *url)
{
    const char *slash = url->path[0] != '\0' ? "/" : "";
    const char *colon = url->port[0] != '\0' ? ":" : "";
    size_t length = strlen(url->endpoint);
    while (length != 0 && url->endpoint[length - 1] == '/')
        --length;
    if (url->scheme != URL_S3) {
        (void)snprintf(http->base, sizeof(http->base), "%s://%s%s%s%s%s", url->scheme == URL_HTTPS ? "https" : "http",
                       url->host, colon, url->port, slash, url->path);
        return INGOT_SUCCESS;
    }
    if (length != 0 && strncmp(url->endpoint, "http://", 7) != 0 && strncmp(url->endpoint, "https://", 8) != 0)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                      "the URL's option endpoint begins with neither http:// nor https://");
    if (strchr(url->endpoint, '@') != NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the URL's option endpoint must not have a user");
    if (length == 0)
        (void)snprintf(http->root, sizeof(http->root), "https://%s.s3.%s.amazonaws.com", url->host, url->region);
    else
        (void)snprintf(http->root, sizeof(http->root), "%.*s/%s", (int)length, url->endpoint, url->host);
    (void)snprintf(http->base, sizeof(http->base), "%.*s%s%s", (int)BASE_CAPACITY / 2, http->root, slash, url->path);
    if (url->is_flat) /* other objects may be there */
        http->root[0] = '\0';
    return INGOT_SUCCESS;
}

ingot_status_t http_open(struct transport *transport, const struct access *access, const char *name_space)
{
    const bool has_password = access->url.auth == URL_AUTH_PASSWORD || access->url.auth == URL_AUTH_S3;
    /* if the URL names no user, the file must have it */
    if (has_password && access->url.user[0] == '\0' && strchr(access->secret, ':') == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                      "the first line of the file with the credentials is not %s",
                                      access->url.auth == URL_AUTH_S3 ? "ACCESS_KEY:SECRET_KEY" : "USER:PASSWORD");
    struct http *http = calloc(1, sizeof(*http));
    if (http == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a remote tier");
    http->access = access;
    http->name_space = name_space;
    const ingot_status_t status = take_target(http, &access->url);
    if (status != INGOT_SUCCESS) {
        free(http);
        return status;
    }
    pool_init(&http->pool);
    http->ops = (struct transport_ops){.get = http_get_object,
                                       .put = http_put_object,
                                       .remove = http_remove_object,
                                       .has = http_has_object,
                                       .probe = http_probe_server,
                                       .destroy = destroy_http,
                                       .list = http->root[0] != '\0' ? s3_list_objects : NULL};
    *transport = (struct transport){&http->ops, http};
    return status;
}
