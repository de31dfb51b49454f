/*
 * build.h - `ingot build`, grouped by file.
 */
#ifndef INGOT_CLI_BUILD_BUILD_H
#define INGOT_CLI_BUILD_BUILD_H

#include "cli/base/base.h"
#include "cli/build/device/device.h"
#include "cli/usage/command.h"

#include <ingot/persist.h>
#include <ingot/private/request.h>

#include <cjson/cJSON.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- plan.c: collects the requests that stores hold, and decides for which devices each is built. ---- */

enum { PLAN_KEY_SIZE = 2 * INGOT_REQUEST_DIGEST_SIZE + 1 };

/* A device that a request was built for, according to the store. */
struct plan_device {
    char *text;      /* as in struct device */
    size_t platform; /* the offset in `text` at which " (PLATFORM)" begins */
};

/* A namespace of a store or a bundle that holds requests. */
struct plan_source {
    const char *path;      /* NULL: the store of the results */
    char *name_space;      /* "": none */
    ingot_storage_t store; /* NULL: not opened by this process */
};

struct plan_request {
    ingot_kept_request_t kept;
    char key[PLAN_KEY_SIZE];     /* its digest in hexadecimal digits */
    char *name_space;            /* in which its results are stored; "": none */
    size_t source;               /* index in the plan's sources */
    struct plan_device *devices; /* the only devices to build it for; NULL: all devices of its backend */
    size_t device_count;
    bool has_device; /* one of this machine's chosen devices is for it */
};

struct plan {
    struct plan_request *requests; /* the most expensive first */
    size_t request_count;
    struct plan_source *sources;
    size_t source_count;
    const ingot_persist_trust_t *trust;
    uint64_t bad_count;     /* requests that are damaged, or that the policy refuses */
    uint64_t unknown_count; /* if stale: results without a request, or whose id does not name one device */
};

/* Adds the requests of directory stores and bundles; a path that is NULL stands for the store of the results. Each is
 * built in its own namespace, unless the options name one. is_stale: only those that have results for some devices in
 * the same store, each for these devices. trust: the policy for the seals; it and the paths must outlive the plan.
 * Prints a message for each request that cannot be used. Returns EXIT_DONE; on failure, prints a message and returns
 * another exit_code. */
int plan_read(struct plan *plan, const struct text_list *paths, const struct common_options *options,
              const ingot_persist_trust_t *trust, bool is_stale);

/* Returns the store with the requests and texts of a source, which is `own` if they are with the results. It stays
 * open. */
ingot_status_t plan_open_source(struct plan *plan, size_t source, ingot_storage_t own, ingot_storage_t *store);

/* Writes the text of the device that an id names, as in struct device. Returns false unless it names exactly one: the
 * id of a program for several devices differs from the ids for each of them. id: as id_read returns it. */
bool plan_describe_device(const cJSON *id, char text[DEVICE_TEXT_SIZE]);

/* True if the request should be built for `devices->items[device]`. If a device that it was built for does not exist
 * here, the devices of the same platform take its place: a driver may rename a device. */
bool plan_is_for(const struct plan_request *request, size_t device, const struct device_list *devices);

/* ---- process.c: a worker process: a forked child that compiles, because drivers serialize threads, crash and hang.
 *
 * A worker leads its own process group, so that processes that a driver has started are killed with the worker. A
 * worker ends when the tool ends. What a driver prints goes to a file in memory, whose last line explains a crash. */

struct process {
    pid_t pid;  /* 0: none */
    int output; /* the file in memory, the worker's standard output and error */
};

/* Forks a worker, which calls `body`. On failure, sets errno and returns false. */
bool process_start(struct process *process, void (*body)(void *user), void *user);
/* Returns the size of the worker's private memory in RAM and swap, in bytes; 0 if it has ended. */
uint64_t process_memory(const struct process *process);
/* True if the worker has ended by itself. */
bool process_has_ended(const struct process *process);
/* Kills the worker if it is running, and waits until it has ended. Writes to `text` how it ended (the name of a signal
 * or an exit status) and the last line that it printed. Returns true if it ended by itself with the exit status 0. */
bool process_end(struct process *process, size_t text_size, char *text);

/* Sends a message and deletes it: one packet of a socket pair, which all workers share. Returns false if the other end
 * is closed. */
bool message_send(int socket, cJSON *message);
/* Returns a message that has arrived, which the caller deletes, or NULL if there is none. A driver may overwrite any
 * memory of its worker: whatever is not JSON is left out. */
cJSON *message_receive(int socket);

/* ---- wishes.c: takes the wishes that `ingot build --watch` answers, from a directory store or from a server
 * (doc/builders.md). Each worker process takes its own. */

enum { WISHES_REFUSED = 4096 };

/* A wish that is for another machine. */
struct refused_wish {
    uint64_t hash; /* 0: none */
    uint64_t first_ns;
    uint64_t last_ns;
};

struct wishes {
    ingot_storage_t store;
    ingot_storage_t server;       /* NULL: the store's wishes are taken */
    int notice;                   /* tells of new wishes in a directory; -1: it is looked through all the time */
    struct refused_wish *refused; /* the last WISHES_REFUSED */
    size_t refused_count;
    uint64_t pause_ns; /* how long a refused wish of a server is left alone */
    /* True if the id names a device of this machine. Calls no driver, because the wish is not taken yet. */
    bool (*is_ours)(void *user, size_t size, const uint8_t *id);
    /* Is told when wishes cannot be read or taken, and when that works again. */
    void (*tell)(void *user, const char *text);
    void *user;
    ingot_buffer_t taken; /* the wish that was taken last */
    bool has_failed;
};

/* Returns INGOT_UNIMPLEMENTED, with a detail, if the store or the server keeps no wishes. */
ingot_status_t wishes_open(struct wishes *wishes);
/* Takes a wish that is for this machine into `taken`, and waits some seconds for one at most. Returns false if there
 * was none. */
bool wishes_take(struct wishes *wishes);
/* Gives back the taken wish: it is for this machine's device, but for another driver or compiler. */
void wishes_refuse(struct wishes *wishes);

/* ---- worker.c: the work of a worker process: lists the devices, then does one task after another. A task is a request
 * for a device. All workers make the same list of tasks, and take the next one by a counter that they share.
 *
 * A worker tells the tool what it does by messages, which are JSON objects with its number as "worker":
 * - "devices": the texts of all devices; "chosen": those that are used; "jobs" and "cost_ms": the number of all tasks,
 *   and how long they took when they were recorded. The first worker also tells the outcome "without_device" of each
 *   request for which there is no task.
 * - "task", "key", "name", "namespace", "device", "build_time_ms": it begins a task.
 * - "notice": what people should know.
 * - "outcome", "message", "build_time_ns": the task has ended. report.c has the outcomes. */

#define WORKER_NO_TASK SIZE_MAX

/* Set in the parent; the child has a copy. */
struct worker_setup {
    struct plan *plan;
    const struct common_options *options; /* they name the store, which exists, but not its namespace */
    struct text_list selectors;           /* the chosen devices; none: all */
    bool asks_server;                     /* asks the server that the environment names before it compiles */
    bool is_pull;                         /* compiles nothing */
    bool is_check;                        /* compiles and stores nothing, and loads what there is */
    bool is_watch;                        /* the tasks are wishes: of the server, if it is asked, or of the store */
    bool is_for_users;    /* with is_watch: the tasks are the store's wishes, also if a server is asked */
    ingot_storage_t used; /* with is_for_users: the store, in the parent */
    uint64_t idle_ns;     /* with is_watch: ends after this time without a wish; 0: never */
    int socket;
    atomic_size_t *next_task; /* shared by all workers */
    size_t number;
    size_t first_task; /* a task to try again first, or WORKER_NO_TASK */
    bool is_first;
};

/* Does tasks until none is left, or answers wishes. Never returns. user: a struct worker_setup. */
void worker_run(void *user);

/* ---- report.c: shows the progress and the summary of `ingot build`, as text or as JSON. ---- */

/* What is reported: `ingot build`, with --stale, with --check, `ingot pull --for`, and --watch, which reports each
 * outcome at once. */
enum report_kind { REPORT_BUILD, REPORT_STALE, REPORT_CHECK, REPORT_PULL, REPORT_WATCH };

enum { REPORT_OUTCOMES = 12 };

struct report {
    const struct plan *plan;
    bool is_json;
    enum report_kind kind;
    struct progress progress;
    cJSON *problems; /* with is_json; otherwise problems are printed when they occur */
    cJSON *devices;  /* those that are used */
    uint64_t counts[REPORT_OUTCOMES];
    uint64_t job_count;
    uint64_t done_count;
    uint64_t cost_ms; /* the recorded build time of all jobs */
    uint64_t done_cost_ms;
    uint64_t build_ns; /* how long it took to compile here */
    uint64_t begun_ns;
};

void report_init(struct report *report, const struct plan *plan, bool is_json, enum report_kind kind);
/* Takes a worker's list of devices and tasks (build.h). */
void report_begin(struct report *report, const cJSON *message);
/* Counts an outcome. task, message: as a worker sends them; the outcome may be the task's only message. Returns false
 * if it is none. */
bool report_outcome(struct report *report, const cJSON *task, const cJSON *message);
void report_tick(struct report *report);
/* True if everything that can be built is in the store. */
bool report_is_good(const struct report *report);
/* Prints the summary. */
void report_finish(struct report *report, bool is_interrupted);

/* ---- schedule.c: gives requests to worker processes, under limits of time and memory for each. ---- */

enum { SCHEDULE_MOST_JOBS = 1024 };

struct schedule_limits {
    uint64_t job_count; /* worker processes at once, at least 1 */
    uint64_t time_ns;   /* limit for one program, and for listing the devices */
    uint64_t memory_bytes;
};

/* Replaces limits that are 0 by the default ones: as many workers as this process may use processors, ten minutes and
 * 4 GiB. */
void schedule_take_defaults(struct schedule_limits *limits);

/* Builds the plan's requests for all chosen devices of their backends, device by device, in the order of the plan. If
 * two devices have the same text, both probably give the same ids, so the store already has the programs when the
 * second one's turn comes. Sets what the setup has for each worker. Returns EXIT_DONE even if programs failed, and
 * EXIT_INTERRUPTED after a Ctrl-C. On failure, prints a message and returns EXIT_FAILED. */
int schedule_run(const struct worker_setup *setup, const struct schedule_limits *limits, struct report *report);

#endif
