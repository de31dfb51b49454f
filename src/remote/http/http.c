/*
 * http.c - implements the transport to HTTP servers; see http.h.
 *
 * A libcurl handle, with the connections that it keeps alive, serves one request, or one group of reads, at a time.
 * Idle handles are in a pool. A request takes a handle from the pool or creates one, so any number of threads may make
 * requests at once. Lock: one mutex for the pool, held for a few instructions.
 */
#include "remote/http/http.h"

#include <ingot/backend.h>
#include <pthread.h>
#include <stdlib.h>

#include "remote/curl/library.h"
#include "remote/http/exchange.h"
#include "remote/http/target.h"
#include "remote/settings/secret_file.h"

#define MOST_IDLE 16u

struct http {
    struct target target;
    struct access access;
    pthread_mutex_t lock;
    struct http_handle *idle; /* `lock` guards idle and idle_count */
    unsigned idle_count;
};

/* ---- handles ---- */

static struct http_handle *take_idle(struct http *http)
{
    (void)pthread_mutex_lock(&http->lock);
    struct http_handle *handle = http->idle;
    if (handle != NULL) {
        http->idle = handle->next;
        --http->idle_count;
    }
    (void)pthread_mutex_unlock(&http->lock);
    return handle;
}

/* Keeps a handle, unless it has no connection: then nothing would show whether its descriptors are still its own. */
static void give_handle(struct http *http, struct http_handle *handle)
{
    const bool is_connected = sockets_count(&handle->sockets) != 0;
    (void)pthread_mutex_lock(&http->lock);
    const bool is_kept = is_connected && http->idle_count < MOST_IDLE;
    if (is_kept) {
        handle->next = http->idle;
        http->idle = handle;
        ++http->idle_count;
    }
    (void)pthread_mutex_unlock(&http->lock);
    if (!is_kept)
        http_handle_destroy(handle);
}

/* ---- operations ---- */

static struct http_handle *take_handle(struct http *http)
{
    struct http_handle *handle;
    while ((handle = take_idle(http)) != NULL) {
        if (sockets_are_own(&handle->sockets))
            return handle;
        http_handle_destroy(handle);
    }
    return http_handle_create();
}

static enum outcome perform(struct http *http, struct request *request, const char *key, struct exchange *exchange)
{
    char address[TARGET_CAPACITY];
    struct http_handle *handle = take_handle(http);
    if (handle == NULL)
        return request_fail(request, OUTCOME_NO_MEMORY, "no memory for a connection");
    target_of(&http->target, key, address);
    exchange->address = address;
    exchange->access = &http->access;
    exchange->request = request;
    exchange_perform(handle, 1, exchange);
    give_handle(http, handle);
    return exchange->outcome;
}

/* Turns the body of a GET into an object, or frees it. */
static void take_body(const struct exchange *exchange, struct received *object)
{
    if (exchange->outcome != OUTCOME_DONE)
        free(exchange->body.bytes);
    else
        *object = (struct received){
            .size = exchange->body.size, .bytes = exchange->body.bytes, .release = free, .owner = exchange->body.bytes};
}

static enum outcome get(void *self, struct request *request, const char *key, size_t max_size, struct received *object)
{
    struct exchange exchange = {.method = HTTP_GET, .body = {.max_size = max_size}};
    exchange.outcome = perform(self, request, key, &exchange);
    take_body(&exchange, object);
    return exchange.outcome;
}

/* Each object has its own transfer and its own connection. */
static size_t get_group(void *self, size_t count, struct fetch *fetches)
{
    struct http *http = self;
    struct exchange exchanges[HTTP_MOST_PARALLEL];
    struct http_handle *handle = take_handle(http);
    char(*addresses)[TARGET_CAPACITY] = malloc(count * sizeof(*addresses));
    for (size_t i = 0; i < count; ++i) {
        exchanges[i] = (struct exchange){.method = HTTP_GET,
                                         .access = &http->access,
                                         .body = {.max_size = fetches[i].max_size},
                                         .request = &fetches[i].request,
                                         .outcome = OUTCOME_NO_MEMORY,
                                         .ended_ns = fetches[i].began_ns};
        if (addresses != NULL)
            target_of(&http->target, fetches[i].key, addresses[i]);
        exchanges[i].address = addresses != NULL ? addresses[i] : NULL;
    }
    const bool has_memory = handle != NULL && addresses != NULL;
    if (has_memory)
        exchange_perform(handle, count, exchanges);
    for (size_t i = 0; i < count && !has_memory; ++i)
        (void)request_fail(&fetches[i].request, OUTCOME_NO_MEMORY, "no memory for a connection");
    if (handle != NULL)
        give_handle(http, handle);
    free(addresses);
    for (size_t i = 0; i < count; ++i) {
        fetches[i].outcome = exchanges[i].outcome;
        fetches[i].ended_ns = exchanges[i].ended_ns;
        take_body(&exchanges[i], &fetches[i].object);
    }
    return count;
}

static enum outcome put(void *self, struct request *request, const char *key, size_t size, const uint8_t *bytes)
{
    struct exchange exchange = {.method = HTTP_PUT, .sent_size = size, .sent = bytes};
    return perform(self, request, key, &exchange);
}

static enum outcome remove_key(void *self, struct request *request, const char *key)
{
    struct exchange exchange = {.method = HTTP_DELETE};
    return perform(self, request, key, &exchange);
}

static enum outcome has(void *self, struct request *request, const char *key)
{
    struct exchange exchange = {.method = HTTP_HEAD};
    return perform(self, request, key, &exchange);
}

/* Asks for a key that no object has. The root or a folder would not do: a server may have nothing there or refuse to
 * show it. */
static enum outcome probe(void *self, struct request *request)
{
    static const char no_key[] = "0000000000000000000000000000000000000000000000000000000000000000";
    return has(self, request, no_key);
}

static void destroy(void *self)
{
    struct http *http = self;
    struct http_handle *handle;
    while ((handle = take_idle(http)) != NULL)
        http_handle_destroy(handle);
    (void)pthread_mutex_destroy(&http->lock);
    access_fini(&http->access);
    free(http);
}

/* ---- opening ---- */

static ingot_status_t make(struct http *http, const struct url *url, const char *name_space)
{
    ingot_status_t status = library_init();
    if (status == INGOT_SUCCESS)
        status = target_init(&http->target, url, name_space);
    if (status == INGOT_SUCCESS)
        status = access_init(&http->access, url);
    if (status == INGOT_SUCCESS && pthread_mutex_init(&http->lock, NULL) != 0) {
        access_fini(&http->access);
        status = ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a remote tier's lock");
    }
    return status;
}

ingot_status_t http_open(struct transport *transport, const struct url *url, const char *name_space)
{
    static const struct group_transport_ops groups = {HTTP_MOST_PARALLEL, get_group};
    static const struct transport_ops ops = {get, put, remove_key, has, probe, destroy, NULL, &groups};
    struct http *http = calloc(1, sizeof(*http));
    if (http == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a remote tier");
    const ingot_status_t status = make(http, url, name_space);
    if (status == INGOT_SUCCESS)
        *transport = (struct transport){
            .ops = &ops,
            .self = http,
            .has_shared_secret = secret_file_is_shared(url->credentials) || secret_file_is_shared(url->key),
        };
    else
        free(http);
    return status;
}
