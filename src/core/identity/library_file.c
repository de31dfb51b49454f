/*
 * library_file.c - reads the ELF headers, notes and dynamic section of a library's file; see library_file.h.
 *
 * The file is not trusted: each part is read by a separate call and has a size limit. Unusual files are left to the
 * linker.
 */
#include "core/identity/library_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/identity/loaded_library.h"

enum { MAX_SEGMENTS = 64, MAX_PART = 1 << 16, MAX_STRING = 1024 };

#if defined(__x86_64__) && defined(__LP64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__) && defined(__LP64__) && defined(__AARCH64EL__)
#define OWN_MACHINE EM_AARCH64
#else
#define OWN_MACHINE EM_NONE
#endif

/* A file that is being read. */
struct reading {
    int file;
    struct arena *arena;
    size_t segment_count;
    ElfW(Phdr) segments[MAX_SEGMENTS];
    uint64_t strings_offset; /* offset in the file of the dynamic section's strings */
    uint64_t strings_size;
};

static bool read_at(const struct reading *reading, uint64_t offset, size_t size, void *bytes, size_t *got)
{
    ssize_t count;
    do {
        count = pread(reading->file, bytes, size, (off_t)offset);
    } while (count < 0 && errno == EINTR);
    *got = count > 0 ? (size_t)count : 0;
    return *got == size;
}

static void *read_library_part(const struct reading *reading, uint64_t offset, uint64_t size)
{
    size_t got;
    void *part = size != 0 && size <= MAX_PART ? arena_take(reading->arena, (size_t)size) : NULL;
    return part != NULL && read_at(reading, offset, (size_t)size, part, &got) ? part : NULL;
}

static bool read_build_id(const struct reading *reading, struct library_file *file)
{
    for (size_t i = 0; i < reading->segment_count && file->build_id == NULL; ++i) {
        const ElfW(Phdr) *segment = &reading->segments[i];
        if (segment->p_type != PT_NOTE || segment->p_filesz == 0)
            continue;
        const uint8_t *notes = read_library_part(reading, segment->p_offset, segment->p_filesz);
        if (notes == NULL)
            return false;
        (void)library_find_build_id((size_t)segment->p_filesz, notes, segment->p_align, &file->build_id,
                                    &file->build_id_size);
    }
    return true;
}

/* Returns the dynamic section's string at an offset, or NULL if it cannot be read. */
static const char *read_string(const struct reading *reading, uint64_t at)
{
    char text[MAX_STRING];
    size_t got;
    if (at >= reading->strings_size)
        return NULL;
    const uint64_t left = reading->strings_size - at;
    (void)read_at(reading, reading->strings_offset + at, left < sizeof(text) ? (size_t)left : sizeof(text), text, &got);
    const char *end = memchr(text, '\0', got);
    return end != NULL ? arena_copy(reading->arena, (size_t)(end - text), text) : NULL;
}

/* Copies what *file needs from an entry of the dynamic section. Returns false if a string cannot be read. Also returns
 * false for entries that change how the linker searches: an RPATH (which applies to further libraries, too), a flag
 * that excludes the usual directories, and a filter (a library whose symbols replace this one's). */
static bool take_entry(const struct reading *reading, const ElfW(Dyn) * entry, struct library_file *file)
{
    switch (entry->d_tag) {
    case DT_SONAME: file->name = read_string(reading, entry->d_un.d_val); return file->name != NULL;
    case DT_RUNPATH: file->runpath = read_string(reading, entry->d_un.d_val); return file->runpath != NULL;
    case DT_NEEDED:
        file->needed[file->needed_count] = read_string(reading, entry->d_un.d_val);
        return file->needed[file->needed_count++] != NULL;
    case DT_FLAGS_1: return (entry->d_un.d_val & DF_1_NODEFLIB) == 0;
    case DT_RPATH:
    case DT_AUXILIARY:
    case DT_FILTER: return false;
    default: return true;
    }
}

static bool read_dynamic(struct reading *reading, struct library_file *file)
{
    const ElfW(Dyn) *entries = NULL;
    size_t count = 0;
    for (size_t i = 0; i < reading->segment_count; ++i) {
        if (reading->segments[i].p_type != PT_DYNAMIC)
            continue;
        entries = read_library_part(reading, reading->segments[i].p_offset, reading->segments[i].p_filesz);
        count = (size_t)(reading->segments[i].p_filesz / sizeof(*entries));
    }
    if (entries == NULL)
        return false;
    while (count > 0 && entries[count - 1].d_tag == DT_NULL)
        --count;
    file->needed = arena_take(reading->arena, (count + 1) * sizeof(*file->needed));
    uint64_t address = 0;
    for (size_t i = 0; i < count; ++i) {
        if (entries[i].d_tag == DT_STRTAB)
            address = entries[i].d_un.d_ptr;
        if (entries[i].d_tag == DT_STRSZ)
            reading->strings_size = entries[i].d_un.d_val;
    }
    const ElfW(Phdr) *segment = reading->segments; /* the one that has the strings when the library is loaded */
    const ElfW(Phdr) *end = segment + reading->segment_count;
    while (segment != end && (segment->p_type != PT_LOAD || address < segment->p_vaddr ||
                              address - segment->p_vaddr >= segment->p_filesz))
        ++segment;
    if (file->needed == NULL || segment == end)
        return false;
    reading->strings_offset = address - segment->p_vaddr + segment->p_offset;
    for (size_t i = 0; i < count; ++i) {
        if (!take_entry(reading, &entries[i], file))
            return false;
    }
    return true;
}

static enum library_place read_open_library(int file, struct arena *arena, const char *path,
                                            const struct library_file *known, const struct library_file **found)
{
    static const unsigned char own[] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
    struct reading reading = {.file = file, .arena = arena};
    struct stat about;
    ElfW(Ehdr) header;
    size_t got;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode))
        return LIBRARY_UNSURE;
    *found = known;
    if (known != NULL && known->device == (uint64_t)about.st_dev && known->inode == (uint64_t)about.st_ino)
        return LIBRARY_FOUND;
    /* A library for another machine counts as absent, because the linker skips it. */
    if (!read_at(&reading, 0, sizeof(header), &header, &got) || memcmp(header.e_ident, own, SELFMAG) != 0)
        return LIBRARY_UNSURE;
    if (memcmp(header.e_ident, own, sizeof(own)) != 0 || header.e_machine != OWN_MACHINE)
        return LIBRARY_ABSENT;
    if (header.e_type != ET_DYN || header.e_phentsize != sizeof(reading.segments[0]) || header.e_phnum > MAX_SEGMENTS)
        return LIBRARY_UNSURE;
    reading.segment_count = header.e_phnum;
    if (!read_at(&reading, header.e_phoff, header.e_phnum * sizeof(reading.segments[0]), reading.segments, &got))
        return LIBRARY_UNSURE;
    struct library_file *made = arena_take(arena, sizeof(*made));
    if (made == NULL)
        return LIBRARY_FOUND; /* the arena has failed */
    made->device = (uint64_t)about.st_dev;
    made->inode = (uint64_t)about.st_ino;
    made->path = arena_copy(arena, strlen(path), path);
    if (!read_build_id(&reading, made) || !read_dynamic(&reading, made))
        return LIBRARY_UNSURE;
    if (made->name == NULL && made->path != NULL) {
        const char *slash = strrchr(made->path, '/');
        made->name = slash != NULL ? slash + 1 : made->path;
    }
    *found = made;
    return LIBRARY_FOUND;
}

static bool is_lack_of_resources(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

enum library_place library_file_read(struct arena *arena, const char *path, const struct library_file *known,
                                     const struct library_file **file)
{
    enum library_place place = LIBRARY_ABSENT;
    const int opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (opened >= 0) {
        place = read_open_library(opened, arena, path, known, file);
        (void)close(opened);
    } else if (is_lack_of_resources(errno)) {
        arena->failed = true; /* the file may be there */
    }
    return place;
}

bool library_file_can_open(void)
{
    const int opened = open("/", O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    const bool can_open = opened >= 0 || !is_lack_of_resources(errno);
    if (opened >= 0)
        (void)close(opened);
    return can_open;
}
