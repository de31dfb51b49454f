/*
 * spin.h - a spin lock, held for a few instructions, that a forked child can take over from its parent.
 *
 * The lock contains the PID of the process that holds it. A child that finds its parent's PID takes the lock over. The
 * parent may have been in the middle of a change, so the guarded data must be valid after every instruction.
 */
#ifndef INGOT_REMOTE_BASE_SPIN_H
#define INGOT_REMOTE_BASE_SPIN_H

#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

struct spin {
    atomic_int process; /* the holder's PID; 0: free. Taking the lock (acquire) pairs with giving it back (release) */
};

static inline void spin_take(struct spin *spin)
{
    const int own = (int)getpid();
    for (;;) {
        int found = 0;
        if (atomic_compare_exchange_strong_explicit(&spin->process, &found, own, memory_order_acquire,
                                                    memory_order_relaxed))
            return;
        if (found != own && atomic_compare_exchange_strong_explicit(&spin->process, &found, own, memory_order_acquire,
                                                                    memory_order_relaxed))
            return;
        (void)sched_yield();
    }
}

static inline void spin_give(struct spin *spin)
{
    atomic_store_explicit(&spin->process, 0, memory_order_release);
}

#endif
