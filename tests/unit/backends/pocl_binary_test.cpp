/*
 * pocl_binary_test.cpp - tests which binaries of PoCL count as complete.
 */
#include <string>

#include <gtest/gtest.h>

extern "C" {
#include "backends/opencl/vendor/pocl_binary.h"
}

static std::string number(uint64_t value, size_t size)
{
    std::string bytes;
    for (size_t i = 0; i < size; ++i)
        bytes += static_cast<char>(value >> (8 * i));
    return bytes;
}

static std::string text(const std::string &value)
{
    return number(value.size(), 4) + value;
}

static std::string file(const std::string &path, const std::string &content)
{
    return text(path) + text(content);
}

static std::string kernel(const std::string &files)
{
    const std::string facts = number(0, 4) + text("name") + number(7, 12);
    return number(16 + facts.size() + files.size(), 8) + number(files.size(), 8) + facts + files;
}

/* The header that PoCL 3.1 writes. */
static std::string binary(const std::string &files, const std::string &kernels, uint32_t count, uint32_t version = 9)
{
    return std::string("poclbin", 8) + number(77, 8) + number(version, 4) + number(count, 4) + number(4, 12) +
           std::string(40, 'A') + std::string(1, '\0') + number(files.size(), 8) + files + kernels;
}

static bool is_complete(const std::string &bytes)
{
    return pocl_binary_is_complete(bytes.size(), reinterpret_cast<const unsigned char *>(bytes.data()));
}

const std::string program = file("/program.bc", "code");
const std::string group = file("/k/0-0-0/k.so", "more code");

TEST(PoclBinary, ACompleteOneHasAllFiles)
{
    EXPECT_TRUE(is_complete(binary(program, kernel(group) + kernel(group + group), 2)));
    EXPECT_TRUE(is_complete(binary(program, kernel(""), 1))) << "no code is generated yet";
    EXPECT_FALSE(is_complete(binary("", kernel(group), 1)));
    EXPECT_FALSE(is_complete(binary(file("/program.bc", ""), kernel(group), 1)));
    EXPECT_FALSE(is_complete(binary(program, kernel(group + file("/k/0-0-0/l.so", "")), 1)));
    EXPECT_FALSE(is_complete(binary(program, kernel(group) + std::string(100, '\0'), 2)));
}

TEST(PoclBinary, ATruncatedOneIsNotComplete)
{
    const std::string whole = binary(program, kernel(group) + kernel(group), 2);
    for (size_t size = 24; size < whole.size(); ++size)
        EXPECT_FALSE(is_complete(whole.substr(0, size))) << size;
}

TEST(PoclBinary, OtherFormatsAreLeftToTheDriver)
{
    EXPECT_TRUE(is_complete(binary("", "", 1, 10)));
    EXPECT_TRUE(is_complete("another driver's binary"));
    EXPECT_TRUE(is_complete(""));
}
