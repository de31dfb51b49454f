/*
 * loaded_library.c - the dynamic linker's tables; see loaded_library.h.
 */
#include "core/identity/loaded_library.h"

#include <dlfcn.h>
#include <elf.h>
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
    *handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    return *handle != NULL ? library_of_handle(*handle) : NULL;
}

/* glibc puts addresses in place of offsets on most machines. */
static const char *string_table(const struct link_map *library)
{
    for (const ElfW(Dyn) *entry = library->l_ld; entry != NULL && entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag != DT_STRTAB)
            continue;
        const uintptr_t address = (uintptr_t)entry->d_un.d_ptr;
        return (const char *)(address < library->l_addr ? address + library->l_addr : address);
    }
    return NULL;
}

static const char *dynamic_string(const struct link_map *library, ElfW(Sxword) tag, size_t index)
{
    const char *strings = string_table(library);
    for (const ElfW(Dyn) *entry = library->l_ld; strings != NULL && entry->d_tag != DT_NULL; ++entry) {
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
    const char *name = dynamic_string(library, DT_SONAME, 0);
    if (name != NULL)
        return name;
    if (library->l_name == NULL || library->l_name[0] == '\0')
        return "program"; /* a driver linked into the executable */
    const char *slash = strrchr(library->l_name, '/');
    return slash != NULL ? slash + 1 : library->l_name;
}

const char *library_needed(const struct link_map *library, size_t index)
{
    return dynamic_string(library, DT_NEEDED, index);
}

/* ---- build-id ---- */

struct note_search {
    const struct link_map *library;
    const uint8_t *id;
    size_t size;
};

static size_t padded(size_t size, size_t alignment)
{
    return (size + alignment - 1) / alignment * alignment;
}

static bool find_in_notes(const uint8_t *notes, size_t size, size_t alignment, struct note_search *search)
{
    ElfW(Nhdr) header;
    while (size >= sizeof(header)) {
        memcpy(&header, notes, sizeof(header));
        const size_t name_end = sizeof(header) + header.n_namesz;
        const size_t content = padded(name_end, alignment);
        if (content > size || header.n_descsz > size - content)
            return false;
        if (header.n_type == NT_GNU_BUILD_ID && header.n_descsz != 0 && header.n_namesz == sizeof("GNU") &&
            memcmp(notes + sizeof(header), "GNU", sizeof("GNU")) == 0) {
            search->id = notes + content;
            search->size = header.n_descsz;
            return true;
        }
        const size_t whole = padded(content + header.n_descsz, alignment);
        if (whole >= size)
            return false;
        notes += whole;
        size -= whole;
    }
    return false;
}

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
        if (segment->p_type == PT_NOTE &&
            find_in_notes((const uint8_t *)address, segment->p_memsz, segment->p_align == 8 ? 8 : 4, search))
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
