/*
 * native_builds.c - keeps the hashes of programs in a ring buffer; see native_builds.h.
 */
#include "core/context/native_builds.h"

void native_builds_init(struct native_builds *builds)
{
    builds->keys = NULL;
    builds->count = 0;
    pthread_mutex_init(&builds->lock, NULL);
}

void native_builds_fini(struct native_builds *builds, const ingot_allocator_t *allocator)
{
    alloc_free(allocator, builds->keys, NATIVE_BUILDS_REMEMBERED * sizeof(*builds->keys));
    builds->keys = NULL;
    pthread_mutex_destroy(&builds->lock);
}

static bool has(const struct native_builds *builds, struct hash128 key)
{
    const size_t count = builds->count < NATIVE_BUILDS_REMEMBERED ? builds->count : NATIVE_BUILDS_REMEMBERED;
    for (size_t i = 0; i < count; ++i) {
        if (builds->keys[i].low == key.low && builds->keys[i].high == key.high)
            return true;
    }
    return false;
}

bool native_builds_has(struct native_builds *builds, struct hash128 key)
{
    pthread_mutex_lock(&builds->lock);
    const bool found = has(builds, key);
    pthread_mutex_unlock(&builds->lock);
    return found;
}

void native_builds_add(struct native_builds *builds, const ingot_allocator_t *allocator, struct hash128 key)
{
    const size_t size = NATIVE_BUILDS_REMEMBERED * sizeof(*builds->keys);
    struct hash128 *room =
        alloc_zeroed(allocator, size); /* before locking, because this calls the application's allocator */

    pthread_mutex_lock(&builds->lock);
    if (builds->keys == NULL) {
        builds->keys = room;
        room = NULL;
    }
    if (builds->keys != NULL && !has(builds, key))
        builds->keys[builds->count++ % NATIVE_BUILDS_REMEMBERED] = key;
    pthread_mutex_unlock(&builds->lock);
    alloc_free(allocator, room, size);
}
