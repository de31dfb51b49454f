/*
 * key.c - `ingot key`: creates the keys that seal blobs, and shows the public facts of a key.
 */
#include <ingot/private/trust.h>
#include <stdio.h>

#include "cli/base/exit_code.h"
#include "cli/base/json.h"
#include "cli/base/options.h"
#include "cli/base/output.h"
#include "cli/commands/all.h"
#include "cli/store/store.h"
#include "cli/usage/parse.h"
#include "util/hex.h"

enum { KEY_TEXT_SIZE = 2 * INGOT_PERSIST_KEY_SIZE + 1 };

struct keys {
    struct common_options common;
    const char *secret; /* the file to create; NULL: none */
    const char *pair;
    struct text_list paths; /* the keys to show */
};

static const struct command_option create_options[] = {
    {"secret", 's', VALUE_FILE, "FILE", offsetof(struct keys, secret),
     .help = "Create a secret that a fleet shares. Every holder can seal blobs and verify seals"},
    {"pair", 'p', VALUE_FILE, "FILE", offsetof(struct keys, pair),
     .help = "Create a pair: FILE signs blobs, and FILE.pub verifies signatures and need not be secret"},
    {.help = NULL},
};

static const struct command_option show_options[] = {
    {NULL, 0, VALUE_FILE, "FILE", offsetof(struct keys, paths), .flags = OPTION_REQUIRED | OPTION_REPEATED,
     .help = "The files of keys"},
    {.help = NULL},
};

static const char *name_of_key_kind(ingot_persist_key_kind_t kind)
{
    switch (kind) {
    case INGOT_PERSIST_KEY_BLAKE2B: return "blake2b secret";
    case INGOT_PERSIST_KEY_ED25519_SECRET: return "ed25519 secret";
    case INGOT_PERSIST_KEY_ED25519_PUBLIC: return "ed25519 public";
    }
    return "unknown";
}

static void add_key(const char *path, const ingot_persist_key_info_t *key, cJSON *list)
{
    char id[KEY_TEXT_SIZE] = "";
    char public_key[KEY_TEXT_SIZE] = "";
    cJSON *item = cJSON_CreateObject();
    hex_put(id, sizeof(key->id), key->id);
    if (key->kind != INGOT_PERSIST_KEY_BLAKE2B)
        hex_put(public_key, sizeof(key->public_key), key->public_key);
    json_add_text(item, "path", path);
    json_add_text(item, "kind", name_of_key_kind(key->kind));
    json_add_text(item, "id", id);
    json_add_text(item, "public_key", public_key[0] != '\0' ? public_key : NULL);
    (void)cJSON_AddItemToArray(list, item);
}

static int fail_key_file(const char *path, ingot_status_t status)
{
    store_tell_failure(status, "%s", path);
    return status == INGOT_NOT_FOUND ? EXIT_NO_STORE : EXIT_FAILED;
}

/* Prints the keys. With --json, prints nothing after a failure. */
static int print_keys(const struct keys *keys, cJSON *list, int code)
{
    if (keys->common.is_json && code != EXIT_DONE)
        cJSON_Delete(list);
    else
        output_print(list, keys->common.is_json, "{path}: {kind}, id {id}[public_key?, public key {public_key}]\n");
    return code;
}

static int create_key(void *values)
{
    const struct keys *keys = values;
    const char *path = keys->secret != NULL ? keys->secret : keys->pair;
    ingot_persist_key_info_t info = INGOT_PERSIST_KEY_INFO_INIT;
    if ((keys->secret == NULL) == (keys->pair == NULL))
        return parse_refuse(&command_key_create, "name one key to create, with --secret or --pair");
    const ingot_status_t status = ingot_persist_key_create(
        path, keys->secret != NULL ? INGOT_PERSIST_KEY_BLAKE2B : INGOT_PERSIST_KEY_ED25519_SECRET, &info);
    if (status != INGOT_SUCCESS)
        return fail_key_file(path, status);
    cJSON *list = cJSON_CreateArray();
    add_key(path, &info, list);
    return print_keys(keys, list, EXIT_DONE);
}

static int show_keys(void *values)
{
    const struct keys *keys = values;
    cJSON *list = cJSON_CreateArray();
    int code = EXIT_DONE;
    for (size_t i = 0; i < keys->paths.count; ++i) {
        const char *path = keys->paths.items[i];
        ingot_persist_key_info_t info = INGOT_PERSIST_KEY_INFO_INIT;
        const ingot_status_t status = ingot_persist_key_describe(path, &info);
        if (status == INGOT_SUCCESS)
            add_key(path, &info, list);
        else
            code = fail_key_file(path, status);
    }
    return print_keys(keys, list, code);
}

const struct command command_key_create = {
    .name = "key create",
    .group = "Trust",
    .summary = "create a key that seals blobs",
    .about = "Creates a key that seals blobs. Only the file's owner can read it. An existing file is left unchanged.",
    .options = create_options,
    .size = sizeof(struct keys),
    .run = create_key,
};

const struct command command_key_show = {
    .name = "key show",
    .group = "Trust",
    .summary = "show the kind and the id of keys",
    .about = "Shows the kind and the id of keys, and the public key of a pair. Never shows a secret.",
    .options = show_options,
    .size = sizeof(struct keys),
    .run = show_keys,
};
