/*
 * driver_stand_in.h - what the drivers that simulate GPUs (cuda_stand_in.c, hip_stand_in.c) have in common.
 *
 * Tests find the functions for them with dlsym, because a driver is opened at run time like the real one.
 */
#pragma once

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- for tests ---- */

/* Makes the next `times` calls to the function `call`, a name without a version suffix, return this result. */
void stand_in_fail(const char *call, int result, int times);
int stand_in_live_modules(void);
/* Returns how many CUDA contexts the calling thread has pushed and not popped. */
int cuda_stand_in_stack_depth(void);

/* ---- for the drivers ---- */

/* Results that both drivers have. */
enum { STAND_IN_OUT_OF_MEMORY = 2, STAND_IN_INVALID_IMAGE = 200, STAND_IN_NO_BINARY = 209, STAND_IN_NOT_FOUND = 500 };

/* Returns the result of a call to this function: 0, unless it is to fail. */
int stand_in_outcome(const char *call);

/* The kernels of a loaded module. */
struct stand_in_kernels {
    size_t count;
    char **names;
};

/* Finds the kernels in machine code, in the symbols of its section of this type. `get_length` returns the length of the
 * kernel's name, which is a part of the symbol's, or 0 if the symbol is not a kernel. */
void stand_in_kernels_init(struct stand_in_kernels *kernels, const uint8_t *code, Elf64_Word type,
                           size_t (*get_length)(const Elf64_Sym *symbol, const char *name));
void stand_in_kernels_fini(struct stand_in_kernels *kernels);
/* Returns a kernel, or NULL. */
char *stand_in_kernels_find(const struct stand_in_kernels *kernels, const char *name);

#ifdef __cplusplus
}
#endif
