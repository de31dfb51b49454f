/*
 * library.h - opens a shared library when it is needed, and fills a table with its functions.
 *
 * Code that calls the library only through such a table also runs on machines without it. A library is never closed,
 * because it may start threads and register exit handlers, and the application may use it too.
 */
#ifndef INGOT_UTIL_LIBRARY_H
#define INGOT_UTIL_LIBRARY_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY_NAME_SIZE 40u

/* The name of a function, and the offset of the table's pointer to it. */
struct library_symbol {
    const char *name;
    size_t offset;
};

/* Opens the library and fills the table. Returns NULL on success. Otherwise returns a text that says what is missing.
 * The text is valid until the thread's next call to dlopen or another function of dlfcn.h. */
static inline const char *library_open(const char *name, size_t symbol_count, const struct library_symbol *symbols,
                                       void *table)
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
    (void)dlclose(library); /* the library stays loaded, because of RTLD_NODELETE */
    return missing;
}

/* Opens the newest BASE.so.MAJOR that has all functions, with MAJOR from `oldest` to `newest`. Returns MAJOR, or 0 if
 * there is none. */
static inline unsigned library_open_newest(const char *base, unsigned oldest, unsigned newest, size_t symbol_count,
                                           const struct library_symbol *symbols, void *table)
{
    for (unsigned major = newest; major >= oldest; --major) {
        char name[LIBRARY_NAME_SIZE];
        (void)snprintf(name, sizeof(name), "%s.so.%u", base, major);
        if (library_open(name, symbol_count, symbols, table) == NULL)
            return major;
    }
    return 0;
}

#endif
