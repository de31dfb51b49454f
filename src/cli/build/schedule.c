/*
 * schedule.c - runs the tasks in worker processes; see build.h.
 *
 * The tool itself loads no driver; the first worker lists the devices. A program that crashes a worker is tried again,
 * once, only if the worker had built other programs before: drivers keep memory, so one of those may be the cause. In
 * the end, the workers are killed. One thread, no locks.
 */
#include "cli/build/build.h"

#include <errno.h>
#include <ingot/private/wish.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

#include "cli/base/base.h"
#include "util/nanoseconds.h"

#define DEFAULT_TIME_NS (UINT64_C(600) * NS_PER_SECOND)
#define DEFAULT_MEMORY_BYTES (UINT64_C(4) << 30)

#define LEAST_PAUSE_NS (NS_PER_SECOND / 4)
#define MOST_PAUSE_NS (8 * NS_PER_SECOND)
#define MOST_END_NS (10 * NS_PER_SECOND) /* for a worker to end when no task is left */

enum { PERIOD_MS = 25, WATCH_PERIOD_MS = 250, TEXT_SIZE = 2048 };

/* A worker process. */
struct slot {
    struct process process;
    bool is_ready;     /* it has listed its devices */
    bool is_finished;  /* it has ended because there was nothing more to do */
    cJSON *task;       /* what it is doing, as it said; NULL: nothing */
    size_t again;      /* the task that the next process tries for the second time, or WORKER_NO_TASK */
    size_t done_count; /* tasks that it has done */
    uint64_t since_ns; /* when it was started or ready, or began or ended its task */
    uint64_t pause_ns; /* how long after the end of a watching process without an outcome the next one is started */
    uint64_t start_ns; /* when the next process may be started */
};

struct schedule {
    struct worker_setup setup; /* of the next worker */
    const struct schedule_limits *limits;
    struct report *report;
    struct slot *slots; /* limits->job_count slots */
    int socket;         /* receives what all workers send */
    cJSON *devices;     /* as the first worker sent them; NULL: not yet */
    int code;           /* if it is not EXIT_DONE, the work stops */
};

void schedule_take_defaults(struct schedule_limits *limits)
{
    cpu_set_t processors;
    CPU_ZERO(&processors);
    if (limits->job_count == 0)
        limits->job_count =
            sched_getaffinity(0, sizeof(processors), &processors) == 0 ? (uint64_t)CPU_COUNT(&processors) : 1;
    limits->time_ns = limits->time_ns != 0 ? limits->time_ns : DEFAULT_TIME_NS;
    limits->memory_bytes = limits->memory_bytes != 0 ? limits->memory_bytes : DEFAULT_MEMORY_BYTES;
}

static uint64_t now_ns(void)
{
    return nanoseconds_of(CLOCK_MONOTONIC);
}

static void stop_work(struct schedule *schedule, const char *sentence, const char *why)
{
    (void)fprintf(stderr, "\ringot: %s%s\n", sentence, why);
    schedule->code = EXIT_FAILED;
}

/* ---- the workers -------------------------------------------------------------------------------------------- */

/* Kills a worker if it is still running, and handles its end. Reports its task as failed, or keeps the task for the
 * slot's next worker. */
static void end_worker(struct schedule *schedule, struct slot *slot, const char *outcome, const char *why)
{
    char end[TEXT_SIZE];
    slot->is_finished = process_end(&slot->process, sizeof(end), end) && slot->is_ready && slot->task == NULL;
    const size_t task = slot->task != NULL ? json_get_u64(slot->task, "task") : WORKER_NO_TASK;
    const bool is_again = slot->again == task;
    slot->again = WORKER_NO_TASK;
    if (schedule->setup.is_watch && schedule->devices != NULL && slot->task == NULL) {
        if (!slot->is_finished) { /* the next one might end without an outcome, too, so it waits longer each time */
            slot->pause_ns = slot->pause_ns == 0              ? LEAST_PAUSE_NS
                             : slot->pause_ns < MOST_PAUSE_NS ? 2 * slot->pause_ns
                                                              : MOST_PAUSE_NS;
            slot->start_ns = now_ns() + slot->pause_ns;
            (void)fprintf(stderr, "\ringot: a worker process ended, and is replaced: %s\n", why != NULL ? why : end);
        }
    } else if (!slot->is_ready) {
        stop_work(schedule,
                  "a worker process ended while it opened the store and listed the devices: ", why != NULL ? why : end);
    } else if (slot->done_count != 0 && strcmp(outcome, "timed_out") != 0 && !is_again && !schedule->setup.is_watch) {
        slot->again = task;
    } else if (slot->task != NULL) {
        cJSON *message = cJSON_CreateObject();
        json_add_text(message, "outcome", outcome);
        json_add_text(message, "message", why != NULL ? why : end);
        (void)report_outcome(schedule->report, slot->task, message);
        cJSON_Delete(message);
    }
    cJSON_Delete(slot->task);
    slot->task = NULL;
}

static void check_worker_limits(struct schedule *schedule, struct slot *slot)
{
    const struct schedule_limits *limits = schedule->limits;
    char text[UNITS_TEXT_SIZE];
    char why[128];
    if (now_ns() - slot->since_ns > limits->time_ns) {
        (void)snprintf(why, sizeof(why), "took longer than %s (--time)", units_duration(limits->time_ns, text));
        end_worker(schedule, slot, "timed_out", why);
    } else if (process_memory(&slot->process) > limits->memory_bytes) {
        (void)snprintf(why, sizeof(why), "took more than %s of memory (--memory)",
                       units_bytes(limits->memory_bytes, text));
        end_worker(schedule, slot, "too_large", why);
    }
}

/* ---- what the workers send -------------------------------------------------------------------------------------- */

/* Takes a worker's list of devices. That of the first worker is kept. Later workers must send the same, because tasks
 * are counted; wishes are not. */
static void take_devices(struct schedule *schedule, const cJSON *message)
{
    const cJSON *devices = cJSON_GetObjectItem(message, "devices");
    const cJSON *device;
    if (schedule->devices != NULL) {
        if (!schedule->setup.is_watch && !cJSON_Compare(schedule->devices, devices, true))
            stop_work(schedule, "the devices changed during the build; run the command again", "");
        return;
    }
    schedule->devices = cJSON_Duplicate(devices, true);
    report_begin(schedule->report, message);
    /* without --device, a stale program without a device is no error: its driver may have been removed */
    if (cJSON_GetArraySize(schedule->report->devices) != 0 ||
        (schedule->report->kind == REPORT_STALE && schedule->setup.selectors.count == 0))
        return;
    stop_work(schedule, "no device of this machine is selected for these programs",
              cJSON_GetArraySize(devices) == 0 ? "; no driver reports a device" : "; there are:");
    cJSON_ArrayForEach(device, devices)
    {
        (void)fprintf(stderr, "  %s\n", cJSON_GetStringValue(device));
    }
}

static void take_message(struct schedule *schedule, cJSON *message)
{
    const uint64_t number = json_get_u64(message, "worker");
    struct slot *slot = &schedule->slots[number < schedule->limits->job_count ? number : 0];
    if (cJSON_IsArray(cJSON_GetObjectItem(message, "devices"))) {
        slot->is_ready = true;
        slot->since_ns = now_ns();
        take_devices(schedule, message);
    } else if (cJSON_HasObjectItem(message, "task")) {
        cJSON_Delete(slot->task);
        slot->task = message;
        slot->since_ns = now_ns();
        return;
    } else if (json_text(message, "notice") != NULL) {
        if (number == 0) /* the others say the same */
            (void)fprintf(stderr, "\ringot: %s\n", json_text(message, "notice"));
    } else if (report_outcome(schedule->report, slot->task != NULL ? slot->task : message, message) &&
               slot->task != NULL) {
        cJSON_Delete(slot->task);
        slot->task = NULL;
        slot->again = WORKER_NO_TASK;
        slot->since_ns = now_ns();
        slot->pause_ns = 0;
        ++slot->done_count;
    }
    cJSON_Delete(message);
}

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

/* Starts workers for the tasks that are left. The first worker lists the devices. Returns false if there is nothing
 * more to do. */
static bool employ_workers(struct schedule *schedule)
{
    const size_t begun = atomic_load(schedule->setup.next_task);
    size_t left = begun < schedule->report->job_count ? schedule->report->job_count - begun : 0;
    if (schedule->devices == NULL)
        left = 1;
    else if (schedule->setup.is_watch)
        left = SIZE_MAX;
    bool is_working = false;
    for (size_t i = 0; i < schedule->limits->job_count && schedule->code == EXIT_DONE; ++i) {
        struct slot *slot = &schedule->slots[i];
        const bool is_put_off = slot->start_ns > now_ns();
        if (slot->process.pid == 0 && !slot->is_finished && !is_put_off &&
            (slot->again != WORKER_NO_TASK || left != 0)) {
            schedule->setup.number = i;
            schedule->setup.first_task = slot->again;
            schedule->setup.is_first = schedule->devices == NULL;
            slot->is_ready = false;
            slot->done_count = 0;
            slot->since_ns = now_ns();
            if (!process_start(&slot->process, worker_run, &schedule->setup))
                stop_work(schedule, "no worker process: ", strerror(errno));
        }
        left -= slot->process.pid != 0 && !slot->is_ready && left != 0;
        is_working = is_working || slot->process.pid != 0 || is_put_off;
    }
    return is_working && schedule->code == EXIT_DONE;
}

/* The end of a worker is handled after all that it has sent. */
static void follow_workers(struct schedule *schedule)
{
    const size_t count = schedule->limits->job_count;
    struct pollfd polled = {.fd = schedule->socket, .events = POLLIN};
    cJSON *message;
    bool *has_ended = memory_get(count * sizeof(bool));
    (void)poll(&polled, 1, schedule->setup.is_watch ? WATCH_PERIOD_MS : PERIOD_MS);
    for (size_t i = 0; i < count; ++i)
        has_ended[i] = schedule->slots[i].process.pid != 0 && process_has_ended(&schedule->slots[i].process);
    while ((message = message_receive(schedule->socket)) != NULL)
        take_message(schedule, message);
    for (size_t i = 0; i < count; ++i) {
        struct slot *slot = &schedule->slots[i];
        if (has_ended[i])
            end_worker(schedule, slot, "crashed", NULL);
        else if (slot->process.pid != 0 && (slot->task != NULL || !slot->is_ready))
            check_worker_limits(schedule, slot);
        else if (slot->process.pid != 0 && !schedule->setup.is_watch &&
                 atomic_load(schedule->setup.next_task) >= schedule->report->job_count &&
                 now_ns() - slot->since_ns > MOST_END_NS) { /* all results are in the stores: a driver probably hangs */
            (void)fprintf(stderr, "\ringot: a worker process did not end after its last program, and is killed\n");
            end_worker(schedule, slot, "crashed", NULL);
        }
    }
    free(has_ended);
}

int schedule_run(const struct worker_setup *setup, const struct schedule_limits *limits, struct report *report)
{
    int ends[2] = {-1, -1};
    char end[TEXT_SIZE];
    static struct schedule schedule; /* what hangs on it is not freed, because the process ends with the command */
    schedule = (struct schedule){.setup = *setup, .limits = limits, .report = report, .code = EXIT_DONE};
    schedule.slots = memory_get(limits->job_count * sizeof(struct slot));
    for (size_t i = 0; i < limits->job_count; ++i)
        schedule.slots[i] = (struct slot){.again = WORKER_NO_TASK};
    void *shared = mmap(NULL, sizeof(atomic_size_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        stop_work(&schedule, "no worker process: ", strerror(errno));
    schedule.setup.next_task = shared;
    schedule.socket = ends[0];
    schedule.setup.socket = ends[1];
    while (schedule.code == EXIT_DONE &&
           (setup->used == NULL || ingot_persist_has_role(setup->used, INGOT_ROLE_USER)) && employ_workers(&schedule)) {
        follow_workers(&schedule);
        report_tick(report);
        if (interrupt_seen())
            schedule.code = EXIT_INTERRUPTED;
    }
    for (size_t i = 0; i < limits->job_count; ++i) {
        if (schedule.slots[i].process.pid != 0)
            (void)process_end(&schedule.slots[i].process, sizeof(end), end);
    }
    return schedule.code;
}
