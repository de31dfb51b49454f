/*
 * prewarm_list.c - manages the list of a storage's prewarms.
 */
#include "persist/prewarm/prewarm_list.h"

#include <ingot/backend.h>

#include "persist/base/memory.h"
#include "persist/storage/storage.h"

static void forget(void *user)
{
    struct prewarm_list *list = user;
    list->first = NULL;
    atomic_store_explicit(&list->count, 0, memory_order_relaxed);
    (void)pthread_cond_init(&list->loaded, NULL); /* on Linux it needs no memory and cannot fail */
    (void)pthread_cond_init(&list->changed, NULL);
}

void prewarm_list_lock(struct prewarm_list *list)
{
    process_lock_take(&list->lock, forget, list);
}

void prewarm_list_unlock(struct prewarm_list *list)
{
    process_lock_give(&list->lock);
}

static ingot_status_t init(struct prewarm_list *list)
{
    ingot_status_t status = INGOT_OUT_OF_MEMORY;
    list->first = NULL;
    atomic_init(&list->count, 0);
    if (pthread_cond_init(&list->loaded, NULL) != 0)
        return ingot_set_error_detail(status, "a storage's locks could not be created");
    if (pthread_cond_init(&list->changed, NULL) != 0)
        (void)ingot_set_error_detail(status, "a storage's locks could not be created");
    else if ((status = process_lock_init(&list->lock)) == INGOT_SUCCESS)
        return INGOT_SUCCESS;
    else
        pthread_cond_destroy(&list->changed);
    pthread_cond_destroy(&list->loaded);
    return status;
}

/* Destroys the list. It is empty, because each prewarm holds a reference to the storage. */
static void destroy(void *part)
{
    struct prewarm_list *list = part;
    const ingot_allocator_t allocator = list->allocator;
    process_lock_fini(&list->lock);
    pthread_cond_destroy(&list->changed);
    pthread_cond_destroy(&list->loaded);
    memory_free(&allocator, list, sizeof(*list));
}

struct prewarm_list *prewarm_list_of(ingot_storage_t storage)
{
    return storage_get_part(storage, STORAGE_PREWARMS);
}

ingot_status_t prewarm_list_make(ingot_storage_t storage, struct prewarm_list **list)
{
    *list = prewarm_list_of(storage);
    if (*list != NULL)
        return INGOT_SUCCESS;
    struct prewarm_list *made = memory_allocate(storage_allocator(storage), sizeof(*made));
    if (made == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a prewarm");
    made->allocator = *storage_allocator(storage);
    const ingot_status_t status = init(made);
    if (status != INGOT_SUCCESS) {
        memory_free(storage_allocator(storage), made, sizeof(*made));
        return status;
    }
    *list = storage_add_part(storage, STORAGE_PREWARMS, made, destroy);
    if (*list != made)
        destroy(made);
    return INGOT_SUCCESS;
}

void prewarm_list_add(struct prewarm_list *list, struct ingot_prewarm *prewarm)
{
    prewarm->next = list->first;
    list->first = prewarm;
    atomic_fetch_add_explicit(&list->count, 1, memory_order_relaxed);
}

void prewarm_list_remove(struct prewarm_list *list, const struct ingot_prewarm *prewarm)
{
    for (struct ingot_prewarm **place = &list->first; *place != NULL; place = &(*place)->next) {
        if (*place == prewarm) {
            *place = prewarm->next;
            atomic_fetch_sub_explicit(&list->count, 1, memory_order_relaxed);
            return;
        }
    }
}
