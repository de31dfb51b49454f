/*
 * worker.c - answers requests in a worker process; see worker.h.
 *
 * A request counts as answered if the store returns its blob, whatever happened before. Each blob is loaded once before
 * it is stored, so that a blob with which the driver ends the process ends only the worker. The process ends with
 * _exit(), because a damaged driver may hang in its exit handlers. All built programs are in the stores by then, which
 * are released first, so that their accounts are right.
 */
#include "cli/build/worker.h"

#include <ingot/private/event.h>
#include <ingot/private/persist.h>
#include <ingot/private/program.h>
#include <ingot/private/wish.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/exit_code.h"
#include "cli/base/json.h"
#include "cli/base/memory.h"
#include "cli/base/text.h"
#include "cli/build/device/device.h"
#include "cli/build/process.h"
#include "cli/build/wishes.h"
#if INGOT_WITH_REMOTE
#include "cli/store/server.h"
#endif
#include "cli/store/store.h"
#include "util/hex.h"
#include "util/nanoseconds.h"

/* The request of a wish may be on its way to a server. */
enum { ATTEMPTS = 20, ATTEMPT_MS = 100, FLUSH_MS = 30000, REQUEST_ID_SIZE = 512 };

/* A namespace of the store on this machine. */
struct worker_store {
    const char *name_space;
    ingot_storage_t store;
    ingot_storage_t server; /* this and the next one are NULL if no server is asked */
    ingot_storage_t chain;  /* the store with the server behind it */
};

struct task {
    struct plan_request *request;
    size_t device;
};

struct worker {
    const struct worker_setup *setup;
    struct worker_store *stores; /* those that were needed so far */
    size_t store_count;
    struct device_list devices;
    ingot_context_t *contexts; /* one per device, created when it is first needed */
    struct task *tasks;
    size_t task_count;
    uint64_t build_ns;  /* how long the last program took to compile; 0: unknown */
    char message[2048]; /* why the last task failed */
    const struct worker_store *wish_place;
    struct plan_request wish; /* the request of the wish that is being answered, its device and its program */
    size_t wish_device;
    ingot_program_desc_t wish_desc;
};

static void note_event(const ingot_event_t *event, void *user)
{
    struct worker *worker = user;
    const bool is_native = event->kind == INGOT_EVENT_NATIVE_BUILD;
    const bool is_storing = event->kind == INGOT_EVENT_STORAGE_STORE || event->kind == INGOT_EVENT_STORAGE_DEGRADED;
    if (is_native || (is_storing && event->status != INGOT_SUCCESS))
        (void)snprintf(worker->message, sizeof(worker->message), "%s: %s",
                       ingot_status_name(is_native ? INGOT_NOT_CACHEABLE : event->status), event->reason);
}

/* Notes why a task failed. Returns the outcome. */
static const char *fail_task(struct worker *worker, const char *outcome, ingot_status_t status)
{
    (void)snprintf(worker->message, sizeof(worker->message), "%s: %s", ingot_status_name(status),
                   ingot_last_error_detail());
    return outcome;
}

/* ---- results ---- */

static ingot_status_t load_result(ingot_storage_t storage, const_ingot_program_desc_t desc)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    const uint8_t *id = NULL;
    size_t size = 0;
    ingot_status_t status = ingot_program_desc_get_cache_blob_id(desc, &size, &id);
    if (status == INGOT_SUCCESS)
        status = ingot_storage_load(storage, size, id, &blob);
    store_release_blob(&blob);
    return status;
}

static const char *compile_and_store(struct worker *worker, const struct worker_store *place,
                                     const_ingot_program_desc_t desc)
{
    ingot_program_t program = NULL;
    ingot_program_facts_t facts = INGOT_PROGRAM_FACTS_INIT;
    const bool is_watch = worker->setup->is_watch;
    const ingot_storage_t storage = is_watch && place->chain != NULL ? place->chain : place->store;
    ingot_status_t status = is_watch ? ingot_persist_program_try(&program, desc, storage, NULL)
                                     : ingot_persist_program_create(&program, desc, storage, NULL);
    if (status == INGOT_BUSY)
        return "busy";
    if (status != INGOT_SUCCESS)
        return fail_task(worker, "failed", status);
    (void)ingot_program_get_facts(program, &facts);
    worker->build_ns = facts.build_time_ns;
    ingot_program_release(program);
    status = load_result(place->store, desc);
    if (status == INGOT_SUCCESS)
        return "built";
    return worker->message[0] != '\0' ? "not_stored" : fail_task(worker, "not_stored", status);
}

/* Finds, loads or compiles a program. Returns the outcome. The chain stores what it loads from the server in this
 * machine's store. */
static const char *answer_desc(struct worker *worker, const struct worker_store *place, const_ingot_program_desc_t desc)
{
    if (load_result(place->store, desc) == INGOT_SUCCESS) {
        ingot_persist_record_request(place->store, desc, NULL); /* if the store keeps requests */
        return "present";
    }
    const ingot_status_t pulled = place->chain != NULL ? load_result(place->chain, desc) : INGOT_NOT_FOUND;
    if (pulled == INGOT_SUCCESS && load_result(place->store, desc) == INGOT_SUCCESS)
        return "pulled";
    if (!worker->setup->is_pull)
        return compile_and_store(worker, place, desc);
    if (pulled == INGOT_SUCCESS)
        return fail_task(worker, "not_stored", INGOT_NO_SPACE);
    return fail_task(worker, pulled == INGOT_NOT_FOUND ? "missing" : "failed", pulled);
}

/* ---- stores and requests ---- */

/* Opens the store of a namespace, and puts the server behind it. A store that cannot be opened ends the process, and
 * the tool reports what it has printed. */
static const struct worker_store *open_store(struct worker *worker, const char *name_space)
{
    struct common_options options = *worker->setup->options;
    ingot_persist_settings_t settings = INGOT_PERSIST_SETTINGS_INIT;
    for (size_t i = 0; i < worker->store_count; ++i) {
        if (strcmp(worker->stores[i].name_space, name_space) == 0)
            return &worker->stores[i];
    }
    worker->stores = memory_grow(worker->stores, worker->store_count, sizeof(*worker->stores));
    struct worker_store *place = &worker->stores[worker->store_count++];
    *place = (struct worker_store){.name_space = name_space};
    options.name_space = name_space[0] != '\0' ? name_space : NULL;
    if (store_open(&place->store, &options, STORE_WRITE, NULL) != EXIT_DONE ||
        ingot_persist_get_settings(place->store, &settings) != INGOT_SUCCESS)
        _exit(EXIT_FAILED);
    settings.store_mode = INGOT_PERSIST_STORE_NOW; /* no kernel is launched, so there is nothing to wait for */
    ingot_persist_check_blobs(place->store);
    if (ingot_persist_set_settings(place->store, &settings) != INGOT_SUCCESS)
        _exit(EXIT_FAILED);
#if INGOT_WITH_REMOTE
    const uint32_t flags = worker->setup->is_watch ? 0 : INGOT_REMOTE_READ_ONLY;
    if (!worker->setup->asks_server)
        return place;
    if (server_open(&place->server, &options, NULL, flags) != EXIT_DONE)
        _exit(EXIT_FAILED);
    ingot_storage_t tiers[] = {place->store, place->server};
    ingot_storage_retain(place->server);
    settings = (ingot_persist_settings_t){.struct_size = sizeof(settings), .write_through = worker->setup->is_watch};
    if (ingot_persist_set_settings(place->server, &settings) != INGOT_SUCCESS ||
        ingot_persist_chain(&place->chain, 2, tiers) != INGOT_SUCCESS)
        _exit(EXIT_FAILED);
#endif
    return place;
}

static ingot_status_t open_context(struct worker *worker, size_t number)
{
    const ingot_cache_capacity_t capacity = {.struct_size = sizeof(capacity), .flags = INGOT_CACHE_OFF};
    ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    const struct device *device = &worker->devices.items[number];
    info.cache_capacity = &capacity; /* each program is requested once */
    info.on_event = note_event;
    info.on_event_user = worker;
    if (worker->contexts[number] != NULL)
        return INGOT_SUCCESS;
    return device->backend->open(device, &info, &worker->contexts[number]);
}

static ingot_status_t make_desc(struct worker *worker, const ingot_kept_request_t *kept, size_t device,
                                ingot_storage_t texts, ingot_program_desc_t *desc)
{
    ingot_buffer_t bytes = INGOT_BUFFER_INIT;
    ingot_status_t status = open_context(worker, device);
    if (status == INGOT_SUCCESS)
        status = ingot_request_unpack(kept, texts, &bytes);
    if (status == INGOT_SUCCESS)
        status = ingot_program_desc_create_from_request(desc, worker->contexts[device], bytes.size, bytes.bytes, 0,
                                                        NULL, kept->group[0] != '\0' ? kept->group : NULL);
    store_release_blob(&bytes);
    return status == INGOT_SUCCESS ? ingot_program_desc_is_cacheable(*desc, NULL) : status;
}

/* Returns the outcome. */
static const char *answer_request(struct worker *worker, const struct task *task)
{
    const struct worker_store *place = open_store(worker, task->request->name_space);
    ingot_program_desc_t desc = NULL;
    struct plan *plan = worker->setup->plan;
    ingot_storage_t texts = place->store;
    ingot_status_t status = INGOT_SUCCESS;
    if (task->request->source != PLAN_OWN)
        status = plan_open_source(plan, task->request->source, &texts);
    if (status == INGOT_SUCCESS)
        status = make_desc(worker, &task->request->kept, task->device, texts, &desc);
    const char *outcome =
        status == INGOT_SUCCESS ? answer_desc(worker, place, desc) : fail_task(worker, "failed", status);
    ingot_program_desc_release(desc);
    return outcome;
}

/* ---- messages ---- */

static cJSON *new_message(const struct worker *worker)
{
    cJSON *message = cJSON_CreateObject();
    json_add_u64(message, "worker", worker->setup->number);
    return message;
}

static cJSON *describe_task(const struct worker *worker, const struct plan_request *request, const char *device)
{
    cJSON *message = new_message(worker);
    json_add_text(message, "key", request->key);
    json_add_text(message, "name", request->kept.name);
    json_add_text(message, "namespace", request->name_space);
    json_add_text(message, "device", device);
    json_add_u64(message, "build_time_ms", request->kept.build_time_ms);
    return message;
}

static void tell_without_device(const struct worker *worker, const struct plan_request *request)
{
    cJSON *message = describe_task(worker, request, NULL);
    json_add_text(message, "outcome", "without_device");
    json_add_text(message, "message", "this machine has no device for its backend");
    (void)message_send(worker->setup->socket, message);
}

static void tell_outcome(struct worker *worker, const char *outcome)
{
    cJSON *message = new_message(worker);
    for (size_t end = strlen(worker->message); end != 0 && worker->message[end - 1] == '\n'; --end)
        worker->message[end - 1] = '\0';
    json_add_text(message, "outcome", outcome);
    json_add_text(message, "message", worker->message);
    json_add_u64(message, "build_time_ns", worker->build_ns);
    if (!message_send(worker->setup->socket, message))
        _exit(EXIT_FAILED);
}

/* ---- devices and tasks ---- */

static bool is_device_chosen(const struct worker *worker, size_t number)
{
    const struct text_list *selectors = worker->setup->selectors;
    bool is_chosen = selectors->count == 0;
    for (size_t i = 0; i < selectors->count && !is_chosen; ++i)
        is_chosen = text_contains(worker->devices.items[number].text, selectors->items[i]);
    return is_chosen;
}

/* Lists the devices of the backends that the requests need, so that no other driver is loaded. */
static void list_devices(struct worker *worker)
{
    const struct plan *plan = worker->setup->plan;
    for (size_t i = 0; device_backends[i] != NULL; ++i) {
        bool is_needed = worker->setup->is_watch;
        for (size_t j = 0; j < plan->request_count && !is_needed; ++j)
            is_needed = strcmp(plan->requests[j].kept.backend, device_backends[i]->name) == 0;
        if (is_needed)
            device_backends[i]->add_all(&worker->devices);
    }
    worker->contexts = memory_get((worker->devices.count + 1) * sizeof(ingot_context_t));
    memset(worker->contexts, 0, (worker->devices.count + 1) * sizeof(ingot_context_t));
}

/* Adds the tasks, device by device, in the order of the plan. */
static void make_tasks(struct worker *worker)
{
    struct plan *plan = worker->setup->plan;
    for (size_t i = 0; i < worker->devices.count; ++i) {
        for (size_t j = 0; j < plan->request_count && is_device_chosen(worker, i); ++j) {
            if (!plan_is_for(&plan->requests[j], i, &worker->devices))
                continue;
            plan->requests[j].has_device = true;
            worker->tasks = memory_grow(worker->tasks, worker->task_count, sizeof(*worker->tasks));
            worker->tasks[worker->task_count++] = (struct task){&plan->requests[j], i};
        }
    }
}

static void tell_devices(const struct worker *worker)
{
    const struct plan *plan = worker->setup->plan;
    cJSON *message = new_message(worker);
    cJSON *devices = cJSON_AddArrayToObject(message, "devices");
    cJSON *chosen = cJSON_AddArrayToObject(message, "chosen");
    uint64_t cost_ms = 0;
    for (size_t i = 0; i < worker->devices.count; ++i) {
        const char *text = worker->devices.items[i].text;
        (void)cJSON_AddItemToArray(devices, cJSON_CreateString(text));
        if (is_device_chosen(worker, i))
            (void)cJSON_AddItemToArray(chosen, cJSON_CreateString(text));
    }
    for (size_t i = 0; i < worker->task_count; ++i)
        cost_ms += worker->tasks[i].request->kept.build_time_ms;
    json_add_u64(message, "jobs", worker->task_count);
    json_add_u64(message, "cost_ms", cost_ms);
    if (!message_send(worker->setup->socket, message))
        _exit(EXIT_FAILED);
    for (size_t i = 0; i < plan->request_count && worker->setup->is_first; ++i) {
        if (!plan->requests[i].has_device)
            tell_without_device(worker, &plan->requests[i]);
    }
}

static void begin_task(struct worker *worker, size_t number, const struct plan_request *request, size_t device)
{
    cJSON *message = describe_task(worker, request, worker->devices.items[device].text);
    json_add_u64(message, "task", number);
    if (!message_send(worker->setup->socket, message))
        _exit(EXIT_FAILED);
    (void)lseek(STDOUT_FILENO, 0, SEEK_SET); /* forgets what drivers have printed so far */
    worker->message[0] = '\0';
    worker->build_ns = 0;
}

static void do_task(struct worker *worker, size_t number)
{
    const struct task *task = &worker->tasks[number];
    begin_task(worker, number, task->request, task->device);
    tell_outcome(worker, answer_request(worker, task));
}

/* ---- wishes ---- */

static void drop_wish(struct worker *worker)
{
    ingot_program_desc_release(worker->wish_desc);
    ingot_request_close(&worker->wish.kept);
    worker->wish_desc = NULL;
}

static ingot_status_t load_request(const struct worker_store *place, size_t size, const uint8_t *wish,
                                   ingot_kept_request_t *kept)
{
    uint8_t id[REQUEST_ID_SIZE];
    size_t id_size = sizeof(id);
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    ingot_status_t status = ingot_wish_get_request_id(size, wish, &id_size, id);
    if (status == INGOT_SUCCESS)
        status = ingot_storage_load(place->server != NULL ? place->server : place->store, id_size, id, &blob);
    if (status == INGOT_SUCCESS)
        status = ingot_request_open(kept, id_size, id, &blob);
    store_release_blob(&blob);
    return status;
}

/* Makes the wish's program for a device. Returns INGOT_BLOB_MISMATCH if the wish is not for this device. */
static ingot_status_t make_wish_desc(struct worker *worker, size_t device, size_t size, const uint8_t *wish)
{
    const struct worker_store *place = worker->wish_place;
    const uint8_t *id = NULL;
    size_t id_size = 0;
    ingot_status_t status = make_desc(worker, &worker->wish.kept, device,
                                      place->server != NULL ? place->server : place->store, &worker->wish_desc);
    if (status == INGOT_SUCCESS)
        status = ingot_program_desc_get_cache_blob_id(worker->wish_desc, &id_size, &id);
    if (status == INGOT_SUCCESS && id_size == size && memcmp(id, wish, size) == 0)
        return INGOT_SUCCESS;
    ingot_program_desc_release(worker->wish_desc);
    worker->wish_desc = NULL;
    return status == INGOT_SUCCESS ? INGOT_BLOB_MISMATCH : status;
}

/* Loads the request of a wish, and finds the device. What a client uploads in the background may still be missing. */
static bool prepare_wish(void *user, size_t size, const uint8_t *wish)
{
    struct worker *worker = user;
    ingot_kept_request_t *kept = &worker->wish.kept;
    ingot_status_t status = INGOT_NOT_FOUND;
    for (int i = 0; i < ATTEMPTS && status == INGOT_NOT_FOUND; ++i) {
        if (i != 0)
            (void)poll(NULL, 0, ATTEMPT_MS);
        status = load_request(worker->wish_place, size, wish, kept);
        if (status != INGOT_SUCCESS)
            continue;
        status = INGOT_BLOB_MISMATCH;
        for (size_t j = 0; j < worker->devices.count && status == INGOT_BLOB_MISMATCH; ++j) {
            worker->wish_device = j;
            if (is_device_chosen(worker, j) && strcmp(worker->devices.items[j].backend->name, kept->backend) == 0)
                status = make_wish_desc(worker, j, size, wish);
        }
        if (status != INGOT_SUCCESS)
            ingot_request_close(kept);
        if (worker->wish_place->server == NULL)
            break; /* in a directory, the request is there before the wish */
    }
    return status == INGOT_SUCCESS;
}

static void answer_wish(struct worker *worker)
{
    const struct worker_store *place = worker->wish_place;
    hex_put(worker->wish.key, INGOT_REQUEST_DIGEST_SIZE, worker->wish.kept.digest);
    worker->wish.name_space = (char *)place->name_space;
    begin_task(worker, 0, &worker->wish, worker->wish_device);
    const char *outcome = answer_desc(worker, place, worker->wish_desc);
#if INGOT_WITH_REMOTE
    if (place->server != NULL)
        (void)ingot_remote_flush(place->server, FLUSH_MS);
#endif
    tell_outcome(worker, outcome);
    drop_wish(worker);
}

static void answer_wishes(struct worker *worker, struct wishes *wishes)
{
    const uint64_t idle_ns = worker->setup->idle_ns;
    uint64_t last_ns = nanoseconds_of(CLOCK_MONOTONIC);
    while (idle_ns == 0 || nanoseconds_of(CLOCK_MONOTONIC) - last_ns < idle_ns) {
        if (!wishes_take(wishes))
            continue;
        answer_wish(worker);
        last_ns = nanoseconds_of(CLOCK_MONOTONIC);
    }
}

static void tell_notice(void *user, const char *text)
{
    const struct worker *worker = user;
    cJSON *message = new_message(worker);
    json_add_text(message, "notice", text);
    (void)message_send(worker->setup->socket, message);
}

/* Opens the store with the wishes. If it has none, the process ends. */
static void open_wishes(struct worker *worker, struct wishes *wishes)
{
    const char *name_space = worker->setup->options->name_space;
    worker->wish_place = open_store(worker, name_space != NULL ? name_space : "");
    *wishes = (struct wishes){.store = worker->wish_place->store,
                              .server = worker->wish_place->server,
                              .prepare = prepare_wish,
                              .tell = tell_notice,
                              .user = worker};
    const ingot_status_t status = wishes_open(wishes);
    if (status == INGOT_SUCCESS)
        return;
    store_tell_failure(status, "watching the store");
    _exit(EXIT_FAILED);
}

/* ---- the process ---- */

/* Turns off the OpenCL layer, which would cache the programs a second time, and recording, because the requests are
 * recorded already. Whether the store keeps requests is in the options. */
void worker_run(void *user)
{
    struct worker worker = {.setup = user};
    struct wishes wishes;
    size_t next = worker.setup->first_task;
    if (setenv("INGOT_LAYER_DISABLE", "1", 1) != 0 || unsetenv("INGOT_RECORD") != 0 ||
        unsetenv("INGOT_PERSIST_REQUESTS") != 0)
        _exit(EXIT_FAILED);
    list_devices(&worker);
    make_tasks(&worker);
    if (worker.setup->is_watch)
        open_wishes(&worker, &wishes);
    tell_devices(&worker);
    if (worker.setup->is_watch)
        answer_wishes(&worker, &wishes);
    if (next < worker.task_count)
        do_task(&worker, next);
    while ((next = atomic_fetch_add(worker.setup->next_task, 1)) < worker.task_count)
        do_task(&worker, next);
    for (size_t i = 0; i < worker.store_count; ++i) {
        ingot_storage_release(worker.stores[i].chain);
        ingot_storage_release(worker.stores[i].server);
        ingot_storage_release(worker.stores[i].store);
    }
    _exit(EXIT_DONE);
}
