/*
 * library_search.c - finds the file that the linker would load, from its directories and its cache; see
 * library_search.h.
 *
 * The linker itself lists its directories: those of LD_LIBRARY_PATH at the start of the process, of an RPATH or
 * RUNPATH, and of the system. Each directory may have subdirectories below glibc-hwcaps for newer processors.
 *
 * The cache, /etc/ld.so.cache, is not parsed. All that matters is which files of a name it lists: if they are not all
 * the same file, the linker is asked. Whatever else is in the cache, each of its paths ends with a NUL. ldconfig does
 * not repeat a path that is the end of another one, so each part of a text from a slash to its end may be a path.
 */
#include "core/identity/library_search.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "core/base/os_file.h"
#include "core/identity/loaded_library.h"

#define CACHE_FILE "/etc/ld.so.cache"
#define CACHE_MAGIC "glibc-ld.so.cache1.1"
#define PROCESSOR_PART "/glibc-hwcaps/"

enum { MAX_CACHE = 1 << 24, MAX_PATH = 4096, MAX_DIRECTORIES = 256 };

#if defined(__GLIBC__) && defined(__LP64__) && (defined(__x86_64__) || defined(__aarch64__))

/* True if the path is in /lib or /usr/lib, or in one of their forms for other ABIs, such as /lib64. */
static bool is_of_system(const char *path)
{
    static const char *const suffixes[] = {"", "32", "64", "x32"};
    const char *rest = strncmp(path, "/usr/lib", 8) == 0 ? path + 8 : strncmp(path, "/lib", 4) == 0 ? path + 4 : NULL;
    for (size_t i = 0; rest != NULL && i < sizeof(suffixes) / sizeof(suffixes[0]); ++i) {
        const size_t size = strlen(suffixes[i]);
        if (strncmp(rest, suffixes[i], size) == 0 && (rest[size] == '/' || rest[size] == '\0'))
            return true;
    }
    return false;
}

static void add_library_directory(struct library_search *search, const char *path, bool is_part)
{
    const char *copy = arena_copy(search->arena, strlen(path), path);
    if (search->directory_count == MAX_DIRECTORIES || copy == NULL)
        search->is_known = false;
    else
        search->directories[search->directory_count++] = (struct library_directory){copy, !is_of_system(path), is_part};
}

/* Adds a directory's subdirectories for newer processors, then the directory itself. */
static void add_library_place(struct library_search *search, const char *path)
{
    char part[MAX_PATH];
    const int length = snprintf(part, sizeof(part), "%s/glibc-hwcaps", path);
    DIR *parts = length > 0 && (size_t)length < sizeof(part) ? opendir(part) : NULL;
    for (const struct dirent *entry; parts != NULL && (entry = readdir(parts)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(part + length, sizeof(part) - (size_t)length, "/%s", entry->d_name);
        add_library_directory(search, part, true);
    }
    if (parts != NULL)
        (void)closedir(parts);
    add_library_directory(search, *path != '\0' ? path : ".", false);
}

static bool ask_linker(struct library_search *search, void *handle)
{
    Dl_serinfo size;
    if (dlinfo(handle, RTLD_DI_SERINFOSIZE, &size) != 0)
        return false;
    Dl_serinfo *info = arena_take(search->arena, size.dls_size);
    search->directories = arena_take(search->arena, MAX_DIRECTORIES * sizeof(*search->directories));
    if (info == NULL || search->directories == NULL)
        return false;
    info->dls_size = size.dls_size;
    info->dls_cnt = size.dls_cnt;
    if (dlinfo(handle, RTLD_DI_SERINFO, info) != 0)
        return false;
    for (unsigned i = 0; i < info->dls_cnt; ++i)
        add_library_place(search, info->dls_serpath[i].dls_name);
    return true;
}

#else

static bool ask_linker(struct library_search *search, void *handle)
{
    (void)search;
    (void)handle;
    return false;
}

#endif

/* Reads the linker's cache, and adds a NUL at its end. */
static bool read_cache(struct library_search *search)
{
    const ingot_status_t status = os_read_file(CACHE_FILE, MAX_CACHE, &search->cache, NULL);
    if (status == INGOT_NOT_FOUND)
        return true;
    bytes_put(&search->cache, 1, "");
    return status == INGOT_SUCCESS && !search->cache.failed &&
           memmem(search->cache.bytes, search->cache.size, CACHE_MAGIC, strlen(CACHE_MAGIC)) != NULL;
}

void library_search_init(struct library_search *search, struct arena *arena)
{
    void *handle = library_handle_of_own();
    *search = (struct library_search){.arena = arena, .is_known = handle != NULL};
    bytes_writer_init(&search->cache, arena->allocator);
    /* If another thread loads more between the two calls, the last ones are not listed
     * and are searched as files. */
    const size_t capacity = library_put_names(0, NULL);
    search->loaded = arena_take(search->arena, capacity);
    if (search->loaded != NULL) {
        const size_t size = library_put_names(capacity, search->loaded);
        search->loaded_size = size < capacity ? size : capacity;
    }
    if (handle == NULL)
        return;
    search->is_known = ask_linker(search, handle) && read_cache(search) && search->is_known;
    (void)dlclose(handle);
    if (search->cache.failed)
        arena->failed = true;
}

/* A search in progress. */
struct candidate {
    const struct library_search *search;
    const char *name;
    const struct library_file *file; /* NULL until it is found */
    bool is_unsure;
};

static void consider_library_file(struct candidate *candidate, const char *path)
{
    const struct library_file *found = NULL;
    const enum library_place place = library_file_read(candidate->search->arena, path, candidate->file, &found);
    candidate->is_unsure = candidate->is_unsure || place == LIBRARY_UNSURE ||
                           (place == LIBRARY_FOUND && candidate->file != NULL && candidate->file != found);
    if (place == LIBRARY_FOUND)
        candidate->file = found;
}

static void consider_directory(struct candidate *candidate, const char *directory)
{
    char path[MAX_PATH];
    const int length = snprintf(path, sizeof(path), "%s/%s", directory, candidate->name);
    if (length < 0 || length >= (int)sizeof(path))
        candidate->is_unsure = true;
    else
        consider_library_file(candidate, path);
}

/* Looks in a file's RUNPATH, where $ORIGIN is the directory of the file. */
static void consider_runpath(struct candidate *candidate, const struct library_file *needed_by)
{
    const char *slash = strrchr(needed_by->path, '/');
    for (const char *at = needed_by->runpath; *at != '\0';) {
        static const char *const origins[] = {"$ORIGIN", "${ORIGIN}"};
        char directory[MAX_PATH];
        const size_t size = strcspn(at, ":");
        size_t skipped = 0;
        for (size_t i = 0; i < 2 && skipped == 0; ++i)
            skipped = strncmp(at, origins[i], strlen(origins[i])) == 0 ? strlen(origins[i]) : 0;
        const int length =
            snprintf(directory, sizeof(directory), "%.*s%.*s", skipped != 0 ? (int)(slash - needed_by->path) : 0,
                     needed_by->path, (int)(size - skipped), at + skipped);
        if (size == 0 || length >= (int)sizeof(directory) || strchr(directory, '$') != NULL)
            candidate->is_unsure = true;
        else
            consider_directory(candidate, directory);
        at += size + (at[size] == ':');
    }
}

enum library_place library_search_find(const struct library_search *search, const char *name,
                                       const struct library_file *needed_by, const struct library_file **file)
{
    struct candidate candidate = {.search = search, .name = name, .is_unsure = !search->is_known};
    bool is_decided = false;
    if (strchr(name, '/') != NULL)
        candidate.is_unsure = true;
    for (size_t i = 0; i < search->directory_count && !candidate.is_unsure && !is_decided; ++i) {
        const struct library_directory *directory = &search->directories[i];
        consider_directory(&candidate, directory->path);
        candidate.is_unsure = candidate.is_unsure || (directory->is_part && candidate.file != NULL);
        is_decided = candidate.file != NULL && directory->is_named && needed_by == NULL;
    }
    if (!candidate.is_unsure && needed_by != NULL && needed_by->runpath != NULL)
        consider_runpath(&candidate, needed_by);
    if (!candidate.is_unsure && !is_decided) {
        /* Considers every file of this name that the linker's cache may list. Those for other machines count as absent.
         * Only the linker knows which one it takes if there are others, or one for newer processors. */
        const struct bytes_writer *cache = &candidate.search->cache;
        const char *start = (const char *)cache->bytes;
        const size_t size = strlen(candidate.name) + 1;
        for (const char *at = start;
             at != NULL && (at = memmem(at, cache->size - (size_t)(at - start), candidate.name, size)) != NULL; ++at) {
            const char *path = at;
            while (path != start && path[-1] != '\0')
                --path;
            if (path == at || at[-1] != '/')
                continue;
            for (; (path = strchr(path, '/')) != NULL && path < at; ++path) {
                candidate.is_unsure = candidate.is_unsure || strstr(path, PROCESSOR_PART) != NULL;
                consider_library_file(&candidate, path);
            }
        }
    }
    *file = candidate.file;
    return candidate.is_unsure ? LIBRARY_UNSURE : candidate.file != NULL ? LIBRARY_FOUND : LIBRARY_ABSENT;
}

bool library_search_has_loaded(const struct library_search *search, const char *name)
{
    for (size_t at = 0; at < search->loaded_size; at += strlen(search->loaded + at) + 1) {
        if (strcmp(search->loaded + at, name) == 0)
            return true;
    }
    return false;
}

void library_search_fini(struct library_search *search)
{
    bytes_writer_fini(&search->cache);
}
