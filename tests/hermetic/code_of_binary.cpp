/*
 * code_of_binary.cpp - extracts from a device binary the parts that a GPU or CPU executes.
 *
 * Intel's binary is one ELF file, of which all sections are compared except the options and the names of sections.
 * PoCL's binary is a list of files. Its shared objects are code; object files, which PoCL may leave there after linking
 * them, are ignored. NVIDIA's binary is a text (PTX) and is compared as it is.
 */
#include <cstring>
#include <elf.h>
#include <stdexcept>

#include "hermetic/compilers.h"

namespace hermetic
{

namespace
{

constexpr uint32_t kOptionsSection = 0xff000006u; /* SHT_OPENCL_OPTIONS */
constexpr uint16_t kIntelExecutable = 0xff04u;

/* An ELF file in a binary. */
struct Elf {
    const char *start;
    size_t size;
    Elf64_Ehdr header;
};

bool read_elf(const std::string &binary, size_t at, Elf *elf)
{
    if (binary.size() - at < sizeof(elf->header) || std::memcmp(&binary[at], ELFMAG, SELFMAG) != 0)
        return false;
    std::memcpy(&elf->header, &binary[at], sizeof(elf->header));
    elf->start = &binary[at];
    elf->size = binary.size() - at;
    const Elf64_Ehdr &header = elf->header;
    return header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_shentsize == sizeof(Elf64_Shdr) &&
           header.e_shoff <= elf->size && header.e_shnum <= (elf->size - header.e_shoff) / sizeof(Elf64_Shdr);
}

Elf64_Shdr section_of(const Elf &elf, unsigned index)
{
    Elf64_Shdr section;
    std::memcpy(&section, elf.start + elf.header.e_shoff + index * sizeof(section), sizeof(section));
    const bool is_within = section.sh_offset <= elf.size && section.sh_size <= elf.size - section.sh_offset;
    if (section.sh_type != SHT_NOBITS && !is_within)
        throw std::runtime_error("a section that leads out of the binary");
    return section;
}

bool is_compared(const Elf &elf, const Elf64_Shdr &section)
{
    if (section.sh_type == SHT_NULL || section.sh_type == SHT_NOBITS)
        return false;
    if (elf.header.e_type == kIntelExecutable)
        return section.sh_type != kOptionsSection && section.sh_type != SHT_STRTAB; /* the sections' names */
    return (section.sh_flags & SHF_ALLOC) != 0 && section.sh_type != SHT_NOTE && section.sh_type != SHT_GNU_HASH;
}

} // namespace

std::string code_of_binary(const std::string &binary)
{
    std::string code;
    size_t count = 0;
    for (size_t at = 0; (at = binary.find(ELFMAG, at, SELFMAG)) != std::string::npos; ++at) {
        Elf elf;
        if (!read_elf(binary, at, &elf) || elf.header.e_type == ET_REL)
            continue;
        for (unsigned i = 0; i < elf.header.e_shnum; ++i) {
            const Elf64_Shdr section = section_of(elf, i);
            if (!is_compared(elf, section))
                continue;
            code += "section " + std::to_string(section.sh_type) + " " + std::to_string(section.sh_size) + "\n";
            code.append(elf.start + section.sh_offset, section.sh_size);
        }
        ++count;
        if (elf.header.e_type == kIntelExecutable)
            break; /* ELF files inside it are part of its sections */
    }
    if (count == 0 && binary.find(".version") != std::string::npos)
        return binary;
    if (code.empty())
        throw std::runtime_error("a binary without machine code");
    return code;
}

} // namespace hermetic
