/*
 * image.c - loads a shared object of libtcc into memory; see image.h.
 *
 * Symbols and relocations are read from the copy in memory. An address in the object is an offset into this copy,
 * and place() checks that it is below `span`.
 */
#include "image.h"

#include <elf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char kernel_prefix[] = "kernel_";

struct image {
    uint8_t *memory;
    size_t span;
    uint64_t code_begin; /* range of the only executable segment */
    uint64_t code_end;
    const Elf64_Sym *symbols;
    size_t symbol_count;
    const char *names; /* names of the symbols; ends in a NUL */
    size_t names_size;
};

/* The device's library: the functions that programs may call. */
static const struct {
    const char *name;
    void *address;
} library[] = {
    {"memcpy", (void *)(uintptr_t)memcpy},
    {"memmove", (void *)(uintptr_t)memmove},
    {"memset", (void *)(uintptr_t)memset},
    {"sqrt", (void *)(uintptr_t)(double (*)(double))sqrt},
    {"exp", (void *)(uintptr_t)(double (*)(double))exp},
    {"log", (void *)(uintptr_t)(double (*)(double))log},
    {"sin", (void *)(uintptr_t)(double (*)(double))sin},
    {"cos", (void *)(uintptr_t)(double (*)(double))cos},
    {"pow", (void *)(uintptr_t)(double (*)(double, double))pow},
};

static ingot_status_t malformed(const char *what)
{
    return ingot_set_error_detail(INGOT_BLOB_REJECTED, "no code that this loader takes: %s", what);
}

static void *place(const struct image *image, uint64_t address, uint64_t size)
{
    return size <= image->span && address <= image->span - size ? image->memory + address : NULL;
}

static uint64_t page_down(uint64_t address)
{
    return address & ~((uint64_t)sysconf(_SC_PAGESIZE) - 1);
}

static uint64_t page_up(uint64_t address)
{
    return page_down(address + (uint64_t)sysconf(_SC_PAGESIZE) - 1);
}

/* ---- segments ---- */

/* Returns the program headers; NULL if the file is not of the right kind. */
static const Elf64_Phdr *find_segments(const uint8_t *bytes, size_t size, size_t *count)
{
    static const unsigned char kind[] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
    const Elf64_Ehdr *header = (const void *)bytes;

    if (size < sizeof(*header) || memcmp(bytes, kind, sizeof(kind)) != 0 || header->e_type != ET_DYN ||
        header->e_machine != EM_X86_64 || header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phoff % 8 != 0 ||
        header->e_phoff > size || (size - header->e_phoff) / sizeof(Elf64_Phdr) < header->e_phnum)
        return NULL;
    *count = header->e_phnum;
    return (const void *)(bytes + header->e_phoff);
}

/* Returns the size of the segments in memory, or 0 if they are invalid: outside the file, too large, not in order,
 * sharing a page, or both writable and executable. */
static uint64_t span_of(const Elf64_Phdr *segments, size_t count, size_t size)
{
    uint64_t end = 0;

    for (size_t i = 0; i < count; ++i) {
        const Elf64_Phdr *segment = &segments[i];
        if (segment->p_type != PT_LOAD)
            continue;
        if (segment->p_offset > size || segment->p_filesz > size - segment->p_offset ||
            segment->p_filesz > segment->p_memsz || segment->p_vaddr > UINT32_MAX || segment->p_memsz > UINT32_MAX ||
            page_down(segment->p_vaddr) < end || (segment->p_flags & (PF_W | PF_X)) == (PF_W | PF_X))
            return 0;
        end = page_up(segment->p_vaddr + segment->p_memsz);
    }
    return end;
}

static void copy_segments(struct image *image, const Elf64_Phdr *segments, size_t count, const uint8_t *bytes)
{
    for (size_t i = 0; i < count; ++i) {
        if (segments[i].p_type == PT_LOAD)
            memcpy(image->memory + segments[i].p_vaddr, bytes + segments[i].p_offset, segments[i].p_filesz);
    }
}

/* Makes the code executable and no longer writable. */
static int protect_code(struct image *image, const Elf64_Phdr *segments, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (segments[i].p_type != PT_LOAD || (segments[i].p_flags & PF_X) == 0)
            continue;
        const uint64_t first = page_down(segments[i].p_vaddr);
        image->code_begin = segments[i].p_vaddr;
        image->code_end = segments[i].p_vaddr + segments[i].p_filesz;
        return mprotect(image->memory + first, page_up(image->code_end) - first, PROT_READ | PROT_EXEC);
    }
    return -1;
}

/* ---- symbols and relocations ---- */

/* Returns the value of a dynamic entry; 0 if there is none. */
static uint64_t dynamic_value(const Elf64_Dyn *entries, size_t count, Elf64_Sxword tag)
{
    for (size_t i = 0; i < count && entries[i].d_tag != DT_NULL; ++i) {
        if (entries[i].d_tag == tag)
            return entries[i].d_un.d_val;
    }
    return 0;
}

static int find_symbols(struct image *image, const Elf64_Dyn *entries, size_t count)
{
    const uint64_t table = dynamic_value(entries, count, DT_SYMTAB);
    const uint64_t hash = dynamic_value(entries, count, DT_HASH);
    const uint32_t *counts = place(image, hash, 2 * sizeof(*counts)); /* numbers of buckets and symbols */

    if (hash == 0 || hash % 4 != 0 || table % 8 != 0 || counts == NULL)
        return -1;
    image->symbol_count = counts[1];
    image->symbols = place(image, table, image->symbol_count * sizeof(*image->symbols));
    image->names_size = dynamic_value(entries, count, DT_STRSZ);
    image->names = place(image, dynamic_value(entries, count, DT_STRTAB), image->names_size);
    return image->symbols != NULL && image->names != NULL && image->names_size > 0 &&
                   image->names[image->names_size - 1] == '\0'
               ? 0
               : -1;
}

static const char *name_of(const struct image *image, const Elf64_Sym *symbol)
{
    return symbol->st_name < image->names_size ? image->names + symbol->st_name : "";
}

/* Returns the symbol's address in the image or in the library, or 0 if it has none. */
static uint64_t resolve(const struct image *image, uint64_t index)
{
    if (index >= image->symbol_count)
        return 0;
    const Elf64_Sym *symbol = &image->symbols[index];
    if (symbol->st_shndx != SHN_UNDEF) {
        const void *here = place(image, symbol->st_value, 0);
        return (uint64_t)(uintptr_t)here;
    }
    for (size_t i = 0; i < sizeof(library) / sizeof(library[0]); ++i) {
        if (strcmp(library[i].name, name_of(image, symbol)) == 0)
            return (uint64_t)(uintptr_t)library[i].address;
    }
    return 0;
}

static ingot_status_t relocate(struct image *image, const Elf64_Rela *relocation)
{
    const uint64_t type = ELF64_R_TYPE(relocation->r_info);
    const uint64_t index = ELF64_R_SYM(relocation->r_info);
    void *target = place(image, relocation->r_offset, 8);
    uint64_t value = (uint64_t)(uintptr_t)image->memory;

    if (target == NULL)
        return malformed("a relocation outside of it");
    if (type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT || type == R_X86_64_64) {
        value = resolve(image, index);
        if (value == 0 && index < image->symbol_count)
            return ingot_set_error_detail(INGOT_BUILD_FAILED, "undefined symbol '%s'",
                                          name_of(image, &image->symbols[index]));
    } else if (type != R_X86_64_RELATIVE) {
        value = 0;
    }
    if (value == 0)
        return malformed("a relocation of another kind");
    if (type == R_X86_64_RELATIVE || type == R_X86_64_64)
        value += (uint64_t)relocation->r_addend;
    memcpy(target, &value, sizeof(value));
    return INGOT_SUCCESS;
}

static ingot_status_t link_image(struct image *image, const Elf64_Phdr *segments, size_t count)
{
    const Elf64_Dyn *entries = NULL;
    size_t entry_count = 0;

    for (size_t i = 0; i < count; ++i) {
        if (segments[i].p_type == PT_DYNAMIC && segments[i].p_vaddr % 8 == 0) {
            entries = place(image, segments[i].p_vaddr, segments[i].p_filesz);
            entry_count = segments[i].p_filesz / sizeof(*entries);
        }
    }
    if (entries == NULL || find_symbols(image, entries, entry_count) != 0)
        return malformed("no symbols");
    const uint64_t table = dynamic_value(entries, entry_count, DT_RELA);
    const uint64_t size = dynamic_value(entries, entry_count, DT_RELASZ);
    const Elf64_Rela *relocations = place(image, table, size);
    if (relocations == NULL || table % 8 != 0)
        return malformed("relocations outside of it");
    ingot_status_t status = INGOT_SUCCESS;
    for (size_t i = 0; status == INGOT_SUCCESS && i < size / sizeof(*relocations); ++i)
        status = relocate(image, &relocations[i]);
    return status;
}

/* ---- images ---- */

/* Maps, links and protects the code. On failure, the caller cleans up. */
static ingot_status_t map_and_link(struct image *image, const uint8_t *bytes, size_t size)
{
    size_t count = 0;
    const Elf64_Phdr *segments = find_segments(bytes, size, &count);
    const uint64_t span = segments != NULL ? span_of(segments, count, size) : 0;

    if (span == 0)
        return malformed("its header or segments");
    void *memory = mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for code");
    image->memory = memory;
    image->span = span;
    copy_segments(image, segments, count, bytes);
    const ingot_status_t status = link_image(image, segments, count);
    if (status != INGOT_SUCCESS)
        return status;
    if (protect_code(image, segments, count) != 0)
        return ingot_set_error_detail(INGOT_BACKEND_ERROR, "no code, or memory cannot be made executable");
    return INGOT_SUCCESS;
}

ingot_status_t image_load(struct image **out, const uint8_t *bytes, size_t size)
{
    struct image *image = calloc(1, sizeof(*image));

    if (image == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for an image");
    const ingot_status_t status = map_and_link(image, bytes, size);
    if (status != INGOT_SUCCESS) {
        image_unload(image);
        return status;
    }
    *out = image;
    return INGOT_SUCCESS;
}

void image_unload(struct image *image)
{
    if (image != NULL && image->memory != NULL)
        munmap(image->memory, image->span);
    free(image);
}

/* Returns the kernel's name, or NULL if the symbol is not a kernel. */
static const char *kernel_name(const struct image *image, const Elf64_Sym *symbol)
{
    const char *name = name_of(image, symbol);

    if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC ||
        strncmp(name, kernel_prefix, sizeof(kernel_prefix) - 1) != 0)
        return NULL;
    return name + sizeof(kernel_prefix) - 1;
}

void *image_find_kernel(const struct image *image, const char *name)
{
    for (size_t i = 0; i < image->symbol_count; ++i) {
        const char *found = kernel_name(image, &image->symbols[i]);
        const uint64_t address = image->symbols[i].st_value;
        if (found != NULL && strcmp(found, name) == 0 && address >= image->code_begin && address < image->code_end)
            return image->memory + address;
    }
    return NULL;
}

ingot_status_t image_write_kernel_names(const struct image *image, ingot_sink_t *names)
{
    ingot_status_t status = INGOT_SUCCESS;

    for (size_t i = 0; status == INGOT_SUCCESS && i < image->symbol_count; ++i) {
        const char *name = kernel_name(image, &image->symbols[i]);
        if (name != NULL)
            status = ingot_sink_write(names, strlen(name) + 1, name);
    }
    return status;
}
