/*
 * http.c - implements the transport to HTTP servers; see http.h.
 *
 * Each request takes a libcurl handle from a pool (exchange.h), so any number of threads may make requests at once.
 */
#include "remote/http/http.h"

#include <ingot/backend.h>
#include <stdlib.h>
#include <string.h>

#include "remote/curl/library.h"
#include "remote/http/exchange.h"
#include "remote/http/target.h"

#define MOST_LIST_BYTES (16u << 20) /* of a page with 1000 keys */

struct http {
    struct target target;
    struct access access;
    struct http_pool pool;
};

/* ---- operations ---- */

static enum outcome perform_key_exchange(struct http *http, struct request *request, const char *key,
                                         struct exchange *exchange)
{
    char path[TARGET_PATH_CAPACITY];
    target_path(&http->target, key, path);
    exchange->base = http->target.base;
    exchange->path = path;
    exchange->access = &http->access;
    exchange->request = request;
    return exchange_perform(&http->pool, exchange);
}

static enum outcome http_get_object(void *self, struct request *request, const char *key, size_t max_size,
                                    ingot_buffer_t *object)
{
    struct exchange exchange = {.method = HTTP_GET, .body = {.max_size = max_size}};
    const enum outcome outcome = perform_key_exchange(self, request, key, &exchange);
    if (outcome == OUTCOME_DONE)
        *object = answer_object(exchange.body.size, exchange.body.bytes);
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
 * show it. */
static const char no_key[] = "0000000000000000000000000000000000000000000000000000000000000000";

static enum outcome http_probe_server(void *self, struct request *request)
{
    return http_has_object(self, request, no_key);
}

/* S3 says why it refuses a request in the page that it sends, and an answer to HEAD has none. */
static enum outcome s3_probe_server(void *self, struct request *request)
{
    ingot_buffer_t object = INGOT_BUFFER_INIT;
    const enum outcome outcome = http_get_object(self, request, no_key, 1, &object);
    if (outcome == OUTCOME_DONE)
        object.release(&object);
    return outcome;
}

/* Asks S3 for a page of its list. The cursor is the key of the last object of the page before. */
static enum outcome s3_list_objects(void *self, struct request *request, char cursor[TRANSPORT_CURSOR_CAPACITY],
                                    void (*visit)(void *user, const char *key), void *user)
{
    struct http *http = self;
    char path[TARGET_LIST_CAPACITY];
    struct exchange exchange = {.method = HTTP_GET,
                                .base = http->target.root,
                                .path = path,
                                .access = &http->access,
                                .body = {.max_size = MOST_LIST_BYTES},
                                .request = request};
    if (!target_list_path(&http->target, cursor, sizeof(path), path))
        return request_fail(request, OUTCOME_REFUSED, "the URL's path is too long to list objects");
    enum outcome outcome = exchange_perform(&http->pool, &exchange);
    if (outcome != OUTCOME_DONE)
        return outcome == OUTCOME_MISSING ? request_fail(request, OUTCOME_REFUSED, "the server has no such bucket")
                                          : outcome;
    const uint8_t end = 0;
    if (!answer_body_add(&exchange.body, -1, 1, &end))
        outcome = request_fail(request, OUTCOME_NO_MEMORY, "no memory for a list of objects");
    else if (!answer_list((const char *)exchange.body.bytes, cursor, visit, user))
        outcome = request_fail(request, OUTCOME_BAD_ANSWER, "the answer is not a list of objects");
    free(exchange.body.bytes);
    return outcome;
}

static void destroy_http(void *self)
{
    struct http *http = self;
    http_pool_fini(&http->pool);
    access_fini(&http->access);
    free(http);
}

/* ---- opening ---- */

/* Checks that credentials that need a user and a password have both. If the URL names no user, the file with the
 * credentials must hold "user:password". */
static ingot_status_t check_pair(const struct access *access)
{
    if (access->auth == URL_AUTH_NONE || access->auth == URL_AUTH_BEARER || access->user[0] != '\0' ||
        strchr(access->secret, ':') != NULL)
        return INGOT_SUCCESS;
    return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the first line of the file with the credentials is not %s",
                                  access->auth == URL_AUTH_S3 ? "ACCESS_KEY:SECRET_KEY" : "USER:PASSWORD");
}

static ingot_status_t make_http(struct http *http, const struct url *url, const char *name_space)
{
    ingot_status_t status = target_init(&http->target, url, name_space);
    if (status == INGOT_SUCCESS)
        status = access_init(&http->access, url);
    if (status == INGOT_SUCCESS)
        status = check_pair(&http->access);
    if (status == INGOT_SUCCESS)
        status = http_pool_init(&http->pool);
    if (status != INGOT_SUCCESS)
        access_fini(&http->access);
    return status;
}

ingot_status_t http_open(struct transport *transport, const struct url *url, const char *name_space)
{
    static const struct transport_ops ops = {.get = http_get_object,
                                             .put = http_put_object,
                                             .remove = http_remove_object,
                                             .has = http_has_object,
                                             .probe = http_probe_server,
                                             .destroy = destroy_http};
    static const struct transport_ops s3_ops = {.get = http_get_object,
                                                .put = http_put_object,
                                                .remove = http_remove_object,
                                                .has = http_has_object,
                                                .probe = s3_probe_server,
                                                .destroy = destroy_http,
                                                .list = s3_list_objects};
    struct http *http = calloc(1, sizeof(*http));
    if (http == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a remote tier");
    const ingot_status_t status = make_http(http, url, name_space);
    if (status == INGOT_SUCCESS)
        *transport = (struct transport){http->target.root[0] != '\0' ? &s3_ops : &ops, http};
    else
        free(http);
    return status;
}
