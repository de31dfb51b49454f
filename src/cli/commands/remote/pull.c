/*
 * pull.c - `ingot pull` and `ingot warm`: load the programs of a manifest from a server into a store.
 *
 * Several threads load, each on its own connection, so that they wait for a slow server at the same time. Programs that
 * the store already has are not loaded again, so an interrupted pull continues where it stopped.
 */
#include <ingot/prewarm.h>
#include <ingot/remote.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/exit_code.h"
#include "cli/base/interrupt.h"
#include "cli/base/json.h"
#include "cli/base/memory.h"
#include "cli/base/output.h"
#include "cli/base/progress.h"
#include "cli/base/table.h"
#include "cli/commands/all.h"
#include "cli/commands/remote/image.h"
#include "cli/commands/remote/server.h"
#include "cli/store/id.h"
#include "cli/store/store.h"
#include "cli/usage/parse.h"

enum { THREADS = 8 };

/* What became of a program. The store has those of the last two. */
enum place { PLACE_UNKNOWN, PLACE_MISSING, PLACE_FAILED, PLACE_PRESENT, PLACE_PULLED, PLACE_COUNT };

struct wanted {
    size_t size;
    uint8_t *id;
    enum place place; /* written by the thread that took this item */
};

struct pulling {
    struct common_options common;
    const char *url; /* NULL: from the environment */
    const char *manifest;
    const char *kind; /* NULL: all */
    bool is_plain;
    bool is_warm; /* this is `ingot warm` */
    ingot_storage_t store;
    ingot_storage_t server; /* NULL: there is no server, and the chain is the store */
    ingot_storage_t chain;  /* a chain of the store and then the server */
    struct wanted *wanted;  /* wanted and wanted_count are constant while threads run */
    size_t wanted_count;
    atomic_size_t next;       /* index of the next item to take; relaxed */
    pthread_mutex_t lock;     /* for standard error */
    struct progress progress; /* guarded by `lock` */
};

static const struct command_option pull_options[] = {
    {"manifest", 'm', VALUE_FILE, "FILE", offsetof(struct pulling, manifest),
     .help = "The programs to load, as a run recorded them"},
    {"kind", 'k', VALUE_TEXT, "KIND", offsetof(struct pulling, kind),
     .help = "Load only artifacts of this kind, or with \"program\" only programs"},
    {NULL, 0, VALUE_TEXT, "URL", offsetof(struct pulling, url), .help = "The server. Default: INGOT_PERSIST_REMOTE"},
    {"plain-http", 0, VALUE_NONE, NULL, offsetof(struct pulling, is_plain),
     .help = "For oci://: do not encrypt. Only for a registry on this machine"},
    {.help = NULL},
};

static const struct command_option warm_options[] = {
    {NULL, 0, VALUE_FILE, "MANIFEST", offsetof(struct pulling, manifest), .flags = OPTION_REQUIRED,
     .help = "The programs, as a run recorded them"},
    {NULL, 0, VALUE_TEXT, "URL", offsetof(struct pulling, url),
     .help = "The server. Default: INGOT_PERSIST_REMOTE; without both, no server is asked"},
    {.help = NULL},
};

static ingot_status_t note_id(size_t id_size, const uint8_t *id, uint32_t age, void *user)
{
    struct pulling *pulling = user;
    (void)age;
    if (!id_is_of_kind(id_size, id, pulling->kind))
        return INGOT_SUCCESS;
    pulling->wanted = memory_grow(pulling->wanted, pulling->wanted_count, sizeof(*pulling->wanted));
    pulling->wanted[pulling->wanted_count++] = (struct wanted){id_size, memory_copy(id_size, id), PLACE_UNKNOWN};
    return INGOT_SUCCESS;
}

/* ---- loading ---- */

static ingot_status_t load_wanted(ingot_storage_t storage, const struct wanted *wanted)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    const ingot_status_t status = ingot_storage_load(storage, wanted->size, wanted->id, &blob);
    store_release_blob(&blob);
    return status;
}

/* Reads the server's statistics. Returns false if the server failed and is not asked any more. */
static bool is_asking(const struct pulling *pulling, ingot_remote_stats_t *stats)
{
    *stats = (ingot_remote_stats_t)INGOT_REMOTE_STATS_INIT;
    if (pulling->server == NULL)
        return true;
    return ingot_remote_get_stats(pulling->server, stats) == INGOT_SUCCESS && stats->skipped == 0;
}

static bool has_evicted(const struct pulling *pulling)
{
    ingot_persist_stats_t stats = INGOT_PERSIST_STATS_INIT;
    return ingot_persist_get_stats(pulling->store, &stats) == INGOT_SUCCESS && stats.evictions != 0;
}

/* True if the status means that a program is missing. Without a server, a damaged program counts as missing, too. Only
 * a read-only store still has it then, because other stores remove a damaged program when it is first loaded. */
static bool is_lacking(const struct pulling *pulling, ingot_status_t status)
{
    const bool is_damaged = status == INGOT_BLOB_CORRUPT || status == INGOT_BLOB_TRUNCATED;
    return status == INGOT_NOT_FOUND || (is_damaged && pulling->server == NULL);
}

/* Loads a program into the store: the chain stores each program that it loads from the server. */
static enum place pull_program(struct pulling *pulling, const struct wanted *wanted, bool is_server_asked)
{
    if (load_wanted(pulling->store, wanted) == INGOT_SUCCESS)
        return PLACE_PRESENT;
    if (!is_server_asked)
        return PLACE_FAILED;
    ingot_status_t status = load_wanted(pulling->chain, wanted);
    if (is_lacking(pulling, status))
        return PLACE_MISSING;
    if (status == INGOT_SUCCESS)
        status = load_wanted(pulling->store, wanted);
    /* INGOT_NOT_FOUND: the program was stored, and was then evicted to make room for another thread's program.
     * look_for_evicted_programs corrects this. */
    if (status == INGOT_SUCCESS || (status == INGOT_NOT_FOUND && has_evicted(pulling)))
        return PLACE_PULLED;
    (void)pthread_mutex_lock(&pulling->lock);
    (void)store_failed("loading a program", status);
    (void)pthread_mutex_unlock(&pulling->lock);
    return PLACE_FAILED;
}

static void *pull_some(void *user)
{
    struct pulling *pulling = user;
    ingot_remote_stats_t stats;
    for (;;) {
        const size_t i = atomic_fetch_add_explicit(&pulling->next, 1, memory_order_relaxed);
        if (i >= pulling->wanted_count || interrupt_seen())
            return NULL;
        pulling->wanted[i].place = pull_program(pulling, &pulling->wanted[i], is_asking(pulling, &stats));
        (void)pthread_mutex_lock(&pulling->lock);
        progress_tell(&pulling->progress, i + 1, pulling->wanted_count, stats.loaded_bytes);
        (void)pthread_mutex_unlock(&pulling->lock);
    }
}

/* Loads all programs. If no more threads can be started, uses fewer threads, or only this one. */
static void pull_all(struct pulling *pulling)
{
    pthread_t threads[THREADS - 1];
    size_t count = 0;
    progress_init(&pulling->progress, pulling->is_warm ? "warming" : "pulling");
    while (count < THREADS - 1 && count + 1 < pulling->wanted_count &&
           pthread_create(&threads[count], NULL, pull_some, pulling) == 0)
        ++count;
    (void)pull_some(pulling);
    while (count != 0)
        (void)pthread_join(threads[--count], NULL);
    progress_fini(&pulling->progress);
}

/* Closes the store, which completes its evictions, and opens it for reading. */
static int reopen_store(struct pulling *pulling)
{
    ingot_storage_release(pulling->chain);
    ingot_storage_release(pulling->store);
    pulling->chain = pulling->store = NULL;
    return store_open(&pulling->store, &pulling->common, STORE_READ, NULL);
}

/* Counts as missing the programs that were evicted from the store to make room for later ones. */
static int look_for_evicted_programs(struct pulling *pulling)
{
    size_t gone_count = 0;
    const int code = reopen_store(pulling);
    if (code != EXIT_DONE)
        return code;
    for (size_t i = 0; i < pulling->wanted_count && !interrupt_seen(); ++i) {
        struct wanted *wanted = &pulling->wanted[i];
        if (wanted->place < PLACE_PRESENT || load_wanted(pulling->store, wanted) == INGOT_SUCCESS)
            continue;
        wanted->place = PLACE_MISSING;
        ++gone_count;
    }
    if (gone_count != 0)
        (void)fprintf(stderr,
                      "ingot: the store evicted %zu of these programs to store others: raise INGOT_PERSIST_MAX_SIZE or "
                      "INGOT_PERSIST_MAX_ENTRIES\n",
                      gone_count);
    return EXIT_DONE;
}

/* ---- the commands ---- */

static cJSON *list_lacking(const struct pulling *pulling)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < pulling->wanted_count; ++i) {
        if (pulling->wanted[i].place >= PLACE_PRESENT)
            continue;
        cJSON *id = id_read(pulling->wanted[i].size, pulling->wanted[i].id);
        cJSON *item = cJSON_CreateObject();
        id_add_to_json(item, id);
        cJSON_Delete(id);
        (void)cJSON_AddItemToArray(list, item);
    }
    return list;
}

static void print_missing_programs(const cJSON *json)
{
    static const struct table_column columns[] = {{"MISSING", "[backend?{backend}][backend!{kind}]", false},
                                                  {"DRIVER", "{driver}", false},
                                                  {"SOURCE", "{source}", false},
                                                  {"DEVICE", "{device}", false}};
    const cJSON *list = cJSON_GetObjectItem(json, "lacking");
    if (list != NULL)
        table_print_list(list, sizeof(columns) / sizeof(columns[0]), columns);
}

static void count_places(const struct pulling *pulling, size_t counts[PLACE_COUNT])
{
    memset(counts, 0, PLACE_COUNT * sizeof(*counts));
    for (size_t i = 0; i < pulling->wanted_count; ++i)
        ++counts[pulling->wanted[i].place];
}

static void print_pull_counts(const struct pulling *pulling, const ingot_remote_stats_t *stats,
                              const size_t counts[PLACE_COUNT])
{
    cJSON *json = cJSON_CreateObject();
    json_add_u64(json, "programs", pulling->wanted_count);
    json_add_u64(json, "pulled", counts[PLACE_PULLED]);
    json_add_u64(json, "loaded_bytes", stats->loaded_bytes);
    json_add_u64(json, "present", counts[PLACE_PRESENT]);
    json_add_u64(json, "missing", counts[PLACE_MISSING]);
    json_add_u64(json, "failed", counts[PLACE_FAILED]);
    if (pulling->is_warm)
        (void)cJSON_AddItemToObject(json, "lacking", list_lacking(pulling));
    if (pulling->common.is_json) {
        json_print(json);
        return;
    }
    json_add_u64(json, "in_store", counts[PLACE_PULLED] + counts[PLACE_PRESENT]);
    output_put(stdout,
               pulling->is_warm ? "{in_store} of {programs} programs are in the store ({pulled} of them from the "
                                  "server, {loaded_bytes:size} loaded); {missing} are missing; {failed} failed\n"
                                : "pulled {pulled} of {programs} programs ({loaded_bytes:size} loaded); the store "
                                  "already had {present}; the server lacks {missing}; {failed} failed\n",
               json);
    print_missing_programs(json);
    cJSON_Delete(json);
}

static int report_outcome(const struct pulling *pulling)
{
    ingot_remote_stats_t stats;
    size_t counts[PLACE_COUNT];
    count_places(pulling, counts);
    const bool has_failed = !is_asking(pulling, &stats) || counts[PLACE_FAILED] != 0;
    print_pull_counts(pulling, &stats, counts);
    if (interrupt_seen())
        return EXIT_INTERRUPTED;
    return has_failed ? EXIT_FAILED : counts[PLACE_MISSING] != 0 ? EXIT_FINDING : EXIT_DONE;
}

static int open_storages(struct pulling *pulling)
{
    store_take_namespace(&pulling->common);
    const bool has_server = !pulling->is_warm || pulling->url != NULL || server_is_named();
    int code = store_open(&pulling->store, &pulling->common, has_server ? STORE_MAKE : STORE_READ, NULL);
    if (code == EXIT_DONE && !has_server) {
        pulling->chain = pulling->store;
        ingot_storage_retain(pulling->store);
        return EXIT_DONE;
    }
    if (code == EXIT_DONE)
        code = server_open(&pulling->server, &pulling->common, pulling->url, INGOT_REMOTE_READ_ONLY);
    if (code != EXIT_DONE)
        return code;
    const ingot_storage_t tiers[] = {pulling->store, pulling->server};
    const ingot_status_t status = ingot_persist_chain(&pulling->chain, 2, tiers);
    return status == INGOT_SUCCESS ? EXIT_DONE : store_failed("opening the store", status);
}

static int pull_manifest(struct pulling *pulling)
{
    const ingot_status_t status = ingot_manifest_read(pulling->manifest, note_id, pulling);
    if (status != INGOT_SUCCESS) {
        (void)store_failed("reading the manifest", status);
        return EXIT_NO_STORE;
    }
    int code = open_storages(pulling);
    if (code != EXIT_DONE)
        return code;
    size_t counts[PLACE_COUNT];
    interrupt_catch();
    pull_all(pulling);
    count_places(pulling, counts);
    if (pulling->is_warm && counts[PLACE_PULLED] != 0)
        code = look_for_evicted_programs(pulling);
    return code == EXIT_DONE ? report_outcome(pulling) : code;
}

static int pull_and_release(struct pulling *pulling)
{
    (void)pthread_mutex_init(&pulling->lock, NULL);
    const int code = pull_manifest(pulling);
    (void)pthread_mutex_destroy(&pulling->lock);
    ingot_storage_release(pulling->chain);
    ingot_storage_release(pulling->server);
    ingot_storage_release(pulling->store);
    return code;
}

static int run_pull(void *values)
{
    struct pulling *pulling = values;
    if (image_is_named(pulling->url) && pulling->manifest == NULL && pulling->kind == NULL)
        return image_move(&pulling->common, pulling->url, pulling->is_plain, false);
    if (pulling->manifest == NULL)
        return parse_refuse(&command_pull, "name a manifest: --manifest FILE");
    return pull_and_release(pulling);
}

static int run_warm(void *values)
{
    struct pulling *pulling = values;
    pulling->is_warm = true;
    return pull_and_release(pulling);
}

const struct command command_pull = {
    .name = "pull",
    .group = "Share",
    .summary = "load the programs of a manifest from a server into a store",
    .about =
        "Loads the programs and artifacts of a manifest from a server into a store, which is created if it is "
        "missing, eight at a time. Programs that the store already has are not loaded again.\n\n"
        "With a URL oci://HOST[:PORT]/NAME[:TAG] and without a manifest, loads all entries that an image in an OCI "
        "registry has, and the store lacks.\n\n"
        "The exit status is 1 if the server lacks programs, and 4 if it failed.",
    .options = pull_options,
    .size = sizeof(struct pulling),
    .run = run_pull,
};

const struct command command_warm = {
    .name = "warm",
    .group = "Share",
    .summary = "complete a store with a manifest's programs, and list what it lacks",
    .about =
        "Completes a store with the programs of a manifest, for example while an image is built, and lists "
        "programs that are still missing. Loads each program from the store if possible, and otherwise from a "
        "server as \"ingot pull\" does. Without a server, it only reads the store (exit status 3 if there is no "
        "store).\n\n"
        "The exit status is 0 if the store has all programs in the end, 1 if some are missing, for example because "
        "the store's limit is too low for all of them, and 4 if the server or the store failed.",
    .options = warm_options,
    .size = sizeof(struct pulling),
    .run = run_warm,
};
