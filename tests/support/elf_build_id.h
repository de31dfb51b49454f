/*
 * elf_build_id.h - changes the build-id in a library's bytes, for tests that must detect another build.
 */
#pragma once

#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

/* Flips these bits in a byte of the GNU build-id note. Returns false if there is no such note. */
inline bool change_build_id(std::vector<uint8_t> &elf, uint8_t bits = 1)
{
    ElfW(Ehdr) header;
    if (elf.size() < sizeof(header))
        return false;
    memcpy(&header, elf.data(), sizeof(header));
    for (size_t i = 0; i < header.e_phnum; ++i) {
        ElfW(Phdr) segment;
        memcpy(&segment, elf.data() + header.e_phoff + i * sizeof(segment), sizeof(segment));
        if (segment.p_type != PT_NOTE || segment.p_offset + segment.p_filesz > elf.size())
            continue;
        const uint8_t note_name[] = {NT_GNU_BUILD_ID, 0, 0, 0, 'G', 'N', 'U', 0};
        const auto begin = elf.begin() + static_cast<std::ptrdiff_t>(segment.p_offset);
        const auto end = begin + static_cast<std::ptrdiff_t>(segment.p_filesz);
        const auto found = std::search(begin, end, std::begin(note_name), std::end(note_name));
        if (found != end) {
            found[sizeof(note_name)] ^= bits;
            return true;
        }
    }
    return false;
}
