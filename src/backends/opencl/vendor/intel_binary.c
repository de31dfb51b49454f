/*
 * intel_binary.c - removes the intermediate code from an OpenCL binary of Intel's driver.
 *
 * The binary is a 64-bit little-endian ELF file of type 0xff04 without program headers. The driver identifies
 * sections only by their type, and skips those of type SHT_NULL (seen in its sources,
 * shared/source/device_binary_format, and with version 22.43). So the section of the intermediate code gets this
 * type, and everything after the section moves towards the beginning of the file, by a multiple of 8 bytes so that it
 * stays aligned.
 */
#include "backends/opencl/vendor/intel_binary.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

#define ET_OPENCL_EXECUTABLE 0xff04u
#define SHT_OPENCL_LLVM_BINARY 0xff000003u
#define SHT_OPENCL_DEVICE_BINARY 0xff000005u
#define SHT_OPENCL_SPIRV 0xff000009u
#define ALIGNMENT 8u

/* Returns a copy of a section header, which need not be aligned. */
static Elf64_Shdr get_section(const uint8_t *bytes, const Elf64_Ehdr *header, unsigned index)
{
    Elf64_Shdr section;
    memcpy(&section, bytes + header->e_shoff + index * sizeof(section), sizeof(section));
    return section;
}

static bool read_binary_header(size_t size, const uint8_t *bytes, Elf64_Ehdr *header)
{
    if (size < sizeof(*header))
        return false;
    memcpy(header, bytes, sizeof(*header));
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 &&
           header->e_ident[EI_DATA] == ELFDATA2LSB && header->e_type == ET_OPENCL_EXECUTABLE && header->e_phnum == 0 &&
           header->e_shentsize == sizeof(Elf64_Shdr) && header->e_shoff <= size &&
           header->e_shnum <= (size - header->e_shoff) / sizeof(Elf64_Shdr);
}

/* True if the range is inside the file and does not overlap [begin, end). */
static bool is_apart(uint64_t offset, uint64_t length, size_t size, uint64_t begin, uint64_t end)
{
    return offset <= size && length <= size - offset && (offset + length <= begin || offset >= end);
}

/* Finds the only section of intermediate code. Returns false if there is no machine code, or if the section overlaps
 * anything else. */
static bool find_intermediate(size_t size, const uint8_t *bytes, const Elf64_Ehdr *header, unsigned *found)
{
    unsigned intermediates = 0;
    unsigned device_binaries = 0;
    for (unsigned i = 0; i < header->e_shnum; ++i) {
        const Elf64_Shdr section = get_section(bytes, header, i);
        if (section.sh_type == SHT_OPENCL_SPIRV || section.sh_type == SHT_OPENCL_LLVM_BINARY) {
            *found = i;
            ++intermediates;
        }
        device_binaries += section.sh_type == SHT_OPENCL_DEVICE_BINARY && section.sh_size > 0;
    }
    if (intermediates != 1 || device_binaries != 1)
        return false;
    const Elf64_Shdr cut = get_section(bytes, header, *found);
    if (cut.sh_offset > size || cut.sh_size > size - cut.sh_offset)
        return false;
    const uint64_t end = cut.sh_offset + cut.sh_size;
    for (unsigned i = 0; i < header->e_shnum; ++i) {
        const Elf64_Shdr section = get_section(bytes, header, i);
        if (i != *found && !is_apart(section.sh_offset, section.sh_size, size, cut.sh_offset, end))
            return false;
    }
    return cut.sh_offset >= sizeof(*header) &&
           is_apart(header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr), size, cut.sh_offset, end);
}

static uint64_t adjust_offset_for_cut(uint64_t offset, const Elf64_Shdr *cut, size_t cut_size)
{
    return offset > cut->sh_offset ? offset - cut_size : offset;
}

size_t intel_binary_strip(size_t size, uint8_t *bytes)
{
    Elf64_Ehdr header;
    unsigned found = 0;
    if (!read_binary_header(size, bytes, &header) || !find_intermediate(size, bytes, &header, &found))
        return size;
    const Elf64_Shdr cut = get_section(bytes, &header, found);
    const size_t cut_size = cut.sh_size / ALIGNMENT * ALIGNMENT;
    for (unsigned i = 0; i < header.e_shnum; ++i) {
        Elf64_Shdr section = get_section(bytes, &header, i);
        section.sh_offset = adjust_offset_for_cut(section.sh_offset, &cut, cut_size);
        if (i == found)
            section = (Elf64_Shdr){.sh_type = SHT_NULL};
        memcpy(bytes + header.e_shoff + i * sizeof(section), &section, sizeof(section));
    }
    header.e_shoff = adjust_offset_for_cut(header.e_shoff, &cut, cut_size);
    memcpy(bytes, &header, sizeof(header));
    memmove(bytes + cut.sh_offset, bytes + cut.sh_offset + cut_size, size - cut.sh_offset - cut_size);
    return size - cut_size;
}
