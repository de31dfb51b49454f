/*
 * store.h - opens stores, and shows entries and ids, grouped by file.
 */
#ifndef INGOT_CLI_STORE_STORE_H
#define INGOT_CLI_STORE_STORE_H

#include "cli/base/base.h"

#include <ingot/ingot.h>
#include <ingot/persist.h>
#include <ingot/private/directory.h>
#include <ingot/remote.h>

#include <cjson/cJSON.h>
#include <stdbool.h>

/* ---- store.c: opens the store and the server that the options or the environment name, and reports failures. ---- */

/* The purpose of opening. Only STORE_MAKE creates a store, where there is none or in an empty directory, and prints
 * what the store could not do. With STORE_READ, --dir may also name a bundle. */
enum store_access { STORE_READ, STORE_WRITE, STORE_MAKE };

/* The order of eviction. */
enum store_order { STORE_FIFO = 1, STORE_LRU };

/* Opens a store. order: an enum store_order; if it is 0, it is set to the one of the environment, or the default with
 * --dir; may be NULL. Returns EXIT_DONE; on failure, prints a message and returns another exit_code. */
int store_open(ingot_storage_t *storage, const struct common_options *options, enum store_access store_access,
               unsigned *order);

/* True if --dir names a bundle, whose entries have no namespace. */
bool store_is_bundle(const struct common_options *options);
/* Opens what a word names for reading: a store, of which the namespace "" takes all, or a bundle. */
ingot_status_t store_open_source(ingot_storage_t *source, const char *path, const char *name_space,
                                 const ingot_persist_trust_t *trust);

/* What a command does with a store. Returns an exit_code. */
typedef int (*store_user_t)(ingot_storage_t storage, void *values);
/* Opens a store, calls `use`, and closes the store. Returns the exit_code of `use`, or of store_open. */
int store_use(const struct common_options *options, enum store_access store_access, store_user_t use, void *values);

/* Uses INGOT_PERSIST_NAMESPACE if there is no --namespace. For commands that store programs, because applications look
 * for them in that namespace. All other commands use all namespaces then. */
void store_take_namespace(struct common_options *options);
/* Returns the policy that --require and --keys ask for. */
ingot_persist_trust_policy_t store_policy(bool is_required, const char *key_files);
/* Reads the policy and the key files of a store from the options and the environment. Returns EXIT_DONE; on failure,
 * prints a message and returns EXIT_USAGE. */
int store_read_trust(ingot_persist_trust_t *trust, const struct common_options *options);

/* Releases a blob, which may be empty. */
void store_release_blob(ingot_buffer_t *blob);

/* Prints what a storage could not do. A callback for events of storages. */
void store_tell_event(const ingot_event_t *event, void *unused);

/* Reports a failure on standard error: what the format says, the status, and the library's last error detail. */
void store_tell_failure(ingot_status_t status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Reports that `doing` failed, and returns EXIT_FAILED. */
int store_failed(const char *doing, ingot_status_t status);

#if INGOT_WITH_REMOTE

/* Makes the settings of a server, which are read from the environment when it is opened. If `url` is NULL, uses the
 * environment's URL. The namespace on the server is the environment's, whatever part of the store --namespace names,
 * because applications and layers look there. Returns EXIT_DONE; on failure, prints a message and returns another
 * exit_code. */
int server_make_info(ingot_remote_info_t *info, const char *url);
/* Opens the server with long time limits, because no application is waiting. Later failures of the server are reported
 * on standard error. Returns EXIT_DONE; on failure, prints a message and returns another exit_code. */
int server_open(ingot_storage_t *server, const struct common_options *options, const char *url, uint32_t flags);

#endif

/* ---- id.c: reads the fields of an id, for lists and filters. ---- */

/* Returns an object with one member per field, or NULL if the library cannot read the id. */
cJSON *id_read(size_t size, const uint8_t *id);

/* Returns the kind of an artifact, "program" for a program, and NULL for an id that cannot be read. */
const char *id_kind(const cJSON *fields);
/* True if `wanted` is NULL or the kind of the id: "result", which is also called "program", "artifact", "request",
 * "probes", or the kind of an artifact. */
bool id_has_kind(const cJSON *fields, const char *wanted);
bool id_is_of_kind(size_t size, const uint8_t *id, const char *wanted);

/* Adds the kind, the backend, the driver, the sources ("opencl_c 1f2e3d4c5b6a") and the devices to an object. Several
 * are joined by ", ", and equal names are listed once. An artifact has a kind, and the device that its key names. A bad
 * id (NULL) has nothing. */
void id_add_to_json(cJSON *object, const cJSON *fields);

/* True if a source's digest begins with these hexadecimal digits. */
bool id_has_digest(const cJSON *fields, const char *digits);
/* True if `part` occurs in a source's kind, in the name of a header or file, or in a field of an artifact's key, or if
 * a source's digest begins with it. */
bool id_has_source(const cJSON *fields, const char *part);

/* Returns the fields that differ as an array, or NULL if one of the two ids cannot be read. */
cJSON *id_compare(size_t wanted_size, const uint8_t *wanted, size_t found_size, const uint8_t *found);

/* ---- entry.c: finds entries by name. A name is [NAMESPACE/]PLACE, with the digits of the hash of its id. ---- */

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
 * are none, if several names begin with it, or if it must mean only one and means several, prints a message and returns
 * EXIT_FINDING. The caller frees the list. */
int entry_find_all(struct entry **found, size_t *count, ingot_storage_t storage, const char *wanted, bool is_one);
/* Does the same for a text that must mean only one. */
int entry_find(struct entry *entry, ingot_storage_t storage, const char *wanted);

/* ---- ids from files: a file with only an id, a store's key.bin, or a single file, which also has a blob ---- */

/* True if the path names a file. A directory is none: if the tool runs inside a store, the name of an entry is also the
 * path of a directory. */
bool id_file_is(const char *path);

/* Reads the file's id and sizes into an entry's facts. Returns an exit_code; on failure, prints a message. */
int id_file_read(struct entry *entry, const char *path);

/* Loads the blob from a single file that has the entry's id. */
ingot_status_t id_file_load(const char *path, const struct entry *entry, ingot_buffer_t *blob);

#endif
