/*
 * kernel.h - entry points of programs.
 *
 * A shared kernel belongs to its program: the first request makes it, it lives as long as the program, and its
 * references are references to the program, so it needs no count. A clone has its own count.
 */
#ifndef INGOT_CORE_PROGRAM_KERNEL_H
#define INGOT_CORE_PROGRAM_KERNEL_H

#include "core/program/program_body.h"

struct ingot_kernel {
    struct cache_entry *program; /* a shared kernel's owner, borrowed; a clone holds a reference */
    void *native;
    bool is_clone;
    atomic_size_t references; /* of a clone */
    os_mutex lock;            /* for the application, to set arguments and launch */
    uint32_t device;
    char name[];
};

/* Frees a kernel. NULL does nothing. */
void kernel_destroy(struct ingot_kernel *kernel, struct ingot_context *context);

/* Returns the tag by which a name is found; see program_body.h. */
uint32_t kernel_name_tag(const char *name);

#endif
