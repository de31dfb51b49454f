/*
 * libraries.h - functions of CUDA's libraries, looked up at run time.
 */
#ifndef INGOT_BACKENDS_CUDA_LIBRARIES_H
#define INGOT_BACKENDS_CUDA_LIBRARIES_H

#include <stddef.h>

/* A function's name in the library, and where in a table its pointer goes. */
struct library_symbol {
    const char *name;
    size_t offset;
};

/* Opens the library, for good, and fills the table. NULL, or what was missing: a sentence valid until the next call of
 * dlopen in this thread. */
const char *cuda_open_library(const char *name, size_t symbol_count, const struct library_symbol *symbols, void *table);

#endif
