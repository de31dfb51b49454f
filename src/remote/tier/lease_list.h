/*
 * lease_list.h - lists the leases that a tier holds, with the state of each.
 *
 * Lock: one mutex, not held during a request. The upload queue's mutex may be taken while it is held.
 */
#ifndef INGOT_REMOTE_TIER_LEASE_LIST_H
#define INGOT_REMOTE_TIER_LEASE_LIST_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "remote/base/transport.h"
#include "remote/object/object_key.h"

/* Only the thread of lease_keeper.h removes leases, so a lease stays valid while that thread works without the lock. */
struct lease {
    struct lease *next;      /* the list's lock guards all fields before the key */
    bool is_ended;           /* the holder has ended the lease */
    bool may_others_take;    /* valid if the lease is ended */
    bool has_upload;         /* the program's blob was queued */
    uint64_t upload_number;  /* valid if has_upload: its number in the upload queue */
    bool is_upload_over;     /* the blob was uploaded, or its upload failed */
    bool has_upload_failed;  /* the upload failed, and the uploads of other machines probably would, too */
    bool is_lost;            /* the server has given the lease to another token, or may have done so */
    uint64_t renew_at_ns;    /* when the next renewal is due */
    uint64_t runs_out_at_ns; /* the earliest moment at which the lease may have run out on the server */
    char key[OBJECT_KEY_CAPACITY];
    char token[LEASE_TOKEN_CAPACITY];
};

struct lease_list {
    pthread_mutex_t lock;
    pthread_cond_t has_changed; /* wakes the thread; uses the steady clock */
    struct lease *first;        /* `lock` guards first, has_thread and is_ending */
    bool has_thread;
    bool is_ending;
    pthread_t thread;              /* valid if has_thread */
    atomic_size_t count;           /* if 0, there is no need to search the list; relaxed */
    _Atomic uint64_t off_until_ns; /* no leases are requested until then, because the server refused one; relaxed */
};

/* Returns false if the system has no resources for a mutex or a condition. */
bool lease_list_init(struct lease_list *list);
/* The thread must have ended. */
void lease_list_fini(struct lease_list *list);
void lease_list_add(struct lease_list *list, struct lease *lease);
/* The caller holds the lock. */
void lease_list_remove(struct lease_list *list, const struct lease *lease);
/* Makes the thread end a lease. */
void lease_list_end(struct lease_list *list, struct lease *lease, bool may_others_take);
/* Records that a key's object waits for its upload, if there is a lease for the key. Wakes the thread in any case,
 * because the queue may have dropped other uploads to make room. */
void lease_list_note_queued(struct lease_list *list, const char *key, uint64_t upload_number);
/* Records how the upload of a key's object ended, if there is a lease for the key. */
void lease_list_note_uploaded(struct lease_list *list, const char *key, bool has_failed);

static inline bool lease_list_is_empty(const struct lease_list *list)
{
    return atomic_load_explicit(&list->count, memory_order_relaxed) == 0;
}

#endif
