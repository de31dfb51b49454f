/*
 * build.c - `ingot build`: compiles the programs of recipes for the devices of this machine.
 */
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/exit_code.h"
#include "cli/base/folder.h"
#include "cli/base/interrupt.h"
#include "cli/base/memory.h"
#include "cli/base/options.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/build/plan.h"
#include "cli/build/report.h"
#include "cli/build/schedule.h"
#include "cli/build/tasks.h"
#include "cli/command.h"
#include "cli/commands/recipe/stale.h"
#include "cli/store/store.h"
#include "util/environment.h"
#include "util/quantity.h"

#define DEFAULT_TIME_NS (UINT64_C(600) * 1000000000)
#define DEFAULT_MEMORY (UINT64_C(4) << 30)

enum { MOST_JOBS = 1024, KEY_STALE = 256 };

struct building {
    struct common_options common;
    bool is_stale;      /* --stale: builds from the recipes that the store keeps */
    const char *bundle; /* NULL: none */
    char **paths;       /* the recipe files */
    size_t path_count;
    ingot_persist_trust_policy_t policy; /* for the recipes' seals; INGOT_PERSIST_TRUST may require more */
    const char *key_files;               /* the keys for these seals; NULL: INGOT_PERSIST_KEYS */
    char **selectors;                    /* the values of --device; if there are none, all devices are chosen */
    size_t selector_count;
    bool has_chosen; /* a device was selected, in any namespace */
    struct schedule_limits limits;
    struct plan plan; /* with --stale, for one namespace at a time */
    struct report report;
};

static const struct argp_option build_options[] = {
    {"stale", KEY_STALE, NULL, 0,
     "Rebuild programs that the store has for another driver but not for the current one, from the recipes that it "
     "keeps (INGOT_PERSIST_RECIPES), in all namespaces",
     0},
    {"into", 'i', "DIR", 0, "The store, created if it is missing", 0},
    {"bundle", 'b', "FILE", 0, "Write a bundle instead. Built programs are kept in FILE.build until all are done", 0},
    {"device", 'D', "TEXT", 0,
     "Use only devices with TEXT in \"BACKEND: NAME (PLATFORM)\", ignoring case; may be repeated. Default: all", 0},
    {"jobs", 'J', "COUNT", 0, "The number of worker processes. Default: the number of processors", 0},
    {"time", 't', "LIMIT", 0, "Stop building a program after this time: a number with s, m or h. Default: 10m", 0},
    {"memory", 'm', "SIZE", 0, "Stop building a program if its worker takes more memory. Default: 4G", 0},
    {"require", 'q', NULL, 0, "Require a seal by one of the keys on each recipe (ingot sign)", 0},
    {"keys", 'k', "FILE[:FILE...]", 0,
     "Check the seals of recipes with the keys in these files. Default: INGOT_PERSIST_KEYS. Seals nothing", 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

/* ---- options -------------------------------------------------------------------------------------------------- */

static void add_text(char ***texts, size_t *count, char *text)
{
    *texts = memory_grow(*texts, *count, sizeof(**texts));
    (*texts)[(*count)++] = text;
}

static void take_jobs(struct building *building, const char *value, struct argp_state *state)
{
    uint64_t count = 0;
    if (!quantity_read_count(value, &count) || count == 0 || count > MOST_JOBS)
        argp_error(state, "\"%s\" is not a number of processes from 1 to %d", value, MOST_JOBS);
    building->limits.job_count = (uint32_t)count;
}

static void take_time(struct building *building, const char *value, struct argp_state *state)
{
    uint64_t seconds = 0;
    if (!units_parse_age(value, &seconds) || seconds == 0 || seconds > UINT64_MAX / UINT64_C(1000000000))
        argp_error(state, "\"%s\" is not a time: use a number with s, m or h", value);
    building->limits.time_ns = seconds * UINT64_C(1000000000);
}

static void take_memory(struct building *building, const char *value, struct argp_state *state)
{
    if (!quantity_read_size(value, &building->limits.memory_bytes) || building->limits.memory_bytes == 0)
        argp_error(state, "\"%s\" is not a size: use a number with an optional K, M, G or T", value);
}

static void check_arguments(const struct building *building, struct argp_state *state)
{
    if (building->path_count == 0 && !building->is_stale)
        argp_error(state, "name a recipe, or use --stale");
    if (building->is_stale && (building->path_count != 0 || building->bundle != NULL))
        argp_error(state, "--stale builds the recipes that the store keeps, into the store: name neither a recipe nor "
                          "a bundle");
    if (building->is_stale && building->policy != INGOT_PERSIST_TRUST_NONE)
        argp_error(state, "the recipes that a store keeps have no seals: use --require and --keys without --stale");
    if (building->bundle != NULL && building->common.directory != NULL)
        argp_error(state, "use either --into or --bundle");
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct building *building = state->input;
    switch (key) {
    case KEY_STALE: building->is_stale = true; return 0;
    case 'i': building->common.directory = value; return 0;
    case 'b': building->bundle = value; return 0;
    case 'D': add_text(&building->selectors, &building->selector_count, value); return 0;
    case 'J': take_jobs(building, value, state); return 0;
    case 't': take_time(building, value, state); return 0;
    case 'm': take_memory(building, value, state); return 0;
    case 'q': building->policy = INGOT_PERSIST_TRUST_REQUIRE; return 0;
    case 'k':
        building->key_files = value;
        if (building->policy == INGOT_PERSIST_TRUST_NONE)
            building->policy = INGOT_PERSIST_TRUST_VERIFY;
        return 0;
    case ARGP_KEY_ARG: add_text(&building->paths, &building->path_count, value); return 0;
    case ARGP_KEY_END: check_arguments(building, state); return 0;
    default: return options_parse_other(key, state);
    }
}

static uint32_t count_processors(void)
{
    cpu_set_t processors;
    CPU_ZERO(&processors);
    if (sched_getaffinity(0, sizeof(processors), &processors) == 0 && CPU_COUNT(&processors) > 0)
        return (uint32_t)CPU_COUNT(&processors);
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 && count <= MOST_JOBS ? (uint32_t)count : 1;
}

/* ---- devices ---------------------------------------------------------------------------------------------------- */

static bool is_selected(const struct building *building, const char *device)
{
    for (size_t i = 0; i < building->selector_count; ++i) {
        if (text_contains(device, building->selectors[i]))
            return true;
    }
    return building->selector_count == 0;
}

static void print_devices(size_t count, char *const *texts)
{
    (void)fputs("\ringot: no device of this machine is selected for these programs", stderr);
    for (size_t i = 0; i < count; ++i)
        (void)fprintf(stderr, "%s\n  %s", i == 0 ? "; there are:" : "", texts[i]);
    (void)fputs(count == 0 ? "; no driver reports a device\n" : "\n", stderr);
}

/* Reports the programs that have no job. */
static void leave_out(struct building *building, size_t count, char *const *texts, const bool *is_chosen)
{
    for (size_t i = 0; i < building->plan.program_count; ++i) {
        const ingot_recipe_program_t *facts = &building->plan.programs[i].facts;
        const bool is_buildable = tasks_can_build(facts);
        bool has_device = false;
        for (size_t j = 0; j < count && is_buildable; ++j)
            has_device = has_device || (is_chosen[j] && tasks_is_for(&building->plan.programs[i], j, count, texts));
        if (!has_device)
            report_leave_out(&building->report, facts, is_buildable);
    }
}

static bool choose(size_t count, char *const *texts, bool *is_chosen, void *user)
{
    struct building *building = user;
    size_t chosen_count = 0;
    for (size_t i = 0; i < count; ++i) {
        is_chosen[i] = is_selected(building, texts[i]);
        chosen_count += is_chosen[i];
        if (is_chosen[i])
            report_device(&building->report, texts[i]);
    }
    building->has_chosen = building->has_chosen || chosen_count != 0;
    if (chosen_count == 0 && building->plan.program_count != 0 && !building->is_stale) {
        print_devices(count, texts);
        return false;
    }
    leave_out(building, count, texts, is_chosen);
    return true;
}

static void begin(uint64_t job_count, uint64_t cost_ns, void *user)
{
    report_begin(&((struct building *)user)->report, job_count, cost_ns);
}

static void take_result(const struct plan_program *program, const char *device, const struct message *result,
                        void *user)
{
    report_result(&((struct building *)user)->report, &program->facts, device, result);
}

static void tick(void *user)
{
    report_tick(&((struct building *)user)->report);
}

/* ---- the store and the bundle ------------------------------------------------------------------------------------ */

/* Creates the store, so that workers only open it. */
static int make_store(const struct common_options *options)
{
    ingot_storage_t store = NULL;
    const bool is_new = options->directory == NULL || access(options->directory, F_OK) != 0;
    const int code = store_open(&store, options, is_new ? STORE_MAKE : STORE_WRITE, NULL);
    ingot_storage_release(store);
    return code;
}

/* Writes the bundle from the temporary store, FILE.build, and removes that store. */
static int finish_bundle(const struct building *building, uint64_t *entry_count)
{
    ingot_storage_t store = NULL;
    int code = store_open(&store, &building->common, STORE_READ, NULL);
    if (code != EXIT_DONE)
        return code;
    const ingot_status_t status = ingot_persist_write_bundle(store, building->bundle, NULL, NULL, entry_count);
    ingot_storage_release(store);
    if (status != INGOT_SUCCESS)
        return store_failed("making the bundle", status);
    if (!folder_remove(building->common.directory))
        (void)fprintf(stderr, "ingot: %s could not be removed; the bundle is complete\n", building->common.directory);
    return EXIT_DONE;
}

/* Builds the programs of the plan. */
static int build_plan(struct building *building)
{
    const struct schedule_calls calls = {choose, begin, take_result, tick, building};
    if (building->plan.program_count == 0)
        return EXIT_DONE;
    const struct worker_setup setup = {&building->plan, &building->common};
    return schedule_run(&setup, &building->limits, &calls);
}

/* Prints the summary, if the work did not fail. Returns the tool's exit_code. */
static int finish(struct building *building, int code, const uint64_t *bundled_count)
{
    if (code == EXIT_DONE || code == EXIT_INTERRUPTED)
        report_finish(&building->report, code == EXIT_INTERRUPTED, bundled_count);
    else
        report_drop(&building->report);
    return code == EXIT_DONE && !report_is_good(&building->report) ? EXIT_FINDING : code;
}

/* Reads the recipes. The keys that check their seals need not be the keys that seal the built programs. */
static int open_recipes(struct building *building)
{
    ingot_persist_trust_t trust;
    struct common_options options = building->common;
    options.trust_policy = building->policy;
    if (building->key_files != NULL)
        options.key_files = building->key_files;
    const int code = store_read_trust(&trust, &options);
    return code == EXIT_DONE ? plan_open(&building->plan, building->path_count, building->paths, &trust) : code;
}

static int build_recipes(struct building *building)
{
    uint64_t entry_count = 0;
    bool is_bundled = false;
    options_take_namespace(&building->common);
    int code = open_recipes(building);
    if (code == EXIT_DONE)
        code = make_store(&building->common);
    if (code == EXIT_DONE) {
        report_init(&building->report, building->common.is_json, false);
        interrupt_catch();
        code = build_plan(building);
        if (code == EXIT_DONE && building->bundle != NULL) {
            code = finish_bundle(building, &entry_count);
            is_bundled = code == EXIT_DONE;
        }
        code = finish(building, code, is_bundled ? &entry_count : NULL);
    }
    plan_close(&building->plan);
    return code;
}

/* Builds the stale programs of one namespace after another. */
static int build_parts(struct building *building, const struct stale *stale)
{
    int code = EXIT_DONE;
    bool has_programs = false;
    for (size_t i = 0; i < stale->part_count && code == EXIT_DONE; ++i) {
        const struct stale_part *part = &stale->parts[i];
        has_programs = has_programs || part->plan.program_count != 0;
        building->plan = part->plan; /* borrowed */
        building->common.name_space = part->name_space[0] != '\0' ? part->name_space : NULL;
        report_name_space(&building->report, part->name_space, part->unrecorded_count, part->unknown_count);
        code = build_plan(building);
    }
    if (code != EXIT_DONE || !has_programs || building->has_chosen || building->selector_count == 0)
        return code; /* without --device, a program without a device is no error: its driver may have been removed */
    (void)fputs("ingot: no device of this machine is selected for the programs of this store\n", stderr);
    return EXIT_FAILED;
}

static int build_stale(struct building *building)
{
    ingot_storage_t store = NULL;
    struct stale stale = {.parts = NULL};
    int code = store_open(&store, &building->common, STORE_WRITE, NULL);
    if (code != EXIT_DONE)
        return code;
    code = stale_open(&stale, store);
    ingot_storage_release(store);
    if (code == EXIT_DONE) {
        report_init(&building->report, building->common.is_json, true);
        interrupt_catch();
        code = finish(building, build_parts(building, &stale), NULL);
        if (code == EXIT_DONE && stale.has_unusable)
            code = EXIT_FINDING;
    }
    stale_close(&stale);
    return code;
}

/* True if the store should keep recipes of what is built. */
static bool keeps_recipes(const struct building *building)
{
    const char *value = secure_getenv("INGOT_PERSIST_RECIPES");
    uint64_t is_on = 0;
    if (value != NULL && value[0] != '\0')
        (void)environment_parse(ENVIRONMENT_SWITCH, value, &is_on); /* opening the store reports a bad value */
    return building->is_stale || (is_on != 0 && building->bundle == NULL);
}

static int run(int argc, char **argv)
{
    static const struct argp argp = {
        build_options,
        parse_option,
        "FILE...\n--stale",
        "Compiles the programs of recipes for the devices of this machine and stores them, except those that the store "
        "has. Worker processes compile the most expensive programs first. An interrupted build continues when it is "
        "run again. Exit status 1: some programs were not built.",
        options_common,
        NULL,
        NULL};
    struct building building = {.limits = {count_processors(), DEFAULT_TIME_NS, DEFAULT_MEMORY}};
    char *waiting = NULL;

    (void)argp_parse(&argp, argc, argv, 0, NULL, &building);
    if (building.bundle != NULL)
        building.common.directory = waiting = text_append(memory_copy_text(building.bundle), "", ".build");
    building.common.keeps_recipes = keeps_recipes(&building);
    const int code = building.is_stale ? build_stale(&building) : build_recipes(&building);
    free(waiting);
    free(building.paths);
    free(building.selectors);
    return code;
}

const struct command command_build = {"build", "compile the programs of recipes for this machine's devices", run};
