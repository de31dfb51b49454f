/*
 * machine.c - shows what of a store this machine's drivers can load, for `ingot verify`.
 *
 * A program can be loaded if its id is that of the same request on one of this machine's devices, and its blob is
 * sound. Otherwise, the device whose id differs in the fewest fields explains why not. Drivers run in a process of
 * their own, which prints the findings.
 */
#include <errno.h>
#include <ingot/directory.h>
#include <ingot/private/descriptor.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/json.h"
#include "cli/base/memory.h"
#include "cli/base/output.h"
#include "cli/base/text.h"
#include "cli/build/device/device.h"
#include "cli/commands/all.h"
#include "cli/store/entry.h"
#include "cli/store/id.h"
#include "cli/store/store.h"
#if INGOT_WITH_REMOTE
#include <ingot/private/remote.h>
#endif

struct machine {
    const struct common_options *options;
    ingot_storage_t storage;
    struct device_list devices;
    cJSON *problems; /* an item for each reason */
    uint64_t program_count;
    uint64_t loadable_count;
    uint64_t artifact_count;
};

static void add_problem(const struct machine *machine, const ingot_persist_entry_t *entry, const char *reason)
{
    cJSON *problem = machine->problems->child;
    char name[ENTRY_NAME_SIZE];
    while (problem != NULL && strcmp(json_text(problem, "reason"), reason) != 0)
        problem = problem->next;
    if (problem != NULL) {
        cJSON *count = cJSON_GetObjectItem(problem, "count");
        cJSON_SetNumberValue(count, count->valuedouble + 1);
        return;
    }
    problem = cJSON_CreateObject();
    entry_name(entry, name);
    (void)cJSON_AddNumberToObject(problem, "count", 1);
    json_add_text(problem, "reason", reason);
    json_add_text(problem, "entry", name);
    (void)cJSON_AddItemToArray(machine->problems, problem);
}

/* Returns the fields in which an id differs from that of the same request on the nearest device: an empty array if none
 * does. NULL: no device of the backend can be opened. */
static cJSON *compare_with_devices(struct machine *machine, const char *backend, const ingot_persist_entry_t *entry)
{
    const ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    cJSON *nearest = NULL;
    for (size_t i = 0; i < machine->devices.count; ++i) {
        struct device *device = &machine->devices.items[i];
        cJSON *differences = NULL;
        size_t size = 0;
        if (strcmp(device->backend->name, backend) != 0 || device_open(device, &info) != INGOT_SUCCESS ||
            ingot_cache_blob_id_move(device->context, entry->id_size, entry->id, &size, NULL) != INGOT_SUCCESS)
            continue;
        uint8_t *moved = memory_get(size);
        if (ingot_cache_blob_id_move(device->context, entry->id_size, entry->id, &size, moved) == INGOT_SUCCESS)
            differences = id_compare(size, moved, entry->id_size, entry->id);
        free(moved);
        const bool is_nearer =
            differences != NULL && (nearest == NULL || cJSON_GetArraySize(differences) < cJSON_GetArraySize(nearest));
        cJSON_Delete(is_nearer ? nearest : differences);
        nearest = is_nearer ? differences : nearest;
    }
    return nearest;
}

static void judge_program(struct machine *machine, const ingot_persist_entry_t *entry, const char *backend)
{
    char reason[1024];
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    cJSON *differences = compare_with_devices(machine, backend, entry);
    const cJSON *first = differences != NULL ? differences->child : NULL;
    const ingot_status_t status = ingot_persist_load_entry(machine->storage, entry, 0, &blob);
    if (status != INGOT_SUCCESS) {
        (void)snprintf(reason, sizeof(reason), "%s", ingot_status_name(status));
    } else if (differences == NULL) {
        (void)snprintf(reason, sizeof(reason), "this machine has no device for %s", backend);
    } else if (first != NULL) { /* the words in which its values differ */
        const char *here = json_text(first, "expected");
        const char *there = json_text(first, "found");
        char *only_here = text_select_words(here, there, false, NULL);
        char *only_there = text_select_words(there, here, false, NULL);
        (void)snprintf(reason, sizeof(reason), "%s is %.300s here, not %.300s", json_text(first, "field"),
                       only_here != NULL ? only_here : "another order", only_there != NULL ? only_there : "the same");
        free(only_here);
        free(only_there);
    }
    if (status == INGOT_SUCCESS && differences != NULL && first == NULL)
        ++machine->loadable_count;
    else
        add_problem(machine, entry, reason);
    store_release_blob(&blob);
    cJSON_Delete(differences);
}

static int judge_entry(const ingot_persist_entry_t *entry, void *user)
{
    struct machine *machine = user;
    cJSON *fields = entry->id != NULL ? id_read(entry->id_size, entry->id) : NULL;
    const char *backend = json_text(fields, "backend");
    const bool is_program = entry->id == NULL || id_has_kind(fields, "program");
    if (is_program && backend != NULL) {
        judge_program(machine, entry, backend);
    } else if (is_program) {
        add_problem(machine, entry, ingot_status_name(entry->status));
    } else if (!id_has_kind(fields, "request") && !id_has_kind(fields, "probes")) {
        ++machine->artifact_count;
    }
    machine->program_count += is_program;
    cJSON_Delete(fields);
    return 1;
}

#if INGOT_WITH_REMOTE
static ingot_status_t judge_layer(ingot_storage_t bundle, ingot_status_t status, const char *name_space, void *user)
{
    struct machine *machine = user;
    (void)name_space;
    machine->storage = bundle;
    return bundle == NULL || entry_visit_all(bundle, judge_entry, machine) == EXIT_DONE ? status : INGOT_IO_ERROR;
}
#endif

/* Judges a store, a bundle or an image. Drivers may print: until the findings are printed, standard output is standard
 * error. */
static int run_machine(const struct common_options *options)
{
    struct machine machine = {.options = options, .problems = cJSON_CreateArray()};
    char mark[PATH_MAX];
    ingot_status_t status = INGOT_SUCCESS;
    bool is_image = false;
    const int output = dup(STDOUT_FILENO);
    if (output < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || setenv("INGOT_LAYER_DISABLE", "1", 1) != 0)
        return EXIT_FAILED;
    for (size_t i = 0; device_backends[i] != NULL; ++i)
        device_backends[i]->add_all(&machine.devices);
    (void)snprintf(mark, sizeof(mark), "%s/oci-layout", options->directory != NULL ? options->directory : "");
#if INGOT_WITH_REMOTE
    is_image = options->directory != NULL && access(mark, F_OK) == 0;
    status = is_image ? ingot_image_for_each(options->directory, judge_layer, &machine) : INGOT_SUCCESS;
#endif
    int code = status == INGOT_SUCCESS ? EXIT_DONE : store_failed("reading the image", status);
    if (!is_image)
        code = store_open(&machine.storage, options, STORE_READ, NULL);
    if (code == EXIT_DONE && !is_image)
        code = entry_visit_all(machine.storage, judge_entry, &machine);
    if (code != EXIT_DONE)
        return code;
    (void)fflush(stdout);
    (void)dup2(output, STDOUT_FILENO);
    cJSON *json = cJSON_CreateObject();
    json_add_u64(json, "programs", machine.program_count);
    json_add_u64(json, "loadable", machine.loadable_count);
    json_add_u64(json, "artifacts", machine.artifact_count);
    (void)cJSON_AddItemToObject(json, "problems", machine.problems);
    if (!options->is_json)
        output_put(stdout,
                   "{loadable} of {programs} programs can be loaded here[artifacts?; {artifacts} artifacts]\n"
                   "<problems*{count}: {reason} ({entry})\n>",
                   json);
    else
        json_print(json);
    (void)fflush(stdout);
    return machine.loadable_count == machine.program_count ? EXIT_DONE : EXIT_FINDING;
}

int machine_verify(const struct common_options *options)
{
    int status = 0;
    const pid_t worker = fork();
    if (worker == 0)
        _exit(run_machine(options));
    while (worker > 0 && waitpid(worker, &status, 0) < 0 && errno == EINTR) {
    }
    if (worker > 0 && WIFEXITED(status))
        return WEXITSTATUS(status);
    (void)fprintf(stderr, "ingot: the process that loads the drivers failed: %s\n",
                  worker > 0 ? strsignal(WTERMSIG(status)) : strerror(errno));
    return EXIT_FAILED;
}
