/* SPDX-License-Identifier: MIT */
/* Stable, advanced. */
/**
 * @file object_cache.h
 * An in-memory cache for an application's own objects, such as a framework's primitives, memory and workspaces.
 *
 * Ingot keeps programs in memory with the same cache engine. Three levels locate an object: a session (a model, a
 * request stream), a group in the session (an input shape), and a name in the group. Finding an object takes no lock
 * and writes no memory that another thread writes. Threads share objects: one thread creates an object, and any other
 * thread can get it. An object lives until the cache and all callers that hold it have released it.
 *
 * @code
 * #include <ingot/object_cache.h>
 * #include <stdlib.h>
 *
 * static ingot_status_t make(void **value, void *user)
 * {
 *     *value = calloc(1, *(size_t *)user);
 *     return *value != NULL ? INGOT_SUCCESS : INGOT_OUT_OF_MEMORY;
 * }
 *
 * static void destroy(void *value, void *user)
 * {
 *     (void)user;
 *     free(value);
 * }
 *
 * // Gets the workspace of an input shape. One thread allocates it, and all share it.
 * ingot_status_t get_workspace(ingot_object_t *workspace, ingot_object_cache_t cache, const char *shape, size_t size)
 * {
 *     return ingot_object_cache_get_or_create(workspace, cache, "", shape, "workspace", make, &size, destroy);
 * }
 * @endcode
 *
 * ingot.h describes the conventions: statuses, create / retain / release, struct_size.
 *
 * @par Names
 * Sessions, groups and names are any strings, including ""; ("AB", "C") and ("A", "BC") are different places.
 */
#ifndef INGOT_OBJECT_CACHE_H
#define INGOT_OBJECT_CACHE_H

#include <ingot/ingot.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A cache of objects. */
typedef struct ingot_object_cache *ingot_object_cache_t;
typedef const struct ingot_object_cache *const_ingot_object_cache_t;
/** A reference to one object. Requests for the same place return the same handle. */
typedef struct ingot_object *ingot_object_t;
typedef const struct ingot_object *const_ingot_object_t;

/**
 * Destroys an object. Called exactly once for each object that the cache took over, after the cache and all callers
 * that hold it have released it. Called in the thread that released it last, with no lock held. It may call the cache.
 *
 * @param[in] value  The value that was set.
 * @param[in] user   ingot_object_cache_info_t::user.
 */
typedef void (*ingot_object_destructor_t)(void *value, void *user);

/**
 * Returns how many bytes an object counts for, in addition to the cache's own memory for it. Called once for each
 * object, in the thread that puts it into the cache and with no lock held. It must not call the cache.
 *
 * @param[in] value  The value that was set or created.
 * @param[in] user   ingot_object_cache_info_t::user.
 */
typedef size_t (*ingot_object_size_t)(const void *value, void *user);

/** Flags of an object cache's limits. */
typedef enum ingot_object_cache_flags {
    /** If a limit on groups is exceeded, evicts the least recently used group; without this flag, the oldest group. */
    INGOT_OBJECT_CACHE_LRU_GROUPS = 1
} ingot_object_cache_flags_t;

/** Limits of an object cache. 0 in any of them means no limit. */
typedef struct ingot_object_cache_limits {
    size_t struct_size;
    size_t max_groups;         /**< In all sessions together; the same group name in two sessions counts twice. */
    size_t max_session_groups; /**< In each session. */
    size_t max_bytes;          /**< Of all objects (ingot_object_size_t); evicts the least recently used first. */
    uint32_t flags;            /**< ingot_object_cache_flags_t */
} ingot_object_cache_limits_t;
#define INGOT_OBJECT_CACHE_LIMITS_INIT                                                                                 \
    {                                                                                                                  \
        sizeof(ingot_object_cache_limits_t), 0, 0, 0, 0                                                                \
    }

/** Object cache configuration. */
typedef struct ingot_object_cache_info {
    size_t struct_size;
    const ingot_allocator_t *allocator;        /**< Copied. NULL: the C library's. */
    ingot_object_destructor_t destructor;      /**< For objects without their own destructor. NULL: nothing is done. */
    void *user;                                /**< For destructors and size_of. */
    const ingot_object_cache_limits_t *limits; /**< NULL: no limits. */
    ingot_object_size_t size_of; /**< Returns an object's size. NULL: only the cache's own memory counts. */
    /** Receives INGOT_EVENT_HIT, _MISS, _WAIT and _EVICT, with session, group and name. NULL: none. */
    ingot_event_callback_t on_event;
    void *on_event_user;
} ingot_object_cache_info_t;
#define INGOT_OBJECT_CACHE_INFO_INIT                                                                                   \
    {                                                                                                                  \
        sizeof(ingot_object_cache_info_t), NULL, NULL, NULL, NULL, NULL, NULL, NULL                                    \
    }

/**
 * Creates an empty cache.
 *
 * @param[in] info  NULL: defaults.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_object_cache_create(ingot_object_cache_t *cache, const ingot_object_cache_info_t *info);
/** Clears the cache and releases it; held objects live until released. Does nothing for NULL. */
INGOT_API void ingot_object_cache_release(ingot_object_cache_t cache);

/**
 * Puts an object into the cache and replaces any object at the same place. Existing references to the replaced object
 * stay valid; later requests get the new object. A group's age counts from its first object since the group was last
 * empty; replacing an object does not change it. If a limit is exceeded, drops groups or objects before returning
 * (ingot_object_cache_limits_t).
 *
 * If memory runs out, the cache does not drop objects, because it cannot create them again.
 *
 * @param[out] object      A reference to the new object; the caller releases it. May be NULL.
 * @param[in]  value       Not NULL. The cache owns it on success; on failure the caller still owns it.
 * @param[in]  destructor  For this object. NULL: the cache's.
 * @retval INGOT_INVALID_ARGUMENTS  An argument other than object and destructor is NULL.
 * @retval INGOT_NO_SPACE           The object alone is larger than max_bytes. Nothing was set or replaced.
 * @retval INGOT_OUT_OF_MEMORY      Nothing was set or replaced.
 */
INGOT_API ingot_status_t ingot_object_cache_set(ingot_object_t *object, ingot_object_cache_t cache, const char *session,
                                                const char *group, const char *name, void *value,
                                                ingot_object_destructor_t destructor);

/**
 * Returns the object at a place. The object stays in the cache.
 *
 * @param[out] object  A reference; the caller releases it.
 * @retval INGOT_NOT_FOUND          There is no object, or ingot_object_cache_get_or_create is still creating it.
 * @retval INGOT_INVALID_ARGUMENTS  An argument is NULL.
 */
INGOT_API ingot_status_t ingot_object_cache_get(ingot_object_t *object, ingot_object_cache_t cache, const char *session,
                                                const char *group, const char *name);

/**
 * Takes the object at a place out of the cache. If several threads take it at once, only one of them gets it. Existing
 * references stay valid. Parameters and statuses as ingot_object_cache_get.
 */
INGOT_API ingot_status_t ingot_object_cache_take(ingot_object_t *object, ingot_object_cache_t cache,
                                                 const char *session, const char *group, const char *name);

/**
 * Creates the object for ingot_object_cache_get_or_create. Called with no lock held. It may request other objects from
 * the cache; requesting the one that it creates is INGOT_DEADLOCK. On failure it should call
 * ingot_set_error_detail of ingot/backend.h.
 */
typedef ingot_status_t (*ingot_object_creator_t)(void **value, void *user);

/**
 * Returns the object at a place and creates it if there is none. Only one creator runs per place, however many threads
 * ask; the others wait. If it returns INGOT_BUILD_FAILED, all waiting threads get this status. If it returns
 * INGOT_OUT_OF_MEMORY, it is called once more; if that fails too, all waiting threads get the status. After any other
 * failure, one waiting thread retries once, with its own creator. Failures are not cached. If the place is cleared, or
 * another thread sets it, while the creator runs, the requesting threads get the created object but the cache does not
 * keep it. The same happens if the object alone is larger than max_bytes.
 *
 * @param[out] object       A reference; the caller releases it.
 * @param[in] creator_user  Passed to @p creator.
 * @param[in] destructor    For this object if it is created here. NULL: the cache's.
 * @retval INGOT_INVALID_ARGUMENTS  An argument other than creator_user and destructor is NULL, or the creator succeeded
 *                                  without an object.
 * @retval INGOT_DEADLOCK  This thread is creating the object.
 * @retval INGOT_OUT_OF_MEMORY
 * @return Otherwise the status that the creator failed with.
 */
INGOT_API ingot_status_t ingot_object_cache_get_or_create(ingot_object_t *object, ingot_object_cache_t cache,
                                                          const char *session, const char *group, const char *name,
                                                          ingot_object_creator_t creator, void *creator_user,
                                                          ingot_object_destructor_t destructor);

/** Drops a reference to the object. A handle may outlive its cache. */
INGOT_API void ingot_object_release(ingot_object_t object);
/** Returns the value that was set or created. The handle owns it, so it is valid while the handle is held. NULL for
 *  NULL. */
INGOT_API void *ingot_object_get_value(const_ingot_object_t object);

/**
 * Drops the objects of one group in one session, of all groups in a session, of a group in all sessions, or all
 * objects. Existing references stay valid. Objects that are being created for these groups are not kept.
 *
 * @param[in] session  NULL: all sessions.
 * @param[in] group    NULL: all groups.
 * @retval INGOT_INVALID_ARGUMENTS  @p cache is NULL.
 */
INGOT_API ingot_status_t ingot_object_cache_clear(ingot_object_cache_t cache, const char *session, const char *group);

/** Counts since the cache was created, and its current content. */
typedef struct ingot_object_cache_stats {
    size_t struct_size;
    uint64_t hits;                     /**< Requests that found their object, including takes. */
    uint64_t misses;                   /**< Requests that did not find their object, including those that ran a
                                        *   creator. */
    uint64_t waits;                    /**< Requests that waited for another thread's creator. */
    uint64_t replaced;                 /**< Objects that were replaced by a set. */
    uint64_t taken;                    /**< Objects that were taken. */
    uint64_t evictions_groups;         /**< Objects dropped because of max_groups. */
    uint64_t evictions_clear;          /**< Objects dropped by a call to clear. */
    size_t objects;                    /**< Now in the cache. */
    size_t groups;                     /**< The groups of these objects. */
    uint64_t evictions_session_groups; /**< Objects dropped because of max_session_groups. */
    uint64_t evictions_bytes;          /**< Objects dropped because of max_bytes. */
    size_t bytes;                      /**< The bytes of the objects in the cache. */
} ingot_object_cache_stats_t;
#define INGOT_OBJECT_CACHE_STATS_INIT                                                                                  \
    {                                                                                                                  \
        sizeof(ingot_object_cache_stats_t), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                                         \
    }
/** Returns the counts. They are exact if no other thread is using the cache.
 *  @param[in,out] stats  The caller sets struct_size. @retval INGOT_INVALID_ARGUMENTS */
INGOT_API ingot_status_t ingot_object_cache_get_stats(const_ingot_object_cache_t cache,
                                                      ingot_object_cache_stats_t *stats);

#ifdef __cplusplus
}
#endif

#endif
