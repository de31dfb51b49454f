/*
 * library_search.h - finds the file that the dynamic linker would load under a name.
 *
 * Among the directories that a user or a library names, as in LD_LIBRARY_PATH, the first one with the file decides.
 * Otherwise all places with the name must lead to one file; if they do not, the search is unsure, because only the
 * linker knows their order.
 */
#ifndef INGOT_CORE_IDENTITY_LIBRARY_SEARCH_H
#define INGOT_CORE_IDENTITY_LIBRARY_SEARCH_H

#include "core/base/bytes.h"
#include "core/identity/library_file.h"

struct library_directory {
    const char *path;
    bool is_named; /* named by a user or a library, not one of the system */
    bool is_part;  /* for some processors only */
};

struct library_search {
    struct arena *arena;
    bool is_known; /* false: nothing is known about this machine's linker, so each search is unsure */
    size_t directory_count;
    struct library_directory *directories;
    size_t loaded_size;
    char *loaded; /* names of the loaded libraries, each with its NUL */
    struct bytes_writer cache;
    size_t cache_start; /* where the entries' offsets begin */
    size_t entry_count;
};

/* Asks for the linker's directories and reads its cache. Sets arena->failed if out of memory. Call fini in any case. */
void library_search_init(struct library_search *search, struct arena *arena);
void library_search_fini(struct library_search *search);

/* True if the process has loaded a library of this name. */
bool library_search_has_loaded(const struct library_search *search, const char *name);

/* Finds a library by a name that another file needs, or that dlopen is called with (needed_by NULL). */
enum library_place library_search_find(const struct library_search *search, const char *name,
                                       const struct library_file *needed_by, const struct library_file **file);

#endif
