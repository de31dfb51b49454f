/*
 * entry.h - finds entries by name. A name is [NAMESPACE/]PLACE, with the digits of the hash of its id.
 */
#ifndef INGOT_CLI_STORE_ENTRY_H
#define INGOT_CLI_STORE_ENTRY_H

#include <cjson/cJSON.h>
#include <ingot/persist.h>
#include <ingot/private/directory.h>
#include <stdbool.h>

enum { ENTRY_NAME_SIZE = 112 };

/* A copy of an entry, which stays valid after the visit. */
struct entry {
    ingot_persist_entry_t facts; /* name_space, reason and id are copies */
    char name[ENTRY_NAME_SIZE];
};

void entry_name(const ingot_persist_entry_t *facts, char name[ENTRY_NAME_SIZE]);
/* True if an entry has probes, which never leave their store. */
bool entry_is_probes(const ingot_persist_entry_t *facts);
/* Reports on standard error what was not done with an entry, with the library's last error detail. */
void entry_tell_failure(const ingot_persist_entry_t *facts, const char *doing, ingot_status_t status);
void entry_copy(struct entry *entry, const ingot_persist_entry_t *facts);
void entry_fini(struct entry *entry);

/* Returns the fields of an entry that all commands show. */
cJSON *entry_to_json(const ingot_persist_entry_t *facts);

/* Describes the content of a blob and releases the blob. Returns NULL on failure; the library's last error detail then
 * says why. */
cJSON *entry_describe_blob(ingot_buffer_t *blob);
/* Returns the name that people know a program or an artifact by, from the description of its blob: the label, the name
 * of the first source, or otherwise the first kernel. "" if it has none of them. */
const char *entry_title(const cJSON *blob);
/* Loads an entry's blob and describes it in the same way. */
cJSON *entry_read_blob(ingot_storage_t storage, const ingot_persist_entry_t *facts);

/* Returns 0 to stop the visit, nonzero to continue. */
typedef int (*entry_visitor)(const ingot_persist_entry_t *entry, void *user);
/* Visits entries. Shows the progress on a terminal, and reports failures. Returns an exit_code. */
int entry_visit_all(ingot_storage_t storage, entry_visitor visit, void *user);

/* Finds what people mean by a text: the entry whose name it is, with or without the namespace, or the only one whose
 * name begins with it; otherwise all entries with this title, or with a source whose digest begins with it. If there
 * are none, or several names begin with it, prints a message and returns EXIT_FINDING. The caller frees the list. */
int entry_find_all(struct entry **found, size_t *count, ingot_storage_t storage, const char *wanted);
/* Does the same for a text that means only one entry. */
int entry_find(struct entry *entry, ingot_storage_t storage, const char *wanted);

#endif
