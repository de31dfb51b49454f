/*
 * worker.c - answers requests in a worker process; see worker.h.
 *
 * A request counts as answered if the store returns its blob, whatever happened before. Each blob is loaded once before
 * it is stored, so that a blob with which the driver ends the process ends only the worker. The process ends with
 * _exit(), because a damaged driver may hang in its exit handlers. All built programs are in the stores by then, which
 * are released first, so that their accounts are right.
 */
#include "cli/build/worker.h"

#include <ingot/backend.h>
#include <ingot/private/event.h>
#include <ingot/private/persist.h>
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
#if INGOT_WITH_REMOTE
#include "cli/store/server.h"
#endif
#include "cli/store/store.h"

/* A namespace of the store on this machine. */
struct worker_store {
    const char *name_space;
    ingot_storage_t store;
    ingot_storage_t chain; /* the store with the server behind it; NULL: no server is asked */
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
    ingot_status_t status = ingot_persist_program_create(&program, desc, place->store, NULL);
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

/* The chain stores what it loads from the server in this machine's store. */
static const char *pull_or_compile(struct worker *worker, const struct worker_store *place,
                                   const_ingot_program_desc_t desc)
{
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
    ingot_storage_t tiers[] = {place->store, NULL};
    if (worker->setup->asks_server && (server_open(&tiers[1], &options, NULL, INGOT_REMOTE_READ_ONLY) != EXIT_DONE ||
                                       ingot_persist_chain(&place->chain, 2, tiers) != INGOT_SUCCESS))
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

static ingot_status_t make_desc(const struct worker *worker, const struct task *task, const struct worker_store *place,
                                ingot_program_desc_t *desc)
{
    struct plan *plan = worker->setup->plan;
    const ingot_kept_request_t *kept = &task->request->kept;
    ingot_storage_t texts = place->store;
    ingot_buffer_t bytes = INGOT_BUFFER_INIT;
    ingot_status_t status = INGOT_SUCCESS;
    if (plan->source_count != 0)
        status = plan_open_source(plan, task->request->source, &texts);
    if (status == INGOT_SUCCESS)
        status = ingot_request_unpack(kept, texts, &bytes);
    if (status == INGOT_SUCCESS)
        status = ingot_program_desc_create_from_request(desc, worker->contexts[task->device], bytes.size, bytes.bytes,
                                                        0, NULL, kept->group[0] != '\0' ? kept->group : NULL);
    store_release_blob(&bytes);
    return status == INGOT_SUCCESS ? ingot_program_desc_is_cacheable(*desc, NULL) : status;
}

/* Returns the outcome. */
static const char *answer_request(struct worker *worker, const struct task *task)
{
    const struct worker_store *place = open_store(worker, task->request->name_space);
    const char *outcome = "present";
    ingot_program_desc_t desc = NULL;
    ingot_status_t status = open_context(worker, task->device);
    if (status == INGOT_SUCCESS)
        status = make_desc(worker, task, place, &desc);
    if (status != INGOT_SUCCESS)
        outcome = fail_task(worker, "failed", status);
    else if (load_result(place->store, desc) == INGOT_SUCCESS)
        ingot_persist_record_request(place->store, desc, NULL); /* if the store keeps requests */
    else
        outcome = pull_or_compile(worker, place, desc);
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
        for (size_t j = 0; j < plan->request_count; ++j) {
            if (strcmp(plan->requests[j].kept.backend, device_backends[i]->name) == 0) {
                device_backends[i]->add_all(&worker->devices);
                break;
            }
        }
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

static void do_task(struct worker *worker, size_t number)
{
    const struct task *task = &worker->tasks[number];
    cJSON *message = describe_task(worker, task->request, worker->devices.items[task->device].text);
    json_add_u64(message, "task", number);
    if (!message_send(worker->setup->socket, message))
        _exit(EXIT_FAILED);
    (void)lseek(STDOUT_FILENO, 0, SEEK_SET); /* forgets what drivers have printed so far */
    worker->message[0] = '\0';
    worker->build_ns = 0;
    tell_outcome(worker, answer_request(worker, task));
}

/* Turns off the OpenCL layer, which would cache the programs a second time, and recording, because the requests are
 * recorded already. Whether the store keeps requests is in the options. */
void worker_run(void *user)
{
    struct worker worker = {.setup = user};
    size_t next = worker.setup->first_task;
    if (setenv("INGOT_LAYER_DISABLE", "1", 1) != 0 || unsetenv("INGOT_RECORD") != 0 ||
        unsetenv("INGOT_PERSIST_REQUESTS") != 0)
        _exit(EXIT_FAILED);
    list_devices(&worker);
    make_tasks(&worker);
    tell_devices(&worker);
    if (next < worker.task_count)
        do_task(&worker, next);
    while ((next = atomic_fetch_add(worker.setup->next_task, 1)) < worker.task_count)
        do_task(&worker, next);
    for (size_t i = 0; i < worker.store_count; ++i) {
        ingot_storage_release(worker.stores[i].chain);
        ingot_storage_release(worker.stores[i].store);
    }
    _exit(EXIT_DONE);
}
