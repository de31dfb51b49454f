/*
 * stripe.c - hands out stripes; see stripe.h.
 */
#include "core/memory_cache/stripe.h"

#include "core/base/os.h"

_Thread_local unsigned stripe_plus_one __attribute__((tls_model("initial-exec")));
_Thread_local unsigned stripe_uses __attribute__((tls_model("initial-exec")));
_Thread_local struct owned_stripe *stripe_of_own __attribute__((tls_model("initial-exec")));

static struct owned_stripe owned_stripes[STRIPES_OWNED];
static bool can_own;

unsigned stripe_assign(void)
{
    static atomic_uint next;

    /* relaxed: only the number matters */
    const unsigned number = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed) % STRIPES_SHARED;
    stripe_plus_one = number + 1;
    return number;
}

/* A child process has no other owners, whatever their state was at fork. */
static void keep_own_after_fork(void)
{
    for (unsigned i = 0; i < STRIPES_OWNED; ++i) {
        const bool is_own = stripe_of_own == &owned_stripes[i];
        atomic_store_explicit(&owned_stripes[i].busy, false, memory_order_relaxed);
        atomic_store_explicit(&owned_stripes[i].owner, is_own ? os_thread_number() : 0, memory_order_relaxed);
    }
    os_prepare_barrier(); /* succeeded in the parent; without the barrier threads sleep instead */
}

static void prepare_to_own(void)
{
    for (unsigned i = 0; i < STRIPES_OWNED; ++i)
        owned_stripes[i].number = STRIPES_SHARED + i;
    can_own = os_prepare_barrier() && os_call_after_fork(keep_own_after_fork);
}

static bool is_free(uint32_t owner, uint32_t self)
{
    (void)self;
    return owner == 0;
}

/* A thread with the caller's own number is gone too, because the number was reused. */
static bool is_of_the_dead(uint32_t owner, uint32_t self)
{
    return owner == self || !os_thread_is_there(owner);
}

/* Takes any stripe that may be taken. NULL: there is none. */
static struct owned_stripe *take_any(bool (*may_be_taken)(uint32_t owner, uint32_t self))
{
    const uint32_t self = os_thread_number();

    for (unsigned i = 0; i < STRIPES_OWNED; ++i) {
        /* relaxed: the stripe's content is read after the barrier in stripe_own */
        uint64_t owner = atomic_load_explicit(&owned_stripes[i].owner, memory_order_relaxed);
        if (!may_be_taken((uint32_t)owner, self))
            continue;
        /* The count makes this fail if another thread took it meanwhile, even one with the same number. */
        const uint64_t next = ((owner >> 32) + 1) << 32 | self;
        if (atomic_compare_exchange_strong_explicit(&owned_stripes[i].owner, &owner, next, memory_order_relaxed,
                                                    memory_order_relaxed))
            return &owned_stripes[i];
    }
    return NULL;
}

bool stripe_own(void)
{
    static os_once prepared = OS_ONCE_INIT;

    if (stripe_of_own != NULL)
        return true;
    stripe_uses = 0;
    os_do_once(&prepared, prepare_to_own);
    if (!can_own)
        return false;
    struct owned_stripe *own = take_any(is_free);
    if (own == NULL)
        own = take_any(is_of_the_dead);
    if (own == NULL)
        return false;
    os_barrier_on_all_threads(); /* everything that the previous owner wrote is visible from here on */
    /* acquire: pairs with its last stripe_leave, for threads that settle the stripe later */
    (void)atomic_load_explicit(&own->busy, memory_order_acquire);
    stripe_plus_one = own->number + 1;
    stripe_of_own = own;
    return true;
}

static void wait_until_left(const struct owned_stripe *stripe)
{
    enum { LOOKS_BEFORE_NAP = 1000 }; /* far longer than a running thread is inside */

    /* acquire: pairs with stripe_leave */
    for (unsigned looks = 0; atomic_load_explicit(&stripe->busy, memory_order_acquire); ++looks) {
        if (looks >= LOOKS_BEFORE_NAP)
            os_nap(); /* it was interrupted, and may need this processor */
    }
}

void stripes_settle(uint64_t stripes)
{
    stripes &= STRIPE_SET_OWNED;
    if (stripes == 0)
        return;
    os_barrier_on_all_threads();
    for (unsigned i = 0; i < STRIPES_OWNED; ++i) {
        if ((stripes >> (STRIPES_SHARED + i) & 1) != 0)
            wait_until_left(&owned_stripes[i]);
    }
}
