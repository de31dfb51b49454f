/*
 * all.h - the commands, each of which is defined in the file of its name.
 */
#ifndef INGOT_CLI_COMMANDS_ALL_H
#define INGOT_CLI_COMMANDS_ALL_H

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

#endif
