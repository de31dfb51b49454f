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
static enum outcome http_probe_server(void *self, struct request *request)
{
    static const char no_key[] = "0000000000000000000000000000000000000000000000000000000000000000";
    return http_has_object(self, request, no_key);
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
    struct http *http = calloc(1, sizeof(*http));
    if (http == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a remote tier");
    const ingot_status_t status = make_http(http, url, name_space);
    if (status == INGOT_SUCCESS)
        *transport = (struct transport){&ops, http};
    else
        free(http);
    return status;
}
