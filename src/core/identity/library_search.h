/*
 * library_search.h - finds the file that the dynamic linker would load under a name.
 *
 * For a name that is passed to dlopen, the search ends at the first directory that a user has named, for example in
 * LD_LIBRARY_PATH, and that contains the file. In all other cases, every place that has a file of this name must have
 * the same file. Otherwise, the result is LIBRARY_UNSURE, because only the linker knows its order of search.
 */
#ifndef INGOT_CORE_IDENTITY_LIBRARY_SEARCH_H
#define INGOT_CORE_IDENTITY_LIBRARY_SEARCH_H

#include "core/base/bytes.h"
#include "core/identity/library_file.h"

struct library_directory {
    const char *path;
    bool is_named; /* named by a user or a library; false for the system's directories */
    bool is_part;  /* a subdirectory whose libraries are for some processors only */
};

struct library_search {
    struct arena *arena;
    bool is_known; /* false if this machine's linker is unknown; each search is then unsure */
    size_t directory_count;
    struct library_directory *directories;
    size_t loaded_size;
    char *loaded;              /* names of the loaded libraries, each followed by a NUL */
    struct bytes_writer cache; /* the bytes of the linker's cache; empty if it has none */
};

/* Asks the linker for its directories and reads its cache. Sets arena->failed if out of memory. library_search_fini
 * must be called in any case. */
void library_search_init(struct library_search *search, struct arena *arena);
void library_search_fini(struct library_search *search);

/* True if the process has loaded a library of this name. */
bool library_search_has_loaded(const struct library_search *search, const char *name);

/* Finds a library by a name that the file needed_by was linked with, or by a name passed to dlopen if needed_by is
 * NULL. */
enum library_place library_search_find(const struct library_search *search, const char *name,
                                       const struct library_file *needed_by, const struct library_file **file);

#endif
