/*
 * build.c - `ingot build`: answers requests for the devices of this machine. `ingot pull --for` only loads what they
 * need from a server.
 */
#include <ingot/private/wish.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/base.h"
#include "cli/build/build.h"
#include "cli/commands/all.h"
#include "cli/store/store.h"
#include "util/environment.h"

struct building {
    struct common_options common;
    struct worker_setup setup;
    bool is_stale;                 /* --stale: builds the requests that the store keeps beside results */
    const char *url;               /* --remote; NULL: INGOT_PERSIST_REMOTE */
    struct text_list paths;        /* the stores with requests */
    bool is_required;              /* --require: for the requests' seals; INGOT_PERSIST_TRUST may require more */
    const char *key_files;         /* the keys for these seals; NULL: INGOT_PERSIST_KEYS */
    struct schedule_limits limits; /* 0 if not given */
    ingot_persist_trust_t trust;   /* for the requests */
    struct plan plan;
    struct report report;
};

#define REMOTE "INGOT_PERSIST_REMOTE"

static const struct command_option build_options[] = {
    {NULL, 0, VALUE_TEXT, "REQUESTS", offsetof(struct building, paths), .flags = OPTION_REPEATED,
     .help = "Stores, bundles, OCI image layouts, or URLs of Redis or S3, whose requests are built. What a layout or a "
             "server has is first pulled into the store"},
    {"stale", 0, VALUE_NONE, NULL, offsetof(struct building, is_stale),
     .help = "Rebuild programs that the store has for another driver but not for the current one, from the requests "
             "that it keeps beside them (INGOT_PERSIST_REQUESTS), in all namespaces or in one"},
    {"check", 'c', VALUE_NONE, NULL, offsetof(struct building, setup.is_check),
     .help = "Build and store nothing: load what the store has for the requests, or a server behind it, and list what "
             "this machine would compile. Exit status 0: nothing"},
    {"watch", 'w', VALUE_NONE, NULL, offsetof(struct building, setup.is_watch),
     .help = "Build what applications wish for, until the command is ended: wishes in the store, or in the Redis that "
             "--remote or INGOT_PERSIST_REMOTE names. Each is reported when it is answered"},
#if INGOT_WITH_REMOTE
    {"remote", 'R', VALUE_TEXT, "URL", offsetof(struct building, url),
     .help = "For --watch: the Redis whose wishes are answered, and which gets the programs, too"},
#endif
    {"idle", 'I', VALUE_TIME, "TIME", offsetof(struct building, setup.idle_ns),
     .help = "For --watch: end after this time without a wish. Default: never"},
    {"while-used", 'U', VALUE_NONE, NULL, offsetof(struct building, setup.is_for_users),
     .help = "For --watch: build what is wished for in the store, also if a server is named, and end with the last "
             "application that may start a builder (INGOT_BUILDERS), which runs the tool with this option. Does "
             "nothing if the store's namespace has such a builder on this machine"},
    {"into", 'i', VALUE_TEXT, "DIR", offsetof(struct building, common.directory),
     .help = "The store, created if it is missing; the same as --dir"},
    {"device", 'D', VALUE_TEXT, "TEXT", offsetof(struct building, setup.selectors), .flags = OPTION_REPEATED,
     .help = "Use only devices with TEXT in \"BACKEND: NAME (PLATFORM)\", ignoring case, or compile for an "
             "architecture that this machine need not have (hip:gfx90a); may be repeated. Default: all"},
    {"jobs", 'J', VALUE_COUNT, "COUNT", offsetof(struct building, limits.job_count),
     .help = "The number of worker processes, at most 1024. Default: the number of processors"},
    {"time", 't', VALUE_TIME, "LIMIT", offsetof(struct building, limits.time_ns), .words = "unlimited",
     .help = "Stop building a program after this time. Default: 10m"},
    {"memory", 'm', VALUE_SIZE, "SIZE", offsetof(struct building, limits.memory_bytes), .words = "unlimited",
     .help = "Stop building a program if its worker takes more memory. Default: 4G"},
    {"require", 'q', VALUE_NONE, NULL, offsetof(struct building, is_required),
     .help = "Leave out each request without a seal by one of the keys (ingot sign)"},
    {"keys", 'k', VALUE_TEXT, "FILE[:FILE...]", offsetof(struct building, key_files),
     .help = "Check the seals of requests with the keys in these files. Default: INGOT_PERSIST_KEYS. Seals nothing"},
    {.help = NULL},
};

static bool has_server(void)
{
#if INGOT_WITH_REMOTE
    return environment_value(REMOTE) != NULL;
#else
    return false;
#endif
}

static bool is_redis(const char *url)
{
    return strncmp(url, "redis:", 6) == 0 || strncmp(url, "rediss:", 7) == 0 || strncmp(url, "redis+unix:", 11) == 0;
}

/* ---- options -------------------------------------------------------------------------------------------------- */

static int check_build_arguments(const struct building *building)
{
    const char *wrong = NULL;
    if (building->paths.count == 0 && !building->is_stale && !building->setup.is_watch)
        wrong = "name a store that holds requests, or use --stale or --watch";
    else if (building->setup.is_watch && building->setup.is_check)
        wrong = "--check is for requests, and --watch for wishes";
    else if (building->setup.is_watch && (building->is_stale || building->paths.count != 0))
        wrong = "--watch builds what is wished for, and nothing else";
    else if (!building->setup.is_watch &&
             (building->url != NULL || building->setup.idle_ns != 0 || building->setup.is_for_users))
        wrong = "--remote, --idle and --while-used are for --watch";
    else if (building->setup.is_watch && !building->setup.is_for_users && has_server() &&
             !is_redis(environment_value(REMOTE)))
        wrong = "--watch: only a Redis keeps wishes, as redis://, rediss:// or redis+unix://, and HTTP and S3 do not";
    else if (building->is_stale && building->paths.count != 0)
        wrong = "--stale builds the requests that the store keeps, into the store: name no other store";
    else if (building->is_stale && (building->is_required || building->key_files != NULL))
        wrong = "--require and --keys are for other stores: INGOT_PERSIST_TRUST is this store's policy";
    else if (building->setup.is_watch && (building->is_required || building->key_files != NULL))
        wrong = "--require and --keys are not for --watch: INGOT_PERSIST_TRUST and INGOT_PERSIST_KEYS are its policy";
    else if (building->limits.job_count > SCHEDULE_MOST_JOBS)
        wrong = "--jobs: use a number of processes from 1 to 1024";
    return wrong != NULL ? command_refuse(&command_build, "%s", wrong) : EXIT_DONE;
}

/* ---- the work --------------------------------------------------------------------------------------------------- */

/* Pulls what servers and image layouts have into the store, which takes their place among the paths. --check writes
 * nothing. */
static int pull_sources(struct building *building)
{
    char mark[PATH_MAX];
    int code = EXIT_DONE;
    for (size_t i = 0; i < building->paths.count && code == EXIT_DONE; ++i) {
        const char *path = building->paths.items[i];
        (void)snprintf(mark, sizeof(mark), "%s/oci-layout", path);
        if (strstr(path, "://") == NULL && access(mark, F_OK) != 0)
            continue;
        building->paths.items[i] = NULL;
        if (building->setup.is_check)
            code = command_refuse(&command_build, "--check pulls nothing from %s: name a store or a bundle", path);
        else if (building->is_required || building->key_files != NULL)
            code = command_refuse(&command_build, "--require and --keys are for stores and bundles: "
                                                  "INGOT_PERSIST_TRUST is the policy for what is pulled");
        else
            code = pull_quietly(&building->common, path);
    }
    return code;
}

/* Reads the requests. The keys that check their seals need not be the keys that seal the built programs. */
static int read_requests(struct building *building)
{
    static char *own_store[1]; /* NULL stands for it */
    struct common_options options = building->common;
    options.trust_policy = store_policy(building->is_required, building->key_files);
    if (building->key_files != NULL)
        options.key_files = building->key_files;
    int code = store_read_trust(&building->trust, &options);
    if (code == EXIT_DONE)
        code = pull_sources(building);
    if (building->is_stale)
        building->paths = (struct text_list){own_store, 1};
    return code == EXIT_DONE
               ? plan_read(&building->plan, &building->paths, &building->common, &building->trust, building->is_stale)
               : code;
}

/* Answers the requests. */
static int build_requests(struct building *building)
{
    struct worker_setup *setup = &building->setup;
    const enum report_kind kind = setup->is_pull       ? REPORT_PULL
                                  : setup->is_check    ? REPORT_CHECK
                                  : setup->is_watch    ? REPORT_WATCH
                                  : building->is_stale ? REPORT_STALE
                                                       : REPORT_BUILD;
    ingot_storage_t store = NULL;
    struct ingot_held_role *role = NULL;
    setup->plan = &building->plan;
    setup->options = &building->common;
    setup->asks_server = has_server() || setup->is_pull;
    schedule_take_defaults(&building->limits);
    int code = setup->is_watch ? EXIT_DONE : read_requests(building);
    if (code == EXIT_DONE && !building->is_stale) /* creates the store, so that workers only open it */
        code = store_open(&store, &building->common, setup->is_check ? STORE_READ : STORE_MAKE, NULL);
    if (code == EXIT_DONE && setup->is_for_users) { /* this process keeps the role and the store until it ends */
        const ingot_status_t status = ingot_persist_take_role(store, INGOT_ROLE_BUILDER, &role);
        code = status == INGOT_SUCCESS || status == INGOT_BUSY ? EXIT_DONE
                                                               : store_failed("becoming the store's builder", status);
        setup->used = status == INGOT_SUCCESS ? store : NULL;
    }
    if (setup->used == NULL)
        ingot_storage_release(store);
    if (code != EXIT_DONE || (setup->is_for_users && setup->used == NULL)) /* there is another builder */
        return code;
    report_init(&building->report, &building->plan, building->common.is_json, kind);
    interrupt_catch();
    if (building->plan.request_count != 0 || setup->is_watch)
        code = schedule_run(setup, &building->limits, &building->report);
    if (code == EXIT_DONE || code == EXIT_INTERRUPTED)
        report_finish(&building->report, code == EXIT_INTERRUPTED);
    else
        progress_fini(&building->report.progress);
    return code == EXIT_DONE && !report_is_good(&building->report) ? EXIT_FINDING : code;
}

int build_pull(const struct common_options *options, const struct text_list *requests)
{
    static struct building building;
    building = (struct building){.common = *options, .setup = {.is_pull = true}, .paths = *requests};
    return build_requests(&building);
}

static int run_build(void *values)
{
    struct building *building = values;
    if (building->url != NULL && setenv(REMOTE, building->url, 1) != 0)
        return store_failed("reading the settings", INGOT_OUT_OF_MEMORY);
    const int code = check_build_arguments(building);
    if (building->setup.is_watch)
        store_take_namespace(&building->common);
    return code == EXIT_DONE ? build_requests(building) : code;
}

const struct command command_build = {
    .name = "build",
    .group = "Run and build",
    .summary = "compile recorded requests for this machine's devices",
    .about = "Answers the requests that \"ingot run --record DIR\" and other recordings left in stores: compiles their "
             "programs for the devices of this machine, except those that the store has, so that the application "
             "compiles nothing. What a server has (INGOT_PERSIST_REMOTE) is loaded from there. Each request is built "
             "separately for each device of its backend, and stored in its namespace, or in that of --namespace.\n\n"
             "Worker processes compile the most expensive programs of a device first. A program that takes too much "
             "time or memory, or which crashes its worker, is reported, and the other programs are built. An "
             "interrupted build continues when it is run again. Exit status 1: some programs were not built.\n\n"
             "--check is for probes and for the start of an application: it writes nothing, and lets each device load "
             "what the store has for the requests.\n\n"
             "--require and --keys check requests and seal nothing. Without both options, INGOT_PERSIST_TRUST and "
             "INGOT_PERSIST_KEYS apply to requests, too. With these variables, built programs are sealed. With "
             "INGOT_PERSIST_REQUESTS=1, the store keeps their requests.\n\n"
             "--stale rebuilds programs that a driver upgrade made stale: those that the store has for a device but "
             "lacks for the device's current driver. Their requests lie beside them in the store if applications run "
             "with INGOT_PERSIST_REQUESTS=1. Prints how many programs were rebuilt, are up to date or failed, and how "
             "many results have no request. Programs without a device are left alone. If no device has the name that a "
             "program was built for, the devices of the same platform take its place.\n\n"
             "--watch answers what applications begin to build and take later, and never ends by itself unless --idle "
             "is given. Programs that crash their worker are not tried again. The systemd user unit "
             "ingot-builder.service runs it, and is off by default.\n\n"
             "The systemd user units ingot-build-stale.timer and ingot-build-stale.service run \"ingot build --stale\" "
             "once a day and after login, with idle priority. They are off until \"systemctl --user enable --now "
             "ingot-build-stale.timer\" turns them on.",
    .options = build_options,
    .size = sizeof(struct building),
    .run = run_build,
};
