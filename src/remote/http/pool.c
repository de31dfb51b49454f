/*
 * pool.c - keeps idle libcurl handles; see pool.h.
 *
 * A handle serves one request, or one group of reads, at a time. Lock: one mutex, held for a few instructions.
 */
#include "remote/http/pool.h"

#include <ingot/backend.h>

#include "remote/base/clock.h"
#include "remote/curl/library.h"

#define MOST_IDLE 16u

ingot_status_t http_pool_init(struct http_pool *pool)
{
    const ingot_status_t status = library_init();
    if (status != INGOT_SUCCESS)
        return status;
    if (pthread_mutex_init(&pool->lock, NULL) != 0)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a remote tier's lock");
    return INGOT_SUCCESS;
}

static struct http_handle *take_idle(struct http_pool *pool)
{
    (void)pthread_mutex_lock(&pool->lock);
    struct http_handle *handle = pool->idle;
    if (handle != NULL) {
        pool->idle = handle->next;
        --pool->idle_count;
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return handle;
}

/* Keeps a handle, unless it has no connection: then nothing would show whether its descriptors are still its own. */
static void give(struct http_pool *pool, struct http_handle *handle)
{
    const bool is_connected = sockets_count(&handle->sockets) != 0;
    (void)pthread_mutex_lock(&pool->lock);
    const bool is_kept = is_connected && pool->idle_count < MOST_IDLE;
    if (is_kept) {
        handle->next = pool->idle;
        pool->idle = handle;
        ++pool->idle_count;
    }
    (void)pthread_mutex_unlock(&pool->lock);
    if (!is_kept)
        http_handle_destroy(handle);
}

static struct http_handle *take(struct http_pool *pool)
{
    struct http_handle *handle;
    while ((handle = take_idle(pool)) != NULL) {
        if (sockets_are_own(&handle->sockets))
            return handle;
        http_handle_destroy(handle);
    }
    return http_handle_create();
}

void http_pool_perform(struct http_pool *pool, size_t count, struct exchange *exchanges)
{
    struct http_handle *handle = take(pool);
    if (handle != NULL) {
        exchange_perform(handle, count, exchanges);
        give(pool, handle);
        return;
    }
    for (size_t i = 0; i < count; ++i) {
        exchanges[i].outcome = request_fail(exchanges[i].request, OUTCOME_NO_MEMORY, "no memory for a connection");
        exchanges[i].ended_ns = clock_now_ns();
    }
}

void http_pool_fini(struct http_pool *pool)
{
    struct http_handle *handle;
    while ((handle = take_idle(pool)) != NULL)
        http_handle_destroy(handle);
    (void)pthread_mutex_destroy(&pool->lock);
}
