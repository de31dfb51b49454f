/*
 * inspect.h - reads one entry into the structure that public functions pass to callbacks.
 */
#ifndef INGOT_PERSIST_DIRECTORY_UPKEEP_INSPECT_H
#define INGOT_PERSIST_DIRECTORY_UPKEEP_INSPECT_H

#include "persist/directory/layout/state.h"
#include "persist/directory/upkeep/survey.h"

/* An entry that was read, and the memory that it owns. */
struct inspected {
    ingot_persist_entry_t entry;
    ingot_buffer_t id;
    char reason[256];
};

/* Reads the header and the id of an entry. `verifying` is NULL or the directory's storage. If it is not NULL, also
 * verifies the blob's checksum and seal, and that the entry is in its id's bucket. Returns false if the entry no longer
 * exists. Call inspect_fini in either case. */
bool inspect_init(struct inspected *inspected, const struct directory *directory, const struct survey *survey,
                  const struct survey_entry *found, ingot_storage_t verifying);
void inspect_fini(struct inspected *inspected);

#endif
