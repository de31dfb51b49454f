/*
 * key_map.c - maps keys to numbers, by open addressing; see key_map.h.
 *
 * An attacker can choose the keys in a file. The slot of a key is therefore computed by a keyed hash (SipHash) with a
 * random key per map, so that no file can make all its keys share a slot.
 */
#include "persist/base/containers/key_map.h"

#include <sodium.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/base/memory.h"

#define LEAST_CAPACITY 64u

void key_map_init(struct key_map *map, const ingot_allocator_t *allocator)
{
    *map = (struct key_map){.allocator = allocator};
}

void key_map_fini(struct key_map *map)
{
    memory_free(map->allocator, map->slots, map->capacity * sizeof(*map->slots));
    *map = (struct key_map){.allocator = map->allocator};
}

/* Returns the slot of the key, or the free slot where the key would go. */
static struct key_slot *find_slot(const struct key_map *map, const uint8_t *key)
{
    uint8_t hash[crypto_shorthash_siphash24_BYTES];
    size_t at = 0;
    (void)crypto_shorthash_siphash24(hash, key, KEY_MAP_KEY_SIZE, (const uint8_t *)map->seed);
    memcpy(&at, hash, sizeof(at) < sizeof(hash) ? sizeof(at) : sizeof(hash));
    at &= map->capacity - 1;
    while (map->slots[at].number != 0 && memcmp(map->slots[at].key, key, KEY_MAP_KEY_SIZE) != 0)
        at = (at + 1) & (map->capacity - 1);
    return &map->slots[at];
}

bool key_map_find(const struct key_map *map, const uint8_t *key, size_t *number)
{
    const struct key_slot *slot = map->count != 0 ? find_slot(map, key) : NULL;
    if (slot == NULL || slot->number == 0)
        return false;
    if (number != NULL)
        *number = slot->number - 1;
    return true;
}

static bool grow_key_map(struct key_map *map)
{
    struct key_map grown = *map;
    grown.capacity = map->capacity != 0 ? map->capacity * 2 : LEAST_CAPACITY;
    if (map->capacity == 0) {
        grown.seed[0] = files_random();
        grown.seed[1] = files_random();
    }
    grown.slots = memory_allocate(map->allocator, grown.capacity * sizeof(*grown.slots));
    if (grown.slots == NULL)
        return false;
    memset(grown.slots, 0, grown.capacity * sizeof(*grown.slots));
    for (size_t i = 0; i < map->capacity; ++i) {
        if (map->slots[i].number != 0)
            *find_slot(&grown, map->slots[i].key) = map->slots[i];
    }
    memory_free(map->allocator, map->slots, map->capacity * sizeof(*map->slots));
    *map = grown;
    return true;
}

bool key_map_add(struct key_map *map, const uint8_t *key, size_t number)
{
    if (map->count >= map->capacity / 4 * 3 && !grow_key_map(map))
        return false;
    struct key_slot *slot = find_slot(map, key);
    memcpy(slot->key, key, KEY_MAP_KEY_SIZE);
    slot->number = number + 1;
    ++map->count;
    return true;
}
