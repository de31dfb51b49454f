/*
 * details.h - reads what blobs tell beside ids, and compares it: the included files of programs, and what frameworks
 * store beside the code that they compiled, such as Triton's metadata.
 */
#ifndef INGOT_CLI_COMMANDS_DETAILS_H
#define INGOT_CLI_COMMANDS_DETAILS_H

#include <cjson/cJSON.h>
#include <ingot/persist.h>
#include <ingot/private/directory.h>
#include <stdbool.h>

/* Loads an entry's blob. Returns an object with the title of the entry and, as "details", an object of texts: the
 * digests of included files, the members of parts in JSON, and the parts that are sources. NULL: it cannot be loaded.
 */
cJSON *details_read(ingot_storage_t storage, const ingot_persist_entry_t *facts);
/* True if both are versions of one program: they have the same title, and include a file of one name. */
bool details_are_related(const cJSON *wanted, const cJSON *found);
/* Adds what differs. Of sources, that is the first line. If there is anything, it replaces the difference of a
 * framework's key, which is only a hash. */
void details_compare(cJSON *differences, const cJSON *wanted, const cJSON *found);

#endif
