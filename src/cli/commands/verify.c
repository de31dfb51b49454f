/*
 * verify.c - `ingot verify`: checks every checksum and seal of a store, and with --repair removes bad entries.
 */
#include "cli/base/json.h"
#include "cli/base/output.h"
#include "cli/base/progress.h"
#include "cli/commands/all.h"
#include "cli/store/entry.h"
#include "cli/store/store.h"

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
    ingot_persist_verification_t found = INGOT_PERSIST_VERIFICATION_INIT;
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
    return machine_verify(&verifying->common);
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
