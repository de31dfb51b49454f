/*
 * worker.c - builds programs in a worker process; see worker.h.
 *
 * A program counts as built if the store returns its blob, whatever happened before. The process ends with _exit(),
 * because a damaged driver may hang in its exit handlers. All built programs are in the store by then. Each blob is
 * loaded once before it is stored, so that a blob with which the driver ends the process ends only the worker.
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

struct worker {
    const struct worker_setup *setup;
    ingot_storage_t store; /* on this machine */
    ingot_storage_t chain; /* the store, and behind it the server from which programs are pulled; otherwise NULL */
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

/* True if this machine's store has an intact blob for the descriptor. */
static bool is_stored(const struct worker *worker, const_ingot_program_desc_t desc, uint64_t *blob_bytes)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    const uint8_t *id = NULL;
    size_t size = 0;
    if (ingot_program_desc_get_cache_blob_id(desc, &size, &id) != INGOT_SUCCESS ||
        ingot_storage_load(worker->store, size, id, &blob) != INGOT_SUCCESS)
        return false;
    *blob_bytes = blob.size;
    store_release_blob(&blob);
    return true;
}

/* Loads the program from the server. The chain stores it in this machine's store. */
static void pull_program(const struct worker *worker, const_ingot_program_desc_t desc, struct message *result)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    const uint8_t *id = NULL;
    size_t size = 0;
    ingot_status_t status = ingot_program_desc_get_cache_blob_id(desc, &size, &id);
    if (status == INGOT_SUCCESS)
        status = ingot_storage_load(worker->chain, size, id, &blob);
    store_release_blob(&blob);
    if (status != INGOT_SUCCESS)
        fail_job(result, status == INGOT_NOT_FOUND ? OUTCOME_MISSING : OUTCOME_FAILED, status);
    else if (!is_stored(worker, desc, &result->blob_bytes))
        fail_job(result, OUTCOME_UNSTORED, INGOT_NO_SPACE);
    else
        result->outcome = OUTCOME_BUILT;
}

static void compile_and_store(struct worker *worker, const_ingot_program_desc_t desc, struct message *result)
{
    ingot_program_t program = NULL;
    ingot_program_facts_t facts = INGOT_PROGRAM_FACTS_INIT;
    worker->reason[0] = '\0';
    ingot_status_t status = ingot_persist_program_create(&program, desc, worker->store, NULL);
    if (status != INGOT_SUCCESS) {
        fail_job(result, OUTCOME_FAILED, status);
        return;
    }
    (void)ingot_program_get_facts(program, &facts);
    result->build_ns = facts.build_time_ns;
    if (is_stored(worker, desc, &result->blob_bytes)) {
        result->outcome = OUTCOME_BUILT;
    } else if (worker->reason[0] != '\0') {
        result->outcome = OUTCOME_UNSTORED;
        set_text(result, worker->reason);
    } else {
        fail_job(result, OUTCOME_UNSTORED, INGOT_NOT_FOUND);
    }
    ingot_program_release(program);
}

/* Handles a program that the store already has. Adds its id to the store's recipe, as for a compiled program, because
 * the process that stored the program may have been killed before it added the id. */
static void note_program_present(const struct worker *worker, const_ingot_program_desc_t desc, struct message *result)
{
    result->outcome = OUTCOME_PRESENT;
    if (worker->setup->options->keeps_recipes)
        (void)ingot_recipe_record_program(worker->store, desc, NULL);
}

static void build_job_program(struct worker *worker, struct message *result)
{
    const struct plan_program *program = &worker->setup->plan->programs[result->program];
    ingot_program_desc_t desc = NULL;
    ingot_status_t status = open_context(worker, result->device);
    if (status == INGOT_SUCCESS)
        status =
            ingot_recipe_desc_create(&desc, program->recipe, program->index, worker->contexts[result->device], 0, NULL);
    if (status == INGOT_SUCCESS)
        status = ingot_program_desc_is_cacheable(desc, NULL);
    if (status != INGOT_SUCCESS)
        fail_job(result, OUTCOME_FAILED, status);
    else if (is_stored(worker, desc, &result->blob_bytes))
        note_program_present(worker, desc, result);
    else if (worker->setup->is_pull)
        pull_program(worker, desc, result);
    else
        compile_and_store(worker, desc, result);
    ingot_program_desc_release(desc);
}

static bool open_store_of_worker(struct worker *worker)
{
    ingot_persist_settings_t settings = INGOT_PERSIST_SETTINGS_INIT;
    if (store_open(&worker->store, worker->setup->options, STORE_WRITE, NULL) != EXIT_DONE ||
        ingot_persist_get_settings(worker->store, &settings) != INGOT_SUCCESS)
        return false;
    settings.store_mode = INGOT_PERSIST_STORE_NOW; /* no kernel is launched, so there is nothing to wait for */
    ingot_persist_check_blobs(worker->store);
    return ingot_persist_set_settings(worker->store, &settings) == INGOT_SUCCESS;
}

/* Puts the server that the environment names behind the store. */
static bool open_server_of_worker(struct worker *worker)
{
#if INGOT_WITH_REMOTE
    ingot_storage_t tiers[] = {worker->store, NULL};
    return server_open(&tiers[1], worker->setup->options, NULL, INGOT_REMOTE_READ_ONLY) == EXIT_DONE &&
           ingot_persist_chain(&worker->chain, 2, tiers) == INGOT_SUCCESS;
#else
    (void)worker;
    return false;
#endif
}

/* Lists the devices of the backends that the programs need, so that no other driver is loaded. */
static void list_devices(struct worker *worker)
{
    const struct plan *plan = worker->setup->plan;
    for (size_t i = 0; device_backends[i] != NULL; ++i) {
        for (size_t j = 0; j < plan->program_count; ++j) {
            if (strcmp(plan->programs[j].facts.backend, device_backends[i]->name) == 0) {
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

/* Turns off the OpenCL layer, which would cache the programs a second time. Also turns off recording unless the store
 * keeps recipes, because the programs come from a recipe. */
static bool prepare_worker(struct worker *worker)
{
    const bool keeps_recipes = worker->setup->options->keeps_recipes;
    if (setenv("INGOT_LAYER_DISABLE", "1", 1) != 0 || unsetenv("INGOT_RECIPE") != 0 ||
        setenv("INGOT_PERSIST_RECIPES", keeps_recipes ? "1" : "0", 1) != 0)
        return false;
    return open_store_of_worker(worker) && (!worker->setup->is_pull || open_server_of_worker(worker));
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
        if (message.kind != MESSAGE_JOB || message.program >= worker.setup->plan->program_count ||
            message.device >= worker.devices.count)
            break;
        struct message result = {.kind = MESSAGE_RESULT, .program = message.program, .device = message.device};
        build_job_program(&worker, &result);
        is_connected = message_send(socket, &result);
    }
    _exit(EXIT_DONE);
}
