/*
 * Tests the names of files and directories in a store, and reading the text of size.txt.
 */
#include <gtest/gtest.h>

#include <cstring>
#include <string>

extern "C" {
#include "persist/directory/format/paths.h"

bool account_parse(size_t size, const char *text, uint64_t *total_bytes); /* account.h is not valid C++ */
}

namespace
{

const struct checksum kHash = {
    {0x0f, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0xff}};

} // namespace

TEST(PersistPaths, FormatsShardsAndEntries)
{
    char path[PATH_CAPACITY];
    paths_entry(path, "", &kHash);
    EXPECT_STREQ("0f/0123456789abcdef102030405060ff", path);
    paths_entry(path, "opencl", &kHash);
    EXPECT_STREQ("opencl/0f/0123456789abcdef102030405060ff", path);
    paths_shard(path, "", 0xa0);
    EXPECT_STREQ("a0", path);
    paths_shard(path, "opencl", 7);
    EXPECT_STREQ("opencl/07", path);
}

TEST(PersistPaths, TheLongestPathFits)
{
    const std::string name_space(NAMESPACE_MAX, 'n');
    ASSERT_TRUE(paths_is_namespace(name_space.c_str()));
    EXPECT_FALSE(paths_is_namespace((name_space + "n").c_str()));
    char entry[PATH_CAPACITY];
    char file[PATH_CAPACITY];
    paths_entry(entry, name_space.c_str(), &kHash);
    paths_join(file, entry, "kernel.bin");
    EXPECT_LT(strlen(file), sizeof(file));
}

TEST(PersistPaths, ReadsPlacesOnly)
{
    struct checksum hash = {};
    ASSERT_TRUE(paths_parse_place("0f/0123456789abcdef102030405060ff", &hash));
    EXPECT_EQ(0, memcmp(&kHash, &hash, sizeof(hash)));
    for (const char *text : {"", "0f", "0f/", "0f/0123456789abcdef102030405060f", "0f/0123456789abcdef102030405060ff0",
                             "0F/0123456789abcdef102030405060ff", "0f/0123456789abcdef102030405060fg",
                             "0f-0123456789abcdef102030405060ff", "f/0123456789abcdef102030405060fff"})
        EXPECT_FALSE(paths_parse_place(text, &hash)) << text;
    EXPECT_TRUE(paths_parse_entry("0123456789abcdef102030405060ff", &hash));
    EXPECT_FALSE(paths_parse_entry("0123456789abcdef", &hash));
}

TEST(PersistPaths, KnowsTheNamesOfFormat3)
{
    for (const char *name : {"123", "18446744073709551615", "index.bin", "saved.txt"})
        EXPECT_TRUE(paths_is_of_format_3(name)) << name;
    for (const char *name : {"", "7", "42", "0f", "abc", "184467440737095516150", "size.txt", "lock", "12x"})
        EXPECT_FALSE(paths_is_of_format_3(name)) << name;
}

TEST(PersistPaths, KnowsWhatCannotBeANamespace)
{
    for (const char *name : {"opencl", "a", "...", "abc", "AB", "xy", "x86-64_v1.0", "1x", "lock2"})
        EXPECT_TRUE(paths_is_namespace(name)) << name;
    for (const char *name : {"", ".", "..", "123", "a/b", "/", "../x", "a b", "\xc3\xa4", "tmp", "lock", "size.txt",
                             "ab", "0f", "42", "1a", "saved.txt", "index.bin", "CACHEDIR.TAG"})
        EXPECT_FALSE(paths_is_namespace(name)) << name;
}

TEST(PersistPaths, KnowsItsTemporaryNames)
{
    char name[PATH_CAPACITY];
    paths_temporary(name, "tmp", 0x0123456789abcdefu);
    EXPECT_STREQ("tmp/0123456789abcdef", name);
    EXPECT_TRUE(paths_is_temporary(name + 4));
    for (const char *other : {"", "-", "4123456789abcdef-", "4123456789abcdef-17", "4123456789abcdef-017",
                              "4123456789abcde-1", "4123456789abcdeff-1", "4123456789abcdeg-1", "1-4123456789abcdef",
                              "4123456789abcde", "4123456789abcdeff", "important"})
        EXPECT_FALSE(paths_is_temporary(other)) << other;
}

TEST(PersistAccount, ReadsTotals)
{
    const auto parse = [](const std::string &text, uint64_t *total) {
        return account_parse(text.size(), text.data(), total);
    };
    uint64_t total = 0;
    EXPECT_TRUE(parse("0", &total));
    EXPECT_EQ(0u, total);
    EXPECT_TRUE(parse("123\n", &total));
    EXPECT_EQ(123u, total);
    EXPECT_TRUE(parse("18446744073709551615\n", &total));
    EXPECT_EQ(UINT64_MAX, total);
    EXPECT_TRUE(parse("42                  \n", &total));
    EXPECT_EQ(42u, total);
    for (const char *text : {"", " ", "\n", "-1", "+1", "1 2", "1x", "x", "18446744073709551616",
                             "99999999999999999999", "000000000000000000001", "0x10", "1.5"})
        EXPECT_FALSE(parse(text, &total)) << text;
    EXPECT_FALSE(parse(std::string("12\0\0", 4), &total));
}
