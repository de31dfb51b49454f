/*
 * worker.c - answers requests in a worker process; see build.h.
 *
 * A request counts as answered if the store returns its blob, whatever happened before. Each blob is loaded once before
 * it is stored, so that a blob with which the driver ends the process ends only the worker. The process ends with
 * _exit(), because a damaged driver may hang in its exit handlers. All built programs are in the stores by then, which
 * are released first, so that their accounts are right.
 */
#include "cli/build/build.h"

#include <ingot/private/event.h>
#include <ingot/private/persist.h>
#include <ingot/private/program.h>
#include <ingot/private/remote.h>
#include <ingot/private/wish.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/base.h"
#include "cli/build/device/device.h"
#include "cli/store/store.h"
#include "util/hex.h"
#include "util/nanoseconds.h"

/* The request of a wish may be on its way to a server. */
enum { ATTEMPTS = 20, ATTEMPT_MS = 100, FLUSH_MS = 30000, REQUEST_ID_SIZE = 512 };

/* A namespace of the store on this machine. */
struct worker_store {
    const char *name_space;
    ingot_storage_t store;
    ingot_storage_t server; /* this and the next ones are NULL if no server is asked */
    ingot_storage_t chain;  /* the store with the server behind it */
    ingot_storage_t upward; /* the server with the store behind it, which copies what it loads to the server */
    ingot_storage_t wishes; /* has the wishes that are answered, and their requests: the server or the store */
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
    struct task *tasks;
    size_t task_count;
    uint64_t build_ns;  /* how long the last program took to compile; 0: unknown */
    char message[2048]; /* why the last task failed */
    const struct worker_store *wish_place;
    struct plan_request wish; /* the request of the wish that is being answered, and its program */
    ingot_program_desc_t wish_desc;
    uint64_t lost_uploads; /* of the wishes' server, so far */
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
    if (worker->setup->is_check) { /* lets the device load what the store or the server has */
        const ingot_storage_t storage = place->chain != NULL ? place->chain : place->store;
        ingot_program_t program = NULL;
        const ingot_status_t status = ingot_persist_program_load(&program, desc, storage, NULL);
        ingot_program_release(program);
        return status == INGOT_SUCCESS ? "present" : fail_task(worker, "would_compile", status);
    }
    if (load_result(place->store, desc) == INGOT_SUCCESS) {
        if (!worker->setup->is_pull)
            ingot_persist_record_request(place->store, desc, NULL); /* if the store keeps requests */
        if (worker->setup->is_watch && place->upward != NULL)
            (void)load_result(place->upward, desc); /* upload_answer sees whether the server has it then */
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
    options.name_space = name_space[0] != '\0' && !store_is_bundle(&options) ? name_space : NULL;
    if (store_open(&place->store, &options, worker->setup->is_check ? STORE_READ : STORE_WRITE, NULL) != EXIT_DONE ||
        ingot_persist_get_settings(place->store, &settings) != INGOT_SUCCESS)
        _exit(EXIT_FAILED);
    place->wishes = place->store;
    settings.store_mode = INGOT_PERSIST_STORE_NOW;
    ingot_persist_set_builder(place->store);
    if (ingot_persist_set_settings(place->store, &settings) != INGOT_SUCCESS)
        _exit(EXIT_FAILED);
#if INGOT_WITH_REMOTE
    const uint32_t flags = worker->setup->is_watch ? 0 : INGOT_REMOTE_READ_ONLY;
    if (!worker->setup->asks_server)
        return place;
    if (server_open(&place->server, &options, NULL, flags) != EXIT_DONE)
        _exit(EXIT_FAILED);
    if (!worker->setup->is_for_users)
        place->wishes = place->server;
    ingot_storage_t tiers[] = {place->store, place->server};
    ingot_storage_t upward[] = {place->server, place->store};
    settings = (ingot_persist_settings_t){.struct_size = sizeof(settings), .write_through = worker->setup->is_watch};
    if (ingot_persist_set_settings(place->server, &settings) != INGOT_SUCCESS ||
        ingot_persist_chain(&place->chain, 2, tiers) != INGOT_SUCCESS ||
        ingot_persist_chain(&place->upward, 2, upward) != INGOT_SUCCESS)
        _exit(EXIT_FAILED);
#endif
    return place;
}

static ingot_status_t make_desc(struct worker *worker, const ingot_kept_request_t *kept, struct device *device,
                                ingot_storage_t texts, ingot_program_desc_t *desc)
{
    const ingot_cache_capacity_t capacity = {.struct_size = sizeof(capacity), .flags = INGOT_CACHE_OFF};
    ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    ingot_buffer_t bytes = INGOT_BUFFER_INIT;
    info.cache_capacity = &capacity; /* each program is requested once */
    info.on_event = note_event;
    info.on_event_user = worker;
    ingot_status_t status = device_open(device, &info);
    if (status == INGOT_SUCCESS)
        status = ingot_request_unpack(kept, texts, &bytes);
    if (status == INGOT_SUCCESS)
        status = ingot_program_desc_create_from_request(desc, device->context, bytes.size, bytes.bytes, 0, NULL,
                                                        kept->group[0] != '\0' ? kept->group : NULL);
    store_release_blob(&bytes);
    return status == INGOT_SUCCESS ? ingot_program_desc_is_cacheable(*desc, NULL) : status;
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
    const struct text_list *selectors = &worker->setup->selectors;
    bool is_chosen = selectors->count == 0 || worker->devices.items[number].architecture != NULL;
    for (size_t i = 0; i < selectors->count && !is_chosen; ++i)
        is_chosen = text_contains(worker->devices.items[number].text, selectors->items[i]);
    return is_chosen;
}

/* Lists the devices of the backends that the requests need, so that no other driver is loaded. Adds the tasks, device
 * by device, in the order of the plan. */
static void list_devices(struct worker *worker)
{
    struct plan *plan = worker->setup->plan;
    for (size_t i = 0; device_backends[i] != NULL; ++i) {
        bool is_needed = worker->setup->is_watch;
        for (size_t j = 0; j < plan->request_count && !is_needed; ++j)
            is_needed = strcmp(plan->requests[j].kept.backend, device_backends[i]->name) == 0;
        if (is_needed)
            device_backends[i]->add_all(&worker->devices);
        for (size_t j = 0; j < worker->setup->selectors.count && is_needed; ++j)
            device_add_named(&worker->devices, device_backends[i], worker->setup->selectors.items[j]);
    }
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
        if (plan->requests[i].has_device)
            continue;
        message = describe_task(worker, &plan->requests[i], NULL);
        json_add_text(message, "outcome", "without_device");
        json_add_text(message, "message", "this machine has no device for its backend");
        (void)message_send(worker->setup->socket, message);
    }
}

static void begin_task(struct worker *worker, size_t number, const struct plan_request *request, const char *device)
{
    cJSON *message = describe_task(worker, request, device);
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
    struct device *device = &worker->devices.items[task->device];
    begin_task(worker, number, task->request, device->text);
    const struct worker_store *place = open_store(worker, task->request->name_space);
    ingot_program_desc_t desc = NULL;
    ingot_storage_t texts = NULL;
    ingot_status_t status = plan_open_source(worker->setup->plan, task->request->source, place->store, &texts);
    if (status == INGOT_SUCCESS)
        status = make_desc(worker, &task->request->kept, device, texts, &desc);
    tell_outcome(worker,
                 status == INGOT_SUCCESS ? answer_desc(worker, place, desc) : fail_task(worker, "failed", status));
    ingot_program_desc_release(desc);
}

/* ---- wishes ---- */

/* True if one of the chosen devices has the text of the wish's device. */
static bool is_wish_ours(void *user, size_t size, const uint8_t *wish)
{
    const struct worker *worker = user;
    char text[DEVICE_TEXT_SIZE];
    bool is_ours = false;
    cJSON *id = id_read(size, wish);
    const bool has_device = plan_describe_device(id, text);
    for (size_t i = 0; i < worker->devices.count && has_device && !is_ours; ++i)
        is_ours = is_device_chosen(worker, i) && strcmp(worker->devices.items[i].text, text) == 0;
    cJSON_Delete(id);
    return is_ours;
}

/* Makes the wish's program for the device of this text. Several devices may have it, and one that fails does not hide
 * the others. Returns INGOT_BLOB_MISMATCH if the wish is for none, but for another driver, for example. */
static ingot_status_t find_device(struct worker *worker, const ingot_buffer_t *wish, const char *text)
{
    ingot_status_t failure = INGOT_BLOB_MISMATCH;
    for (size_t i = 0; i < worker->devices.count; ++i) {
        struct device *device = &worker->devices.items[i];
        const uint8_t *id = NULL;
        size_t size = 0;
        if (!is_device_chosen(worker, i) || strcmp(device->text, text) != 0)
            continue;
        ingot_status_t status =
            make_desc(worker, &worker->wish.kept, device, worker->wish_place->wishes, &worker->wish_desc);
        if (status == INGOT_SUCCESS)
            status = ingot_program_desc_get_cache_blob_id(worker->wish_desc, &size, &id);
        if (status == INGOT_SUCCESS && size == wish->size && memcmp(id, wish->bytes, size) == 0)
            return status;
        ingot_program_desc_release(worker->wish_desc);
        worker->wish_desc = NULL;
        if (status != INGOT_SUCCESS && failure == INGOT_BLOB_MISMATCH) {
            failure = status;
            (void)fail_task(worker, "", status);
        }
    }
    return failure;
}

/* Makes the wish's program from its request. What a client uploads in the background to a server may be missing yet. */
static ingot_status_t prepare_wish(struct worker *worker, const ingot_buffer_t *wish, const char *device)
{
    const struct worker_store *place = worker->wish_place;
    ingot_kept_request_t *kept = &worker->wish.kept;
    const int attempts = place->wishes == place->server ? ATTEMPTS : 1;
    ingot_status_t status = INGOT_NOT_FOUND;
    for (int i = 0; i < attempts && status == INGOT_NOT_FOUND; ++i) {
        uint8_t id[REQUEST_ID_SIZE];
        size_t id_size = sizeof(id);
        ingot_buffer_t blob = INGOT_BUFFER_INIT;
        if (i != 0)
            (void)poll(NULL, 0, ATTEMPT_MS);
        status = ingot_wish_get_request_id(wish->size, wish->bytes, &id_size, id);
        if (status == INGOT_SUCCESS)
            status = ingot_storage_load(place->wishes, id_size, id, &blob);
        if (status == INGOT_SUCCESS)
            status = ingot_request_open(kept, id_size, id, &blob);
        store_release_blob(&blob);
        if (status != INGOT_SUCCESS) {
            (void)fail_task(worker, "", status);
            continue;
        }
        status = find_device(worker, wish, device);
        if (status != INGOT_SUCCESS)
            ingot_request_close(kept);
    }
    return status;
}

/* Waits until the server has what was stored. Returns the outcome. */
static const char *upload_answer(struct worker *worker, const char *outcome)
{
    (void)worker; /* unused without servers */
#if INGOT_WITH_REMOTE
    const ingot_storage_t server = worker->wish_place->server;
    ingot_remote_stats_t stats = {0};
    if (server == NULL)
        return outcome;
    const ingot_status_t status = ingot_remote_flush(server, FLUSH_MS);
    (void)ingot_remote_get_stats(server, &stats); /* the server is a remote tier */
    const uint64_t lost_before = worker->lost_uploads;
    worker->lost_uploads = stats.failed_uploads + stats.dropped_uploads;
    if (strcmp(outcome, "built") != 0 && strcmp(outcome, "present") != 0)
        return outcome;
    if (status != INGOT_SUCCESS)
        return fail_task(worker, "not_stored", status);
    if (worker->lost_uploads != lost_before) {
        (void)snprintf(worker->message, sizeof(worker->message), "the server did not take the program");
        return "not_stored";
    }
#endif
    return outcome;
}

/* Answers a wish that was taken. Tells the tool before each step, so that limits apply, and a crash has a name. */
static void answer_wish(struct worker *worker, struct wishes *wishes)
{
    const struct worker_store *place = worker->wish_place;
    const ingot_buffer_t *wish = &wishes->taken;
    char device[DEVICE_TEXT_SIZE] = "";
    cJSON *id = id_read(wish->size, wish->bytes);
    const char *digest = json_text(id, "request.blake2b");
    const char *outcome = "failed";
    worker->wish = (struct plan_request){.name_space = (char *)place->name_space, .kept = {.name = ""}};
    (void)snprintf(worker->wish.key, sizeof(worker->wish.key), "%s", digest != NULL ? digest : "");
    (void)plan_describe_device(id, device); /* is_wish_ours has seen it */
    cJSON_Delete(id);
    begin_task(worker, 0, &worker->wish, device);
    const ingot_status_t status = prepare_wish(worker, wish, device);
    if (status == INGOT_SUCCESS) {
        begin_task(worker, 0, &worker->wish, device); /* now with its name */
        outcome = upload_answer(worker, answer_desc(worker, place, worker->wish_desc));
    } else if (status == INGOT_BLOB_MISMATCH) {
        (void)snprintf(worker->message, sizeof(worker->message), "this device's driver or compiler is another one");
        wishes_refuse(wishes);
    }
    tell_outcome(worker, outcome);
    ingot_program_desc_release(worker->wish_desc);
    ingot_request_close(&worker->wish.kept);
    worker->wish_desc = NULL;
}

static void tell_notice(void *user, const char *text)
{
    const struct worker *worker = user;
    cJSON *message = new_message(worker);
    json_add_text(message, "notice", text);
    (void)message_send(worker->setup->socket, message);
}

/* ---- the process ---- */

/* Turns off the OpenCL layer, which would cache the programs a second time, and recording, because the requests are
 * recorded already. */
void worker_run(void *user)
{
    struct worker worker = {.setup = user};
    const struct worker_setup *setup = worker.setup;
    struct wishes wishes;
    size_t next = setup->first_task;
    if (setenv("INGOT_LAYER_DISABLE", "1", 1) != 0 || unsetenv("INGOT_RECORD") != 0)
        _exit(EXIT_FAILED);
    list_devices(&worker);
    if (setup->is_watch) {
        const char *name_space = setup->options->name_space;
        worker.wish_place = open_store(&worker, name_space != NULL ? name_space : "");
        wishes =
            (struct wishes){.store = worker.wish_place->store,
                            .server = setup->asks_server && !setup->is_for_users ? worker.wish_place->server : NULL,
                            .is_ours = is_wish_ours,
                            .tell = tell_notice,
                            .user = &worker};
        const ingot_status_t status = wishes_open(&wishes);
        if (status != INGOT_SUCCESS) { /* it has none */
            store_tell_failure(status, "watching the store");
            _exit(EXIT_FAILED);
        }
    }
    tell_devices(&worker);
    uint64_t last_ns = nanoseconds_of(CLOCK_MONOTONIC);
    while (setup->is_watch && (setup->idle_ns == 0 || nanoseconds_of(CLOCK_MONOTONIC) - last_ns < setup->idle_ns)) {
        if (!wishes_take(&wishes))
            continue;
        answer_wish(&worker, &wishes);
        last_ns = nanoseconds_of(CLOCK_MONOTONIC);
    }
    if (next < worker.task_count)
        do_task(&worker, next);
    while ((next = atomic_fetch_add(setup->next_task, 1)) < worker.task_count)
        do_task(&worker, next);
    for (size_t i = 0; i < worker.store_count; ++i) {
        ingot_storage_release(worker.stores[i].upward);
        ingot_storage_release(worker.stores[i].chain);
        ingot_storage_release(worker.stores[i].server);
        ingot_storage_release(worker.stores[i].store);
    }
    _exit(EXIT_DONE);
}
