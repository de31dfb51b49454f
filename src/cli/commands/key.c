/*
 * key.c - `ingot key`: creates the keys that seal blobs. key_describe shows the public facts of a key.
 */

#include <ingot/private/trust.h>
#include <stdio.h>

#include "cli/base/base.h"
#include "cli/commands/all.h"
#include "cli/store/store.h"
#include "util/hex.h"

struct creating {
    struct common_options common;
    const char *secret; /* the file to create; NULL: none */
    const char *pair;
};

static const struct command_option options[] = {
    {"secret", 's', VALUE_TEXT, "FILE", offsetof(struct creating, secret),
     .help = "Create a secret that a fleet shares. Every holder can seal blobs and verify seals"},
    {"pair", 'p', VALUE_TEXT, "FILE", offsetof(struct creating, pair),
     .help = "Create a pair: FILE signs blobs, and FILE.pub verifies signatures and need not be secret"},
    {.help = NULL},
};

cJSON *key_describe(const char *path)
{
    static const char *const kinds[] = {[INGOT_PERSIST_KEY_BLAKE2B] = "blake2b secret",
                                        [INGOT_PERSIST_KEY_ED25519_SECRET] = "ed25519 secret",
                                        [INGOT_PERSIST_KEY_ED25519_PUBLIC] = "ed25519 public"};
    char id[2 * INGOT_PERSIST_KEY_SIZE + 1] = "";
    char public_key[2 * INGOT_PERSIST_KEY_SIZE + 1] = "";
    ingot_persist_key_info_t key = INGOT_PERSIST_KEY_INFO_INIT;
    if (ingot_persist_key_describe(path, &key) != INGOT_SUCCESS)
        return NULL;
    hex_put(id, sizeof(key.id), key.id);
    if (key.kind != INGOT_PERSIST_KEY_BLAKE2B)
        hex_put(public_key, sizeof(key.public_key), key.public_key);
    cJSON *json = cJSON_CreateObject();
    json_add_text(json, "path", path);
    json_add_text(json, "kind", kinds[key.kind]);
    json_add_text(json, "id", id);
    json_add_text(json, "public_key", public_key[0] != '\0' ? public_key : NULL);
    return json;
}

static int create_key(void *values)
{
    const struct creating *creating = values;
    const char *path = creating->secret != NULL ? creating->secret : creating->pair;
    ingot_persist_key_info_t info = INGOT_PERSIST_KEY_INFO_INIT;
    if ((creating->secret == NULL) == (creating->pair == NULL))
        return command_refuse(&command_key, "name one key to create, with --secret or --pair");
    const ingot_status_t status = ingot_persist_key_create(
        path, creating->secret != NULL ? INGOT_PERSIST_KEY_BLAKE2B : INGOT_PERSIST_KEY_ED25519_SECRET, &info);
    if (status != INGOT_SUCCESS) {
        store_tell_failure(status, "%s", path);
        return status == INGOT_NOT_FOUND ? EXIT_NO_STORE : EXIT_FAILED;
    }
    cJSON *json = key_describe(path);
    if (json != NULL)
        output_print(json, creating->common.is_json, KEY_PATTERN);
    return EXIT_DONE;
}

const struct command command_key = {
    .name = "key",
    .group = "Trust",
    .summary = "create a key that seals blobs",
    .about = "Creates a key that seals blobs. Only the file's owner can read it. An existing file is left unchanged. "
             "\"ingot show FILE\" shows the kind and the id of a key, and the public key of a pair, but never a "
             "secret.",
    .options = options,
    .size = sizeof(struct creating),
    .run = create_key,
};
