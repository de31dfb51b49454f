/*
 * objects.h - the framework's own objects, which it keeps in an ingot_object_cache.
 *
 * Every object records whether it is alive, and all are counted. The example exits with an error if an object is
 * used after its end, ended twice, or leaked.
 */
#ifndef FRAMEWORK_OBJECTS_H
#define FRAMEWORK_OBJECTS_H

#include <stdatomic.h>
#include <stdint.h>

#include <ingot/object_cache.h>

#include "layer.h"

/* Counts objects and their bytes, and the memory that Ingot allocates. */
struct object_counts {
    atomic_size_t made;
    atomic_size_t ended;
    atomic_size_t live_bytes;
    atomic_size_t peak_bytes;
    atomic_size_t ingot_bytes;
    atomic_size_t ingot_peak_bytes;
};

/* The first member of every object. */
struct object {
    uint64_t life;
    size_t bytes;
    struct object_counts *counts;
    void (*finish)(struct object *object); /* NULL: the object only holds memory */
};

/* Creates a zeroed object with this many bytes in total. */
void *object_make(struct object_counts *counts, size_t bytes, void (*finish)(struct object *object));
/* Exits with an error if the object is not alive. */
void object_check(const void *object);
/* Destroys an object. This is an ingot_object_destructor_t. */
void object_end(void *object, void *user);

/* Returns an allocator that counts the memory of Ingot's contexts and caches. */
ingot_allocator_t object_counting_allocator(struct object_counts *counts);

#endif
