/*
 * lease_list.c - lists the leases that a tier holds; see lease_list.h.
 */
#include "remote/tier/lease_list.h"

#include <stdlib.h>
#include <string.h>

#include "remote/base/thread.h"

bool lease_list_init(struct lease_list *list)
{
    *list = (struct lease_list){.first = NULL};
    atomic_init(&list->count, 0);
    atomic_init(&list->off_until_ns, 0);
    if (pthread_mutex_init(&list->lock, NULL) != 0)
        return false;
    if (thread_init_condition(&list->has_changed))
        return true;
    (void)pthread_mutex_destroy(&list->lock);
    return false;
}

void lease_list_fini(struct lease_list *list)
{
    while (list->first != NULL) {
        struct lease *lease = list->first;
        list->first = lease->next;
        free(lease);
    }
    (void)pthread_cond_destroy(&list->has_changed);
    (void)pthread_mutex_destroy(&list->lock);
}

void lease_list_add(struct lease_list *list, struct lease *lease)
{
    (void)pthread_mutex_lock(&list->lock);
    lease->next = list->first;
    list->first = lease;
    atomic_fetch_add_explicit(&list->count, 1, memory_order_relaxed);
    (void)pthread_cond_broadcast(&list->has_changed);
    (void)pthread_mutex_unlock(&list->lock);
}

void lease_list_remove(struct lease_list *list, const struct lease *lease)
{
    struct lease **at = &list->first;
    while (*at != lease)
        at = &(*at)->next;
    *at = lease->next;
    atomic_fetch_sub_explicit(&list->count, 1, memory_order_relaxed);
}

void lease_list_end(struct lease_list *list, struct lease *lease, bool may_others_take)
{
    (void)pthread_mutex_lock(&list->lock);
    lease->is_ended = true;
    lease->may_others_take = may_others_take;
    (void)pthread_cond_broadcast(&list->has_changed);
    (void)pthread_mutex_unlock(&list->lock);
}

/* Returns the first lease for a key from `lease` on, or NULL. */
static struct lease *find(struct lease *lease, const char *key)
{
    while (lease != NULL && strcmp(lease->key, key) != 0)
        lease = lease->next;
    return lease;
}

void lease_list_note_queued(struct lease_list *list, const char *key, uint64_t upload_number)
{
    (void)pthread_mutex_lock(&list->lock);
    for (struct lease *lease = find(list->first, key); lease != NULL; lease = find(lease->next, key)) {
        lease->has_upload = true;
        lease->upload_number = upload_number;
    }
    (void)pthread_cond_broadcast(&list->has_changed);
    (void)pthread_mutex_unlock(&list->lock);
}

void lease_list_note_uploaded(struct lease_list *list, const char *key, bool has_failed)
{
    (void)pthread_mutex_lock(&list->lock);
    for (struct lease *lease = find(list->first, key); lease != NULL; lease = find(lease->next, key)) {
        lease->has_upload = true;
        lease->is_upload_over = true;
        lease->has_upload_failed = lease->has_upload_failed || has_failed;
    }
    (void)pthread_cond_broadcast(&list->has_changed);
    (void)pthread_mutex_unlock(&list->lock);
}
