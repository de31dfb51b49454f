/*
 * wait_graph.c - records which thread waits for which work; see wait_graph.h.
 *
 * A thread reads the work and the nodes of other threads under the lock. These exist as long as the
 * graph refers to them: a piece of work is not freed while a thread waits for it, and a thread does not end before its
 * work.
 *
 * During fork, another thread may hold the lock, and the child would wait for it forever. So the child initializes the
 * lock again. The parent does not take the lock around fork, so fork never waits, even in a signal handler.
 */
#include "core/memory_cache/wait_graph.h"

#include <pthread.h>
#include <stdatomic.h>

#include "core/base/error.h"

struct graph_worker {
    const struct graph_work *waits_for; /* guarded by graph_lock; NULL if the thread does not wait */
};

static pthread_mutex_t graph_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct graph_worker this_worker;
static bool is_prepared;
static atomic_uint process; /* relaxed: it changes only in a forked child, while the child has only one thread */

static void begin_process_of_graph(void)
{
    pthread_mutex_init(&graph_lock, NULL);
    atomic_fetch_add_explicit(&process, 1, memory_order_relaxed);
}

static void watch_forks_for_graph(void)
{
    is_prepared = pthread_atfork(NULL, NULL, begin_process_of_graph) == 0;
}

bool wait_graph_prepare(void)
{
    static pthread_once_t prepared = PTHREAD_ONCE_INIT;

    pthread_once(&prepared, watch_forks_for_graph);
    return is_prepared;
}

struct graph_worker *wait_graph_self(void)
{
    return &this_worker;
}

unsigned wait_graph_process(void)
{
    return atomic_load_explicit(&process, memory_order_relaxed);
}

void wait_graph_hand_over(struct graph_work *work, struct graph_worker *to)
{
    pthread_mutex_lock(&graph_lock);
    work->worker = to;
    to->waits_for = NULL;
    pthread_mutex_unlock(&graph_lock);
}

static void set_worker(struct graph_work *work, struct graph_worker *worker)
{
    pthread_mutex_lock(&graph_lock);
    work->worker = worker;
    pthread_mutex_unlock(&graph_lock);
}

void wait_graph_begin(struct graph_work *work)
{
    set_worker(work, &this_worker);
}

void wait_graph_end(struct graph_work *work)
{
    set_worker(work, NULL);
}

ingot_status_t wait_graph_begin_wait(const struct graph_work *work)
{
    bool is_ring = false;

    pthread_mutex_lock(&graph_lock);
    const bool is_own = work->worker == &this_worker;
    for (const struct graph_work *at = work; at != NULL && at->worker != NULL && !is_ring; at = at->worker->waits_for)
        is_ring = at->worker == &this_worker;
    if (!is_ring)
        this_worker.waits_for = work;
    pthread_mutex_unlock(&graph_lock);

    if (is_own)
        return error_set(INGOT_DEADLOCK, "this thread requested what it is making");
    if (is_ring)
        return error_set(
            INGOT_DEADLOCK,
            "this thread requested what another thread is making, which waits for what this thread is making");
    return INGOT_SUCCESS;
}

void wait_graph_end_wait(void)
{
    pthread_mutex_lock(&graph_lock);
    this_worker.waits_for = NULL;
    pthread_mutex_unlock(&graph_lock);
}
