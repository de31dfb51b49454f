/* SPDX-License-Identifier: MIT */
/**
 * @file object_cache.h
 * An in-memory cache for objects of one's own: a framework's primitives, memory, workspaces.
 *
 * It is the engine under Ingot's programs, without the programs. An object has a place of three levels: a session (a
 * model, a request stream), a group in it (an input shape), and a name in that. Finding an object takes no lock and
 * writes no memory that another thread writes. Objects are shared: one thread makes an object, any other gets it, and
 * it lives until the cache and all holders have let go of it.
 *
 * ingot.h has the conventions: statuses, create / retain / release, struct_size.
 *
 * @par Names
 * Sessions, groups and names are any strings, "" among them; ("AB", "C") and ("A", "BC") are different places.
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
/** A reference to one object; all who ask for the same place get the same handle. */
typedef struct ingot_object *ingot_object_t;
typedef const struct ingot_object *const_ingot_object_t;

/**
 * Ends an object. Called exactly once for each object that the cache took over, when the cache and all holders have
 * let go of it; in the thread that let go last, with no lock held. It may call the cache.
 *
 * @param[in] value  As it was set.
 * @param[in] user   ingot_object_cache_info_t::user.
 */
typedef void (*ingot_object_destructor_t)(void *value, void *user);

/**
 * Says how many bytes an object counts for, beside what the cache itself needs for it. Called once for each object,
 * when the cache takes it over, in that thread and with no lock held. It must not call the cache.
 *
 * @param[in] value  As it was set or created.
 * @param[in] user   ingot_object_cache_info_t::user.
 */
typedef size_t (*ingot_object_size_t)(const void *value, void *user);

/** Flags of an object cache's limits. */
typedef enum ingot_object_cache_flags {
    /** Over a limit of groups the one goes first whose last use was the earliest; without it, the oldest one. */
    INGOT_OBJECT_CACHE_LRU_GROUPS = 1
} ingot_object_cache_flags_t;

/** Limits of an object cache; 0 in any of them: no limit. */
typedef struct ingot_object_cache_limits {
    size_t struct_size;
    size_t max_groups;         /**< Over all sessions; a group of two sessions is two. */
    size_t max_session_groups; /**< Of each session. */
    size_t max_bytes;          /**< Of all objects (ingot_object_size_t), least recently used first. */
    uint32_t flags;            /**< ingot_object_cache_flags_t */
} ingot_object_cache_limits_t;
#define INGOT_OBJECT_CACHE_LIMITS_INIT                                                                                 \
    {                                                                                                                  \
        sizeof(ingot_object_cache_limits_t), 0, 0, 0, 0                                                                \
    }

/** How an object cache is to be. */
typedef struct ingot_object_cache_info {
    size_t struct_size;
    const ingot_allocator_t *allocator;   /**< Copied. NULL: the C library's. */
    size_t max_groups;                    /**< As for ingot_object_cache_set_capacity. */
    ingot_object_destructor_t destructor; /**< Of objects that were given none of their own. NULL: nothing is done. */
    void *user;                           /**< For destructors and size_of. */
    const ingot_object_cache_limits_t *limits; /**< NULL: max_groups is the one limit. Otherwise that is not read. */
    ingot_object_size_t size_of;               /**< NULL: only the cache's own memory counts. */
    /** NULL: none. Told of INGOT_EVENT_HIT, _MISS, _WAIT and _EVICT, with session, group and name. */
    ingot_event_callback_t on_event;
    void *on_event_user;
} ingot_object_cache_info_t;
#define INGOT_OBJECT_CACHE_INFO_INIT                                                                                   \
    {                                                                                                                  \
        sizeof(ingot_object_cache_info_t), NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL                                 \
    }

/**
 * Makes an empty cache.
 *
 * @param[in] info  NULL: defaults.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_object_cache_create(ingot_object_cache_t *cache, const ingot_object_cache_info_t *info);
/** One more reference to the cache. */
INGOT_API ingot_status_t ingot_object_cache_retain(ingot_object_cache_t cache);
/** Letting go of the last reference clears the cache; objects that are held live on until released. */
INGOT_API void ingot_object_cache_release(ingot_object_cache_t cache);

/**
 * Puts an object into the cache, where an object that had its place is replaced: who holds that one keeps it, who asks
 * from now on gets the new one. A group is as old as its first object in it since it was last empty; replacing does
 * not change that. Where the capacity is exceeded the oldest group is dropped before this returns.
 *
 * Memory being short drops nothing, since the cache cannot make objects again.
 *
 * @param[out] object      May be NULL: not wanted. Else a reference to the new object, to be released.
 * @param[in]  value       Not NULL. The cache's from now on; on failure still the caller's.
 * @param[in]  destructor  Of this object. NULL: the cache's.
 * @retval INGOT_INVALID_ARGUMENTS  Something other than object and destructor is NULL.
 * @retval INGOT_NO_SPACE           It is larger than max_bytes alone. Nothing was set or replaced.
 * @retval INGOT_OUT_OF_MEMORY      Nothing was set or replaced.
 */
INGOT_API ingot_status_t ingot_object_cache_set(ingot_object_t *object, ingot_object_cache_t cache, const char *session,
                                                const char *group, const char *name, void *value,
                                                ingot_object_destructor_t destructor);

/**
 * The object at a place, which stays there for others.
 *
 * @param[out] object  A reference, to be released.
 * @retval INGOT_NOT_FOUND          There is none; one that is being made by ingot_object_cache_get_or_create is not.
 * @retval INGOT_INVALID_ARGUMENTS  Something is NULL.
 */
INGOT_API ingot_status_t ingot_object_cache_get(ingot_object_t *object, ingot_object_cache_t cache, const char *session,
                                                const char *group, const char *name);

/**
 * The object at a place, out of the cache: of all who take, one gets it. Who got it before holds it still. Parameters
 * and statuses as ingot_object_cache_get.
 */
INGOT_API ingot_status_t ingot_object_cache_take(ingot_object_t *object, ingot_object_cache_t cache,
                                                 const char *session, const char *group, const char *name);

/**
 * Makes the object for ingot_object_cache_get_or_create. Called with no lock held. It may ask the cache for other
 * objects; to ask for its own is INGOT_INVALID_ARGUMENTS. ingot_set_error_detail of ingot/backend.h gives a failure its
 * sentence.
 */
typedef ingot_status_t (*ingot_object_creator_t)(void **value, void *user);

/**
 * The object at a place, made if there is none: one creator runs a place, however many threads ask, and the others
 * wait. A creator's INGOT_BUILD_FAILED is told to all who wait. So is INGOT_OUT_OF_MEMORY, after the creator was called
 * once more. After another failure one of those who wait tries once more, with its own creator. A failure is not
 * remembered. What was cleared while it was made, or set by another meanwhile, is given to those who asked and not
 * kept.
 *
 * @param[in] creator_user  For @p creator.
 * @param[in] destructor    Of this object if it is made here. NULL: the cache's.
 * @retval INGOT_INVALID_ARGUMENTS  Something but creator_user and destructor is NULL, or the creator succeeded without
 *                                  an object, or asked for its own place.
 * @retval INGOT_OUT_OF_MEMORY      Or any other status that the creator failed with.
 */
INGOT_API ingot_status_t ingot_object_cache_get_or_create(ingot_object_t *object, ingot_object_cache_t cache,
                                                          const char *session, const char *group, const char *name,
                                                          ingot_object_creator_t creator, void *creator_user,
                                                          ingot_object_destructor_t destructor);

/** One more reference to the object. */
INGOT_API ingot_status_t ingot_object_retain(ingot_object_t object);
/** A handle may outlive its cache. */
INGOT_API void ingot_object_release(ingot_object_t object);
/** As it was set; valid as long as the handle is held. NULL for NULL. */
INGOT_API void *ingot_object_get_value(const_ingot_object_t object);

/**
 * Drops objects: those of one group of one session, of all groups of a session, of a group in all sessions, or all.
 * Objects that are held live on until released; what is being made for them is not kept.
 *
 * @param[in] session  NULL: all sessions.
 * @param[in] group    NULL: all groups.
 * @retval INGOT_INVALID_ARGUMENTS  @p cache is NULL.
 */
INGOT_API ingot_status_t ingot_object_cache_clear(ingot_object_cache_t cache, const char *session, const char *group);

/**
 * Sets how many groups the cache keeps, over all sessions; the other limits stay. Over it the oldest group
 * goes whole, with all its objects; what is over it now is dropped before this returns.
 *
 * @param[in] max_groups  0: no limit; the cache then never drops anything by itself. That is the default.
 */
INGOT_API ingot_status_t ingot_object_cache_set_capacity(ingot_object_cache_t cache, size_t max_groups);

/** Sets all limits at once; what is over them is dropped before this returns. @retval INGOT_INVALID_ARGUMENTS */
INGOT_API ingot_status_t ingot_object_cache_set_limits(ingot_object_cache_t cache,
                                                       const ingot_object_cache_limits_t *limits);
/** @param[in,out] limits  struct_size set by the caller. @retval INGOT_INVALID_ARGUMENTS */
INGOT_API ingot_status_t ingot_object_cache_get_limits(const_ingot_object_cache_t cache,
                                                       ingot_object_cache_limits_t *limits);

/** Counts since the cache was made, and what it holds now. */
typedef struct ingot_object_cache_stats {
    size_t struct_size;
    uint64_t hits;                     /**< Requests that found their object; taking is one. */
    uint64_t misses;                   /**< Requests that did not; creators run are among them. */
    uint64_t waits;                    /**< Requests that waited for another's creator. */
    uint64_t replaced;                 /**< Objects that another was set in place of, ... */
    uint64_t taken;                    /**< ... that were taken, ... */
    uint64_t evictions_groups;         /**< ... dropped because of max_groups, ... */
    uint64_t evictions_clear;          /**< ... or by a call to clear. */
    size_t objects;                    /**< In the cache now. */
    size_t groups;                     /**< Of these. */
    uint64_t evictions_session_groups; /**< Dropped because of max_session_groups, ... */
    uint64_t evictions_bytes;          /**< ... or of max_bytes. */
    size_t bytes;                      /**< Of the objects in the cache. */
} ingot_object_cache_stats_t;
#define INGOT_OBJECT_CACHE_STATS_INIT                                                                                  \
    {                                                                                                                  \
        sizeof(ingot_object_cache_stats_t), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                                         \
    }
/** @param[in,out] stats  struct_size set by the caller. Exact when no other thread is in a call. */
INGOT_API ingot_status_t ingot_object_cache_get_stats(const_ingot_object_cache_t cache,
                                                      ingot_object_cache_stats_t *stats);

#ifdef __cplusplus
}
#endif

#endif
