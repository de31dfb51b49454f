/*
 * stripe.h - assigns the calling thread one of a few columns of counters.
 *
 * A thread takes one of the shared stripes, in turn, at its first use. Threads may share one, so counting there is
 * atomic. A thread that uses the cache often gets its own stripe, where plain additions are enough, at a third of the
 * cost. Before the final read of such counts, stripes_settle makes sure that the owner is not changing one; that
 * interrupts every processor that runs a thread of the process.
 *
 * Invariants (doc/threading.md has the proof):
 *  - the counts of an owned stripe are changed by its owner alone, between stripe_enter and stripe_leave;
 * - an owner has ended before another thread gets its stripe. A thread does not return its stripe when it ends: the
 *   next thread that looks for a stripe finds it.
 */
#ifndef INGOT_CORE_MEMORY_CACHE_STRIPE_H
#define INGOT_CORE_MEMORY_CACHE_STRIPE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    STRIPE_COUNT = 32,
    STRIPES_SHARED = 16, /* the first ones; the others are owned */
    STRIPES_OWNED = STRIPE_COUNT - STRIPES_SHARED,
    STRIPE_USES_TO_OWN = 16384 /* of a shared stripe by one thread, after which it asks for its own */
};

/* Bits of owned stripes in a set of stripes. */
#define STRIPE_SET_OWNED (((UINT64_C(1) << STRIPES_OWNED) - 1) << STRIPES_SHARED)

struct owned_stripe {
    _Alignas(128) atomic_bool busy; /* the owner is between enter and leave */
    unsigned number;                /* of the stripe; written once, before there is any owner */
    _Atomic uint64_t owner;         /* a thread's number; above it, how often the stripe was taken; 0: never */
};

/* The thread's stripe: 0 for none yet, otherwise the number plus 1. Initial-exec, here and below: one instruction to
 * read, also in a shared library. */
extern _Thread_local unsigned stripe_plus_one __attribute__((tls_model("initial-exec")));
extern _Thread_local unsigned stripe_uses __attribute__((tls_model("initial-exec")));
/* The same stripe if the thread owns it, otherwise NULL. */
extern _Thread_local struct owned_stripe *stripe_of_own __attribute__((tls_model("initial-exec")));

unsigned stripe_assign(void);
/* Gives the calling thread its own stripe, if one is free and the system supports stripes_settle. True if it has one
 * now. */
bool stripe_own(void);
/*
 * Waits until each owner that was between enter and leave has left. That owner, and those that enter later, see what
 * the caller wrote before. The caller must not be within a stripe of the set. Takes microseconds, or longer if an owner
 * was interrupted.
 */
void stripes_settle(uint64_t stripes);

static inline unsigned stripe_number(void)
{
    const unsigned number = stripe_plus_one;
    return number != 0 ? number - 1 : stripe_assign();
}

static inline bool stripe_is_owned(unsigned stripe)
{
    return stripe >= STRIPES_SHARED;
}

static inline void stripe_count_use(unsigned stripe)
{
    if (!stripe_is_owned(stripe) && ++stripe_uses == STRIPE_USES_TO_OWN)
        stripe_own();
}

/* Called by the owner, which calls nothing before stripe_leave. */
static inline void stripe_enter(struct owned_stripe *own)
{
    atomic_store_explicit(&own->busy, true, memory_order_relaxed);
    /* The processor may read what follows before it writes this; the barrier in stripes_settle compensates for that. */
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void stripe_leave(struct owned_stripe *own)
{
    /* release: pairs with the acquire in stripes_settle */
    atomic_store_explicit(&own->busy, false, memory_order_release);
}

#endif
