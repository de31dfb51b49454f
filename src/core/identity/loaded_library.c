/*
 * loaded_library.c - reads the dynamic linker's tables of the loaded libraries; see loaded_library.h.
 */
#include "core/identity/loaded_library.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct link_map *library_of_function(const void *function)
{
    Dl_info info;
    struct link_map *library = NULL;
    if (function == NULL || dladdr1(function, &info, (void **)&library, RTLD_DL_LINKMAP) == 0)
        return NULL;
    return library;
}

static struct link_map *library_of_handle(void *handle)
{
    struct link_map *library = NULL;
    return dlinfo(handle, RTLD_DI_LINKMAP, &library) == 0 ? library : NULL;
}

struct link_map *library_if_loaded(const char *name)
{
    void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == NULL)
        return NULL;
    struct link_map *library = library_of_handle(handle);
    dlclose(handle);
    return library;
}

struct link_map *library_open(const char *name, void **handle)
{
    /* The library stays loaded after it is closed, because some compilers (nvJitLink) leak memory each time they are
     * loaded again. */
    *handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    return *handle != NULL ? library_of_handle(*handle) : NULL;
}

void *library_handle_of_own(void)
{
    static const char inside = 0;
    const struct link_map *own = library_of_function(&inside);
    if (own == NULL)
        return NULL;
    return own->l_name[0] != '\0' ? dlopen(own->l_name, RTLD_LAZY | RTLD_NOLOAD) : dlopen(NULL, RTLD_LAZY);
}

/* Returns the string of entry number `index`, counted from 0, among the dynamic section's entries with this tag.
 * Returns NULL if there are fewer. On most machines, glibc replaces offsets in the section with addresses; elsewhere,
 * `base` is added. */
static const char *dynamic_string(ElfW(Addr) base, const ElfW(Dyn) * dynamic, ElfW(Sxword) tag, size_t index)
{
    const char *strings = NULL;
    for (const ElfW(Dyn) *entry = dynamic; entry != NULL && entry->d_tag != DT_NULL && strings == NULL; ++entry) {
        const uintptr_t address = (uintptr_t)entry->d_un.d_ptr;
        if (entry->d_tag == DT_STRTAB)
            strings = (const char *)(address < base ? address + base : address);
    }
    for (const ElfW(Dyn) *entry = dynamic; strings != NULL && entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == tag && index-- == 0)
            return strings + entry->d_un.d_val;
    }
    return NULL;
}

const char *library_path(const struct link_map *library)
{
    return library->l_name != NULL && library->l_name[0] != '\0' ? library->l_name : "/proc/self/exe";
}

const char *library_name(const struct link_map *library)
{
    const char *name = dynamic_string(library->l_addr, library->l_ld, DT_SONAME, 0);
    if (name != NULL)
        return name;
    if (library->l_name == NULL || library->l_name[0] == '\0')
        return "program"; /* the driver is linked into the executable, which has no name here */
    const char *slash = strrchr(library->l_name, '/');
    return slash != NULL ? slash + 1 : library->l_name;
}

const char *library_needed(const struct link_map *library, size_t index)
{
    return dynamic_string(library->l_addr, library->l_ld, DT_NEEDED, index);
}

/* ---- names of all loaded libraries ---- */

/* A list of names, each followed by a NUL. Names that do not fit are counted but not written. */
struct name_list {
    size_t capacity;
    char *names;
    size_t size; /* size of all names, including those that do not fit */
};

static void put_name(struct name_list *list, const char *name)
{
    if (name == NULL)
        return;
    const size_t size = strlen(name) + 1;
    if (size <= list->capacity && list->size <= list->capacity - size)
        memcpy(list->names + list->size, name, size);
    list->size += size;
}

static int put_names_of(struct dl_phdr_info *info, size_t size, void *list)
{
    (void)size;
    const char *slash = strrchr(info->dlpi_name, '/');
    put_name(list, slash != NULL ? slash + 1 : info->dlpi_name);
    for (size_t i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_DYNAMIC)
            put_name(list, dynamic_string(info->dlpi_addr, (const ElfW(Dyn) *)(info->dlpi_addr + segment->p_vaddr),
                                          DT_SONAME, 0));
    }
    return 0;
}

size_t library_put_names(size_t capacity, char *names)
{
    struct name_list list = {capacity, names, 0};
    (void)dl_iterate_phdr(put_names_of, &list);
    return list.size;
}

/* ---- build-id ---- */

static size_t round_up_size(size_t size, size_t alignment)
{
    return (size + alignment - 1) / alignment * alignment;
}

bool library_find_build_id(size_t size, const uint8_t *notes, size_t wanted_alignment, const uint8_t **id,
                           size_t *id_size)
{
    const size_t alignment = wanted_alignment == 8 ? 8 : 4;
    ElfW(Nhdr) header;
    while (size >= sizeof(header)) {
        memcpy(&header, notes, sizeof(header));
        const size_t name_end = sizeof(header) + header.n_namesz;
        const size_t content = round_up_size(name_end, alignment);
        if (content > size || header.n_descsz > size - content)
            return false;
        if (header.n_type == NT_GNU_BUILD_ID && header.n_descsz != 0 && header.n_namesz == sizeof("GNU") &&
            memcmp(notes + sizeof(header), "GNU", sizeof("GNU")) == 0) {
            *id = notes + content;
            *id_size = header.n_descsz;
            return true;
        }
        const size_t whole = round_up_size(content + header.n_descsz, alignment);
        if (whole >= size)
            return false;
        notes += whole;
        size -= whole;
    }
    return false;
}

struct note_search {
    const struct link_map *library;
    const uint8_t *id;
    size_t size;
};

static bool is_library(const struct dl_phdr_info *info, const struct link_map *library)
{
    if (info->dlpi_addr != library->l_addr)
        return false;
    for (size_t i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_DYNAMIC)
            return info->dlpi_addr + segment->p_vaddr == (uintptr_t)library->l_ld;
    }
    return false;
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *user)
{
    struct note_search *search = user;
    (void)size;
    if (!is_library(info, search->library))
        return 0;
    for (size_t i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const uintptr_t address = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_NOTE && library_find_build_id(segment->p_memsz, (const uint8_t *)address,
                                                                segment->p_align, &search->id, &search->size))
            break;
    }
    return 1;
}

bool library_build_id(const struct link_map *library, const uint8_t **id, size_t *size)
{
    struct note_search search = {.library = library};
    dl_iterate_phdr(look_at_object, &search);
    *id = search.id;
    *size = search.size;
    return search.id != NULL;
}

/* ---- files that are not those of the libraries any more ---- */

/* True if a line of /proc/self/maps is about a file that was removed, and the library is a part of it. */
static bool is_removed(const char *line, const struct link_map *library)
{
    static const char ending[] = " (deleted)\n";
    const size_t size = strlen(line);
    unsigned long begin, end;
    return size >= sizeof(ending) && strcmp(line + size + 1 - sizeof(ending), ending) == 0 &&
           sscanf(line, "%lx-%lx", &begin, &end) == 2 && (uintptr_t)library->l_ld >= begin &&
           (uintptr_t)library->l_ld < end;
}

const struct link_map *library_find_replaced(size_t count, const struct link_map *const *libraries)
{
    const struct link_map *found = NULL;
    char *line = NULL;
    size_t room = 0;
    FILE *maps = count != 0 ? fopen("/proc/self/maps", "re") : NULL;
    while (maps != NULL && found == NULL && getline(&line, &room, maps) > 0) {
        for (size_t i = 0; i < count && found == NULL; ++i)
            found = is_removed(line, libraries[i]) ? libraries[i] : NULL;
    }
    free(line);
    if (maps != NULL)
        (void)fclose(maps);
    return found;
}
