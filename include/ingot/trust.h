/* SPDX-License-Identifier: MIT */
/* INGOT_EXPERIMENTAL: may change in any version. */
/**
 * @file trust.h
 * Trusted blobs: seals, which say that a holder of a key stored a blob under an id, and storages that check them.
 * Library ingot::persist.
 *
 * A cached program is code that a device runs. A user who can write a shared storage can therefore run code on every
 * machine that reads it. A seal prevents that: it is a tag over the id and the blob. The tag is made with a secret that
 * a fleet shares (keyed BLAKE2b), or is a producer's signature (Ed25519), which anyone can verify with the public key.
 * The tag is checked before the core, the driver or the application gets the blob. doc/seal-format.md specifies seals
 * and key files.
 *
 * Any storage can check seals: directories, bundles, single files, chains and custom storages. Every storage
 * reads sealed blobs. A storage without keys ignores the seals. A custom storage must return bytes that do not change
 * until their release, because they are checked first and used later.
 */
#ifndef INGOT_TRUST_H
#define INGOT_TRUST_H

#include <ingot/storage.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a storage does with seals. */
typedef enum ingot_persist_trust_policy {
    INGOT_PERSIST_TRUST_NONE = 0, /**< Ignores seals, and adds none. */
    /** Refuses a blob whose seal is wrong or made with an unknown key, and accepts a blob without a seal. An attacker
     * can remove a seal, so this protects nothing by itself. It is for the time in which a fleet begins to seal. */
    INGOT_PERSIST_TRUST_VERIFY = 1,
    INGOT_PERSIST_TRUST_REQUIRE = 2 /**< Also refuses blobs without a seal. */
} ingot_persist_trust_policy_t;

/** The kind of a key. Values are stable. */
typedef enum ingot_persist_key_kind {
    INGOT_PERSIST_KEY_BLAKE2B = 1,        /**< A secret that seals and verifies. */
    INGOT_PERSIST_KEY_ED25519_SECRET = 2, /**< The seed of a pair of keys. Seals and verifies. */
    INGOT_PERSIST_KEY_ED25519_PUBLIC = 3  /**< The public key of a pair. Only verifies. */
} ingot_persist_key_kind_t;

#define INGOT_PERSIST_KEY_SIZE 32    /**< The size of a key of any kind, in bytes. */
#define INGOT_PERSIST_KEY_ID_SIZE 16 /**< The size of a key's id, in bytes. */

/** A key. */
typedef struct ingot_persist_key {
    size_t struct_size;
    ingot_persist_key_kind_t kind;
    uint8_t bytes[INGOT_PERSIST_KEY_SIZE];
} ingot_persist_key_t;

/**
 * Supplies a key. Ingot calls it in the thread that sets the keys, with index 0, 1 and so on until it returns
 * INGOT_NOT_FOUND. Ingot erases @p key after each call.
 *
 * @param[out] key  Ingot sets struct_size; the callback sets the rest.
 * @retval INGOT_NOT_FOUND  There are no more keys. Any other failure is returned to the caller that sets the keys.
 */
typedef ingot_status_t (*ingot_persist_key_callback_t)(size_t index, ingot_persist_key_t *key, void *user);

/**
 * A policy and its keys.
 *
 * Blobs are sealed with the first key that can seal, and verified with any of the keys. To replace a key, first add the
 * new one after the old one everywhere. Then put the new one first. Remove the old one when no blob needs it anymore.
 */
typedef struct ingot_persist_trust {
    size_t struct_size;
    ingot_persist_trust_policy_t policy;
    /** Paths of key files, separated by colons. NULL or "": none. A file with a secret key must be owned by the
     * effective user and be readable by no other user. A file with a public key may also be owned by root, and others
     * may read it but not write it. No file may be a link. Other users must not be able to write the directories above
     * it, because they could replace it with another key file of the user or of root. A secret that an orchestrator
     * mounts as a link, or as a file of root, is refused; supply it with next_key. */
    const char *key_files;
    ingot_persist_key_callback_t next_key; /**< Keys that follow those of the files. NULL: none. */
    void *user;
} ingot_persist_trust_t;
#define INGOT_PERSIST_TRUST_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(ingot_persist_trust_t), INGOT_PERSIST_TRUST_NONE, NULL, NULL, NULL                                      \
    }

/**
 * Sets a storage's policy and keys, for loads and stores that begin from now on. Reads the key files and keeps the keys
 * in separate memory, which is erased when it is released. This memory is not swapped out if the process's
 * RLIMIT_MEMLOCK leaves a page per policy. Otherwise, the keys are as safe as the process's other memory, and no event
 * says so.
 *
 * Programs that the process already has are not checked again: programs in a context's in-memory cache, even if they
 * came from another storage, programs that were loaded ahead, and blobs that wait to be copied to a chain's first tier.
 * So set the policy before the first program, and do not use storages of different policies with one context.
 *
 * A load of a refused blob returns INGOT_UNTRUSTED, so ingot_persist_program_create compiles the program and replaces
 * the blob. The event callbacks of the storage and the context get an INGOT_EVENT_STORAGE_DEGRADED with the reason, and
 * ingot_persist_stats_t counts it as distrusted. In a chain the next tier is asked.
 *
 * When a blob is stored, it is sealed with the first key that can seal. If the policy is INGOT_PERSIST_TRUST_REQUIRE
 * and no key can seal, storing returns INGOT_READ_ONLY. A blob that begins like a sealed one is stored as it is, if its
 * seal is accepted; without a policy, it is refused (INGOT_INVALID_ARGUMENTS; see ingot_persist_store_sealed).
 *
 * The policy of a chain is the strictest of its own and its tiers': what is loaded or stored through the chain must be
 * accepted by all of them. A server behind a directory that requires seals thus brings no blob that the directory would
 * refuse, and gets blobs with a seal of the directory's key. A blob is sealed with the first key whose seal all
 * policies accept. A chain that copies a blob to a higher tier copies it with its seal and never adds one.
 *
 * @param trust  NULL: INGOT_PERSIST_TRUST_NONE. For this policy no key is read.
 * @par Threads  Any number at once, during any use of the storage.
 * @retval INGOT_INVALID_ARGUMENTS  @p trust is malformed, or has no key or more than 16 keys, or the storage was opened
 *                                  for any owner and would no longer require seals.
 * @retval INGOT_UNTRUSTED          A key file is a link or not a file, belongs to another user, or is open to other
 *                                  users.
 * @retval INGOT_NOT_FOUND          A key file is missing.
 * @retval INGOT_BLOB_CORRUPT       A file is not a key file.
 * @retval INGOT_BLOB_VERSION       A key file has a version that this library does not read.
 * @retval INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_persist_set_trust(ingot_storage_t storage, const ingot_persist_trust_t *trust);

/**
 * Stores a blob from another storage unchanged, with its seal if it has one. For the `store` operation of a custom
 * storage that passes blobs on. Never adds a seal, because a key would then vouch for a blob of unknown origin. For
 * blobs that the process itself made, use ingot_storage_store.
 *
 * @par Threads  Any number at once.
 * @retval INGOT_UNTRUSTED  The storage's policy refuses the blob; nothing was stored.
 * @retval INGOT_INVALID_ARGUMENTS
 * @return Otherwise as ingot_storage_store.
 */
INGOT_API ingot_status_t ingot_persist_store_sealed(ingot_storage_t storage, size_t id_size, const uint8_t *id,
                                                    size_t size, const uint8_t *bytes);

/** Public information about a key. */
typedef struct ingot_persist_key_info {
    size_t struct_size;
    ingot_persist_key_kind_t kind;
    uint8_t id[INGOT_PERSIST_KEY_ID_SIZE];      /**< Seals name their key by this id. Both keys of a pair have it. */
    uint8_t public_key[INGOT_PERSIST_KEY_SIZE]; /**< The public key of a pair; zeros for INGOT_PERSIST_KEY_BLAKE2B. */
} ingot_persist_key_info_t;
#define INGOT_PERSIST_KEY_INFO_INIT                                                                                    \
    {                                                                                                                  \
        sizeof(ingot_persist_key_info_t), INGOT_PERSIST_KEY_BLAKE2B, {0},                                              \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }

/**
 * Creates a key from random bytes of the operating system, in a new file of mode 0600. For a pair, also creates the
 * file of the public key, with ".pub" appended to the name and mode 0644, less the umask. Both files are on the disk
 * when this function returns. A process that is killed during the call may leave only the ".pub" file; remove it then.
 *
 * @param kind             INGOT_PERSIST_KEY_BLAKE2B or INGOT_PERSIST_KEY_ED25519_SECRET.
 * @param[in,out] info     The caller sets struct_size. May be NULL.
 * @retval INGOT_READ_ONLY  A file of this name exists and was not changed, or the directory cannot be written.
 * @retval INGOT_NOT_FOUND  The directory is missing.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_NO_SPACE, INGOT_IO_ERROR
 */
INGOT_API ingot_status_t ingot_persist_key_create(const char *path, ingot_persist_key_kind_t kind,
                                                  ingot_persist_key_info_t *info);

#ifdef __cplusplus
}
#endif

#endif
