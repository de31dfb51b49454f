/*
 * verify.c - `ingot verify`: checks every checksum and seal of a store, and with --repair removes bad entries; or shows
 * which programs this machine's drivers can load.
 *
 * A program can be loaded if its id is that of the same request on one of this machine's devices, and its blob is
 * sound. Otherwise, the device whose id differs in the fewest fields explains why not. Drivers run in a process of
 * their own, which prints the findings.
 */
#include <errno.h>
#include <ingot/private/descriptor.h>
#include <ingot/private/directory.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/base.h"
#include "cli/build/device/device.h"
#include "cli/commands/all.h"
#include "cli/store/store.h"
#if INGOT_WITH_REMOTE
#include <ingot/private/remote.h>
#endif

struct verifying {
    struct common_options common;
    bool is_repair;
    bool is_required;
    const char *machine_path; /* --for-this-machine; "": the store; NULL: not given */
    uint64_t untrusted_count;
    cJSON *problems; /* with --json; otherwise problems are printed when they are found */
    struct progress progress;
};

static const struct command_option options[] = {
    {"repair", 'r', VALUE_NONE, NULL, offsetof(struct verifying, is_repair),
     .help = "Remove truncated and corrupt entries and the leftovers of killed processes, and correct the recorded "
             "total. Does not touch entries of another format version, entries that other users own or may write, or "
             "entries whose seal is refused"},
    {"for-this-machine", 'm', VALUE_TEXT, "PATH", offsetof(struct verifying, machine_path),
     .flags = OPTION_ARG_OPTIONAL,
     .help = "Show which programs this machine's drivers can load, and by what the others differ. PATH is a store, a "
             "bundle or an OCI image layout; without it, the store is taken. Writes nothing. Exit status 1: some "
             "programs cannot be loaded"},
    {"require", 'q', VALUE_NONE, NULL, offsetof(struct verifying, is_required),
     .help = "Require a seal by one of the keys on each blob; the store may be another user's"},
    {"keys", 'k', VALUE_TEXT, "FILE[:FILE...]", offsetof(struct verifying, common.key_files),
     .help = "Check the seals of sealed blobs with the keys in these files. Default: INGOT_PERSIST_KEYS"},
    {.help = NULL},
};

static ingot_status_t follow_verification(const ingot_persist_verification_t *so_far,
                                          const ingot_persist_entry_t *entry, void *user)
{
    struct verifying *verifying = user;
    progress_tell(&verifying->progress, so_far->done_count, so_far->entry_count, so_far->done_bytes);
    if (entry->status != INGOT_SUCCESS && verifying->problems != NULL) {
        (void)cJSON_AddItemToArray(verifying->problems, entry_to_json(entry));
    } else if (entry->status != INGOT_SUCCESS) {
        progress_fini(&verifying->progress);
        output_print(entry_to_json(entry), false, "{entry}: {status}: {reason}\n");
    }
    verifying->untrusted_count += entry->status == INGOT_UNTRUSTED;
    return interrupt_seen() ? INGOT_BUSY : INGOT_SUCCESS;
}

/* A store_user_t. An entry that other users could have written is a finding, and so is an entry whose seal is refused.
 * An entry of another format version is not. */
static int verify_store(ingot_storage_t storage, void *values)
{
    struct verifying *verifying = values;
    ingot_persist_verification_t found;
    interrupt_catch();
    verifying->problems = verifying->common.is_json ? cJSON_CreateArray() : NULL;
    progress_init(&verifying->progress, "verifying");
    const ingot_status_t status =
        ingot_persist_verify(storage, verifying->is_repair, follow_verification, verifying, &found);
    progress_fini(&verifying->progress);
    if (status != INGOT_SUCCESS && !interrupt_seen())
        return store_failed("verifying", status);
    const bool is_interrupted = found.done_count < found.entry_count;
    cJSON *json = cJSON_CreateObject();
    json_add_u64(json, "entries", found.entry_count);
    json_add_u64(json, "verified", found.done_count);
    json_add_u64(json, "bytes", found.done_bytes);
    json_add_u64(json, "bad", found.bad_count);
    json_add_u64(json, "removed", found.removed_count);
    json_add_u64(json, "left_alone", found.foreign_count);
    json_add_u64(json, "unreadable", found.unread_count);
    json_add_u64(json, "leftovers", found.leftover_count);
    json_add_u64(json, "leftover_bytes", found.leftover_bytes);
    (void)cJSON_AddBoolToObject(json, "interrupted", is_interrupted);
    if (verifying->problems != NULL)
        (void)cJSON_AddItemToObject(json, "problems", verifying->problems);
    output_print(json, verifying->common.is_json,
                 "[interrupted?interrupted: ]{verified} of {entries} entries verified, {bytes:size}: {bad} bad, "
                 "{removed} removed, {left_alone} left alone, {unreadable} unreadable[leftovers?; {leftovers} "
                 "leftovers of killed processes, {leftover_bytes:size}]\n");
    const bool is_clean =
        found.bad_count == found.removed_count && found.unread_count == 0 && verifying->untrusted_count == 0;
    return is_interrupted ? EXIT_INTERRUPTED : is_clean ? EXIT_DONE : EXIT_FINDING;
}

/* ---- --for-this-machine ---- */

struct machine {
    const struct common_options *common;
    ingot_persist_trust_t trust; /* for the layers of an image */
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
    const char *wanted = machine->common->name_space;
    if (wanted != NULL && strcmp(wanted, name_space) != 0)
        return INGOT_SUCCESS;
    if (status == INGOT_SUCCESS)
        status = ingot_persist_set_trust(bundle, &machine->trust);
    machine->storage = bundle;
    return status != INGOT_SUCCESS || entry_visit_all(bundle, judge_entry, machine) == EXIT_DONE ? status
                                                                                                 : INGOT_IO_ERROR;
}
#endif

/* Judges a store, a bundle or an image. Drivers may print: until the findings are printed, standard output is standard
 * error. */
static int run_machine(const struct common_options *common)
{
    struct machine machine = {.common = common, .problems = cJSON_CreateArray()};
    char mark[PATH_MAX];
    bool is_image = false;
    int code = store_read_trust(&machine.trust, common);
    if (code != EXIT_DONE)
        return code;
    const int output = dup(STDOUT_FILENO);
    if (output < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || setenv("INGOT_LAYER_DISABLE", "1", 1) != 0)
        return EXIT_FAILED;
    for (size_t i = 0; device_backends[i] != NULL; ++i)
        device_backends[i]->add_all(&machine.devices);
    (void)snprintf(mark, sizeof(mark), "%s/oci-layout", common->directory != NULL ? common->directory : "");
#if INGOT_WITH_REMOTE
    is_image = common->directory != NULL && access(mark, F_OK) == 0;
    const ingot_status_t status =
        is_image ? ingot_image_for_each(common->directory, judge_layer, &machine) : INGOT_SUCCESS;
    if (status != INGOT_SUCCESS)
        return store_failed("reading the image", status);
#endif
    if (!is_image)
        code = store_open(&machine.storage, common, STORE_READ, NULL);
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
    output_print(json, common->is_json,
                 "{loadable} of {programs} programs can be loaded here[artifacts?; {artifacts} artifacts]\n"
                 "<problems*{count}: {reason} ({entry})\n>");
    if (!output_finish())
        return EXIT_FAILED;
    return machine.loadable_count == machine.program_count ? EXIT_DONE : EXIT_FINDING;
}

/* ---- the command ---- */

static int run_verify(void *values)
{
    struct verifying *verifying = values;
    const char *path = verifying->machine_path;
    verifying->common.trust_policy = store_policy(verifying->is_required, verifying->common.key_files);
    if (path == NULL)
        return store_use(&verifying->common, verifying->is_repair ? STORE_WRITE : STORE_READ, verify_store, verifying);
    if (verifying->is_repair)
        return command_refuse(&command_verify, "--for-this-machine repairs nothing");
    if (path[0] != '\0')
        verifying->common.directory = path;
    int status = 0;
    const pid_t worker = fork();
    if (worker == 0)
        _exit(run_machine(&verifying->common));
    if (worker > 0 && TEMP_FAILURE_RETRY(waitpid(worker, &status, 0)) > 0 && WIFEXITED(status))
        return WEXITSTATUS(status);
    (void)fprintf(stderr, "ingot: the process that loads the drivers failed: %s\n",
                  worker > 0 ? strsignal(WTERMSIG(status)) : strerror(errno));
    return EXIT_FAILED;
}

const struct command command_verify = {
    .name = "verify",
    .group = "Keep a store in order",
    .summary = "verify all checksums, and seals; --repair removes bad entries",
    .about = "Reads every entry and verifies all checksums, and seals if there are keys. Unless --repair is given, the "
             "store may belong to another user if there are keys.\n\n"
             "Exit status 1: bad entries remain, or entries that cannot be read, that other users may write, or whose "
             "seal is refused.",
    .options = options,
    .size = sizeof(struct verifying),
    .run = run_verify,
};
