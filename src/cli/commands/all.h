/*
 * all.h - the commands, each of which is defined in the file of its name.
 */
#ifndef INGOT_CLI_COMMANDS_ALL_H
#define INGOT_CLI_COMMANDS_ALL_H

#include "cli/base/options.h"
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

/* Stores in a store what a server (a URL) or an OCI image layout (a directory) has, as `ingot pull` does. Prints
 * failures only. Returns an exit_code. */
int pull_quietly(const struct common_options *common, const char *source);

/* Shows what of a store, a bundle or an OCI image layout this machine's drivers can load, and by what the rest differs.
 * path: NULL for the store of the options. Returns an exit_code. */
int machine_verify(const struct common_options *options, const char *path);

#endif
