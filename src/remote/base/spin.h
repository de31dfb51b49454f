/*
 * spin.h - a lock for a few instructions that never stays locked in a forked child.
 *
 * The lock holds the number of the process that took it. A child that finds its parent's number takes the lock over.
 * What it guards must therefore be valid at each instruction.
 */
#ifndef INGOT_REMOTE_BASE_SPIN_H
#define INGOT_REMOTE_BASE_SPIN_H

#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

struct spin {
    atomic_int process; /* 0: free. acquire pairs with the release of the thread before */
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
