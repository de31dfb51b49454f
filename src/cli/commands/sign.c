/*
 * sign.c - `ingot sign`: seals the entries of a store.
 *
 * The store is opened once as a reader, and as a writer for one namespace after the other. The reader loads blobs
 * without a seal, or with a seal by a known key. A writer requires seals, so without a secret key it fails instead of
 * storing blobs without a seal. The key that seals is the only key of a writer, so every blob that the writer can load
 * is already sealed by this key. Such a blob is not stored again, so it keeps its time.
 */
#include <ingot/private/directory.h>
#include <ingot/private/trust.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/base.h"
#include "cli/commands/all.h"
#include "cli/store/store.h"

struct signing {
    struct common_options common;
    ingot_storage_t reader;
    ingot_storage_t writer; /* of the namespace of the last entry, because those of a namespace follow each other */
    char *name_space;       /* of the writer; "" for none */
    int code;               /* why a writer could not be opened */
    char *key_files;        /* the files of all keys */
    char *sealing_key;      /* the file of the first secret key; NULL: there is none */
    uint64_t sealed_count;
    uint64_t unchanged_count; /* blobs that this key has already sealed */
    uint64_t refused_count;   /* blobs whose seal is wrong or was made with an unknown key */
    uint64_t bad_count;
    ingot_status_t status; /* the first failure to store */
};

static const struct command_option sign_options[] = {
    {"keys", 'k', VALUE_TEXT, "FILE[:FILE...]", offsetof(struct signing, common.key_files),
     .help = "Seal with the first secret key in these files. Default: INGOT_PERSIST_KEYS. Seals made with the other "
             "keys are replaced"},
    {.help = NULL},
};

static int open_with(ingot_storage_t *storage, const struct signing *signing, ingot_persist_trust_policy_t policy,
                     const char *name_space)
{
    struct common_options options = signing->common;
    const bool is_writer = policy == INGOT_PERSIST_TRUST_REQUIRE;
    options.key_files = is_writer && signing->sealing_key != NULL ? signing->sealing_key : signing->key_files;
    options.trust_policy = policy;
    options.ignores_trust_variable = true;
    options.name_space = name_space;
    return store_open(storage, &options, STORE_WRITE, NULL);
}

static int seal_entry(const ingot_persist_entry_t *entry, void *user)
{
    struct signing *signing = user;
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    if (entry_is_probes(entry))
        return 1; /* they never leave this store, and seals count for nothing there */
    if (signing->writer == NULL || strcmp(signing->name_space, entry->name_space) != 0) {
        ingot_storage_release(signing->writer);
        free(signing->name_space);
        signing->writer = NULL;
        signing->name_space = memory_copy_text(entry->name_space);
        signing->code = open_with(&signing->writer, signing, INGOT_PERSIST_TRUST_REQUIRE,
                                  entry->name_space[0] != '\0' ? signing->name_space : NULL);
        if (signing->writer == NULL)
            return 0;
    }
    ingot_status_t status = ingot_persist_load_entry(signing->writer, entry, 0, &blob);
    store_release_blob(&blob);
    if (status == INGOT_SUCCESS) { /* the key that would seal it has already done so */
        ++signing->unchanged_count;
        return 1;
    }
    status = ingot_persist_load_entry(signing->reader, entry, 0, &blob);
    if (status != INGOT_SUCCESS) {
        signing->refused_count += status == INGOT_UNTRUSTED;
        signing->bad_count += status != INGOT_UNTRUSTED && status != INGOT_NOT_FOUND;
        entry_tell_failure(entry, "left alone", status);
        return 1;
    }
    status = ingot_storage_store(signing->writer, entry->id_size, entry->id, blob.size, blob.bytes);
    store_release_blob(&blob);
    signing->sealed_count += status == INGOT_SUCCESS;
    if (status != INGOT_SUCCESS) {
        entry_tell_failure(entry, "sealing", status);
        signing->status = status;
    }
    return status != INGOT_READ_ONLY; /* if it is read-only, all other entries would fail, too */
}

/* Finds the first secret key, which is the one that seals. Skips files that cannot be read, because opening the store
 * with them fails later. */
static int choose_keys(struct signing *signing)
{
    ingot_persist_trust_t trust;
    struct common_options options = signing->common;
    options.trust_policy = INGOT_PERSIST_TRUST_REQUIRE;
    const int code = store_read_trust(&trust, &options);
    if (code != EXIT_DONE || trust.key_files == NULL)
        return code;
    signing->key_files = memory_copy_text(trust.key_files);
    char *list = memory_copy_text(trust.key_files);
    char *rest = NULL;
    for (char *path = strtok_r(list, ":", &rest); path != NULL && signing->sealing_key == NULL;
         path = strtok_r(NULL, ":", &rest)) {
        ingot_persist_key_info_t info = INGOT_PERSIST_KEY_INFO_INIT;
        if (ingot_persist_key_describe(path, &info) == INGOT_SUCCESS && info.kind != INGOT_PERSIST_KEY_ED25519_PUBLIC)
            signing->sealing_key = memory_copy_text(path);
    }
    free(list);
    return code;
}

static int run_sign(void *values)
{
    struct signing *signing = values;
    int code = choose_keys(signing);
    if (code == EXIT_DONE)
        code = open_with(&signing->reader, signing, INGOT_PERSIST_TRUST_VERIFY, signing->common.name_space);
    if (code == EXIT_DONE)
        code = entry_visit_all(signing->reader, seal_entry, signing);
    if (code == EXIT_DONE)
        code = signing->code;
    ingot_storage_release(signing->writer);
    ingot_storage_release(signing->reader);
    if (code != EXIT_DONE)
        return code;
    cJSON *json = cJSON_CreateObject();
    json_add_u64(json, "sealed", signing->sealed_count);
    json_add_u64(json, "unchanged", signing->unchanged_count);
    json_add_u64(json, "refused", signing->refused_count);
    json_add_u64(json, "bad", signing->bad_count);
    output_print(json, signing->common.is_json,
                 "{sealed} entries sealed, {unchanged} already sealed, {refused} with a refused seal left alone, "
                 "{bad} bad\n");
    if (signing->status != INGOT_SUCCESS)
        return EXIT_FAILED;
    return signing->refused_count + signing->bad_count != 0 ? EXIT_FINDING : EXIT_DONE;
}

const struct command command_sign = {
    .name = "sign",
    .group = "Trust",
    .summary = "seal all entries of a store with a key",
    .about = "Seals all entries of a store with the first secret key of the files. An entry whose seal is "
             "wrong or made with another key is left unchanged, with exit status 1. An entry that this key has "
             "already sealed is left unchanged, too. Other entries get a new time of creation, which affects "
             "--max-age and the order of eviction.\n\n"
             "Sign a store only if you know that no other user could write it.",
    .options = sign_options,
    .size = sizeof(struct signing),
    .run = run_sign,
};
