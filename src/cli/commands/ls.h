/*
 * ls.h - lists entries as `ingot ls` does, for other commands.
 */
#ifndef INGOT_CLI_COMMANDS_LS_H
#define INGOT_CLI_COMMANDS_LS_H

#include <ingot/ingot.h>
#include <ingot/storage.h>
#include <stdbool.h>

/* Lists all entries as `ingot ls` prints them. Returns an exit_code. */
int ls_all(ingot_storage_t storage, bool is_json);

#endif
