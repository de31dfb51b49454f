/*
 * explain_parts.h - compares what frameworks store beside the code that they compiled, such as Triton's metadata.
 */
#ifndef INGOT_CLI_COMMANDS_EXPLAIN_PARTS_H
#define INGOT_CLI_COMMANDS_EXPLAIN_PARTS_H

#include <cjson/cJSON.h>
#include <ingot/persist.h>

/* Adds the differences between two artifacts' parts of equal names: members of a .json, and the first line of a .source
 * that differs. If there are any, they replace that of the framework's key, which is only a hash. */
void explain_parts(ingot_storage_t storage, const ingot_persist_entry_t *wanted, const ingot_persist_entry_t *found,
                   cJSON *differences);

#endif
