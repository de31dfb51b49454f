/*
 * costs.c - estimates what storing a program of a device that generates code at launch will cost; see costs.h.
 *
 * When such a driver is asked for a binary, it generates code for all kernels of the program in one call that cannot be
 * interrupted. So the call is expected to take at least KERNEL_NS per kernel. It is expected to take longer if earlier
 * blobs, in proportion to their build times, suggest this. A time that an earlier process measured replaces both.
 */
#include "persist/storage/common/costs.h"

#include <time.h>

#include "util/nanoseconds.h"

/* PoCL 3.1 takes 70 to 150 ms of processor time for a kernel of a few lines. */
#define KERNEL_NS (100 * NS_PER_MS)

uint64_t costs_expect_ns(const struct store_cost *cost, const struct store_costs *so_far)
{
    if (cost->known_ns != 0)
        return cost->known_ns;
    const double ratio = so_far->built_ns != 0 ? (double)so_far->taken_ns / (double)so_far->built_ns : 0;
    const double by_build = ratio * (double)cost->build_ns;
    const double by_kernels = (double)cost->kernel_count * (double)KERNEL_NS;
    const double expected = by_build > by_kernels ? by_build : by_kernels;
    return expected < (double)INT64_MAX ? (uint64_t)expected : UINT64_MAX;
}

void costs_add(struct store_costs *so_far, const struct store_cost *cost, uint64_t taken_ns)
{
    so_far->taken_ns += taken_ns;
    so_far->built_ns += cost->build_ns;
}

uint64_t costs_thread_ns(void)
{
    struct timespec time = {0, 0};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec;
}
