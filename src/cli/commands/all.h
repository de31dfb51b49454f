/*
 * all.h - the commands, each of which is defined in the file of its name, but help in main.c.
 */
#ifndef INGOT_CLI_COMMANDS_ALL_H
#define INGOT_CLI_COMMANDS_ALL_H

#include <cjson/cJSON.h>

#include "cli/base/base.h"
#include "cli/usage/command.h"

#if INGOT_WITH_REMOTE
#define COMMANDS_OF_REMOTE(X) X(push)
#else
#define COMMANDS_OF_REMOTE(X)
#endif

/* Every command, in the order in which the help lists them. clang-format would change these lines with every run. */
/* clang-format off */
#define COMMANDS(X) \
    X(ls) X(show) X(explain) X(stats) X(verify) X(evict) X(run) X(build) \
    X(bundle) COMMANDS_OF_REMOTE(X) X(pull) X(key) X(sign) X(help)
/* clang-format on */

#define DECLARE(name) extern const struct command command_##name;
COMMANDS(DECLARE)
#undef DECLARE

/* How a key is shown; see base.h. */
#define KEY_PATTERN "{path}: {kind}, id {id}[public_key?, public key {public_key}]\n"
/* Returns the public facts of the key in a file, or NULL if it is not a key file. */
cJSON *key_describe(const char *path);

/* Stores in a store what a server (a URL) or an OCI image layout (a directory) has, as `ingot pull` does. Prints
 * failures only. Returns an exit_code. */
int pull_quietly(const struct common_options *common, const char *source);

/* Loads what the requests of these stores need on this machine from the server that the environment names, and compiles
 * nothing. Prints a summary. Returns an exit_code. */
int build_pull(const struct common_options *options, const struct text_list *requests);

/* ---- remote/image.c: pushes a store to a registry as an image, and pulls it ---- */

enum { IMAGE_PATH_SIZE = 4096 };

/* The options of a command that moves an image. */
struct image_options {
    const char *reference; /* of the image in a registry; NULL: none */
    const char *layout;    /* the directory with the OCI image layout; NULL: beside the store */
    bool is_plain;         /* the registry does not encrypt */
};

/* Pushes the store to the image. Prints what it did, or a message, and returns an exit_code. */
int image_push(const struct common_options *options, const struct image_options *image);
/* Lets skopeo fetch the image, if it is in a registry, and writes the path of its layout. Returns an exit_code. */
int image_fetch(const struct common_options *options, const struct image_options *image, char layout[IMAGE_PATH_SIZE]);

#endif
