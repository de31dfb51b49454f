/*
 * included.h - finds the names of included files, which ids do not have.
 */
#ifndef INGOT_CLI_COMMANDS_INCLUDED_H
#define INGOT_CLI_COMMANDS_INCLUDED_H

#include <cjson/cJSON.h>
#include <ingot/persist.h>

/* Adds the member "file", the name of the included file, to the differences between two ids that are about one. Only
 * the recipes that the store keeps have the names. The storage and the differences may be NULL. */
void included_name(ingot_storage_t storage, const ingot_persist_entry_t *wanted, const ingot_persist_entry_t *found,
                   cJSON *differences);

#endif
