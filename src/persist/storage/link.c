/*
 * link.c - leads to a storage as long as it exists; see link.h.
 */
#include "persist/storage/link.h"

#include <pthread.h>
#include <stdatomic.h>

#include "persist/base/memory.h"
#include "persist/storage/storage.h"
#include "util/process_number.h"

struct link {
    atomic_uint references;
    unsigned long process;   /* in a forked child, the lock may never become free */
    pthread_mutex_t lock;    /* held for a few instructions */
    ingot_storage_t storage; /* guarded by the lock; NULL after the storage's end */
};

struct link *link_create(ingot_storage_t storage)
{
    struct link *link = memory_allocate(&memory_c_allocator, sizeof(*link)); /* may outlive the storage's allocator */
    if (link == NULL)
        return NULL;
    *link = (struct link){.process = process_number(), .storage = storage};
    atomic_init(&link->references, 1);
    pthread_mutex_init(&link->lock, NULL);
    return link;
}

struct link *link_retain(struct link *link)
{
    atomic_fetch_add_explicit(&link->references, 1, memory_order_relaxed);
    return link;
}

void link_release(struct link *link)
{
    if (atomic_fetch_sub_explicit(&link->references, 1, memory_order_acq_rel) != 1)
        return;
    pthread_mutex_destroy(&link->lock);
    memory_free(&memory_c_allocator, link, sizeof(*link));
}

void link_cut(struct link *link)
{
    pthread_mutex_lock(&link->lock);
    link->storage = NULL;
    pthread_mutex_unlock(&link->lock);
}

ingot_storage_t link_follow(struct link *link)
{
    if (link->process != process_number())
        return NULL;
    pthread_mutex_lock(&link->lock);
    ingot_storage_t storage = link->storage != NULL && storage_retain_if_held(link->storage) ? link->storage : NULL;
    pthread_mutex_unlock(&link->lock);
    return storage;
}
