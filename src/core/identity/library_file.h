/*
 * library_file.h - what the dynamic linker would know about a library's file, read without loading it.
 *
 * A compiler takes 5 to 15 ms to load, but only some microseconds to read like this.
 */
#ifndef INGOT_CORE_IDENTITY_LIBRARY_FILE_H
#define INGOT_CORE_IDENTITY_LIBRARY_FILE_H

#include "core/base/arena.h"

/* What was read from a library's file. Everything is in an arena. */
struct library_file {
    uint64_t device;
    uint64_t inode;
    const char *path;
    const char *name;        /* its SONAME, or the file's name without its directories */
    const uint8_t *build_id; /* NULL: none */
    size_t build_id_size;
    const char *runpath; /* NULL: none */
    size_t needed_count;
    const char **needed; /* DT_NEEDED */
};

enum library_place {
    LIBRARY_FOUND,
    LIBRARY_ABSENT, /* the linker continues its search */
    LIBRARY_UNSURE  /* only the linker itself can tell */
};

/* Reads the file at a path, unless `known` (which may be NULL) is that file. *file is the file read, or `known`. */
enum library_place library_file_read(struct arena *arena, const char *path, const struct library_file *known,
                                     const struct library_file **file);

#endif
