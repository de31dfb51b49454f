/*
 * budget.h - limits how much time a process may lose to a server that fails.
 *
 * Failed requests use up the budget. A request may take at most a quarter of what is left, so about nine of them can
 * stall before too little is left for another, and the sum never exceeds the budget. The budget refills within a day,
 * so that a service that runs for months is not cut off from its server permanently. If requests in several threads
 * fail at the same time, their time counts only once.
 *
 * Only one thread at a time may use a budget. The caller passes the current time.
 */
#ifndef INGOT_REMOTE_GUARD_BUDGET_H
#define INGOT_REMOTE_GUARD_BUDGET_H

#include <stdint.h>

struct budget {
    uint64_t whole_ns; /* UINT64_MAX: no limit */
    uint64_t lost_ns;
    uint64_t refilled_at_ns;
    uint64_t counted_until_ns;
    uint64_t total_ns; /* lost since the beginning, for the statistics */
};

void budget_init(struct budget *budget, uint64_t whole_ns, uint64_t now_ns);
/* Returns how long a request that begins now may take, or 0 if too little time is left for one. */
uint64_t budget_allowance(struct budget *budget, uint64_t now_ns);
/* Records that a request lost the time between the two moments. */
void budget_lose(struct budget *budget, uint64_t from_ns, uint64_t until_ns);

#endif
