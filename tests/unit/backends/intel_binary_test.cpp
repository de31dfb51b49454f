/*
 * intel_binary_test.cpp - tests removing the intermediate code from the ELF container of Intel's binaries: from a valid
 * container, and from many that are almost valid.
 */
#include <gtest/gtest.h>

#include <elf.h>

#include <cstring>
#include <string>
#include <vector>

extern "C" {
#include "backends/opencl/vendor/intel_binary.h"
}

namespace
{

using Bytes = std::vector<uint8_t>;

constexpr uint32_t kSpirv = 0xff000009;
constexpr uint32_t kDeviceBinary = 0xff000005;
constexpr uint32_t kOptions = 0xff000006;

struct Section {
    uint32_t type;
    std::string data;
};

/* Makes a container like the driver's: the header, the section headers, and the data of each section at a multiple of
 * 8. */
Bytes container(const std::vector<Section> &sections)
{
    Bytes bytes(sizeof(Elf64_Ehdr) + sections.size() * sizeof(Elf64_Shdr));
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = 0xff04;
    header.e_shoff = sizeof(header);
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<Elf64_Half>(sections.size());
    std::memcpy(bytes.data(), &header, sizeof(header));
    for (size_t i = 0; i < sections.size(); ++i) {
        Elf64_Shdr section{};
        section.sh_type = sections[i].type;
        section.sh_offset = bytes.size();
        section.sh_size = sections[i].data.size();
        std::memcpy(bytes.data() + sizeof(header) + i * sizeof(section), &section, sizeof(section));
        bytes.insert(bytes.end(), sections[i].data.begin(), sections[i].data.end());
        bytes.resize((bytes.size() + 7) / 8 * 8);
    }
    return bytes;
}

Bytes good()
{
    return container({{SHT_NULL, ""},
                      {kOptions, "-cl-fast"},
                      {kSpirv, std::string(100, 's')},
                      {kDeviceBinary, "machine code"},
                      {SHT_STRTAB, "names"}});
}

Bytes strip(Bytes bytes)
{
    bytes.resize(intel_binary_strip(bytes.size(), bytes.data()));
    return bytes;
}

std::string data_of(const Bytes &bytes, uint32_t type)
{
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    for (unsigned i = 0; i < header.e_shnum; ++i) {
        Elf64_Shdr section;
        std::memcpy(&section, bytes.data() + header.e_shoff + i * sizeof(section), sizeof(section));
        if (section.sh_type == type)
            return std::string(reinterpret_cast<const char *>(bytes.data()) + section.sh_offset, section.sh_size);
    }
    return "none";
}

template <typename T> Bytes with_header(Bytes bytes, T change)
{
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    change(header);
    std::memcpy(bytes.data(), &header, sizeof(header));
    return bytes;
}

template <typename T> Bytes with_section(Bytes bytes, unsigned index, T change)
{
    Elf64_Shdr section;
    uint8_t *place = bytes.data() + sizeof(Elf64_Ehdr) + index * sizeof(section);
    std::memcpy(&section, place, sizeof(section));
    change(section);
    std::memcpy(place, &section, sizeof(section));
    return bytes;
}

} // namespace

TEST(IntelBinary, LosesItsIntermediateCodeAndNothingElse)
{
    const Bytes stripped = strip(good());
    EXPECT_EQ(good().size() - 96, stripped.size()); /* 100 bytes of code, rounded down to a multiple of 8 */
    EXPECT_EQ("none", data_of(stripped, kSpirv));
    EXPECT_EQ("-cl-fast", data_of(stripped, kOptions));
    EXPECT_EQ("machine code", data_of(stripped, kDeviceBinary));
    EXPECT_EQ("names", data_of(stripped, SHT_STRTAB));
    EXPECT_EQ(stripped, strip(stripped));
}

TEST(IntelBinary, MovesSectionHeadersThatLieBehindTheCode)
{
    Bytes bytes = good();
    const size_t table_size = 5 * sizeof(Elf64_Shdr);
    const size_t table = bytes.size();
    bytes.insert(bytes.end(), bytes.begin() + sizeof(Elf64_Ehdr), bytes.begin() + sizeof(Elf64_Ehdr) + table_size);
    bytes = with_header(bytes, [&](Elf64_Ehdr &header) { header.e_shoff = table; });
    const Bytes stripped = strip(bytes);
    EXPECT_EQ(bytes.size() - 96, stripped.size());
    EXPECT_EQ("machine code", data_of(stripped, kDeviceBinary));
    EXPECT_EQ("names", data_of(stripped, SHT_STRTAB));
}

TEST(IntelBinary, StaysAsItIsWhenItIsAnotherKindOfFile)
{
    const std::vector<Bytes> others = {
        Bytes(),
        Bytes(200, 0),
        with_header(good(), [](Elf64_Ehdr &h) { h.e_ident[EI_CLASS] = ELFCLASS32; }),
        with_header(good(), [](Elf64_Ehdr &h) { h.e_ident[EI_DATA] = ELFDATA2MSB; }),
        with_header(good(), [](Elf64_Ehdr &h) { h.e_type = ET_REL; }),
        with_header(good(), [](Elf64_Ehdr &h) { h.e_phnum = 1; }),
        with_header(good(), [](Elf64_Ehdr &h) { h.e_shentsize = 40; }),
        with_header(good(), [](Elf64_Ehdr &h) { h.e_shnum = 60000; }),
        with_header(good(), [](Elf64_Ehdr &h) { h.e_shoff = UINT64_MAX; }),
    };
    for (const Bytes &other : others)
        EXPECT_EQ(other, strip(other));
}

TEST(IntelBinary, StaysAsItIsWhenItsSectionsAreNotAsExpected)
{
    const std::vector<Bytes> others = {
        container({{kSpirv, "ssssssss"}}), /* nothing but intermediate code */
        container({{kDeviceBinary, "machine code"}}),
        container({{kSpirv, "ssssssss"}, {kDeviceBinary, ""}}),
        container({{kSpirv, "ssssssss"}, {kSpirv, "ssssssss"}, {kDeviceBinary, "machine code"}}),
        with_section(good(), 2, [](Elf64_Shdr &s) { s.sh_size = UINT64_MAX; }),
        with_section(good(), 2, [](Elf64_Shdr &s) { s.sh_offset = UINT64_MAX; }),
        with_section(good(), 2, [](Elf64_Shdr &s) { s.sh_offset = 0; }),  /* overlaps the header */
        with_section(good(), 2, [](Elf64_Shdr &s) { s.sh_offset = 64; }), /* overlaps the section headers */
        with_section(good(), 2, [](Elf64_Shdr &s) { s.sh_size += 16; }),  /* overlaps the machine code */
        with_section(good(), 3, [](Elf64_Shdr &s) { s.sh_size = UINT64_MAX - 8; }),
    };
    for (const Bytes &other : others)
        EXPECT_EQ(other, strip(other));
}

TEST(IntelBinary, NeverLeavesItsBytesWhereverTheyAreCutOrChanged)
{
    const Bytes whole = good();
    for (size_t size = 0; size < whole.size(); ++size) {
        const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_LE(strip(cut).size(), size);
    }
    for (size_t i = 0; i < whole.size(); ++i) {
        for (const uint8_t flip : {0x01, 0x80, 0xff}) {
            Bytes changed = whole;
            changed[i] = static_cast<uint8_t>(changed[i] ^ flip);
            EXPECT_LE(strip(changed).size(), whole.size());
        }
    }
}
