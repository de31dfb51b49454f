/*
 * storage.h - creates a storage, tells whether it is on, reports its events, and keeps the parts that other folders
 * attach to it.
 */
#ifndef INGOT_PERSIST_STORAGE_STORAGE_H
#define INGOT_PERSIST_STORAGE_STORAGE_H

#include <ingot/backend.h>
#include <ingot/persist.h>
#include <ingot/storage.h>
#include <stdbool.h>

#include "persist/storage/kinds.h"

/* Does what ingot_storage_create does, with the allocator from which self was allocated. info may be NULL; otherwise
 * the caller has checked it. Of its fields, only those that do not concern a directory are used: the read-only flag,
 * the callback, when to store, the trust policy and the keys. must_require_seals: the storage accepts only policies
 * that require seals, because its files may belong to any user. */
ingot_status_t storage_create(ingot_storage_t *storage, enum storage_kind kind, const ingot_storage_ops_t *ops,
                              void *self, const ingot_allocator_t *allocator, const ingot_persist_info_t *info,
                              bool must_require_seals);

/* False in a child that was forked from the process that opened the storage. There, another thread of the parent may
 * have held any lock, or been in the middle of any change. So every function that uses a storage's state begins with
 * one of these three. */
bool storage_is_here(ingot_storage_t storage);
/* Returns INGOT_INVALID_ARGUMENTS if the storage is NULL, and INGOT_READ_ONLY in a forked child. */
ingot_status_t storage_check(ingot_storage_t storage);
/* True if the storage is on. If it is off, nothing is loaded from it or stored to it. In a forked child, it is off. */
bool storage_is_on(ingot_storage_t storage);
/* Sets the error detail that says why a storage is off, and returns the status. The first refusal in a forked child is
 * also reported, so the caller holds no lock. */
ingot_status_t storage_refuse(ingot_storage_t storage, ingot_status_t status);
/* True once for a storage of its parent in a forked child, in which somebody should report that the storage is off. */
bool storage_is_first_refusal(ingot_storage_t storage);
/* True if the value is a store mode. */
bool storage_is_store_mode(ingot_persist_store_mode_t mode);

/*
 * A storage keeps either plain blobs or envelopes, which contain a blob and its seal (persist/trust/seal.h). "Kept"
 * bytes are either of the two. The functions that applications call take and return plain blobs. A chain exchanges kept
 * bytes with its tiers. A blob therefore keeps its seal on its way to another tier, and
 * each storage on the way can check the seal.
 */

/* Loads what the storage keeps under an id, except for probes, which never leave their store. `asked` is the storage
 * that the application asked: this one, or a chain around it, all of whose policies are checked immediately, because
 * the chain stores what it has loaded in its first tiers. */
ingot_status_t storage_load_kept(ingot_storage_t storage, ingot_storage_t asked, size_t id_size, const uint8_t *id,
                                 ingot_buffer_t *kept);
/* Stores kept bytes that all policies accept; no probes. If `replaces` is false, what the storage already has under the
 * id stays.
 */
ingot_status_t storage_store_kept(ingot_storage_t storage, bool replaces, size_t id_size, const uint8_t *id,
                                  size_t size, const uint8_t *bytes);

/* Does what ingot_storage_load does for a storage that is not a chain, but counts neither a hit nor a miss. */
ingot_status_t storage_peek(ingot_storage_t storage, size_t id_size, const uint8_t *id, ingot_buffer_t *blob);

/* True if the storage has a blob of the id that its policy accepts. asks_all: also asks servers and storages of
 * applications, and promotes what they have, as a load does; otherwise takes no longer than a file's read. */
bool storage_has(ingot_storage_t storage, bool asks_all, size_t id_size, const uint8_t *id);

/* Counts a useless blob, of a program or an artifact, and removes it. If it cannot be removed, reports that. */
void storage_reject(ingot_storage_t storage, size_t id_size, const uint8_t *id);
/* True if the core or the driver refused a blob with this status. */
bool storage_is_refusal(ingot_status_t status);

/* True if the storage can keep a stored blob: it is not read-only, or it is a chain with a tier that is not. */
bool storage_keeps_blobs(ingot_storage_t storage);
/* True if it is also on. */
bool storage_takes_blobs(ingot_storage_t storage);
/* True if the storage can also keep blobs that this process makes: no policy of the storage and of its tiers requires
 * seals, or a key can seal them. */
bool storage_is_writable(ingot_storage_t storage);

/* Weak references keep a storage's memory, but do not keep the storage from ending. A context that held a reference to
 * its storage would keep it from ever ending: what waits in the storage holds the context. */
void storage_retain_weakly(ingot_storage_t storage);
void storage_release_weakly(ingot_storage_t storage);
/* Returns a reference to a storage of which the caller has a weak one. NULL: it has ended, or this is a forked child.
 */
ingot_storage_t storage_follow(ingot_storage_t storage);

/* Returns INGOT_INVALID_ARGUMENTS unless there are a storage and an id. */
ingot_status_t storage_check_id(ingot_storage_t storage, size_t id_size, const uint8_t *id);

/* Returns a storage's `self`, or NULL if the storage is NULL or of another kind. */
void *storage_self(ingot_storage_t storage, enum storage_kind kind);
const ingot_storage_ops_t *storage_ops(ingot_storage_t storage);
const ingot_allocator_t *storage_allocator(ingot_storage_t storage);

/* Returns the namespace of a directory store, "" for none or for any other storage. */
const char *storage_name_space(ingot_storage_t storage);
/* True if anyone has found within the last minute that the id's program cannot be built, or that a directory store of
 * this storage cannot keep it. */
bool storage_is_hopeless(ingot_storage_t storage, size_t id_size, const uint8_t *id);

/* True if wishes may be left in the storage, which is not a chain. */
bool storage_takes_wishes(ingot_storage_t storage);
/* Look for a wish in a directory store, and then leave one. */
ingot_status_t storage_look_wish(ingot_storage_t storage, size_t id_size, const uint8_t *id);
ingot_status_t storage_leave_wish(ingot_storage_t storage, size_t id_size, const uint8_t *id);

/* Returns a tier of a chain, or NULL if the storage has fewer tiers. */
ingot_storage_t storage_tier(ingot_storage_t storage, size_t number);
/* Returns the tier to which a chain stores, or the storage itself if it is not a chain. */
ingot_storage_t storage_stored_to(ingot_storage_t storage);

void storage_count(ingot_storage_t storage, enum counter counter, uint64_t more);
/* Counts a failed load or store, other than a miss, and its reason. */
void storage_count_failure(ingot_storage_t storage, ingot_status_t status);
/* Fills in all that the storage has counted. */
void storage_fill_stats(ingot_storage_t storage, ingot_persist_stats_t *stats);

struct recording;
/* Returns what records the storage's requests (persist/request/record.c), or NULL if nothing does, or in a forked
 * child.
 */
struct recording *storage_recording(ingot_storage_t storage);
/* Sets it, before the storage is used. The last release calls record_end, before it destroys the storage. */
void storage_set_recording(ingot_storage_t storage, struct recording *recording);
void record_end(struct recording *recording);

/* ---- events ---- */

/*
 * events_enter notes that the calling thread works for a program of this context. Until the thread calls events_leave,
 * events about the storage's own work (evictions, degradations) also go to that context. events_enter returns the
 * previous context, which the caller passes to events_leave, so calls may nest.
 */
const struct ingot_context *events_enter(const struct ingot_context *context);
void events_leave(const struct ingot_context *before);

/* True if the storage, which is not a chain, has a callback for events. */
bool storage_has_listener(ingot_storage_t storage);
/* Reports an event to the storage's callback, if it has one, and to the thread's context. A chain has no callback, so
 * its first tier with one gets the event. Events about loading and storing blobs go only to the callback, because
 * callers report these to the context themselves. name: of what it is about, "" for none. */
void storage_tell(ingot_storage_t storage, ingot_event_kind_t kind, ingot_status_t status, uint64_t bytes,
                  uint64_t started_ns, const char *name, const char *reason);

/* Reports an event only to a context. */
void events_tell_context(const struct ingot_context *context, ingot_event_kind_t kind, ingot_status_t status,
                         size_t bytes, uint64_t started_ns, const char *reason);

/* ---- trust.c ---- */

/* True if a policy requires seals. False for NULL, or if its struct_size is not set. */
bool trust_requires_seals(const ingot_persist_trust_t *trust);

/* The functions below apply the policies of a storage and of all its tiers: the strictest counts. */

/* Checks bytes that `storage` just loaded for `asked`, which is this storage or a chain around it, by the policies of
 * `asked`. If one refuses them, counts that in both, reports it, and releases them. */
ingot_status_t trust_check_loaded(ingot_storage_t storage, ingot_storage_t asked, size_t id_size, const uint8_t *id,
                                  ingot_buffer_t *loaded);

/* Seals a blob that is to be stored, if a policy has a key for that; otherwise leaves *sealed empty. If the blob begins
 * like a sealed one, only checks it. Returns INGOT_READ_ONLY if a seal is required, but no key can seal, and
 * INGOT_INVALID_ARGUMENTS if the blob begins like a sealed one, but no policy can check it. */
ingot_status_t trust_seal(ingot_storage_t storage, size_t id_size, const uint8_t *id, size_t blob_size,
                          const uint8_t *blob, ingot_buffer_t *sealed);
/* Checks kept bytes. Without a policy, accepts plain blobs and any envelope that can be opened. Returns
 * INGOT_UNTRUSTED, INGOT_BLOB_TRUNCATED or INGOT_BLOB_VERSION on failure. */
ingot_status_t trust_check_kept(ingot_storage_t storage, size_t id_size, const uint8_t *id, size_t size,
                                const uint8_t *kept);

/* True if a seal is required but no key can seal. */
bool trust_forbids_storing(ingot_storage_t storage);

/* ---- environment.c ---- */

/* Returns the value of an environment variable, or NULL. */
typedef const char *(*environment_lookup_t)(const char *name, void *user);

/* Does what ingot_persist_open does with INGOT_PERSIST_FROM_ENVIRONMENT, but looks up variables with the caller's
 * function, unless it is NULL. The flag itself has no effect. */
ingot_status_t persist_environment_open(ingot_storage_t *storage, const ingot_persist_info_t *defaults,
                                        environment_lookup_t lookup, void *user);

/* ---- deferred.c ---- */

/* Programs that were stored at once may wait for a flush, too, to be stored once more with the code of their launches.
 * Nothing is stored by another thread than the caller's, and nothing in exit(). */

/* Gets a program's blob from the driver and stores it if it has more than *size bytes. Reports a store and each failure
 * to the context. Sets *size to the bytes that were stored. desc: if the storage is a builder's, a program is
 * created from the blob first; NULL: it is not. */
ingot_status_t deferred_store_now(ingot_storage_t storage, const struct ingot_context *context,
                                  const_ingot_program_desc_t desc, ingot_program_t program, size_t id_size,
                                  const uint8_t *id, size_t *size);

/* Adds a program to the list, with a reference. Does nothing if the list has the id. stored_size: the size of its blob
 * in the storage; 0: the storage has none. If the list is full, such a program takes the place of one that is stored
 * already; if there is none, it is not stored, and an event says so. */
void deferred_add(ingot_storage_t storage, const struct ingot_context *context, ingot_program_t program, size_t id_size,
                  const uint8_t *id, size_t stored_size);
/* Stores the listed programs, or only this one, in the calling thread, and begins none after until_ns. Adds to the
 * progress. Returns INGOT_BUSY if programs remain, or if another thread, or a caller of this thread, is storing one.
 * Otherwise returns the first failure, or INGOT_SUCCESS. */
ingot_status_t deferred_store(ingot_storage_t storage, const struct ingot_program *program, uint64_t until_ns,
                              ingot_persist_flush_progress_t *progress);
/* Removes a program from the list, if it is in it. */
void deferred_forget(ingot_storage_t storage, const struct ingot_program *program);
/* Waits until no other thread is storing a program from the list. Callbacks of a flush must not call this. */
void deferred_await(ingot_storage_t storage);
/* Returns how many programs are in the list or being stored from it. */
uint64_t deferred_count(ingot_storage_t storage);

/* ---- turns/flight.c ---- */

/* True if the calling thread makes what this id stands for, with any storage, and others wait for it. */
bool flight_is_own(size_t id_size, const uint8_t *id);
/* Notes that a builder was asked for the program; true if that was less than a second ago. */
void flight_note_wish(ingot_storage_t storage, size_t id_size, const uint8_t *id);
bool flight_is_wished(ingot_storage_t storage, size_t id_size, const uint8_t *id);

/* ---- miss.c ---- */

/* Returns what a storage does on a miss: its own policy, or that of a chain's first tier that has one. */
ingot_persist_on_miss_t storage_on_miss(ingot_storage_t storage);

/* Applies the storage's policy to a request that found nothing. Reports to the context, or to the storage's callback if
 * the context is NULL. id: NULL if there is none; the thread's error message then says why. Returns INGOT_SUCCESS if
 * the caller may make what was requested. Otherwise INGOT_NOT_FOUND, with the reason. */
ingot_status_t storage_judge_miss(ingot_storage_t storage, const struct ingot_context *context, size_t id_size,
                                  const uint8_t *id);

/* Writes a line about a miss to standard error. */
void miss_print(const char *reason);

#endif
