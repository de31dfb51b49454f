/* SPDX-License-Identifier: MIT */
/* INGOT_EXPERIMENTAL: may change in any version. */
/**
 * @file remote.h
 * Remote tiers: storages on servers that machines share, for ingot_persist_chain. Library ingot::remote, built on the
 * public API alone. doc/fleet.md is a guide, and doc/remote-format.md specifies what is on the servers.
 *
 * A remote tier never makes a request fail, and a failing server costs little time; see ingot_remote_open.
 */
#ifndef INGOT_REMOTE_H
#define INGOT_REMOTE_H

#include <ingot/persist.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Flags of a remote tier. */
typedef enum ingot_remote_flags {
    INGOT_REMOTE_READ_ONLY = 1,       /**< Neither uploads nor removes anything. */
    INGOT_REMOTE_NO_LEASES = 4,       /**< Does not wait for another machine's compilation; see ingot_remote_open. */
    INGOT_REMOTE_FROM_ENVIRONMENT = 8 /**< Reads what the user's environment says; see ingot_remote_open. */
} ingot_remote_flags_t;

/** Remote tier configuration. 0 and NULL in any field mean its default. INGOT_UNLIMITED in a limit or a time means no
 *  limit, and INGOT_NONE is allowed in lost_time_ms, exit_time_ms, max_waiting and max_waiting_bytes alone. */
typedef struct ingot_remote_info {
    size_t struct_size;
    /**
     * The server, at most 2047 bytes. Required, unless INGOT_REMOTE_FROM_ENVIRONMENT is set.
     *
     * - `redis://[USER@]HOST[:PORT][/DATABASE]` and `redis+unix:///SOCKET`: Redis or Valkey
     * - `rediss://...`: the same as `redis://`, encrypted by TLS
     * - `http://[USER@]HOST[:PORT][/PATH]` and `https://...`: a server that takes GET, HEAD, PUT and DELETE, such as
     *   nginx with WebDAV or bazel-remote. libcurl's variables for proxies apply.
     * - `s3://BUCKET[/PATH]`: S3, with its signatures of version 4
     *
     * Options follow as `?NAME=VALUE&NAME=VALUE`, with bytes as %XX where needed:
     *
     * - `credentials`: a file. Its first line is the password for Redis. For HTTP it is `USER:PASSWORD`, or the
     *   password alone if the URL has a user, or a token (`bearer`). For S3 it is `ACCESS_KEY:SECRET_KEY`. The file
     *   must belong to this user or root, and nobody else may write it. A group may read it; a file that everybody can
     *   read is refused unless nobody can write it, as orchestrators mount secrets. Its first line has no control
     *   characters. A URL must not contain a password.
     * - `auth`: how HTTP uses the credentials: `password` (default), `bearer` or `s3`
     * - `ca`: a file with the certificates of the authorities to trust instead of the system's (PEM)
     * - `cert`, `key`: files with this client's certificate and private key (PEM). The key is checked like credentials.
     * - `layout`: `folders` (default), or `flat`: objects lie directly below the path, as bazel-remote requires
     * - `region`, `endpoint`: for S3; the endpoint is the URL of a server other than Amazon's
     */
    const char *url;
    /** 1 to 64 characters of [A-Za-z0-9._-], but neither "." nor ".."; part of every object's key. NULL: "default". */
    const char *name_space;
    uint32_t flags; /**< ingot_remote_flags_t */
    /** Redis removes an object this long after it was stored; 0: 30 days. INGOT_UNLIMITED: never. */
    uint64_t time_to_live_ms;
    /** Larger blobs are neither uploaded nor loaded; 0: 64 MiB. At most 1 GiB, which INGOT_UNLIMITED means, too. */
    uint64_t max_blob_bytes;
    uint64_t max_waiting_bytes;  /**< Total size of blobs that wait to be uploaded; 0: 64 MiB. */
    uint64_t max_waiting;        /**< The number of these blobs; 0: 256. */
    uint64_t connect_timeout_ms; /**< 0: 250 ms. */
    uint64_t stall_timeout_ms;   /**< How long a server may neither send nor accept a byte; 0: 2 s. */
    uint64_t lost_time_ms;       /**< How much time the application may lose to a failing server; 0: 2 s. */
    /** A longer load counts as lost time, even if it succeeds, and so does a miss of two fifths of this; 0: 250 ms. */
    uint64_t slow_ms;
    uint64_t retry_ms;               /**< The first pause before the server is asked again after a failure; 0: 1 s. */
    uint64_t longest_retry_ms;       /**< Each pause is twice as long as the one before, up to this; 0: 60 s. */
    uint64_t exit_time_ms;           /**< How long the last release may upload; 0: 1 s. */
    ingot_event_callback_t on_event; /**< NULL: none. Receives events about everything that the tier fails to do. */
    void *on_event_user;
    /** How soon another machine takes over if the holder of a program's lease dies; 0: 2 min. At least 100 ms. */
    uint64_t lease_time_ms;
    /** What the tier does with seals (ingot/trust.h), as ingot_persist_set_trust would set it; NULL: nothing by itself.
     * In a chain, the policies of the tiers in front of it apply in any case. */
    const ingot_persist_trust_t *trust;
    /** A storage of this machine, usually a directory store. If it is set, ingot_remote_open returns a chain of this
     *  storage and the tier. NULL: it returns the tier. */
    ingot_storage_t local;
} ingot_remote_info_t;
#define INGOT_REMOTE_INFO_INIT                                                                                         \
    {                                                                                                                  \
        sizeof(ingot_remote_info_t), NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, NULL, NULL         \
    }

/**
 * Opens a remote tier. Does not connect: the first load or upload does, so this function succeeds while the server is
 * down.
 *
 * A load asks the server in the calling thread. Any number of threads may load at once, each on its own connection.
 * Storing a blob only queues it. A thread of the tier then uploads it, and until then loads return it from memory. If
 * more blobs are pending than the limits allow, the oldest are dropped, and an INGOT_EVENT_STORAGE_DEGRADED reports
 * that. That thread also removes blobs; until it has removed a blob, loads of the blob's id are misses.
 *
 * A request that fails returns INGOT_IO_ERROR, or a status such as INGOT_BLOB_CORRUPT if the server has something other
 * than the blob. It counts as a failure, and its time counts as lost. If the server cannot be reached, stalls or
 * rejects the credentials, or if three answers in a row are wrong, the tier stops asking it: loads are immediate misses
 * (INGOT_NOT_FOUND). After a pause, the tier's thread asks the server, and each pause is twice as long as the one
 * before. Once it answers, loads ask it again. Uploads that fail never stop loads: they wait by themselves, and the
 * next upload after such a pause shows whether the server takes them again. Events report when loads or uploads stop
 * and when they resume.
 *
 * lost_time_ms is a budget. Requests that fail, loads that take longer than slow_ms (plus a second for each 16 MiB),
 * and misses that take longer than two fifths of slow_ms use it up. A load fails if it takes more than a quarter of
 * what is left, so the budget is never exceeded. The budget is refilled within 24 hours. Waiting for a lease costs
 * nothing. All tiers of a process that have one URL share the budget and the pauses, also after they are closed; the
 * limits of the tier that was opened last hold.
 *
 * Nothing is uploaded in exit(). The last release of the storage uploads what is pending, for exit_time_ms at most;
 * ingot_remote_flush does at any time.
 *
 * Put a remote tier behind a directory store: with local, this function creates the chain of both. Loads ask the
 * directory first and store in it what they find on the server, and new blobs are stored in both. The chain holds the
 * tier and a reference to local, so ingot_remote_flush, which takes a tier, is not available. To use it, open the
 * tier alone, set its write_through (ingot_persist_settings_t), and create the chain
 * with ingot_persist_chain.
 *
 * @par Leases
 * Machines that share a Redis or Valkey compile each program once. If the program of ingot_persist_program_create is
 * neither in the directory store nor on the server, the process whose turn it is on its machine takes the program's
 * lease, compiles the program, and stores it. Processes of other machines find the lease taken, wait, and load the
 * stored blob. They wait at most two minutes for a program, and at most build_wait_ms of the directory store
 * (ingot_persist_info_t) for all programs whose waits bring nothing, and then compile as well. The lease runs out
 * lease_time_ms after its holder has died or was stopped, and a waiting process takes it. Leases need a writable
 * directory store without INGOT_PERSIST_NO_BUILD_WAIT in front of the tier in a chain, and a tier that is not read-only
 * and in which the chain stores every blob. HTTP and S3 servers have no leases.
 *
 * @par Seals
 * Behind a storage with a policy (ingot/trust.h) in a chain, the tier is subject to this policy, too: the chain loads
 * no blob from the server that the storage in front would refuse, and uploads blobs with the seal of its key.
 *
 * @par The environment
 * With INGOT_REMOTE_FROM_ENVIRONMENT, the function reads the user's environment (doc/environment.md).
 * INGOT_PERSIST_REMOTE is the URL, INGOT_PERSIST_NAMESPACE the namespace, INGOT_PERSIST_REMOTE_MAX_AGE_DAYS the time to
 * live, and INGOT_PERSIST_TRUST and INGOT_PERSIST_KEYS are the policy and the key files; each of these counts if the
 * field of @p info is 0 or NULL. INGOT_PERSIST_REMOTE_MODE=read means INGOT_REMOTE_READ_ONLY, and
 * INGOT_PERSIST_REMOTE_LEASES=0 INGOT_REMOTE_NO_LEASES. If neither @p info nor the environment names a server, there is
 * no tier: *storage is local, with a reference for the caller, or NULL. A setuid program reads no variables.
 *
 * @param[in] info  Copied.
 * @retval INGOT_INVALID_ARGUMENTS  A malformed info or URL, or a variable; the detail says which.
 * @retval INGOT_UNTRUSTED          Another user can change the file with the credentials, or access that of the private
 *                                  key or of a secret key for seals. The detail has the remedy.
 * @retval INGOT_NOT_FOUND          A file that the URL names does not exist.
 * @retval INGOT_IO_ERROR           A file that the URL names cannot be read.
 * @retval INGOT_UNIMPLEMENTED      libingot-cache, which opens libcurl when it is needed, found none, or an old one.
 * @retval INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_remote_open(ingot_storage_t *storage, const ingot_remote_info_t *info);

/**
 * Waits for all uploads and removals that are pending when it is called. Does not wait for any that other threads add
 * in the meantime.
 *
 * @param max_time_ms  The longest wait. 0 and INGOT_UNLIMITED: no limit while the server works. INGOT_NONE: none.
 * @par Threads  Any number at once.
 * @retval INGOT_SUCCESS        They are done. Events reported blobs that could not be uploaded.
 * @retval INGOT_BUSY           Some are still pending: max_time_ms has passed, or uploads wait because the server
 * refused them or failed.
 * @retval INGOT_UNIMPLEMENTED  @p storage is not a remote tier.
 * @retval INGOT_INVALID_ARGUMENTS
 */
INGOT_API ingot_status_t ingot_remote_flush(ingot_storage_t storage, uint64_t max_time_ms);

#ifdef __cplusplus
}
#endif

#endif
