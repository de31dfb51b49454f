/*
 * compiler_identity.c - identifies a compiler by the build-ids of the driver and of the libraries that the driver uses.
 *
 * When a distribution rebuilds or patches a compiler library, its version string may stay the same, but its build-id
 * changes. Libraries that are known to generate no code are omitted; otherwise each update of one would make all stored
 * programs stale. Libraries that a driver loads only when it compiles are read as files, because loading them takes
 * milliseconds. If it is not certain which file the driver would load, the library is loaded instead, and stays loaded.
 *
 * A library without a build-id is identified by a hash of its content (content_hash.c).
 */
#include <dlfcn.h>
#include <string.h>

#include "core/base/error.h"
#include "core/identity/device_identity.h"
#include "core/identity/library_search.h"
#include "core/identity/loaded_library.h"
#include "util/hex.h"
#include "util/memory.h"

enum { MAX_LIBRARIES = 512, MAX_OPENED = 64 };

struct library {
    const struct link_map *loaded;   /* NULL if it is not loaded */
    const struct library_file *file; /* NULL if it is loaded */
};

struct library_set {
    struct arena arena;
    struct ingot_header_memo *memo; /* NULL if nothing is remembered */
    struct library_search search;
    struct library libraries[MAX_LIBRARIES]; /* without duplicates */
    size_t count;
    const char *lines[MAX_LIBRARIES];
    size_t line_count;
    void *opened[MAX_OPENED];
    size_t opened_count;
};

static bool generates_no_code(const char *name)
{
    static const char *const beginnings[] = {
        /* the C and C++ runtimes */
        "libc.so", "libm.so", "libmvec.so", "libdl.so", "libpthread.so", "librt.so", "ld-linux", "ld64.so",
        "libgcc_s.so", "libstdc++.so", "libc++.so", "libc++abi.so", "libatomic.so", "ld-musl-", "libc.musl-",
        "linux-vdso", "linux-gate", "libgomp.so", "libubsan.so", "libasan.so", "libtsan.so",
        /* compression, XML, Unicode, terminals, digests, foreign function calls */
        "libz.so", "libzstd.so", "liblzma.so", "libbz2.so", "liblz4.so", "libxml2.so", "libexpat.so", "libicuuc.so",
        "libicudata.so", "libicui18n.so", "libedit.so", "libtinfo.so", "libncurses", "libreadline.so", "libbsd.so",
        "libmd.so", "libffi.so", "libelf.so", "libdw.so", "libcrypto.so", "libssl.so",
        /* devices and their memory */
        "libudev.so", "libsystemd.so", "libcap.so", "libhwloc.so", "libnuma.so", "libltdl.so", "libpciaccess.so",
        "libdrm", "libigdgmm.so", "libOpenCL.so", "libze_loader.so", "libX11", "libxcb", "libwayland-"};
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); ++i) {
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    }
    return false;
}

static void add_compiler_library(struct library_set *set, const struct link_map *loaded,
                                 const struct library_file *file)
{
    if ((loaded == NULL && file == NULL) || set->count == MAX_LIBRARIES ||
        generates_no_code(loaded != NULL ? library_name(loaded) : file->name))
        return;
    for (size_t i = 0; i < set->count; ++i) {
        const struct library *other = &set->libraries[i];
        if (loaded != NULL
                ? other->loaded == loaded
                : other->file != NULL && other->file->device == file->device && other->file->inode == file->inode)
            return;
    }
    set->libraries[set->count++] = (struct library){loaded, file};
}

static void load_library(struct library_set *set, const char *name)
{
    void *handle = NULL;
    if (set->opened_count == MAX_OPENED)
        return;
    const struct link_map *library = library_open(name, &handle);
    if (handle == NULL && !library_file_can_open())
        set->arena.failed = true;
    if (handle == NULL)
        return;
    set->opened[set->opened_count++] = handle;
    add_compiler_library(set, library, NULL);
}

/* Adds a library by its name. If it is not loaded, its file is read. If it is uncertain which file the linker would
 * load, loads the library that needs this one, or this one itself if needed_by is NULL. */
static void find_library(struct library_set *set, const char *name, const struct library_file *needed_by)
{
    const struct library_file *file = NULL;
    const struct link_map *loaded = library_search_has_loaded(&set->search, name) ? library_if_loaded(name) : NULL;
    if (loaded != NULL) {
        add_compiler_library(set, loaded, NULL);
        return;
    }
    switch (library_search_find(&set->search, name, needed_by, &file)) {
    case LIBRARY_FOUND: add_compiler_library(set, NULL, file); break;
    case LIBRARY_UNSURE: load_library(set, needed_by != NULL ? needed_by->path : name); break;
    case LIBRARY_ABSENT: break;
    }
}

/* ---- the identity's field ---- */

static ingot_status_t add_line_of_library(struct library_set *set, const struct library *library)
{
    const struct link_map *loaded = library->loaded;
    const char *name = loaded != NULL ? library_name(loaded) : library->file->name;
    const char *path = loaded != NULL ? library_path(loaded) : library->file->path;
    const uint8_t *id = loaded == NULL ? library->file->build_id : NULL;
    size_t id_size = loaded == NULL ? library->file->build_id_size : 0;
    char hash[CONTENT_HASH_TEXT];
    if (loaded != NULL)
        (void)library_build_id(loaded, &id, &id_size);
    char *hex = id != NULL ? arena_take(&set->arena, 2 * id_size + 1) : NULL;
    if (hex != NULL) {
        hex_put(hex, id_size, id);
        set->lines[set->line_count++] = arena_print(&set->arena, "%s %s", name, hex);
    } else if (id == NULL) {
        const ingot_status_t status = content_hash_of(set->memo, set->arena.allocator, path, hash);
        if (status != INGOT_SUCCESS && status != INGOT_OUT_OF_MEMORY)
            return ingot_set_error(INGOT_BACKEND_ERROR, ingot_last_error_code(),
                                   "the driver's library %s has no build-id and could not be read", path);
        if (status != INGOT_SUCCESS)
            return status;
        set->lines[set->line_count++] = arena_print(&set->arena, "%s xxh3:%s", name, hash);
    }
    return set->arena.failed ? INGOT_OUT_OF_MEMORY : INGOT_SUCCESS;
}

static ingot_status_t add_field(struct library_set *set, ingot_identity_t *identity)
{
    const struct link_map **loaded = arena_take(&set->arena, set->count * sizeof(struct link_map *));
    size_t count = 0;
    struct bytes_writer text;
    /* the files of loaded libraries without a build-id must be those that were loaded */
    for (size_t i = 0; loaded != NULL && i < set->count; ++i) {
        const uint8_t *id;
        size_t size;
        if (set->libraries[i].loaded != NULL && !library_build_id(set->libraries[i].loaded, &id, &size))
            loaded[count++] = set->libraries[i].loaded;
    }
    const struct link_map *replaced = library_find_replaced(count, loaded);
    if (replaced != NULL)
        return error_set(INGOT_BACKEND_ERROR,
                         "the driver's library %s has no build-id, and its file was replaced after it was loaded",
                         library_path(replaced));
    ingot_status_t status = set->arena.failed ? INGOT_OUT_OF_MEMORY : INGOT_SUCCESS;
    for (size_t i = 0; i < set->count && status == INGOT_SUCCESS; ++i)
        status = add_line_of_library(set, &set->libraries[i]);
    if (status != INGOT_SUCCESS)
        return status;
    texts_sort(set->line_count, set->lines);
    bytes_writer_init(&text, set->arena.allocator);
    for (size_t i = 0; i < set->line_count; ++i) {
        if (i != 0 && strcmp(set->lines[i], set->lines[i - 1]) == 0)
            continue; /* a library may be in the set both as loaded and as a file */
        bytes_put_text(&text, set->lines[i]);
        bytes_put_text(&text, "\n");
    }
    status = text.failed ? INGOT_OUT_OF_MEMORY : ingot_identity_add(identity, "compiler", text.size, text.bytes);
    bytes_writer_fini(&text);
    return status;
}

ingot_status_t ingot_identity_add_compiler(ingot_identity_t *identity, const void *driver_function,
                                           const char *const *compiler_libraries)
{
    if (identity == NULL)
        return error_null_argument("identity");
    const struct link_map *driver = library_of_function(driver_function);
    if (driver == NULL)
        return error_set(INGOT_BACKEND_ERROR, "no loaded library contains the driver's function");

    const ingot_allocator_t *allocator = identity->fields.allocator;
    struct library_set *set = memory_allocate_zeroed(allocator, sizeof(*set));
    if (set == NULL)
        return error_out_of_memory();
    arena_init(&set->arena, allocator);
    set->memo = identity->memo;
    if (compiler_libraries != NULL && *compiler_libraries != NULL)
        library_search_init(&set->search, &set->arena);
    set->libraries[set->count++].loaded = driver; /* the driver itself is added whatever its name is */
    for (; compiler_libraries != NULL && *compiler_libraries != NULL; ++compiler_libraries)
        find_library(set, *compiler_libraries, NULL);
    /* The libraries that the ones found so far were linked with, and so on, until no more are found. */
    for (size_t i = 0; i < set->count; ++i) {
        const struct library library = set->libraries[i];
        const char *name;
        for (size_t n = 0; library.loaded != NULL && (name = library_needed(library.loaded, n)) != NULL; ++n) {
            if (!generates_no_code(name))
                add_compiler_library(set, library_if_loaded(name), NULL);
        }
        for (size_t n = 0; library.file != NULL && n < library.file->needed_count; ++n) {
            if (!generates_no_code(library.file->needed[n]))
                find_library(set, library.file->needed[n], library.file);
        }
    }
    ingot_status_t status = set->arena.failed ? INGOT_OUT_OF_MEMORY : add_field(set, identity);
    while (set->opened_count != 0)
        dlclose(set->opened[--set->opened_count]);
    if (set->search.arena != NULL)
        library_search_fini(&set->search);
    arena_fini(&set->arena);
    memory_free(allocator, set, sizeof(*set));
    return status == INGOT_OUT_OF_MEMORY ? error_out_of_memory() : status;
}
