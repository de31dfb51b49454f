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

TEST(PersistPaths, FormatsBucketsAndEntries)
{
    char path[PATH_CAPACITY];
    paths_bucket(path, "", 0);
    EXPECT_STREQ("0", path);
    paths_bucket(path, "opencl", UINT64_MAX);
    EXPECT_STREQ("opencl/18446744073709551615", path);
    char entry[PATH_CAPACITY];
    paths_entry(entry, path, UINT32_MAX);
    EXPECT_STREQ("opencl/18446744073709551615/4294967295", entry);
}

TEST(PersistPaths, TheLongestPathFits)
{
    const std::string name_space(NAMESPACE_MAX, 'n');
    ASSERT_TRUE(paths_is_namespace(name_space.c_str()));
    EXPECT_FALSE(paths_is_namespace((name_space + "n").c_str()));
    char bucket[PATH_CAPACITY];
    char entry[PATH_CAPACITY];
    char file[PATH_CAPACITY];
    paths_bucket(bucket, name_space.c_str(), UINT64_MAX);
    paths_entry(entry, bucket, UINT32_MAX);
    paths_join(file, entry, "kernel.bin");
    EXPECT_LT(strlen(file), sizeof(file));
}

TEST(PersistPaths, ReadsCanonicalNumbersOnly)
{
    uint64_t number = 0;
    EXPECT_TRUE(paths_parse_number("18446744073709551615", UINT64_MAX, &number));
    EXPECT_EQ(UINT64_MAX, number);
    EXPECT_TRUE(paths_parse_number("0", UINT32_MAX, &number));
    EXPECT_EQ(0u, number);
    EXPECT_TRUE(paths_parse_number("4294967295", UINT32_MAX, &number));
    for (const char *name : {"", "00", "01", "-1", "+1", " 1", "1 ", "0x1", "1a", "18446744073709551616", "tmp"})
        EXPECT_FALSE(paths_parse_number(name, UINT64_MAX, &number)) << name;
    EXPECT_FALSE(paths_parse_number("4294967296", UINT32_MAX, &number));
}

TEST(PersistPaths, KnowsWhatCannotBeANamespace)
{
    for (const char *name : {"opencl", "a", "...", "x86-64_v1.0", "1a", "lock2"})
        EXPECT_TRUE(paths_is_namespace(name)) << name;
    for (const char *name : {"", ".", "..", "123", "a/b", "/", "../x", "a b", "\xc3\xa4", "tmp", "lock", "size.txt",
                             "saved.txt", "index.bin", "CACHEDIR.TAG", "programs.recipe", "programs.recipe.pruned"})
        EXPECT_FALSE(paths_is_namespace(name)) << name;
}

TEST(PersistPaths, KnowsItsTemporaryNames)
{
    char name[PATH_CAPACITY];
    paths_temporary(name, "tmp", 0x0123456789abcdefu);
    EXPECT_STREQ("tmp/0123456789abcdef", name);
    EXPECT_TRUE(paths_is_temporary(name + 4));
    EXPECT_TRUE(paths_is_temporary("4123456789abcdef-17")) << "of an earlier version";
    for (const char *other :
         {"", "-", "4123456789abcdef-", "4123456789abcdef-017", "4123456789abcde-1", "4123456789abcdeff-1",
          "4123456789abcdeg-1", "1-4123456789abcdef", "4123456789abcde", "4123456789abcdeff", "important"})
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
