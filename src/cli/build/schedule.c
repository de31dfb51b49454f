/*
 * schedule.c - runs the tasks in worker processes; see schedule.h.
 *
 * The tool itself loads no driver; the first worker lists the devices. A program that crashes a worker is tried again,
 * once, only if the worker had built other programs before: drivers keep memory, so one of those may be the cause. In
 * the end, the workers are killed. One thread, no locks.
 */
#include "cli/build/schedule.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/exit_code.h"
#include "cli/base/interrupt.h"
#include "cli/base/memory.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/build/process.h"
#include "util/nanoseconds.h"

enum { PERIOD_MS = 25 };

enum slot_state { SLOT_EMPTY, SLOT_STARTING, SLOT_IDLE, SLOT_BUSY };

struct task {
    uint32_t request; /* index in the plan */
    uint32_t device;
};

/* A worker process and its task. */
struct slot {
    enum slot_state state;
    const struct task *task; /* NULL: none; if the task is to be tried again, set while the new worker still starts */
    bool is_again;           /* the task is tried for the second time */
    uint32_t done_count;     /* tasks that this process has done */
    uint64_t since_ns;       /* when the process was started, or got its task */
};

struct schedule {
    const struct worker_setup *setup;
    const struct schedule_limits *limits;
    const struct text_list *selectors;
    struct report *report;
    struct slot *slots; /* limits->job_count slots */
    struct process *processes;
    struct pollfd *polled;
    char **devices; /* each device as "BACKEND: NAME (PLATFORM)", as the first worker sent it */
    size_t device_count;
    struct task *tasks;
    size_t task_count;
    uint64_t cost_ms; /* how long compiling all of them took when they were recorded */
    bool has_tasks;   /* true once the devices are known */
    size_t next_task;
    int code; /* if it is not EXIT_DONE, the work stops */
};

uint32_t schedule_count_processors(void)
{
    cpu_set_t processors;
    CPU_ZERO(&processors);
    if (sched_getaffinity(0, sizeof(processors), &processors) == 0 && CPU_COUNT(&processors) > 0)
        return (uint32_t)CPU_COUNT(&processors);
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 && count <= SCHEDULE_MOST_JOBS ? (uint32_t)count : 1;
}

static uint64_t now_ns(void)
{
    return nanoseconds_of(CLOCK_MONOTONIC);
}

static void stop_work(struct schedule *schedule, const char *sentence)
{
    (void)fprintf(stderr, "\ringot: %s\n", sentence);
    schedule->code = EXIT_FAILED;
}

static void pass_on_result(const struct schedule *schedule, const struct task *task, const struct message *result)
{
    report_result(schedule->report, &schedule->setup->plan->requests[task->request], schedule->devices[task->device],
                  result);
}

/* ---- the workers -------------------------------------------------------------------------------------------- */

static void start_worker(struct schedule *schedule, size_t i)
{
    struct worker_setup setup = *schedule->setup; /* the child gets a copy */
    if (!process_start(&schedule->processes[i], schedule->limits->job_count, schedule->processes, worker_run, &setup)) {
        char sentence[128];
        (void)snprintf(sentence, sizeof(sentence), "no worker process: %s", strerror(errno));
        stop_work(schedule, sentence);
        return;
    }
    schedule->slots[i].state = SLOT_STARTING;
    schedule->slots[i].done_count = 0;
    schedule->slots[i].since_ns = now_ns();
}

static void give_task(struct schedule *schedule, size_t i)
{
    struct slot *slot = &schedule->slots[i];
    if (slot->task == NULL && schedule->next_task < schedule->task_count) {
        slot->task = &schedule->tasks[schedule->next_task++];
        slot->is_again = false;
    }
    if (slot->task == NULL)
        return;
    const struct message job = {.kind = MESSAGE_JOB, .request = slot->task->request, .device = slot->task->device};
    process_clear_output(&schedule->processes[i]);
    (void)message_send(schedule->processes[i].socket, &job); /* if the worker has ended, poll reports it */
    slot->state = SLOT_BUSY;
    slot->since_ns = now_ns();
}

/* Kills a worker if it is still running, and handles its end. Reports its task as failed, or keeps the task for the
 * slot's next worker. */
static void end_worker(struct schedule *schedule, size_t i, enum outcome outcome, const char *why)
{
    struct slot *slot = &schedule->slots[i];
    char end[MESSAGE_TEXT_SIZE / 2];
    const bool was_starting = slot->state == SLOT_STARTING;
    process_end(&schedule->processes[i], sizeof(end), end);
    slot->state = SLOT_EMPTY;
    if (was_starting) {
        char sentence[MESSAGE_TEXT_SIZE];
        (void)snprintf(sentence, sizeof(sentence),
                       "a worker process ended while it opened the store and listed the devices: %s",
                       why != NULL ? why : end);
        stop_work(schedule, sentence);
    } else if (slot->task != NULL && slot->done_count != 0 && outcome != OUTCOME_TIMED_OUT && !slot->is_again) {
        slot->is_again = true;
    } else if (slot->task != NULL) {
        struct message result = {.kind = MESSAGE_RESULT, .outcome = outcome};
        (void)snprintf(result.text, sizeof(result.text), "%s", why != NULL ? why : end);
        pass_on_result(schedule, slot->task, &result);
        slot->task = NULL;
    }
}

static void check_worker_limits(struct schedule *schedule, size_t i)
{
    const struct schedule_limits *limits = schedule->limits;
    const struct slot *slot = &schedule->slots[i];
    char text[UNITS_TEXT_SIZE];
    char why[128];
    if (slot->state != SLOT_BUSY && slot->state != SLOT_STARTING)
        return;
    if (now_ns() - slot->since_ns > limits->time_ns) {
        (void)snprintf(why, sizeof(why), "took longer than %s (--time)", units_duration(limits->time_ns, text));
        end_worker(schedule, i, OUTCOME_TIMED_OUT, why);
    } else if (process_memory(&schedule->processes[i]) > limits->memory_bytes) {
        (void)snprintf(why, sizeof(why), "took more than %s of memory (--memory)",
                       units_bytes(limits->memory_bytes, text));
        end_worker(schedule, i, OUTCOME_TOO_LARGE, why);
    }
}

/* ---- what the workers send -------------------------------------------------------------------------------------- */

/* Handles a device from a worker's list. The list of the first worker is kept, and later workers must send the same. */
static bool take_device(struct schedule *schedule, const struct message *message)
{
    if (schedule->has_tasks)
        return message->device < schedule->device_count &&
               strcmp(schedule->devices[message->device], message->text) == 0;
    if (message->device != schedule->device_count)
        return false;
    schedule->devices = memory_grow(schedule->devices, schedule->device_count, sizeof(*schedule->devices));
    schedule->devices[schedule->device_count++] = memory_copy_text(message->text);
    return true;
}

static bool is_device_selected(const struct schedule *schedule, const char *device)
{
    for (size_t i = 0; i < schedule->selectors->count; ++i) {
        if (text_contains(device, schedule->selectors->items[i]))
            return true;
    }
    return schedule->selectors->count == 0;
}

static void refuse_devices(struct schedule *schedule)
{
    (void)fputs("\ringot: no device of this machine is selected for these programs", stderr);
    for (size_t i = 0; i < schedule->device_count; ++i)
        (void)fprintf(stderr, "%s\n  %s", i == 0 ? "; there are:" : "", schedule->devices[i]);
    (void)fputs(schedule->device_count == 0 ? "; no driver reports a device\n" : "\n", stderr);
    schedule->code = EXIT_FAILED;
}

/* Adds a task for each request that should be built for a device, and notes these requests. */
static void add_tasks(struct schedule *schedule, size_t device, bool *has_device)
{
    const struct plan *plan = schedule->setup->plan;
    for (size_t i = 0; i < plan->request_count; ++i) {
        if (!plan_is_for(&plan->requests[i], device, schedule->device_count, schedule->devices))
            continue;
        has_device[i] = true;
        schedule->tasks = memory_grow(schedule->tasks, schedule->task_count, sizeof(*schedule->tasks));
        schedule->tasks[schedule->task_count++] = (struct task){(uint32_t)i, (uint32_t)device};
        schedule->cost_ms += plan->requests[i].kept.build_time_ms;
    }
}

static void make_tasks(struct schedule *schedule)
{
    const struct plan *plan = schedule->setup->plan;
    bool is_any_selected = false;
    bool *has_device = memory_get(plan->request_count * sizeof(bool));
    memset(has_device, 0, plan->request_count * sizeof(bool));
    for (size_t i = 0; i < schedule->device_count; ++i) {
        if (!is_device_selected(schedule, schedule->devices[i]))
            continue;
        is_any_selected = true;
        report_device(schedule->report, schedule->devices[i]);
        add_tasks(schedule, i, has_device);
    }
    /* without --device, a stale program without a device is no error: its driver may have been removed */
    if (!is_any_selected && (schedule->report->kind != REPORT_STALE || schedule->selectors->count != 0))
        refuse_devices(schedule);
    for (size_t i = 0; i < plan->request_count && schedule->code == EXIT_DONE; ++i) {
        if (!has_device[i])
            report_leave_out(schedule->report, &plan->requests[i]);
    }
    report_begin(schedule->report, schedule->task_count, schedule->cost_ms);
    schedule->has_tasks = true;
    free(has_device);
}

static void take_message(struct schedule *schedule, size_t i)
{
    struct slot *slot = &schedule->slots[i];
    struct message message;
    if (!message_receive(schedule->processes[i].socket, &message)) {
        end_worker(schedule, i, OUTCOME_CRASHED, NULL);
    } else if (message.kind == MESSAGE_DEVICE && slot->state == SLOT_STARTING) {
        if (!take_device(schedule, &message))
            stop_work(schedule, "the devices changed during the build; run the command again");
    } else if (message.kind == MESSAGE_READY && slot->state == SLOT_STARTING) {
        if (!schedule->has_tasks)
            make_tasks(schedule);
        slot->state = SLOT_IDLE;
    } else if (message.kind == MESSAGE_RESULT && slot->state == SLOT_BUSY && message.outcome <= OUTCOME_MISSING) {
        pass_on_result(schedule, slot->task, &message);
        slot->task = NULL;
        slot->state = SLOT_IDLE;
        ++slot->done_count;
    } else {
        end_worker(schedule, i, OUTCOME_CRASHED, "the worker process sent an invalid message");
    }
}

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

static bool is_done(const struct schedule *schedule)
{
    if (schedule->code != EXIT_DONE)
        return true;
    if (!schedule->has_tasks || schedule->next_task < schedule->task_count)
        return false;
    for (uint32_t i = 0; i < schedule->limits->job_count; ++i) {
        if (schedule->slots[i].task != NULL)
            return false;
    }
    return true;
}

/* Starts workers for open tasks, and gives tasks to waiting workers. */
static void employ_workers(struct schedule *schedule)
{
    size_t left = schedule->task_count - schedule->next_task;
    for (uint32_t i = 0; i < schedule->limits->job_count && schedule->code == EXIT_DONE; ++i) {
        struct slot *slot = &schedule->slots[i];
        if (slot->state == SLOT_IDLE)
            give_task(schedule, i);
        left -= slot->state == SLOT_STARTING && slot->task == NULL && left != 0;
        const bool is_needed = slot->task != NULL || left != 0 || (!schedule->has_tasks && i == 0);
        if (slot->state == SLOT_EMPTY && is_needed) {
            start_worker(schedule, i);
            left -= slot->task == NULL && left != 0;
        }
    }
}

static void wait_for_workers(struct schedule *schedule)
{
    const uint32_t count = schedule->limits->job_count;
    for (uint32_t i = 0; i < count; ++i)
        schedule->polled[i] = (struct pollfd){.fd = schedule->processes[i].socket, .events = POLLIN}; /* -1: ignored */
    if (poll(schedule->polled, count, PERIOD_MS) > 0) {
        for (uint32_t i = 0; i < count; ++i) {
            if (schedule->polled[i].revents != 0)
                take_message(schedule, i);
        }
    }
    for (uint32_t i = 0; i < count; ++i)
        check_worker_limits(schedule, i);
}

static void init_schedule(struct schedule *schedule)
{
    const uint32_t count = schedule->limits->job_count;
    schedule->slots = memory_get(count * sizeof(*schedule->slots));
    schedule->processes = memory_get(count * sizeof(*schedule->processes));
    schedule->polled = memory_get(count * sizeof(*schedule->polled));
    for (uint32_t i = 0; i < count; ++i) {
        schedule->slots[i] = (struct slot){.state = SLOT_EMPTY};
        schedule->processes[i] = (struct process)PROCESS_NONE;
    }
}

static void fini_schedule(struct schedule *schedule)
{
    for (uint32_t i = 0; i < schedule->limits->job_count; ++i)
        process_end(&schedule->processes[i], 0, NULL);
    for (size_t i = 0; i < schedule->device_count; ++i)
        free(schedule->devices[i]);
    free(schedule->devices);
    free(schedule->slots);
    free(schedule->processes);
    free(schedule->polled);
    free(schedule->tasks);
}

int schedule_run(const struct worker_setup *setup, const struct schedule_limits *limits,
                 const struct text_list *selectors, struct report *report)
{
    struct schedule schedule = {
        .setup = setup, .limits = limits, .selectors = selectors, .report = report, .code = EXIT_DONE};
    init_schedule(&schedule);
    while (!is_done(&schedule)) {
        employ_workers(&schedule);
        wait_for_workers(&schedule);
        report_tick(report);
        if (interrupt_seen())
            schedule.code = EXIT_INTERRUPTED;
    }
    fini_schedule(&schedule);
    return schedule.code;
}
