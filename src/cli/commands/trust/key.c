/*
 * key.c - `ingot key`: creates the keys that seal blobs, and shows the public facts of a key.
 */
#include <ingot/trust.h>
#include <stdio.h>
#include <string.h>

#include "cli/base/exit_code.h"
#include "cli/base/json.h"
#include "cli/base/options.h"
#include "cli/command.h"

enum { KEY_TEXT_SIZE = 2 * INGOT_PERSIST_KEY_SIZE + 1 };

struct keys {
    struct common_options common;
    bool is_create;
    bool is_show;
    ingot_persist_key_kind_t kind;
    const char *new_path; /* the file to create; NULL: none */
    size_t path_count;    /* how many keys to show */
    const char *const *paths;
};

static const struct argp_option key_options[] = {
    {"secret", 's', "FILE", 0, "Create a secret that a fleet shares; it seals and verifies", 0},
    {"pair", 'p', "FILE", 0, "Create a pair: FILE signs, and FILE.pub verifies", 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

static void print_hex(char text[KEY_TEXT_SIZE], size_t size, const uint8_t *bytes)
{
    for (size_t i = 0; i < size; ++i)
        (void)snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

static const char *name_of(ingot_persist_key_kind_t kind)
{
    switch (kind) {
    case INGOT_PERSIST_KEY_BLAKE2B: return "blake2b secret";
    case INGOT_PERSIST_KEY_ED25519_SECRET: return "ed25519 secret";
    case INGOT_PERSIST_KEY_ED25519_PUBLIC: return "ed25519 public";
    }
    return "unknown";
}

static void tell_key(const char *path, const ingot_persist_key_info_t *key, cJSON *list)
{
    char id[KEY_TEXT_SIZE];
    char public_key[KEY_TEXT_SIZE] = "";
    print_hex(id, sizeof(key->id), key->id);
    if (key->kind != INGOT_PERSIST_KEY_BLAKE2B)
        print_hex(public_key, sizeof(key->public_key), key->public_key);
    if (list == NULL) {
        (void)printf("%s: %s, id %s", path, name_of(key->kind), id);
        (void)printf(public_key[0] != '\0' ? ", public key %s\n" : "%s\n", public_key);
        return;
    }
    cJSON *item = cJSON_CreateObject();
    json_add_text(item, "path", path);
    json_add_text(item, "kind", name_of(key->kind));
    json_add_text(item, "id", id);
    json_add_text(item, "public_key", public_key[0] != '\0' ? public_key : NULL);
    (void)cJSON_AddItemToArray(list, item);
}

static int failed(const char *path, ingot_status_t status)
{
    (void)fprintf(stderr, "ingot: %s: %s: %s\n", path, ingot_status_name(status), ingot_last_error_detail());
    return status == INGOT_NOT_FOUND ? EXIT_NO_STORE : EXIT_FAILED;
}

static int create(const struct keys *keys, cJSON *list)
{
    ingot_persist_key_info_t info = INGOT_PERSIST_KEY_INFO_INIT;
    const ingot_status_t status = ingot_persist_key_create(keys->new_path, keys->kind, &info);
    if (status != INGOT_SUCCESS)
        return failed(keys->new_path, status);
    tell_key(keys->new_path, &info, list);
    return EXIT_DONE;
}

static int show(const struct keys *keys, cJSON *list)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < keys->path_count; ++i) {
        ingot_persist_key_info_t info = INGOT_PERSIST_KEY_INFO_INIT;
        const ingot_status_t status = ingot_persist_key_describe(keys->paths[i], &info);
        if (status == INGOT_SUCCESS)
            tell_key(keys->paths[i], &info, list);
        else
            code = failed(keys->paths[i], status);
    }
    return code;
}

static void take_action(struct keys *keys, const char *name, struct argp_state *state)
{
    keys->is_create = strcmp(name, "create") == 0;
    keys->is_show = strcmp(name, "show") == 0;
    if (!keys->is_create && !keys->is_show)
        argp_error(state, "\"%s\" is not a key command: use create or show", name);
}

static void check(const struct keys *keys, struct argp_state *state)
{
    if (keys->is_create && (keys->new_path == NULL || keys->path_count != 0))
        argp_error(state, "name the key to create with --secret or --pair");
    if (keys->is_show && (keys->new_path != NULL || keys->path_count == 0))
        argp_error(state, "name key files");
    if (!keys->is_create && !keys->is_show)
        argp_error(state, "name a key command: create or show");
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct keys *keys = state->input;
    switch (key) {
    case 's':
    case 'p':
        if (keys->new_path != NULL)
            argp_error(state, "only one key can be created at a time");
        keys->new_path = value;
        keys->kind = key == 's' ? INGOT_PERSIST_KEY_BLAKE2B : INGOT_PERSIST_KEY_ED25519_SECRET;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num != 0)
            return ARGP_ERR_UNKNOWN; /* argp then passes all remaining arguments at once, as ARGP_KEY_ARGS */
        take_action(keys, value, state);
        return 0;
    case ARGP_KEY_ARGS:
        keys->paths = (const char *const *)(state->argv + state->next);
        keys->path_count = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_END: check(keys, state); return 0;
    default: return options_parse_other(key, state);
    }
}

static int run(int argc, char **argv)
{
    static const struct argp argp = {key_options,
                                     parse_option,
                                     "create --secret FILE\ncreate --pair FILE\nshow FILE...",
                                     "Creates a key that seals blobs, or shows the kinds, ids and public keys of key "
                                     "files. Only its owner can read a new file.",
                                     options_common,
                                     NULL,
                                     NULL};
    struct keys keys = {.new_path = NULL};
    (void)argp_parse(&argp, argc, argv, 0, NULL, &keys);
    cJSON *list = keys.common.is_json ? cJSON_CreateArray() : NULL;
    const int code = keys.is_create ? create(&keys, list) : show(&keys, list);
    if (list != NULL && code == EXIT_DONE)
        json_print(list);
    else
        cJSON_Delete(list);
    return code;
}

const struct command command_key = {"key", "create or show a key that seals blobs", run};
