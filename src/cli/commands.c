/*
 * commands.c - the list of all commands.
 */
#include "cli/commands/all.h"
#include "cli/usage/command.h"

#define ADDRESS(name) &command_##name,

const struct command *const commands_all[] = {COMMANDS(ADDRESS) NULL};
