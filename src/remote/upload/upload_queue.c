/*
 * upload_queue.c - queues blobs to be uploaded and ids to be removed; see upload_queue.h.
 */
#include "remote/upload/upload_queue.h"

#include <ingot/backend.h>
#include <stdlib.h>
#include <string.h>

#include "util/thread.h"

static uint64_t size_of(const struct upload *upload)
{
    return sizeof(*upload) + upload->id_size + upload->blob_size;
}

static struct upload *make_upload(const char *key, size_t id_size, const uint8_t *id, size_t blob_size,
                                  const uint8_t *blob)
{
    struct upload *upload = malloc(sizeof(*upload) + id_size + blob_size);
    if (upload == NULL)
        return NULL;
    uint8_t *bytes = (uint8_t *)(upload + 1);
    memcpy(bytes, id, id_size);
    if (blob_size != 0)
        memcpy(bytes + id_size, blob, blob_size);
    *upload = (struct upload){.id_size = id_size, .blob_size = blob_size, .id = bytes, .blob = bytes + id_size};
    memcpy(upload->key, key, sizeof(upload->key));
    return upload;
}

void upload_queue_init(struct upload_queue *queue, uint64_t max_bytes, size_t max_count)
{
    *queue = (struct upload_queue){.max_bytes = max_bytes, .max_count = max_count};
    queue->last = &queue->first;
    pthread_mutex_init(&queue->lock, NULL);
    thread_condition_init(&queue->has_changed);
}

/* Removes from the list the item that `at` points to, and returns it. */
static struct upload *unlink_upload(struct upload_queue *queue, struct upload **at)
{
    struct upload *upload = *at;
    *at = upload->next;
    if (queue->last == &upload->next)
        queue->last = at;
    upload->next = NULL;
    --queue->count;
    queue->bytes -= size_of(upload);
    return upload;
}

static size_t drop_all(struct upload_queue *queue)
{
    size_t count = 0;
    for (; queue->first != NULL; ++count)
        free(unlink_upload(queue, &queue->first));
    return count;
}

void upload_queue_fini(struct upload_queue *queue)
{
    (void)drop_all(queue);
    (void)pthread_cond_destroy(&queue->has_changed);
    (void)pthread_mutex_destroy(&queue->lock);
}

static bool is_of(const struct upload *upload, const char *key)
{
    return upload != NULL && strcmp(upload->key, key) == 0;
}

/* Returns a link to the key's item in the list, or NULL. */
static struct upload **find_upload_link(struct upload_queue *queue, const char *key)
{
    struct upload **at = &queue->first;
    while (*at != NULL && !is_of(*at, key))
        at = &(*at)->next;
    return *at != NULL ? at : NULL;
}

ingot_status_t upload_queue_add(struct upload_queue *queue, const char *key, size_t id_size, const uint8_t *id,
                                size_t blob_size, const uint8_t *blob, size_t *dropped_count)
{
    *dropped_count = 0;
    if (sizeof(struct upload) + id_size + blob_size > queue->max_bytes)
        return ingot_set_error_detail(INGOT_NO_SPACE, "a blob of %zu bytes is too large to wait for its upload",
                                      blob_size);
    struct upload *upload = make_upload(key, id_size, id, blob_size, blob);
    if (upload == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for an upload");
    (void)pthread_mutex_lock(&queue->lock);
    const bool is_closed = queue->is_closed;
    if (!is_closed) {
        struct upload **earlier = find_upload_link(queue, key);
        if (earlier != NULL)
            free(unlink_upload(queue, earlier));
        while (queue->count >= queue->max_count || queue->bytes + size_of(upload) > queue->max_bytes) {
            free(unlink_upload(queue, &queue->first));
            ++*dropped_count;
        }
        upload->number = ++queue->last_number;
        *queue->last = upload;
        queue->last = &upload->next;
        ++queue->count;
        queue->bytes += size_of(upload);
        (void)pthread_cond_broadcast(&queue->has_changed);
    }
    (void)pthread_mutex_unlock(&queue->lock);
    if (!is_closed)
        return INGOT_SUCCESS;
    free(upload);
    return ingot_set_error_detail(INGOT_READ_ONLY, "the remote tier is ending");
}

/* Returns the newest item of a key, or NULL. */
static const struct upload *find_upload(const struct upload_queue *queue, const char *key)
{
    const struct upload *found = queue->first;
    while (found != NULL && !is_of(found, key))
        found = found->next;
    return found == NULL && is_of(queue->active, key) ? queue->active : found;
}

bool upload_queue_has(const struct upload_queue *queue, const char *key)
{
    return find_upload(queue, key) != NULL;
}

bool upload_queue_find(struct upload_queue *queue, const char *key, size_t *size, uint8_t **copy)
{
    (void)pthread_mutex_lock(&queue->lock);
    const struct upload *found = find_upload(queue, key);
    if (found != NULL) {
        *size = found->blob_size;
        if (copy != NULL)
            *copy = *size != 0 ? malloc(*size) : NULL;
        if (copy != NULL && *copy != NULL)
            memcpy(*copy, found->blob, *size);
    }
    (void)pthread_mutex_unlock(&queue->lock);
    return found != NULL;
}

struct upload *upload_queue_take(struct upload_queue *queue)
{
    (void)pthread_mutex_lock(&queue->lock);
    queue->active = queue->first != NULL ? unlink_upload(queue, &queue->first) : NULL;
    struct upload *taken = queue->active;
    (void)pthread_mutex_unlock(&queue->lock);
    return taken;
}

void upload_queue_finish(struct upload_queue *queue, bool is_tried_again)
{
    (void)pthread_mutex_lock(&queue->lock);
    struct upload *upload = queue->active;
    queue->active = NULL;
    if (is_tried_again && !queue->is_closed && find_upload(queue, upload->key) == NULL) {
        upload->next = queue->first;
        queue->first = upload;
        if (upload->next == NULL)
            queue->last = &upload->next;
        ++queue->count;
        queue->bytes += size_of(upload);
        upload = NULL;
    }
    (void)pthread_cond_broadcast(&queue->has_changed);
    (void)pthread_mutex_unlock(&queue->lock);
    free(upload);
}

bool upload_queue_has_up_to(const struct upload_queue *queue, uint64_t number)
{
    const struct upload *oldest = queue->active != NULL ? queue->active : queue->first;
    return oldest != NULL && oldest->number <= number;
}

void upload_queue_wait(struct upload_queue *queue, uint64_t moment_ns)
{
    thread_wait(&queue->has_changed, &queue->lock, moment_ns);
}

void upload_queue_wake(struct upload_queue *queue)
{
    (void)pthread_mutex_lock(&queue->lock);
    (void)pthread_cond_broadcast(&queue->has_changed);
    (void)pthread_mutex_unlock(&queue->lock);
}

size_t upload_queue_close(struct upload_queue *queue)
{
    (void)pthread_mutex_lock(&queue->lock);
    const size_t count = drop_all(queue);
    queue->is_closed = true;
    (void)pthread_cond_broadcast(&queue->has_changed);
    (void)pthread_mutex_unlock(&queue->lock);
    return count;
}

size_t upload_queue_count(struct upload_queue *queue)
{
    (void)pthread_mutex_lock(&queue->lock);
    const size_t count = queue->count + (queue->active != NULL ? 1 : 0);
    (void)pthread_mutex_unlock(&queue->lock);
    return count;
}
