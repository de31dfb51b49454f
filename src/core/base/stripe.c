/*
 * stripe.c - assigns stripes to threads; see stripe.h.
 */
#include "core/base/stripe.h"

_Thread_local unsigned stripe_plus_one __attribute__((tls_model("initial-exec")));

unsigned stripe_assign(void)
{
    static atomic_uint next;

    /* relaxed: threads need only different numbers; nothing else is published */
    const unsigned number = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed) % STRIPE_COUNT;
    stripe_plus_one = number + 1;
    return number;
}
