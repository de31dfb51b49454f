/*
 * elf_build_id.h - changes the build-id in a library's bytes, for tests that must detect another build.
 */
#pragma once

#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <dlfcn.h>

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

/* Returns the path of the library that dlopen finds by this name. */
inline std::string path_of_library(const char *name)
{
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    struct link_map *map = nullptr;
    if (library == nullptr || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
        throw std::runtime_error(dlerror());
    return map->l_name;
}

/* Puts a copy of a library with another build-id into a new directory below the current one. Returns a value for
 * LD_LIBRARY_PATH that begins with the directory. */
inline std::string path_with_another_build(const char *name, const std::string &directory)
{
    namespace fs = std::filesystem;
    const fs::path original = path_of_library(name), copy = fs::absolute(directory) / name;
    if (!fs::create_directory(directory) || !fs::copy_file(original, copy))
        throw std::runtime_error("no directory for another build of " + original.string());
    std::fstream file(copy, std::ios::in | std::ios::out | std::ios::binary);
    std::vector<uint8_t> head(1 << 16); /* the build-id is near the beginning of the library, which may be large */
    file.read(reinterpret_cast<char *>(head.data()), static_cast<std::streamsize>(head.size()));
    file.clear();
    if (!change_build_id(head))
        throw std::runtime_error("no build-id in " + original.string());
    file.seekp(0);
    file.write(reinterpret_cast<const char *>(head.data()),
               static_cast<std::streamsize>(std::min<uintmax_t>(head.size(), fs::file_size(original))));
    const char *others = getenv("LD_LIBRARY_PATH");
    return copy.parent_path().string() + (others != nullptr ? std::string(":") + others : "");
}
