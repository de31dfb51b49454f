/*
 * library_file.h - reads from a library's file what the dynamic linker would read, without loading the library.
 *
 * Loading a compiler takes 5 to 15 ms; reading its file takes only a few microseconds.
 */
#ifndef INGOT_CORE_IDENTITY_LIBRARY_FILE_H
#define INGOT_CORE_IDENTITY_LIBRARY_FILE_H

#include "util/memory.h"

/* What was read from a library's file. All memory belongs to an arena. */
struct library_file {
    uint64_t device;
    uint64_t inode;
    const char *path;
    const char *name;        /* its SONAME, or the file's name without its directories */
    const uint8_t *build_id; /* NULL if it has none */
    size_t build_id_size;
    const char *runpath; /* NULL if it has none */
    size_t needed_count;
    const char **needed; /* names of the libraries that it was linked with (DT_NEEDED) */
};

enum library_place {
    LIBRARY_FOUND,
    LIBRARY_ABSENT, /* no usable file at this path; the linker continues its search */
    LIBRARY_UNSURE  /* only the linker itself can know what it would load */
};

/* Reads the file at a path, unless it is the same file as `known` (which may be NULL). In that case, sets *file to
 * `known`. If the process can open no more files, the arena fails, so that no library counts as absent for that. */
enum library_place library_file_read(struct arena *arena, const char *path, const struct library_file *known,
                                     const struct library_file **file);
/* Returns false if the process can open no more files. */
bool library_file_can_open(void);

#endif
