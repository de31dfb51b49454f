/*
 * key.h - describes the files of keys.
 */
#ifndef INGOT_CLI_COMMANDS_KEY_H
#define INGOT_CLI_COMMANDS_KEY_H

#include <cjson/cJSON.h>

/* How a key is shown; see output.h. */
#define KEY_PATTERN "{path}: {kind}, id {id}[public_key?, public key {public_key}]\n"

/* Returns the public facts of the key in a file, or NULL if it is not a key file. */
cJSON *key_describe(const char *path);

#endif
