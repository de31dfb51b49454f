/*
 * costs.h - estimates what storing a program of a device that generates code at launch will cost.
 */
#ifndef INGOT_PERSIST_STORAGE_COMMON_COSTS_H
#define INGOT_PERSIST_STORAGE_COMMON_COSTS_H

#include <stddef.h>
#include <stdint.h>

#define COSTS_NEVER UINT64_MAX /* loading the program takes longer than compiling it */

/* What is known about a program whose blob has to be made. All fields are 0 for other items. */
struct store_cost {
    uint64_t build_ns;
    uint64_t kernel_count; /* 0 if the device does not generate code at launch */
    uint64_t known_ns;     /* an earlier process gave the blob up after this time; COSTS_NEVER; 0: unknown */
};

/* Totals of the blobs that drivers have provided to a storage so far. */
struct store_costs {
    uint64_t taken_ns;
    uint64_t built_ns; /* the build time of the programs of these blobs */
};

/* What a directory store remembers about programs that cost too much to store. read_ns returns 0 if nothing is known. A
 * failure to note is ignored. */
struct storage_cost_ops {
    uint64_t (*read_ns)(void *self, size_t id_size, const uint8_t *id);
    void (*note_ns)(void *self, size_t id_size, const uint8_t *id, uint64_t known_ns);
};

/* Returns how long making the blob is expected to take. */
uint64_t costs_expect_ns(const struct store_cost *cost, const struct store_costs *so_far);
/* Adds a blob that took this time. */
void costs_add(struct store_costs *so_far, const struct store_cost *cost, uint64_t taken_ns);

/* Returns the processor time of the calling thread. */
uint64_t costs_thread_ns(void);

#endif
