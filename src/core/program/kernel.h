/*
 * kernel.h - entry points of programs.
 *
 * A shared kernel belongs to its program: it is made when first asked for, lives as long as the program, and its
 * references are references to the program, so that a kernel needs no count of its own. A clone has one.
 */
#ifndef INGOT_CORE_PROGRAM_KERNEL_H
#define INGOT_CORE_PROGRAM_KERNEL_H

#include "core/program/program_body.h"

struct ingot_kernel {
    struct cache_entry *program; /* of a shared kernel: borrowed, it owns the kernel; of a clone: held */
    void *native;
    bool is_clone;
    atomic_size_t references; /* of a clone */
    os_mutex lock;            /* the application's, for setting arguments and launching */
    uint32_t device;
    char name[];
};

/* A shared kernel whose program goes. NULL does nothing. */
void kernel_destroy(struct ingot_kernel *kernel, struct ingot_context *context);

/* What a name is looked for by; see program_body.h. */
uint32_t kernel_name_tag(const char *name);

#endif
