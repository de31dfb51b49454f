/*
 * Tests the names of files and directories in a store, and reading the text of size.txt.
 */
#include <gtest/gtest.h>

#include <cstring>
#include <string>

extern "C" {
#include "persist/directory/format/paths.h"

bool account_parse(size_t size, const char *text, uint64_t *total_bytes); /* entries.h is not valid C++ */
}

namespace
{

const struct checksum kHash = {
    {0x0f, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0xff}};

} // namespace

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

/* What has another name is not of this store, or is of this format, and is never deleted. */
TEST(PersistPaths, KnowsTheNamesOfLeftovers)
{
    char path[PATH_CAPACITY];
    paths_temporary(path, "0f", 0x0123456789abcdefu);
    EXPECT_STREQ("0f/0123456789abcdef", path);
    EXPECT_TRUE(paths_is_temporary(path + 3));
    for (const char *other : {"", "-", "4123456789abcdef-", "4123456789abcdef-17", "4123456789abcde",
                              "4123456789abcdeff", "4123456789abcdeg", "4123456789ABCDEF", "important"})
        EXPECT_FALSE(paths_is_temporary(other)) << other;
}

TEST(PersistPaths, KnowsWhatCannotBeANamespace)
{
    for (const char *name : {"opencl", "a", "...", "abc", "AB", "xy", "x86-64_v1.0", "1x", "lock2"})
        EXPECT_TRUE(paths_is_namespace(name)) << name;
    for (const char *name : {"", ".", "..", "123", "a/b", "/", "../x", "a b", "\xc3\xa4", "tmp", "lock", "size.txt",
                             "ab", "0f", "42", "1a", "saved.txt", "index.bin", "CACHEDIR.TAG"})
        EXPECT_FALSE(paths_is_namespace(name)) << name;
}
