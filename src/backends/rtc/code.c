/*
 * code.c - reads the ELF files that hold machine code for a GPU; see code.h.
 *
 * Kernel names are read here instead of queried from the driver. CUDA's query exists only since CUDA 12.4, and HIP has
 * none. CUDA's also loads every kernel of a module at once; without the query, the driver loads each kernel on first
 * use. Every offset is checked, because a blob may come from anywhere.
 */
#include "backends/rtc/code.h"

#include <string.h>

struct code {
    size_t size;
    const uint8_t *bytes;
    Elf64_Ehdr header;
};

static bool read_header(struct code *code, const struct rtc_format *format, size_t size, const uint8_t *bytes)
{
    if (size < sizeof(code->header))
        return false;
    code->size = size;
    code->bytes = bytes;
    memcpy(&code->header, bytes, sizeof(code->header));
    return memcmp(code->header.e_ident, ELFMAG, SELFMAG) == 0 && code->header.e_ident[EI_CLASS] == ELFCLASS64 &&
           code->header.e_ident[EI_DATA] == ELFDATA2LSB && code->header.e_machine == format->machine;
}

bool rtc_code_is_one(const struct rtc_format *format, size_t size, const uint8_t *bytes)
{
    struct code code;
    return read_header(&code, format, size, bytes);
}

bool rtc_code_is_relocatable(const struct rtc_format *format, size_t size, const uint8_t *bytes)
{
    struct code code;
    return read_header(&code, format, size, bytes) && code.header.e_type == ET_REL;
}

static bool is_inside(const struct code *code, uint64_t offset, uint64_t size)
{
    return offset <= code->size && size <= code->size - offset;
}

static bool read_section(const struct code *code, size_t index, Elf64_Shdr *section)
{
    const uint64_t place = code->header.e_shoff + (uint64_t)index * sizeof(*section);
    if (code->header.e_shentsize != sizeof(*section) || code->header.e_shoff > code->size ||
        !is_inside(code, place, sizeof(*section)))
        return false;
    memcpy(section, code->bytes + place, sizeof(*section));
    return section->sh_type == SHT_NOBITS || is_inside(code, section->sh_offset, section->sh_size);
}

static bool are_segments_inside(const struct code *code)
{
    Elf64_Phdr segment;
    bool are = code->header.e_phnum == 0 ||
               (code->header.e_phentsize == sizeof(segment) &&
                is_inside(code, code->header.e_phoff, (uint64_t)code->header.e_phnum * sizeof(segment)));
    for (size_t i = 0; are && i < code->header.e_phnum; ++i) {
        memcpy(&segment, code->bytes + code->header.e_phoff + i * sizeof(segment), sizeof(segment));
        are = is_inside(code, segment.p_offset, segment.p_filesz);
    }
    return are;
}

bool rtc_code_is_whole(const struct rtc_format *format, size_t size, const uint8_t *bytes)
{
    struct code code;
    Elf64_Shdr section;
    bool is_whole = read_header(&code, format, size, bytes) && are_segments_inside(&code);
    for (size_t i = 0; is_whole && i < code.header.e_shnum; ++i)
        is_whole = read_section(&code, i, &section);
    return is_whole;
}

static ingot_status_t fail_malformed(void)
{
    return ingot_set_error_detail(INGOT_BACKEND_ERROR, "a table of machine code points outside it");
}

static ingot_status_t visit_symbols(const struct code *code, const struct rtc_format *format, const Elf64_Shdr *symbols,
                                    const Elf64_Shdr *names,
                                    ingot_status_t (*visit)(void *user, size_t length, const char *name), void *user)
{
    ingot_status_t status = INGOT_SUCCESS;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols->sh_size && status == INGOT_SUCCESS;
         at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        memcpy(&symbol, code->bytes + symbols->sh_offset + at, sizeof(symbol));
        if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL)
            continue;
        if (symbol.st_name >= names->sh_size)
            return fail_malformed();
        const char *name = (const char *)code->bytes + names->sh_offset + symbol.st_name;
        if (memchr(name, '\0', (size_t)(names->sh_size - symbol.st_name)) == NULL)
            return fail_malformed();
        const size_t length = format->kernel_name(&symbol, name);
        if (length != 0)
            status = visit(user, length, name);
    }
    return status;
}

ingot_status_t rtc_code_for_each_kernel(const struct rtc_format *format, size_t size, const uint8_t *bytes,
                                        ingot_status_t (*visit)(void *user, size_t length, const char *name),
                                        void *user)
{
    struct code code;
    ingot_status_t status = INGOT_SUCCESS;
    if (!read_header(&code, format, size, bytes))
        return fail_malformed();
    for (size_t i = 0; i < code.header.e_shnum && status == INGOT_SUCCESS; ++i) {
        Elf64_Shdr symbols;
        Elf64_Shdr names;
        if (!read_section(&code, i, &symbols))
            return fail_malformed();
        if (symbols.sh_type != format->name_table)
            continue;
        if (!read_section(&code, symbols.sh_link, &names) || names.sh_type != SHT_STRTAB)
            return fail_malformed();
        status = visit_symbols(&code, format, &symbols, &names, visit, user);
    }
    return status;
}
