/* SPDX-License-Identifier: MIT */
/* Stable. */
/**
 * @file artifact.h
 * Artifacts: bytes under a key of the caller's own, for frameworks that compile by themselves.
 *
 * An artifact lies in the same stores, chains and servers as programs, and the same limits, seals and statistics apply
 * to it. A turn (ingot_artifact_begin) lets one thread of one process on one machine make an artifact, while the others
 * wait for it. doc/artifact-format.md specifies the bytes. Library ingot::cache; ingot_artifact_get_info is also in
 * ingot::ingot.
 *
 * @code
 * #include <ingot/artifact.h>
 *
 * // Loads the artifact of a text and an option, or returns INGOT_NOT_FOUND.
 * ingot_status_t find(ingot_cache_t cache, size_t size, const char *text, uint32_t level, ingot_buffer_t *found)
 * {
 *     const ingot_artifact_field_t fields[] = {{"text", size, text}, {"level", sizeof(level), &level}};
 *     const ingot_artifact_key_t key = {sizeof(key), "my-compiler-1.2", 2, fields};
 *     return ingot_artifact_get(cache, &key, found);
 * }
 * @endcode
 *
 * A NULL cache means "no cache". Nothing is found and nothing is stored, and the caller makes every artifact.
 */
#ifndef INGOT_ARTIFACT_H
#define INGOT_ARTIFACT_H

#include <ingot/cache.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A field of a key. */
typedef struct ingot_artifact_field {
    const char *name;  /**< At least 1 and at most 255 bytes. */
    size_t size;       /**< Size of the value in bytes. */
    const void *value; /**< Any bytes. May be NULL if size is 0. */
} ingot_artifact_field_t;

/**
 * The key of an artifact. Two artifacts with equal keys are taken to be the same, so a key must contain all that
 * affects the artifact, such as its source, its options, and the versions of the framework, the compiler and the
 * device.
 *
 * Ingot adds nothing to the key, not even its own version. The order of the fields does not matter. Their names are
 * different. `ingot explain` names the fields in which two keys differ. It shows values of up to 256 bytes; of a longer
 * value, the id of the artifact has a digest.
 */
typedef struct ingot_artifact_key {
    size_t struct_size;
    const char *kind;   /**< The framework or application: 1 to 64 of [A-Za-z0-9._-]. */
    size_t field_count; /**< At most 256. All fields together take at most 64 KiB of the id. */
    const ingot_artifact_field_t *fields;
} ingot_artifact_key_t;
#define INGOT_ARTIFACT_KEY_INIT                                                                                        \
    {                                                                                                                  \
        sizeof(ingot_artifact_key_t), NULL, 0, NULL                                                                    \
    }

/** A named part of an artifact's bytes. */
typedef struct ingot_artifact_part {
    const char *name; /**< At most 255 bytes. "" is a name, too. */
    uint64_t size;    /**< In bytes. */
} ingot_artifact_part_t;

/** Describes an artifact. Zero and NULL mean that nothing is known. */
typedef struct ingot_artifact_info {
    size_t struct_size;
    const char *label;     /**< For people: lists show it. At most 1023 bytes. NULL: "". */
    uint64_t make_time_ms; /**< How long it took to make the artifact. 0: unknown; a turn measures it. */
    size_t part_count;     /**< At most 65536. 0: one part with the name "". */
    /** The names and sizes of the parts. The names differ. The parts' bytes follow each other in the artifact's. */
    const ingot_artifact_part_t *parts;
    uint64_t made_at_unix_ms; /**< When the artifact was made, in milliseconds since 1970. 0: now. */
    const char *kind;         /**< The key's kind, set by ingot_artifact_get_info. Otherwise ignored. */
} ingot_artifact_info_t;
#define INGOT_ARTIFACT_INFO_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(ingot_artifact_info_t), NULL, 0, 0, NULL, 0, NULL                                                       \
    }

/** A turn: the permission to make an artifact, while others wait. */
typedef struct ingot_turn *ingot_turn_t;

/**
 * Loads an artifact.
 *
 * @param[out] value  The artifact's bytes, which may be none. The caller calls its release function if it is not NULL.
 * @par Threads  Any number at once, as for all functions here.
 * @retval INGOT_NOT_FOUND  There is no artifact, or it cannot be used. In the latter case, an event and the detail
 *                          say why, and the next maker replaces it.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_artifact_get(ingot_cache_t cache, const ingot_artifact_key_t *key,
                                            ingot_buffer_t *value);

/**
 * Stores or replaces an artifact, without a turn.
 *
 * @param info   NULL: as INGOT_ARTIFACT_INFO_INIT.
 * @param bytes  May be NULL if @p size is 0.
 * @retval INGOT_INVALID_ARGUMENTS  Also if the parts' sizes do not add up to @p size, or two parts have one name.
 * @retval INGOT_READ_ONLY, INGOT_NO_SPACE, INGOT_BUSY, INGOT_UNTRUSTED, INGOT_IO_ERROR  The artifact was not stored.
 * @retval INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_artifact_put(ingot_cache_t cache, const ingot_artifact_key_t *key,
                                            const ingot_artifact_info_t *info, size_t size, const void *bytes);

/** Removes an artifact. @retval INGOT_NOT_FOUND  There is none.
 *  @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY  @return Otherwise as ingot_storage_remove. */
INGOT_API ingot_status_t ingot_artifact_remove(ingot_cache_t cache, const ingot_artifact_key_t *key);

/**
 * Loads an artifact, or begins the turn to make it. Waits while another thread, another process or another machine that
 * shares the cache has the turn.
 *
 * If the other maker stores the artifact, this function returns it. If that maker is killed or abandons its turn, one
 * of the waiting callers gets the turn. After @p max_wait_ms, a caller gets INGOT_BUSY. It may then make the artifact
 * without a turn, and store it with ingot_artifact_put. After the storage's build_wait_ms (ingot_persist_info_t; by
 * default 10 minutes), it gets a turn anyway.
 *
 * Repeated calls of one process with short waits count as one wait, if less than 10 s lie between them.
 *
 * A turn occupies no thread. Any thread may end it, with ingot_turn_finish or ingot_turn_abandon. But the thread that
 * began it cannot wait for it: such a request is INGOT_DEADLOCK at once. Where several tasks share a thread, and a turn
 * belongs to one of them, the others request with a limit of 0 and pause in their own way. While a thread waits here,
 * it must hold no lock that the maker needs. In a child of fork, its parent's turns do nothing.
 *
 * @param max_wait_ms  0 and INGOT_NONE: does not wait. INGOT_UNLIMITED: waits as described above.
 * @param[out] value   If the artifact was found, its bytes, as from ingot_artifact_get. Otherwise empty.
 * @param[out] turn    NULL if the artifact was found. Otherwise the turn; the caller must end it. If @p cache is NULL,
 *                     a turn for which nothing is stored and nobody waits.
 * @retval INGOT_SUCCESS  The artifact was found, or @p turn was set.
 * @retval INGOT_BUSY     Another maker still has the turn, or @p max_wait_ms is 0, and this thread has it.
 * @retval INGOT_DEADLOCK  This thread began the turn, and @p max_wait_ms is not 0.
 * @retval INGOT_NOT_FOUND  The artifact was not found, and the cache may not make any (INGOT_CACHE_OPEN_FAIL_ON_MISS).
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_artifact_begin(ingot_cache_t cache, const ingot_artifact_key_t *key,
                                              uint64_t max_wait_ms, ingot_buffer_t *value, ingot_turn_t *turn);

/**
 * Stores the artifact and ends the turn, whatever the status. All waiting callers get the artifact. Parameters and
 * statuses as for ingot_artifact_put. If info's make_time_ms is 0, the time since the turn began is noted.
 *
 * @param turn  Not valid afterwards. NULL: does nothing.
 */
INGOT_API ingot_status_t ingot_turn_finish(ingot_turn_t turn, const ingot_artifact_info_t *info, size_t size,
                                           const void *bytes);

/**
 * Ends a turn without an artifact.
 *
 * @param turn             Not valid afterwards. NULL: does nothing.
 * @param may_others_take  Not 0: one of the waiting callers gets the turn next. 0: making the artifact will fail for
 *                         others as well, so all waiting callers get a turn at once, and for a minute, nobody waits
 *                         for this artifact. Machines that share the cache do not wait for each other either, but on
 *                         each of them, one caller tries to make it first.
 */
INGOT_API void ingot_turn_abandon(ingot_turn_t turn, int may_others_take);

/**
 * Makes an artifact for ingot_artifact_get_or_create, in the calling thread.
 *
 * @param[in,out] info   Initialized; the maker may describe the artifact. What it points to must stay valid until the
 *                       release function of @p value is called.
 * @param[out]    value  The artifact's bytes. Ingot copies them and then calls the release function, if it is not NULL.
 * @return INGOT_SUCCESS. INGOT_BUILD_FAILED means that making it would fail in other processes, too, so these do not
 *         wait for each other. Any other status lets another maker try.
 */
typedef ingot_status_t (*ingot_artifact_maker_t)(void *user, ingot_artifact_info_t *info, ingot_buffer_t *value);

/**
 * Loads an artifact, or makes and stores it, as if by ingot_artifact_begin without a limit. If the artifact cannot be
 * stored, an event says so, and the caller still gets it.
 *
 * @param[out] value   The artifact's bytes, as from ingot_artifact_get.
 * @param[out] origin  INGOT_ORIGIN_STORAGE or INGOT_ORIGIN_BUILD. May be NULL.
 * @retval INGOT_NOT_FOUND  The artifact was not found, and the cache may not make any (INGOT_CACHE_OPEN_FAIL_ON_MISS).
 * @retval INGOT_DEADLOCK   @p make has requested the artifact that it makes.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 * @return Otherwise the status of @p make.
 */
INGOT_API ingot_status_t ingot_artifact_get_or_create(ingot_cache_t cache, const ingot_artifact_key_t *key,
                                                      ingot_artifact_maker_t make, void *user, ingot_buffer_t *value,
                                                      ingot_origin_t *origin);

/**
 * Describes an artifact.
 *
 * @param         value  A value from this header's functions, not yet released.
 * @param[in,out] info   The caller sets struct_size. The pointers are valid until the value is released. A value with
 *                       one part whose name is "" has one part here.
 * @retval INGOT_INVALID_ARGUMENTS  Also if @p value is not from these functions.
 */
INGOT_API ingot_status_t ingot_artifact_get_info(const ingot_buffer_t *value, ingot_artifact_info_t *info);

#ifdef __cplusplus
}
#endif

#endif
