/*
 * schedule.c - runs the steps of two sessions on several threads; see schedule.h.
 *
 * A thread runs a waiting backward operation before it runs a new forward operation. If there are several threads,
 * a thread skips backward operations whose forward operation it ran itself, so that data moves between threads. The
 * mutex guards everything in struct schedule and is not held while an operation runs.
 */
#include "schedule.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "check.h"

static const char *const session_names[SESSION_COUNT] = {"the short session", "the long session"};

struct pending {
    size_t step;
    size_t thread; /* the thread that ran the forward operation */
};

struct schedule {
    struct executor *executor;
    const struct shape *largest;
    size_t thread_count;
    size_t shape_count;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t step_count;
    size_t next_step;
    size_t unfinished[SESSION_COUNT]; /* number of unfinished steps of each session */
    size_t running_forward;
    size_t pending_count;
    struct pending *pending;
    size_t next_thread;
    struct schedule_result result;
};

size_t schedule_max_pending(size_t thread_count)
{
    return 2 * thread_count;
}

/* Returns a step's session. The short session has steps only in the first half. */
static size_t session_of(const struct schedule *schedule, size_t step)
{
    return step < schedule->step_count / 2 ? step % SESSION_COUNT : 1;
}

static struct shape shape_of(const struct schedule *schedule, size_t step)
{
    const size_t hot = schedule->shape_count < HOT_SHAPES ? schedule->shape_count : HOT_SHAPES;
    return shape_of_number(step % STEPS_PER_SHAPE == 0 ? step / STEPS_PER_SHAPE : step * 7 % hot);
}

/* Returns the index in `pending` of an operation for this thread, or pending_count if there is none. The caller holds
 * the mutex, as for run_backward, run_forward and look_at_groups. The two run functions release it while an operation
 * runs. */
static size_t find_pending(const struct schedule *schedule, size_t thread)
{
    size_t i = 0;
    while (i < schedule->pending_count && schedule->thread_count > 1 && schedule->pending[i].thread == thread)
        ++i;
    return i;
}

static void run_backward(struct schedule *schedule, size_t index, size_t thread, struct scratch *scratch)
{
    const struct pending pending = schedule->pending[index];
    const struct shape shape = shape_of(schedule, pending.step);
    const size_t session = session_of(schedule, pending.step);

    schedule->pending[index] = schedule->pending[--schedule->pending_count];
    schedule->result.handed_over += pending.thread != thread;
    pthread_mutex_unlock(&schedule->mutex);
    executor_backward(schedule->executor, session_names[session], &shape, pending.step, scratch);
    pthread_mutex_lock(&schedule->mutex);
    const bool is_over = --schedule->unfinished[session] == 0;
    if (is_over) {
        pthread_mutex_unlock(&schedule->mutex);
        executor_end_session(schedule->executor, session_names[session]);
        pthread_mutex_lock(&schedule->mutex);
    }
}

static void run_forward(struct schedule *schedule, size_t thread, struct scratch *scratch)
{
    const size_t step = schedule->next_step++;
    const struct shape shape = shape_of(schedule, step);

    ++schedule->running_forward;
    pthread_mutex_unlock(&schedule->mutex);
    executor_forward(schedule->executor, session_names[session_of(schedule, step)], &shape, step, scratch);
    pthread_mutex_lock(&schedule->mutex);
    --schedule->running_forward;
    schedule->pending[schedule->pending_count++] = (struct pending){step, thread};
}

static void look_at_groups(struct schedule *schedule)
{
    ingot_cache_stats_t programs = INGOT_CACHE_STATS_INIT;
    ingot_object_cache_stats_t objects = INGOT_OBJECT_CACHE_STATS_INIT;
    struct schedule_result *result = &schedule->result;

    check_ingot(ingot_context_get_cache_stats(schedule->executor->device->context, &programs), "statistics");
    check_ingot(ingot_object_cache_get_stats(schedule->executor->objects, &objects), "statistics");
    if (programs.groups > result->most_program_groups)
        result->most_program_groups = programs.groups;
    if (objects.groups > result->most_object_groups)
        result->most_object_groups = objects.groups;
}

static void *work(void *user)
{
    struct schedule *schedule = user;
    struct scratch scratch;
    scratch_open(&scratch, schedule->largest);
    pthread_mutex_lock(&schedule->mutex);
    const size_t thread = schedule->next_thread++;
    for (;;) {
        const size_t index = find_pending(schedule, thread);
        const bool has_room =
            schedule->pending_count + schedule->running_forward < schedule_max_pending(schedule->thread_count);
        if (index < schedule->pending_count)
            run_backward(schedule, index, thread, &scratch);
        else if (schedule->next_step < schedule->step_count && has_room)
            run_forward(schedule, thread, &scratch);
        else if (schedule->next_step == schedule->step_count && schedule->running_forward == 0 &&
                 schedule->pending_count == 0)
            break;
        else {
            pthread_cond_wait(&schedule->changed, &schedule->mutex);
            continue;
        }
        look_at_groups(schedule);
        pthread_cond_broadcast(&schedule->changed);
    }
    pthread_mutex_unlock(&schedule->mutex);
    scratch_close(&scratch);
    return NULL;
}

struct schedule_result schedule_run(struct executor *executor, size_t thread_count, size_t shape_count,
                                    const struct shape *largest)
{
    struct schedule schedule = {
        .executor = executor,
        .largest = largest,
        .thread_count = thread_count,
        .shape_count = shape_count,
        .mutex = PTHREAD_MUTEX_INITIALIZER,
        .changed = PTHREAD_COND_INITIALIZER,
        .step_count = STEPS_PER_SHAPE * shape_count,
        .pending = calloc(schedule_max_pending(thread_count), sizeof(struct pending)),
    };
    pthread_t *threads = calloc(thread_count, sizeof(*threads));

    check(schedule.pending != NULL && threads != NULL, "memory for a schedule");
    for (size_t step = 0; step < schedule.step_count; ++step)
        ++schedule.unfinished[session_of(&schedule, step)];
    for (size_t i = 0; i < thread_count; ++i)
        check(pthread_create(&threads[i], NULL, work, &schedule) == 0, "a thread");
    for (size_t i = 0; i < thread_count; ++i)
        check(pthread_join(threads[i], NULL) == 0, "joining a thread");
    schedule.result.steps = schedule.step_count;
    free(threads);
    free(schedule.pending);
    return schedule.result;
}
