/*
 * worker.c - answers requests in a worker process; see worker.h.
 *
 * A request counts as answered if the store returns its blob, whatever happened before. The process ends with _exit(),
 * because a damaged driver may hang in its exit handlers. All built programs are in the stores by then, which are
 * released first, so that their accounts are right. Each blob is loaded once before it is stored, so that a blob with
 * which the driver ends the process ends only the worker.
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
#include "cli/base/memory.h"
#include "cli/build/device/device.h"
#include "cli/build/message.h"
#if INGOT_WITH_REMOTE
#include "cli/store/server.h"
#endif
#include "cli/store/store.h"

/* A namespace of the store on this machine. */
struct worker_store {
    ingot_storage_t store; /* NULL: not opened yet */
    ingot_storage_t chain; /* the store with the server behind it; NULL: no server is asked */
};

struct worker {
    const struct worker_setup *setup;
    struct worker_store *stores; /* one per namespace of the plan */
    ingot_storage_t source;      /* where the last request came from; NULL: none, or a store of `stores` */
    const struct plan_request *last;
    struct device_list devices;
    ingot_context_t *contexts;      /* one per device, created when it is first needed */
    char reason[MESSAGE_TEXT_SIZE]; /* why the last program was not stored */
};

static void note_event(const ingot_event_t *event, void *user)
{
    struct worker *worker = user;
    const bool is_native = event->kind == INGOT_EVENT_NATIVE_BUILD;
    const bool is_storing = event->kind == INGOT_EVENT_STORAGE_STORE || event->kind == INGOT_EVENT_STORAGE_DEGRADED;
    if (is_native || (is_storing && event->status != INGOT_SUCCESS))
        (void)snprintf(worker->reason, sizeof(worker->reason), "%s: %s",
                       ingot_status_name(is_native ? INGOT_NOT_CACHEABLE : event->status), event->reason);
}

/* Copies as much of the text as a message has room for, without the line ends at its end. */
static void set_text(struct message *message, const char *text)
{
    (void)snprintf(message->text, sizeof(message->text), "%s", text);
    for (size_t end = strlen(message->text); end != 0 && message->text[end - 1] == '\n'; --end)
        message->text[end - 1] = '\0';
}

static void fail_job(struct message *result, enum outcome outcome, ingot_status_t status)
{
    char text[MESSAGE_TEXT_SIZE];
    (void)snprintf(text, sizeof(text), "%s: %s", ingot_status_name(status), ingot_last_error_detail());
    result->outcome = outcome;
    set_text(result, text);
}

static ingot_status_t open_context(struct worker *worker, uint32_t number)
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

/* True if the request's store has an intact blob for the descriptor. */
static bool is_stored(const struct worker_store *place, const_ingot_program_desc_t desc, uint64_t *blob_bytes)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    const uint8_t *id = NULL;
    size_t size = 0;
    if (ingot_program_desc_get_cache_blob_id(desc, &size, &id) != INGOT_SUCCESS ||
        ingot_storage_load(place->store, size, id, &blob) != INGOT_SUCCESS)
        return false;
    *blob_bytes = blob.size;
    store_release_blob(&blob);
    return true;
}

/* Loads the result from the server. The chain stores it in this machine's store. Returns false if the server does not
 * have it, or if it could not be stored. */
static bool pull_result(const struct worker_store *place, const_ingot_program_desc_t desc, struct message *result)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    const uint8_t *id = NULL;
    size_t size = 0;
    ingot_status_t status = ingot_program_desc_get_cache_blob_id(desc, &size, &id);
    if (status == INGOT_SUCCESS)
        status = ingot_storage_load(place->chain, size, id, &blob);
    store_release_blob(&blob);
    if (status != INGOT_SUCCESS)
        fail_job(result, status == INGOT_NOT_FOUND ? OUTCOME_MISSING : OUTCOME_FAILED, status);
    else if (!is_stored(place, desc, &result->blob_bytes))
        fail_job(result, OUTCOME_UNSTORED, INGOT_NO_SPACE);
    else
        result->outcome = OUTCOME_PULLED;
    return result->outcome == OUTCOME_PULLED;
}

static void compile_and_store(struct worker *worker, const struct worker_store *place, const_ingot_program_desc_t desc,
                              struct message *result)
{
    ingot_program_t program = NULL;
    ingot_program_facts_t facts = INGOT_PROGRAM_FACTS_INIT;
    worker->reason[0] = '\0';
    ingot_status_t status = ingot_persist_program_create(&program, desc, place->store, NULL);
    if (status != INGOT_SUCCESS) {
        fail_job(result, OUTCOME_FAILED, status);
        return;
    }
    (void)ingot_program_get_facts(program, &facts);
    result->build_ns = facts.build_time_ns;
    if (is_stored(place, desc, &result->blob_bytes)) {
        result->outcome = OUTCOME_BUILT;
    } else if (worker->reason[0] != '\0') {
        result->outcome = OUTCOME_UNSTORED;
        set_text(result, worker->reason);
    } else {
        fail_job(result, OUTCOME_UNSTORED, INGOT_NOT_FOUND);
    }
    ingot_program_release(program);
}

/* Opens the store that has the texts of a request, unless it is the one of the last request. */
static ingot_status_t open_texts(struct worker *worker, const struct plan_request *request,
                                 const struct worker_store *place, ingot_storage_t *texts)
{
    const struct plan *plan = worker->setup->plan;
    ingot_status_t status = INGOT_SUCCESS;
    *texts = place->store;
    if (plan->paths == NULL)
        return status;
    if (worker->last == NULL || worker->last->source != request->source || worker->last->place != request->place) {
        ingot_storage_release(worker->source);
        worker->source = NULL;
        worker->last = NULL;
        status = plan_open_source(plan, request->source, plan->name_spaces[request->place], &worker->source);
    }
    if (status == INGOT_SUCCESS)
        worker->last = request;
    *texts = worker->source;
    return status;
}

static ingot_status_t make_desc(struct worker *worker, const struct worker_store *place, const struct message *job,
                                ingot_program_desc_t *desc)
{
    const struct plan_request *request = &worker->setup->plan->requests[job->request];
    const ingot_kept_request_t *kept = &request->kept;
    ingot_storage_t texts = NULL;
    ingot_buffer_t bytes = INGOT_BUFFER_INIT;
    ingot_status_t status = open_texts(worker, request, place, &texts);
    if (status == INGOT_SUCCESS)
        status = ingot_request_unpack(kept, texts, &bytes);
    if (status == INGOT_SUCCESS)
        status = ingot_program_desc_create_from_request(desc, worker->contexts[job->device], bytes.size, bytes.bytes, 0,
                                                        NULL, kept->group[0] != '\0' ? kept->group : NULL);
    store_release_blob(&bytes);
    return status == INGOT_SUCCESS ? ingot_program_desc_is_cacheable(*desc, NULL) : status;
}

/* Opens the store of a namespace, and puts the server behind it. A store that cannot be opened ends the process, and
 * the tool reports what it has printed. */
static const struct worker_store *open_store(struct worker *worker, size_t name_space)
{
    struct worker_store *place = &worker->stores[name_space];
    struct common_options options = *worker->setup->options;
    ingot_persist_settings_t settings = INGOT_PERSIST_SETTINGS_INIT;
    if (place->store != NULL)
        return place;
    options.name_space = worker->setup->plan->name_spaces[name_space];
    if (options.name_space[0] == '\0')
        options.name_space = NULL;
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

static void answer_request(struct worker *worker, struct message *result)
{
    const struct worker_setup *setup = worker->setup;
    const struct worker_store *place = open_store(worker, setup->plan->requests[result->request].name_space);
    ingot_program_desc_t desc = NULL;
    ingot_status_t status = open_context(worker, result->device);
    if (status == INGOT_SUCCESS)
        status = make_desc(worker, place, result, &desc);
    if (status != INGOT_SUCCESS) {
        fail_job(result, OUTCOME_FAILED, status);
    } else if (is_stored(place, desc, &result->blob_bytes)) {
        result->outcome = OUTCOME_PRESENT;
        ingot_persist_record_request(place->store, desc, NULL); /* if the store keeps requests */
    } else if ((place->chain == NULL || !pull_result(place, desc, result)) && !setup->is_pull) {
        compile_and_store(worker, place, desc, result);
    }
    ingot_program_desc_release(desc);
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

static bool send_devices(const struct worker *worker, int socket)
{
    struct message message = {.kind = MESSAGE_DEVICE};
    for (size_t i = 0; i < worker->devices.count; ++i) {
        message.device = (uint32_t)i;
        set_text(&message, worker->devices.items[i].text);
        if (!message_send(socket, &message))
            return false;
    }
    message.kind = MESSAGE_READY;
    message.device = (uint32_t)worker->devices.count;
    return message_send(socket, &message);
}

/* Turns off the OpenCL layer, which would cache the programs a second time, and recording, because the requests are
 * recorded already. Whether the store keeps requests is in the options. */
static bool prepare_worker(struct worker *worker)
{
    const size_t size = worker->setup->plan->name_space_count * sizeof(*worker->stores);
    worker->stores = memory_get(size);
    memset(worker->stores, 0, size);
    return setenv("INGOT_LAYER_DISABLE", "1", 1) == 0 && unsetenv("INGOT_RECORD") == 0 &&
           unsetenv("INGOT_PERSIST_REQUESTS") == 0;
}

void worker_run(int socket, void *user)
{
    struct worker worker = {.setup = user};
    struct message message;
    if (!prepare_worker(&worker))
        _exit(EXIT_FAILED);
    list_devices(&worker);
    bool is_connected = send_devices(&worker, socket);
    while (is_connected && message_receive(socket, &message)) {
        if (message.kind != MESSAGE_JOB || message.request >= worker.setup->plan->request_count ||
            message.device >= worker.devices.count)
            break;
        struct message result = {.kind = MESSAGE_RESULT, .request = message.request, .device = message.device};
        answer_request(&worker, &result);
        is_connected = message_send(socket, &result);
    }
    for (size_t i = 0; i < worker.setup->plan->name_space_count; ++i) {
        ingot_storage_release(worker.stores[i].chain);
        ingot_storage_release(worker.stores[i].store);
    }
    _exit(EXIT_DONE);
}
