/*
 * kernel_table.h - the kernels of a program.
 *
 * A shared kernel belongs to its program. The first request makes it while later ones wait. It lives as long as the
 * program, and its references are references to the program, so it needs no count. A clone has its own count.
 * Locks: context->kernel_lock guards the list of kernels that are being made. The wait graph's lock is taken under it;
 * the backend is not called.
 */
#ifndef INGOT_CORE_PROGRAM_KERNEL_TABLE_H
#define INGOT_CORE_PROGRAM_KERNEL_TABLE_H

#include "core/program/program_body.h"

struct ingot_kernel {
    os_mutex lock;            /* held by the application while it sets arguments and launches */
    atomic_size_t references; /* of a clone */
    void *native;
    /* the next fields are close together, because each request reads them */
    struct cache_entry *program; /* a shared kernel's owner, borrowed; a clone holds a reference */
    uint32_t device;
    bool is_clone;
    char name[];
};

/* The shared kernels of a program. They are followed by the offsets of the names in the body. */
struct kernel_table {
    size_t count;
    _Atomic(struct ingot_kernel *) made[]; /* [device position][name position]; NULL: not requested; release/acquire */
};

/* Makes a kernel without its native part. Returns NULL if out of memory. */
struct ingot_kernel *kernel_alloc(struct ingot_context *context, struct cache_entry *program, uint32_t device,
                                  const char *name);
/* Frees a kernel. Does nothing if kernel is NULL. */
void kernel_destroy(struct ingot_kernel *kernel, struct ingot_context *context);

/* Returns the size of a program's table, which the first request for a kernel makes. */
size_t kernel_table_size(const struct program_body *body);
/* Returns the program's table, which the first call makes. Returns NULL if out of memory. */
struct kernel_table *kernel_table_get(struct program_body *body);
/* Finds the position of a name. Returns false if there is none. */
bool kernel_table_find(const struct program_body *body, struct kernel_table *table, const char *name, size_t *position);
/* Makes the kernel of a place in the table, or waits for the thread that makes it. */
ingot_status_t kernel_table_make(struct cache_entry *program, uint32_t device, const char *name,
                                 _Atomic(struct ingot_kernel *) *place, struct ingot_kernel **kernel);
/* Frees a program's kernels. */
void kernel_table_destroy(struct program_body *body);

#endif
