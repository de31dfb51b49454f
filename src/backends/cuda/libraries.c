/*
 * libraries.c - functions of CUDA's libraries, looked up at run time.
 *
 * A machine without a GPU, or with a driver and no compiler, can so run what was linked with this backend, and a warm
 * start touches the compilers only as far as their identity needs. The libraries are never closed: they start threads
 * and register handlers for the process's end, and the application may use them too.
 */
#include "backends/cuda/libraries.h"

#include <dlfcn.h>
#include <string.h>

const char *cuda_open_library(const char *name, size_t symbol_count, const struct library_symbol *symbols, void *table)
{
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    const char *missing = NULL;
    if (library == NULL) {
        missing = dlerror();
        return missing != NULL ? missing : "it could not be opened";
    }
    for (size_t i = 0; i < symbol_count && missing == NULL; ++i) {
        void *function = dlsym(library, symbols[i].name);
        memcpy((char *)table + symbols[i].offset, &function, sizeof(function));
        if (function == NULL)
            missing = symbols[i].name;
    }
    (void)dlclose(library); /* RTLD_NODELETE keeps it */
    return missing;
}
