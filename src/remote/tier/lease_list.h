/*
 * lease_list.h - the list of the leases that a tier holds; leases.h declares the operations.
 *
 * The upload queue's lock guards it, because a lease ends when its upload has ended.
 */
#ifndef INGOT_REMOTE_TIER_LEASE_LIST_H
#define INGOT_REMOTE_TIER_LEASE_LIST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "remote/base/transport.h"
#include "remote/object/object_key.h"

/* Only the tier's thread removes leases, so a lease stays valid while that thread works without the lock. */
struct lease {
    struct lease *next;      /* the lock guards all fields before the key */
    bool is_ended;           /* the holder has ended the lease */
    bool may_others_take;    /* valid if the lease is ended */
    bool has_upload;         /* the program's blob was queued */
    uint64_t upload_number;  /* valid if has_upload: its number in the upload queue */
    bool has_upload_failed;  /* the upload failed, and the uploads of other machines probably would, too */
    bool is_lost;            /* the server has given the lease to another token, or may have done so */
    uint64_t renew_at_ns;    /* when the next renewal is due */
    uint64_t runs_out_at_ns; /* the earliest moment at which the lease may have run out on the server */
    char key[OBJECT_KEY_CAPACITY];
    char token[LEASE_TOKEN_CAPACITY];
};

struct leases {
    struct lease *first;           /* guarded by the lock */
    _Atomic uint64_t off_until_ns; /* no leases are requested until then, because the server refused one; relaxed */
};

#endif
