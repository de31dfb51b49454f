/*
 * object_cache.c - an integrator's own objects in the in-memory cache: session, group, name.
 *
 * The engine knows one level of groups, so its group is session and group together, "SIZE:SESSIONGROUP" with the
 * session's size in decimal, which no other pair is. The public handle of an object is the engine's entry, as a
 * program's is.
 *
 * Two counts, as a context has: `holders` are the application's references; `references` are all of them (each object
 * has one, the holders together have one). When the last holder lets go the cache is closed, and with the last object
 * it ends.
 */
#include <ingot/object_cache.h>

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/info.h"
#include "core/memory_cache/memory_cache.h"

struct ingot_object_cache {
    atomic_size_t holders;
    atomic_size_t references;
    ingot_allocator_t allocator;
    ingot_object_destructor_t destructor;
    void *user;
    struct memory_cache *objects;
    _Atomic uint64_t misses; /* of requests that do not create */
};

enum { LEVELS = 3, SIZE_DIGITS = 20 };

struct place {
    const char *texts[LEVELS]; /* session, group, name */
    size_t sizes[LEVELS];
};

struct object {
    struct ingot_object_cache *cache; /* referenced */
    void *value;                      /* NULL: not taken over */
    ingot_object_destructor_t destructor;
    size_t sizes[LEVELS];
    char texts[]; /* session, group, name, one behind the other */
};

static size_t texts_size(const size_t sizes[LEVELS])
{
    return sizes[0] + sizes[1] + sizes[2];
}

static struct object *object_of(const struct cache_entry *entry)
{
    return cache_entry_value(entry);
}

/* ---- places ---- */

static bool place_init(struct place *place, const char *session, const char *group, const char *name)
{
    if (session == NULL || group == NULL || name == NULL) {
        error_set(INGOT_INVALID_ARGUMENTS, "session, group or name is NULL");
        return false;
    }
    *place = (struct place){{session, group, name}, {strlen(session), strlen(group), strlen(name)}};
    return true;
}

static struct cache_request request_for(const struct place *place, const char *engine_group)
{
    struct hash128 hashes[LEVELS];
    for (int i = 0; i < LEVELS; ++i)
        hashes[i] = hash128_of(place->sizes[i], place->texts[i]);
    return (struct cache_request){hash128_of(sizeof(hashes), hashes), place, NULL, engine_group};
}

static size_t engine_group_capacity(const struct place *place)
{
    return SIZE_DIGITS + 1 + place->sizes[0] + place->sizes[1] + 1;
}

/* The engine's name for the place's group; NULL when out of memory. */
static char *make_engine_group(const ingot_allocator_t *allocator, const struct place *place)
{
    const size_t capacity = engine_group_capacity(place);
    char *text = alloc_bytes(allocator, capacity);
    if (text == NULL) {
        error_out_of_memory();
        return NULL;
    }
    const size_t start = (size_t)snprintf(text, capacity, "%zu:", place->sizes[0]);
    memcpy(text + start, place->texts[0], place->sizes[0]);
    memcpy(text + start + place->sizes[0], place->texts[1], place->sizes[1] + 1);
    return text;
}

static void free_engine_group(const ingot_allocator_t *allocator, const struct place *place, char *text)
{
    alloc_free(allocator, text, engine_group_capacity(place));
}

struct wanted_groups {
    const char *session; /* NULL: any */
    const char *group;   /* NULL: any */
};

static bool is_wanted(const char *engine_group, const void *user)
{
    const struct wanted_groups *wanted = user;
    size_t session_size = 0;

    for (; *engine_group != ':'; ++engine_group)
        session_size = session_size * 10 + (size_t)(*engine_group - '0');
    const char *session = engine_group + 1;
    if (wanted->session != NULL && (strlen(wanted->session) != session_size ||
                                    memcmp(wanted->session, session, session_size) != 0))
        return false;
    return wanted->group == NULL || strcmp(wanted->group, session + session_size) == 0;
}

/* ---- the engine's view ---- */

static bool matches(const void *value, const void *key)
{
    const struct object *object = value;
    const struct place *place = key;
    const char *text = object->texts;

    if (memcmp(object->sizes, place->sizes, sizeof(object->sizes)) != 0)
        return false;
    for (int i = 0; i < LEVELS; ++i) {
        if (memcmp(text, place->texts[i], place->sizes[i]) != 0)
            return false;
        text += place->sizes[i];
    }
    return true;
}

static bool same_key(const void *key, const void *other)
{
    const struct place *a = key;
    const struct place *b = other;

    for (int i = 0; i < LEVELS; ++i) {
        if (strcmp(a->texts[i], b->texts[i]) != 0)
            return false;
    }
    return true;
}

static void unreference(struct ingot_object_cache *cache)
{
    /* acq_rel: all use of the cache happens before its end */
    if (atomic_fetch_sub_explicit(&cache->references, 1, memory_order_acq_rel) != 1)
        return;
    const ingot_allocator_t allocator = cache->allocator;
    memory_cache_destroy(cache->objects);
    alloc_free(&allocator, cache, sizeof(*cache));
}

static void free_object(struct object *object)
{
    struct ingot_object_cache *cache = object->cache;

    alloc_free(&cache->allocator, object, sizeof(*object) + texts_size(object->sizes));
    unreference(cache);
}

static void destroy_object(void *user, void *value)
{
    struct object *object = value;

    (void)user;
    if (object->value != NULL && object->destructor != NULL)
        object->destructor(object->value, object->cache->user);
    free_object(object);
}

/* Objects cannot be made again, so memory being short drops none. */
static const struct memory_cache_ops object_ops = {matches, destroy_object, NULL, same_key, true};

/* ---- objects ---- */

/* An entry for the place, not in the cache and still without its value. */
static struct cache_entry *make_entry(struct ingot_object_cache *cache, const struct place *place,
                                      ingot_object_destructor_t destructor)
{
    struct object *object = alloc_bytes(&cache->allocator, sizeof(*object) + texts_size(place->sizes));
    if (object == NULL) {
        error_out_of_memory();
        return NULL;
    }
    atomic_fetch_add_explicit(&cache->references, 1, memory_order_relaxed);
    *object = (struct object){.cache = cache, .destructor = destructor != NULL ? destructor : cache->destructor};
    memcpy(object->sizes, place->sizes, sizeof(object->sizes));
    char *text = object->texts;
    for (int i = 0; i < LEVELS; ++i) {
        memcpy(text, place->texts[i], place->sizes[i]);
        text += place->sizes[i];
    }
    struct cache_entry *entry = cache_entry_create(cache->objects, object);
    if (entry == NULL)
        free_object(object);
    return entry;
}

static size_t bytes_of(const struct place *place)
{
    return sizeof(struct object) + texts_size(place->sizes);
}

ingot_status_t ingot_object_cache_set(ingot_object_t *object, ingot_object_cache_t cache, const char *session,
                                      const char *group, const char *name, void *value,
                                      ingot_object_destructor_t destructor)
{
    struct place place;
    ingot_status_t status = INGOT_OUT_OF_MEMORY;

    if (cache == NULL || value == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "cache or value is NULL");
    if (!place_init(&place, session, group, name))
        return INGOT_INVALID_ARGUMENTS;
    char *engine_group = make_engine_group(&cache->allocator, &place);
    struct cache_entry *entry = engine_group != NULL ? make_entry(cache, &place, destructor) : NULL;
    if (entry != NULL) {
        const struct cache_request request = request_for(&place, engine_group);
        object_of(entry)->value = value;
        if (memory_cache_put(cache->objects, &request, entry, bytes_of(&place))) {
            status = INGOT_SUCCESS;
        } else {
            object_of(entry)->value = NULL; /* the caller's again */
            error_out_of_memory();
        }
        if (status == INGOT_SUCCESS && object != NULL)
            *object = (struct ingot_object *)entry;
        else
            cache_entry_release(entry);
    }
    free_engine_group(&cache->allocator, &place, engine_group);
    return status;
}

static ingot_status_t find(ingot_object_t *object, ingot_object_cache_t cache, const struct place *place,
                           struct cache_entry *(*look)(struct memory_cache *, const struct cache_request *))
{
    const struct cache_request request = request_for(place, NULL);
    struct cache_entry *entry = look(cache->objects, &request);

    if (entry == NULL) {
        atomic_fetch_add_explicit(&cache->misses, 1, memory_order_relaxed);
        return error_set(INGOT_NOT_FOUND, "there is no object of this name");
    }
    *object = (struct ingot_object *)entry;
    return INGOT_SUCCESS;
}

static ingot_status_t check_and_find(ingot_object_t *object, ingot_object_cache_t cache, const char *session,
                                     const char *group, const char *name,
                                     struct cache_entry *(*look)(struct memory_cache *, const struct cache_request *))
{
    struct place place;

    if (object == NULL || cache == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "object or cache is NULL");
    if (!place_init(&place, session, group, name))
        return INGOT_INVALID_ARGUMENTS;
    return find(object, cache, &place, look);
}

ingot_status_t ingot_object_cache_get(ingot_object_t *object, ingot_object_cache_t cache, const char *session,
                                      const char *group, const char *name)
{
    return check_and_find(object, cache, session, group, name, memory_cache_find);
}

ingot_status_t ingot_object_cache_take(ingot_object_t *object, ingot_object_cache_t cache, const char *session,
                                       const char *group, const char *name)
{
    return check_and_find(object, cache, session, group, name, memory_cache_take);
}

/* ---- objects made on demand ---- */

struct creation {
    struct ingot_object_cache *cache;
    const struct place *place;
    ingot_object_creator_t creator;
    void *creator_user;
    ingot_object_destructor_t destructor;
};

static ingot_status_t create_object(struct cache_entry **entry, size_t *bytes, void *user)
{
    const struct creation *creation = user;
    void *value = NULL;

    /* First all that can fail here, so that nothing created has to be thrown away. */
    struct cache_entry *made = make_entry(creation->cache, creation->place, creation->destructor);
    if (made == NULL)
        return INGOT_OUT_OF_MEMORY;
    ingot_status_t status = creation->creator(&value, creation->creator_user);
    if (status == INGOT_SUCCESS && value == NULL)
        status = error_set(INGOT_INVALID_ARGUMENTS, "the creator succeeded without an object");
    if (status != INGOT_SUCCESS) {
        cache_entry_release(made);
        return status;
    }
    object_of(made)->value = value;
    *entry = made;
    *bytes = bytes_of(creation->place);
    return INGOT_SUCCESS;
}

ingot_status_t ingot_object_cache_get_or_create(ingot_object_t *object, ingot_object_cache_t cache, const char *session,
                                                const char *group, const char *name, ingot_object_creator_t creator,
                                                void *creator_user, ingot_object_destructor_t destructor)
{
    struct place place;

    if (object == NULL || cache == NULL || creator == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "object, cache or creator is NULL");
    if (!place_init(&place, session, group, name))
        return INGOT_INVALID_ARGUMENTS;
    struct cache_request request = request_for(&place, NULL);
    struct cache_entry *entry = memory_cache_find(cache->objects, &request);
    if (entry == NULL) {
        struct creation creation = {cache, &place, creator, creator_user, destructor};
        enum cache_outcome outcome = CACHE_HIT;
        char *engine_group = make_engine_group(&cache->allocator, &place);
        if (engine_group == NULL)
            return INGOT_OUT_OF_MEMORY;
        request.group = engine_group;
        const ingot_status_t status =
            memory_cache_get_or_make(cache->objects, &request, create_object, &creation, &entry, &outcome);
        free_engine_group(&cache->allocator, &place, engine_group);
        if (status != INGOT_SUCCESS)
            return status;
    }
    *object = (struct ingot_object *)entry;
    return INGOT_SUCCESS;
}

ingot_status_t ingot_object_retain(ingot_object_t object)
{
    if (object == NULL)
        return error_null_argument("object");
    cache_entry_retain((struct cache_entry *)object);
    return INGOT_SUCCESS;
}

void ingot_object_release(ingot_object_t object)
{
    if (object != NULL)
        cache_entry_release((struct cache_entry *)object);
}

void *ingot_object_get_value(const_ingot_object_t object)
{
    return object != NULL ? object_of((const struct cache_entry *)object)->value : NULL;
}

/* ---- the cache ---- */

static struct memory_cache_limits limits_of(size_t max_groups)
{
    return (struct memory_cache_limits){.max_entries = SIZE_MAX, .max_groups = max_groups};
}

ingot_status_t ingot_object_cache_create(ingot_object_cache_t *cache, const ingot_object_cache_info_t *info)
{
    static const ingot_object_cache_info_t defaults = INGOT_OBJECT_CACHE_INFO_INIT;
    ingot_object_cache_info_t known;
    ingot_allocator_t allocator;

    if (cache == NULL || !INFO_READ(known, info != NULL ? info : &defaults))
        return error_set(INGOT_INVALID_ARGUMENTS, "cache is NULL, or struct_size is not set");
    if (alloc_init(&allocator, known.allocator) != INGOT_SUCCESS)
        return error_set(INGOT_INVALID_ARGUMENTS, "the allocator lacks a function");
    const struct memory_cache_limits limits = limits_of(known.max_groups);
    struct ingot_object_cache *made = alloc_zeroed(&allocator, sizeof(*made));
    if (made == NULL)
        return error_out_of_memory();
    atomic_init(&made->holders, 1);
    atomic_init(&made->references, 1);
    made->allocator = allocator;
    made->destructor = known.destructor;
    made->user = known.user;
    const ingot_status_t status = memory_cache_create(&made->objects, &allocator, &object_ops, made, &limits);
    if (status != INGOT_SUCCESS) {
        alloc_free(&allocator, made, sizeof(*made));
        return status;
    }
    *cache = made;
    return INGOT_SUCCESS;
}

ingot_status_t ingot_object_cache_retain(ingot_object_cache_t cache)
{
    if (cache == NULL)
        return error_null_argument("cache");
    atomic_fetch_add_explicit(&cache->holders, 1, memory_order_relaxed);
    return INGOT_SUCCESS;
}

void ingot_object_cache_release(ingot_object_cache_t cache)
{
    /* acq_rel: each holder's calls happen before the closing */
    if (cache == NULL || atomic_fetch_sub_explicit(&cache->holders, 1, memory_order_acq_rel) != 1)
        return;
    memory_cache_close(cache->objects);
    unreference(cache);
}

ingot_status_t ingot_object_cache_clear(ingot_object_cache_t cache, const char *session, const char *group)
{
    const struct wanted_groups wanted = {session, group};

    if (cache == NULL)
        return error_null_argument("cache");
    memory_cache_clear_groups(cache->objects, is_wanted, &wanted, EVICTED_CLEAR);
    return INGOT_SUCCESS;
}

ingot_status_t ingot_object_cache_set_capacity(ingot_object_cache_t cache, size_t max_groups)
{
    const struct memory_cache_limits limits = limits_of(max_groups);

    if (cache == NULL)
        return error_null_argument("cache");
    memory_cache_set_limits(cache->objects, &limits);
    return INGOT_SUCCESS;
}

ingot_status_t ingot_object_cache_get_stats(const_ingot_object_cache_t cache, ingot_object_cache_stats_t *stats)
{
    ingot_object_cache_stats_t known = INGOT_OBJECT_CACHE_STATS_INIT;
    struct memory_cache_counts counts;

    if (cache == NULL)
        return error_null_argument("cache");
    memory_cache_get_counts(cache->objects, &counts);
    known.hits = counts.hits;
    /* The cast: C11 reads no atomic through a pointer to const. */
    known.misses = counts.misses + atomic_load_explicit((_Atomic uint64_t *)&cache->misses, memory_order_relaxed);
    known.waits = counts.waits;
    known.replaced = counts.evictions[EVICTED_REPLACED];
    known.taken = counts.evictions[EVICTED_TAKEN];
    known.evictions_groups = counts.evictions[EVICTED_GROUPS];
    known.evictions_clear = counts.evictions[EVICTED_CLEAR];
    known.objects = counts.entries;
    known.groups = counts.groups;
    return INFO_WRITE(stats, known) ? INGOT_SUCCESS
                                    : error_set(INGOT_INVALID_ARGUMENTS, "stats is NULL, or struct_size is not set");
}
