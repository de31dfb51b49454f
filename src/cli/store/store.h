/*
 * store.h - opens the store and the server that the options or the environment name, and reports failures.
 */
#ifndef INGOT_CLI_STORE_STORE_H
#define INGOT_CLI_STORE_STORE_H

#include <ingot/persist.h>
#include <ingot/remote.h>
#include <stdbool.h>

#include "cli/base/options.h"

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

/* True if this environment variable is set to a word that turns something on. Opening a store reports a bad value. */
bool store_is_on(const char *name);

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

#endif
