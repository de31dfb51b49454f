/*
 * key_map.h - maps keys, which are digests, to numbers.
 */
#ifndef INGOT_PERSIST_BASE_CONTAINERS_KEY_MAP_H
#define INGOT_PERSIST_BASE_CONTAINERS_KEY_MAP_H

#include <ingot/ingot.h>
#include <stdbool.h>

#define KEY_MAP_KEY_SIZE 32u

struct key_slot {
    uint8_t key[KEY_MAP_KEY_SIZE];
    size_t number; /* the key's number plus one; 0: the slot is free */
};

struct key_map {
    const ingot_allocator_t *allocator;
    struct key_slot *slots;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
    uint64_t seed[2]; /* the random key of the hash, made with the first slots; see key_map.c */
};

void key_map_init(struct key_map *map, const ingot_allocator_t *allocator);
void key_map_fini(struct key_map *map);
/* Finds the number of a key. Returns false if the map does not have the key. number may be NULL. */
bool key_map_find(const struct key_map *map, const uint8_t *key, size_t *number);
/* Adds a key, which the map must not have. Returns false if memory runs out. */
bool key_map_add(struct key_map *map, const uint8_t *key, size_t number);

#endif
