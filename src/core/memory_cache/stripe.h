/*
 * stripe.h - which of a few columns of counters the calling thread writes.
 *
 * Threads take stripe numbers in turn, at their first use. Two threads may share a stripe, so whatever is counted in
 * one is counted atomically; that up to STRIPE_COUNT threads do not share is what makes it cheap. Nothing has to be
 * given back when a thread ends.
 */
#ifndef INGOT_CORE_STRIPE_H
#define INGOT_CORE_STRIPE_H

enum { STRIPE_COUNT = 32 };

/* 0: none yet; else the number plus 1. Initial-exec: one instruction to read, also in a shared library. */
extern _Thread_local unsigned stripe_plus_one __attribute__((tls_model("initial-exec")));

unsigned stripe_assign(void);

static inline unsigned stripe_number(void)
{
    const unsigned number = stripe_plus_one;
    return number != 0 ? number - 1 : stripe_assign();
}

#endif
