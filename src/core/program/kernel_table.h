/*
 * kernel_table.h - makes and keeps the kernels of a program.
 *
 * A kernel belongs to its program. The first request makes it. If several threads request it at once, each makes
 * one, and all get the one that is finished first. It lives as long as the program, and a reference to it is a
 * reference to the program, so it needs no count. There are no locks.
 */
#ifndef INGOT_CORE_PROGRAM_KERNEL_TABLE_H
#define INGOT_CORE_PROGRAM_KERNEL_TABLE_H

#include <pthread.h>

#include "core/program/program_body.h"

struct ingot_kernel {
    pthread_mutex_t lock; /* applications hold it while they set arguments and launch */
    void *native;
    /* the next fields are adjacent, because each request reads them */
    struct cache_entry *program; /* the program that owns the kernel */
    uint32_t device;
    char name[];
};

/* The kernels of a program. An array follows in memory: the offset of each kernel's name in the `names` of the
 * program's body. */
struct kernel_table {
    size_t count;
    _Atomic(struct ingot_kernel *) made[]; /* one per device position and name position, in this order; NULL until
                                            * requested; release/acquire */
};

/* Returns the size of a program's table, even if it has not been made yet. */
size_t kernel_table_size(const struct program_body *body);
/* Returns the program's table, which the first call makes. Returns NULL if out of memory. */
struct kernel_table *kernel_table_get(struct program_body *body);
/* Finds the position of a kernel's name. Returns false if the program has no such kernel. */
bool kernel_table_find(const struct program_body *body, struct kernel_table *table, const char *name, size_t *position);
/* Makes the kernel and stores it at `place` in the table, unless another thread has stored one meanwhile. */
ingot_status_t kernel_table_make(struct cache_entry *program, uint32_t device, const char *name,
                                 _Atomic(struct ingot_kernel *) *place, struct ingot_kernel **kernel);
/* Frees a program's table with its kernels. */
void kernel_table_destroy(struct program_body *body);

#endif
