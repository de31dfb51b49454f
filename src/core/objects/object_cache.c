/*
 * object_cache.c - keeps an integrator's own objects in the in-memory cache by session, group and name.
 *
 * The in-memory cache (the engine, below) has one level of groups, so the name of an engine group combines session and
 * group: "SIZE:SESSIONGROUP", where SIZE is the session's length in decimal, so that different pairs have different
 * names. As for programs, the public handle of an object is the cache's entry.
 *
 * `references` counts one for each object, and one for the application. When the application releases the cache, it is
 * closed; when the last reference is dropped, it is destroyed.
 */
#include <ingot/object_cache.h>

#include <stdatomic.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/trace.h"
#include "core/memory_cache/memory_cache.h"
#include "util/nanoseconds.h"
#include "util/struct_size.h"

struct ingot_object_cache {
    atomic_size_t references;
    ingot_allocator_t allocator;
    ingot_object_destructor_t destructor;
    void *user;
    ingot_object_size_t size_of;
    struct trace trace; /* sends events to the callback only, never to INGOT_TRACE */
    struct memory_cache *objects;
    _Atomic uint64_t misses; /* misses of requests that do not create objects; relaxed */
};

enum { LEVELS = 3 };

struct place {
    const char *texts[LEVELS]; /* session, group, name */
    size_t sizes[LEVELS];
};

struct object {
    struct ingot_object_cache *cache; /* holds a reference */
    void *value;                      /* NULL while the caller owns the value */
    ingot_object_destructor_t destructor;
    size_t sizes[LEVELS];
    char texts[]; /* session, group and name, each followed by a NUL */
};

static size_t texts_size(const size_t sizes[LEVELS])
{
    return sizes[0] + sizes[1] + sizes[2] + LEVELS;
}

static const char *get_level_text(const struct object *object, int level)
{
    const char *text = object->texts;
    for (int i = 0; i < level; ++i)
        text += object->sizes[i] + 1;
    return text;
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
    return (struct cache_request){hash128_of(sizeof(hashes), hashes), place, NULL, engine_group, false};
}

/* Makes the name of the engine group for a place. Returns NULL if out of memory. */
static char *make_engine_group(const ingot_allocator_t *allocator, const struct place *place)
{
    struct bytes_writer text;
    bytes_writer_init(&text, allocator);
    bytes_print(&text, "%zu:%s%s", place->sizes[0], place->texts[0], place->texts[1]);
    char *name = bytes_take_text(&text);
    if (name == NULL)
        error_out_of_memory();
    return name;
}

struct wanted_groups {
    const char *session; /* NULL selects any session */
    const char *group;   /* NULL selects any group */
};

static bool is_wanted_group(const char *engine_group, const void *user)
{
    const struct wanted_groups *wanted = user;
    size_t session_size = 0;

    for (; *engine_group != ':'; ++engine_group)
        session_size = session_size * 10 + (size_t)(*engine_group - '0');
    const char *session = engine_group + 1;
    if (wanted->session != NULL &&
        (strlen(wanted->session) != session_size || memcmp(wanted->session, session, session_size) != 0))
        return false;
    return wanted->group == NULL || strcmp(wanted->group, session + session_size) == 0;
}

/* ---- what the in-memory cache calls ---- */

static bool object_matches_key(const void *value, const void *key)
{
    const struct object *object = value;
    const struct place *place = key;

    if (memcmp(object->sizes, place->sizes, sizeof(object->sizes)) != 0)
        return false;
    for (int i = 0; i < LEVELS; ++i) {
        if (memcmp(get_level_text(object, i), place->texts[i], place->sizes[i]) != 0)
            return false;
    }
    return true;
}

static bool are_object_keys_equal(const void *key, const void *other)
{
    const struct place *a = key;
    const struct place *b = other;

    for (int i = 0; i < LEVELS; ++i) {
        if (strcmp(a->texts[i], b->texts[i]) != 0)
            return false;
    }
    return true;
}

static void unreference_cache(struct ingot_object_cache *cache)
{
    /* acq_rel: all use of the cache happens before it is freed */
    if (atomic_fetch_sub_explicit(&cache->references, 1, memory_order_acq_rel) != 1)
        return;
    const ingot_allocator_t allocator = cache->allocator;
    memory_cache_destroy(cache->objects);
    memory_free(&allocator, cache, sizeof(*cache));
}

static void free_object(struct object *object)
{
    struct ingot_object_cache *cache = object->cache;

    memory_free(&cache->allocator, object, sizeof(*object) + texts_size(object->sizes));
    unreference_cache(cache);
}

static void destroy_object(void *user, void *value)
{
    struct object *object = value;

    (void)user;
    if (object->value != NULL && object->destructor != NULL)
        object->destructor(object->value, object->cache->user);
    free_object(object);
}

static void emit_object_event(const struct ingot_object_cache *cache, ingot_event_kind_t kind, ingot_status_t status,
                              uint64_t start_ns, size_t bytes, const char *const texts[LEVELS], const char *reason)
{
    const ingot_event_t event = {.struct_size = sizeof(event),
                                 .kind = kind,
                                 .status = status,
                                 .duration_ns = start_ns != 0 ? nanoseconds_of(CLOCK_MONOTONIC) - start_ns : 0,
                                 .bytes = bytes,
                                 .group = texts[1],
                                 .name = texts[2],
                                 .reason = reason,
                                 .session = texts[0]};
    trace_emit(&cache->trace, &event);
}

static void emit_object_eviction(void *user, void *value, size_t bytes, enum eviction_reason reason)
{
    static const char *const reasons[EVICTION_REASONS] = {
        [EVICTED_COUNT] = "max_objects", [EVICTED_BYTES] = "max_bytes",           [EVICTED_GROUPS] = "max_groups",
        [EVICTED_CLEAR] = "clear",       [EVICTED_FAMILY] = "max_session_groups", [EVICTED_REPLACED] = "replaced",
        [EVICTED_TAKEN] = "taken",       [EVICTED_MEMORY] = "out of memory"};
    const struct ingot_object_cache *cache = user;
    const struct object *object = value;
    const char *const texts[LEVELS] = {get_level_text(object, 0), get_level_text(object, 1), get_level_text(object, 2)};

    if (trace_wanted(&cache->trace))
        emit_object_event(cache, INGOT_EVENT_EVICT, INGOT_SUCCESS, 0, bytes, texts, reasons[reason]);
}

/* True if two engine groups belong to the same session: both begin with the same number, and after the colon, that
 * number of bytes is equal. */
static bool same_session(const char *group, const char *other)
{
    size_t size = 0;
    const char *digits = group;

    for (; *group != ':' && *group == *other; ++group, ++other)
        size = size * 10 + (size_t)(*group - '0');
    return group != digits && *group == ':' && *other == ':' && strncmp(group + 1, other + 1, size) == 0;
}

/* cannot_remake is true: objects cannot be made again, so none is evicted when memory runs out. */
static const struct memory_cache_ops object_ops = {object_matches_key,    destroy_object, emit_object_eviction,
                                                   are_object_keys_equal, true,           same_session};

/* ---- setting, finding and taking objects ---- */

/* Makes an entry for the place. The entry is not in the cache and has no value yet. */
static struct cache_entry *make_entry(struct ingot_object_cache *cache, const struct place *place,
                                      ingot_object_destructor_t destructor)
{
    struct object *object = memory_allocate(&cache->allocator, sizeof(*object) + texts_size(place->sizes));
    if (object == NULL) {
        error_out_of_memory();
        return NULL;
    }
    atomic_fetch_add_explicit(&cache->references, 1, memory_order_relaxed);
    *object = (struct object){.cache = cache, .destructor = destructor != NULL ? destructor : cache->destructor};
    memcpy(object->sizes, place->sizes, sizeof(object->sizes));
    char *text = object->texts;
    for (int i = 0; i < LEVELS; ++i) {
        memcpy(text, place->texts[i], place->sizes[i] + 1);
        text += place->sizes[i] + 1;
    }
    struct cache_entry *entry = cache_entry_create(cache->objects, object);
    if (entry == NULL)
        free_object(object);
    return entry;
}

/* Returns how many bytes an object counts for once it has its value. */
static size_t count_object_bytes(const struct object *object)
{
    const struct ingot_object_cache *cache = object->cache;
    const size_t own = sizeof(*object) + texts_size(object->sizes);
    const size_t size = cache->size_of != NULL ? cache->size_of(object->value, cache->user) : 0;
    return size <= SIZE_MAX - own ? own + size : SIZE_MAX;
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
        const size_t bytes = count_object_bytes(object_of(entry));
        if (memory_cache_put(cache->objects, &request, entry, bytes)) {
            status = INGOT_SUCCESS;
        } else {
            object_of(entry)->value = NULL; /* the caller still owns the value */
            status = memory_cache_is_too_large(cache->objects, bytes)
                         ? error_set(INGOT_NO_SPACE, "an object of %zu bytes is larger than max_bytes", bytes)
                         : error_out_of_memory();
        }
        if (status == INGOT_SUCCESS && object != NULL)
            *object = (struct ingot_object *)entry;
        else
            cache_entry_release(entry);
    }
    memory_free_text(&cache->allocator, engine_group);
    return status;
}

static ingot_status_t find_object(ingot_object_t *object, ingot_object_cache_t cache, const char *session,
                                  const char *group, const char *name,
                                  struct cache_entry *(*look)(struct memory_cache *, const struct cache_request *))
{
    struct place place;

    if (object == NULL || cache == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "object or cache is NULL");
    if (!place_init(&place, session, group, name))
        return INGOT_INVALID_ARGUMENTS;
    const struct cache_request request = request_for(&place, NULL);
    struct cache_entry *entry = look(cache->objects, &request);
    if (trace_wanted(&cache->trace))
        emit_object_event(cache, entry != NULL ? INGOT_EVENT_HIT : INGOT_EVENT_MISS,
                          entry != NULL ? INGOT_SUCCESS : INGOT_NOT_FOUND, 0, 0, place.texts, "");
    if (entry == NULL) {
        atomic_fetch_add_explicit(&cache->misses, 1, memory_order_relaxed);
        return error_set(INGOT_NOT_FOUND, "there is no object of this session, group and name");
    }
    *object = (struct ingot_object *)entry;
    return INGOT_SUCCESS;
}

ingot_status_t ingot_object_cache_get(ingot_object_t *object, ingot_object_cache_t cache, const char *session,
                                      const char *group, const char *name)
{
    return find_object(object, cache, session, group, name, memory_cache_lookup);
}

ingot_status_t ingot_object_cache_take(ingot_object_t *object, ingot_object_cache_t cache, const char *session,
                                       const char *group, const char *name)
{
    return find_object(object, cache, session, group, name, memory_cache_take);
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

    if (trace_wanted(&creation->cache->trace))
        emit_object_event(creation->cache, INGOT_EVENT_MISS, INGOT_NOT_FOUND, 0, 0, creation->place->texts, "");
    /* Everything else that can fail is done first, so that no created object must be thrown away. */
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
    *bytes = count_object_bytes(object_of(made));
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
    const uint64_t start = trace_wanted(&cache->trace) ? nanoseconds_of(CLOCK_MONOTONIC) : 0;
    struct cache_entry *entry = memory_cache_lookup(cache->objects, &request);
    enum cache_outcome outcome = CACHE_HIT;
    ingot_status_t status = INGOT_SUCCESS;
    if (entry == NULL) {
        struct creation creation = {cache, &place, creator, creator_user, destructor};
        char *engine_group = make_engine_group(&cache->allocator, &place);
        if (engine_group == NULL)
            return INGOT_OUT_OF_MEMORY;
        request.group = engine_group;
        status = memory_cache_get_or_make(cache->objects, &request, create_object, &creation, &entry, &outcome);
        memory_free_text(&cache->allocator, engine_group);
    }
    if (start != 0 && outcome != CACHE_MADE)
        emit_object_event(cache, outcome == CACHE_HIT ? INGOT_EVENT_HIT : INGOT_EVENT_WAIT, status, start, 0,
                          place.texts, "");
    if (status == INGOT_SUCCESS)
        *object = (struct ingot_object *)entry;
    return status;
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

/* ---- the cache itself ---- */

ingot_status_t ingot_object_cache_create(ingot_object_cache_t *cache, const ingot_object_cache_info_t *info)
{
    static const ingot_object_cache_info_t defaults = INGOT_OBJECT_CACHE_INFO_INIT;
    ingot_object_cache_info_t known;
    ingot_object_cache_limits_t given;
    ingot_allocator_t allocator;

    if (cache == NULL || !STRUCT_READ(known, info != NULL ? info : &defaults))
        return error_set(INGOT_INVALID_ARGUMENTS, "cache is NULL, or struct_size is not set");
    if (memory_init(&allocator, known.allocator) != INGOT_SUCCESS)
        return error_set(INGOT_INVALID_ARGUMENTS, "the allocator lacks a function");
    struct memory_cache_limits limits = {.max_entries = SIZE_MAX};
    if (known.limits != NULL) {
        if (!STRUCT_READ(given, known.limits))
            return error_set(INGOT_INVALID_ARGUMENTS, "the struct_size of limits is not set");
        if ((given.flags & ~(uint32_t)INGOT_OBJECT_CACHE_LRU_GROUPS) != 0)
            return error_set(INGOT_INVALID_ARGUMENTS, "limits has unknown flags: %#x", (unsigned)given.flags);
        limits.max_bytes = given.max_bytes;
        limits.max_groups = given.max_groups;
        limits.max_family_groups = given.max_session_groups;
        limits.drops_least_used_group = given.flags != 0;
    }
    struct ingot_object_cache *made = memory_allocate_zeroed(&allocator, sizeof(*made));
    if (made == NULL)
        return error_out_of_memory();
    atomic_init(&made->references, 1);
    made->allocator = allocator;
    made->destructor = known.destructor;
    made->user = known.user;
    made->size_of = known.size_of;
    trace_init(&made->trace, known.on_event, known.on_event_user, NULL);
    const ingot_status_t status = memory_cache_create(&made->objects, &allocator, &object_ops, made, &limits);
    if (status != INGOT_SUCCESS) {
        memory_free(&allocator, made, sizeof(*made));
        return status;
    }
    *cache = made;
    return INGOT_SUCCESS;
}

void ingot_object_cache_release(ingot_object_cache_t cache)
{
    if (cache == NULL)
        return;
    memory_cache_close(cache->objects);
    unreference_cache(cache);
}

ingot_status_t ingot_object_cache_clear(ingot_object_cache_t cache, const char *session, const char *group)
{
    const struct wanted_groups wanted = {session, group};

    if (cache == NULL)
        return error_null_argument("cache");
    memory_cache_clear_groups(cache->objects, is_wanted_group, &wanted, EVICTED_CLEAR);
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
    /* The cast is needed because C11 cannot read an atomic through a pointer to const. */
    known.misses = counts.misses + atomic_load_explicit((_Atomic uint64_t *)&cache->misses, memory_order_relaxed);
    known.waits = counts.waits;
    known.replaced = counts.evictions[EVICTED_REPLACED];
    known.taken = counts.evictions[EVICTED_TAKEN];
    known.evictions_groups = counts.evictions[EVICTED_GROUPS];
    known.evictions_clear = counts.evictions[EVICTED_CLEAR];
    known.objects = counts.entries;
    known.groups = counts.groups;
    known.evictions_session_groups = counts.evictions[EVICTED_FAMILY];
    known.evictions_bytes = counts.evictions[EVICTED_BYTES];
    known.bytes = counts.bytes;
    return STRUCT_WRITE(stats, known)
               ? INGOT_SUCCESS
               : error_set(INGOT_INVALID_ARGUMENTS, "stats is NULL, or its struct_size is not set");
}
