/*
 * thread_place.c - threads that are to work at once begin on processors of their own.
 *
 * Where there are as few processors as threads, the one that starts them is still running on a processor which it is
 * about to leave, and Linux may put two new threads on the other. They never sleep, so nothing but the balancing of
 * load parts them: seen to take from a few milliseconds to the whole of a prewarm, with a processor idle beside it. So
 * each begins on another, and is free to move from then on. Where there are more processors, Linux finds one that is
 * free, and knows better.
 */
#include "persist/base/thread_place.h"

void thread_place_init(struct thread_place *place, size_t thread_count)
{
    CPU_ZERO(&place->allowed);
    place->is_chosen = thread_count > 1 && sched_getaffinity(0, sizeof(place->allowed), &place->allowed) == 0 &&
                       (size_t)CPU_COUNT(&place->allowed) <= thread_count;
}

static int next_after(const cpu_set_t *allowed, int processor)
{
    do
        processor = (processor + 1) % CPU_SETSIZE;
    while (!CPU_ISSET((size_t)processor, allowed));
    return processor;
}

void thread_place_choose(const struct thread_place *place, size_t number, pthread_attr_t *attributes)
{
    int processor = sched_getcpu();
    cpu_set_t chosen;
    if (!place->is_chosen || processor < 0)
        return;
    for (size_t i = 0; i <= number; ++i)
        processor = next_after(&place->allowed, processor);
    CPU_ZERO(&chosen);
    CPU_SET((size_t)processor, &chosen);
    (void)pthread_attr_setaffinity_np(attributes, sizeof(chosen), &chosen);
}

void thread_place_leave(const struct thread_place *place)
{
    if (place->is_chosen)
        (void)sched_setaffinity(0, sizeof(place->allowed), &place->allowed);
}
