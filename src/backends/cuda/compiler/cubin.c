/*
 * cubin.c - reads cubins, the ELF files that hold machine code for a GPU.
 *
 * Kernel names are read here instead of queried from the driver. The driver's query exists only since CUDA 12.4.
 * It also loads every kernel of a module at once; without the query, the driver loads each kernel on first use. Every
 * offset in a cubin is checked, because a blob may come from anywhere.
 */
#include "backends/cuda/compiler/cubin.h"

#include <elf.h>
#include <string.h>

#define EM_CUDA_MACHINE 190u
#define STO_CUDA_ENTRY 0x10u /* in a symbol's st_other: the symbol is a kernel */

struct cubin {
    size_t size;
    const uint8_t *bytes;
    Elf64_Ehdr header;
};

static bool read_cubin_header(struct cubin *cubin, size_t size, const uint8_t *bytes)
{
    if (size < sizeof(cubin->header))
        return false;
    cubin->size = size;
    cubin->bytes = bytes;
    memcpy(&cubin->header, bytes, sizeof(cubin->header));
    return memcmp(cubin->header.e_ident, ELFMAG, SELFMAG) == 0 && cubin->header.e_ident[EI_CLASS] == ELFCLASS64 &&
           cubin->header.e_ident[EI_DATA] == ELFDATA2LSB && cubin->header.e_machine == EM_CUDA_MACHINE;
}

bool cuda_cubin_is_one(size_t size, const uint8_t *bytes)
{
    struct cubin cubin;
    return read_cubin_header(&cubin, size, bytes);
}

bool cuda_cubin_is_relocatable(size_t size, const uint8_t *bytes)
{
    struct cubin cubin;
    return read_cubin_header(&cubin, size, bytes) && cubin.header.e_type == ET_REL;
}

static bool is_inside(const struct cubin *cubin, uint64_t offset, uint64_t size)
{
    return offset <= cubin->size && size <= cubin->size - offset;
}

static bool read_section(const struct cubin *cubin, size_t index, Elf64_Shdr *section)
{
    const uint64_t place = cubin->header.e_shoff + (uint64_t)index * sizeof(*section);
    if (cubin->header.e_shentsize != sizeof(*section) || cubin->header.e_shoff > cubin->size ||
        !is_inside(cubin, place, sizeof(*section)))
        return false;
    memcpy(section, cubin->bytes + place, sizeof(*section));
    return section->sh_type == SHT_NOBITS || is_inside(cubin, section->sh_offset, section->sh_size);
}

static bool are_segments_inside(const struct cubin *cubin)
{
    Elf64_Phdr segment;
    bool are = cubin->header.e_phnum == 0 ||
               (cubin->header.e_phentsize == sizeof(segment) &&
                is_inside(cubin, cubin->header.e_phoff, (uint64_t)cubin->header.e_phnum * sizeof(segment)));
    for (size_t i = 0; are && i < cubin->header.e_phnum; ++i) {
        memcpy(&segment, cubin->bytes + cubin->header.e_phoff + i * sizeof(segment), sizeof(segment));
        are = is_inside(cubin, segment.p_offset, segment.p_filesz);
    }
    return are;
}

bool cuda_cubin_is_whole(size_t size, const uint8_t *bytes)
{
    struct cubin cubin;
    Elf64_Shdr section;
    bool is_whole = read_cubin_header(&cubin, size, bytes) && are_segments_inside(&cubin);
    for (size_t i = 0; is_whole && i < cubin.header.e_shnum; ++i)
        is_whole = read_section(&cubin, i, &section);
    return is_whole;
}

static bool is_kernel(const Elf64_Sym *symbol)
{
    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
           (symbol->st_other & STO_CUDA_ENTRY) != 0;
}

static ingot_status_t fail_malformed_cubin(void)
{
    return ingot_set_error_detail(INGOT_BACKEND_ERROR, "a table of a cubin points outside the cubin");
}

static ingot_status_t visit_symbols(const struct cubin *cubin, const Elf64_Shdr *symbols, const Elf64_Shdr *names,
                                    ingot_status_t (*visit)(void *user, const char *name), void *user)
{
    ingot_status_t status = INGOT_SUCCESS;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols->sh_size && status == INGOT_SUCCESS;
         at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        memcpy(&symbol, cubin->bytes + symbols->sh_offset + at, sizeof(symbol));
        if (!is_kernel(&symbol))
            continue;
        if (symbol.st_name >= names->sh_size)
            return fail_malformed_cubin();
        const char *name = (const char *)cubin->bytes + names->sh_offset + symbol.st_name;
        if (memchr(name, '\0', (size_t)(names->sh_size - symbol.st_name)) == NULL)
            return fail_malformed_cubin();
        status = visit(user, name);
    }
    return status;
}

ingot_status_t cuda_cubin_for_each_kernel(size_t size, const uint8_t *bytes,
                                          ingot_status_t (*visit)(void *user, const char *name), void *user)
{
    struct cubin cubin;
    ingot_status_t status = INGOT_SUCCESS;
    if (!read_cubin_header(&cubin, size, bytes))
        return fail_malformed_cubin();
    for (size_t i = 0; i < cubin.header.e_shnum && status == INGOT_SUCCESS; ++i) {
        Elf64_Shdr symbols;
        Elf64_Shdr names;
        if (!read_section(&cubin, i, &symbols))
            return fail_malformed_cubin();
        if (symbols.sh_type != SHT_SYMTAB)
            continue;
        if (!read_section(&cubin, symbols.sh_link, &names) || names.sh_type != SHT_STRTAB)
            return fail_malformed_cubin();
        status = visit_symbols(&cubin, &symbols, &names, visit, user);
    }
    return status;
}
