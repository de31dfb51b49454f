/*
 * own_backend_test.cpp - tests what the conformance suite cannot know about the backend in examples/own_backend: its
 * loader rejects damaged code, its code is not writable, and its options and headers have the documented effects.
 */
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include <sys/types.h>

#include <gtest/gtest.h>
#include <ingot/ingot.hpp>

extern "C" {
#include "image.h"
}
#include "tinycc.h"

/* The linker redirects calls to pread to __wrap_pread. The backend uses pread to read the code that its compiler
 * wrote. */
static std::atomic<bool> reads_fail{false};

extern "C" {
ssize_t __real_pread(int file, void *buffer, size_t size, off_t offset);
/* visible, because a sanitizer's library calls pread, too */
__attribute__((visibility("default"))) ssize_t __wrap_pread(int file, void *buffer, size_t size, off_t offset);
ssize_t __wrap_pread(int file, void *buffer, size_t size, off_t offset)
{
    return reads_fail ? -1 : __real_pread(file, buffer, size, offset);
}
}

namespace
{

const char kTwice[] = "static double two = 2;\ndouble *pointer = &two;\n"
                      "void kernel_twice(const double *in, double *out, unsigned long count)\n"
                      "{ for (unsigned long i = 0; i < count; ++i) out[i] = *pointer * in[i]; }\n";

class Tinycc : public testing::Test
{
protected:
    ingot::context make(uint32_t lanes) const
    {
        const tinycc_device_t device{lanes};
        return ingot::context::create(tinycc_context_create, 1u, &device, nullptr);
    }
    ingot::program_desc describe(const std::string &text, const char *options = nullptr) const
    {
        return ingot::program_desc(context, ingot::source(TINYCC_SOURCE_C, text), options);
    }
    static double call(const ingot::program_desc &desc, const char *name, double x)
    {
        const ingot::kernel kernel(desc, name);
        tinycc_function_t function = nullptr;
        ingot::check(tinycc_kernel_get_function(kernel.get(), &function));
        double out = 0;
        function(&x, &out, 1);
        return out;
    }
    /* Expects that a build fails. Returns the error's detail. */
    std::string refusal(const std::string &text, const char *options = nullptr) const
    {
        try {
            ingot::program{describe(text, options)};
        } catch (const ingot::error &caught) {
            EXPECT_EQ(INGOT_BUILD_FAILED, caught.status());
            return caught.detail();
        }
        ADD_FAILURE() << "it was built";
        return "";
    }

    ingot::context context{make(4)};
};

std::string kernel_of(const std::string &expression)
{
    return "void kernel_f(const double *in, double *out, unsigned long count)\n"
           "{ for (unsigned long i = 0; i < count; ++i) out[i] = " +
           expression + "; }\n";
}

TEST_F(Tinycc, RelocatesDataAndCallsTheLibrary)
{
    EXPECT_EQ(42, call(describe(kTwice), "twice", 21));
    EXPECT_EQ(3, call(describe("double sqrt(double x);\n" + kernel_of("sqrt(in[i])")), "f", 9));
    const std::string copies = "struct big { double values[100]; };\n"
                               "static struct big copy(struct big from) { struct big to = from; return to; }\n"
                               "static double last(double x)\n"
                               "{ struct big a = {{0}}; a.values[99] = x; return copy(a).values[99]; }\n";
    EXPECT_EQ(7, call(describe(copies + kernel_of("last(in[i])")), "f", 7));
}

TEST_F(Tinycc, SeesItsLanesAndOptions)
{
    EXPECT_EQ(4, call(describe(kernel_of("LANES")), "f", 0));
    const char *options = "-DA=10 -D B -DC=1 -U C -O2 -Wall -g '-DD=2 + 3'";
    EXPECT_EQ(16, call(describe("#ifdef C\n#error\n#endif\n" + kernel_of("A + B + (D)"), options), "f", 0));
    EXPECT_NE(std::string::npos, refusal(kernel_of("0"), "-march=native").find("-march=native"));
    EXPECT_NE(std::string::npos, refusal(kernel_of("0"), "-I").find("-I"));
    EXPECT_NE(std::string::npos, refusal(kernel_of("getpid()")).find("getpid")); /* the backend has no getpid */
    EXPECT_THROW(make(0), ingot::error);
    EXPECT_THROW(make(65), ingot::error);
}

/* The failed build must destroy its program exactly once. */
TEST_F(Tinycc, FailsIfItsCodeCannotBeRead)
{
    const ingot::program_desc desc = describe(kTwice);
    reads_fail = true;
    try {
        ingot::program{desc};
        ADD_FAILURE() << "it was built";
    } catch (const ingot::error &caught) {
        EXPECT_EQ(INGOT_BACKEND_ERROR, caught.status());
        EXPECT_STREQ("the compiler's output could not be read", caught.detail());
    }
    reads_fail = false;
    EXPECT_EQ(42, call(desc, "twice", 21));
}

TEST_F(Tinycc, FindsHeadersInDirectoriesAndNoneThatLeaveTheirOwn)
{
    ingot::program_info info;
    info.sources = {ingot::source(TINYCC_SOURCE_C, "#include \"shapes/box.h\"\n" + kernel_of("BOX"))};
    const char box[] = "#include \"side.h\"\n#define BOX SIDE * SIDE\n";
    info.headers = {ingot::source(INGOT_SOURCE_HEADER, box, "shapes/box.h"),
                    ingot::source(INGOT_SOURCE_HEADER, "#define SIDE 5\n", "shapes/side.h")};
    EXPECT_EQ(25, call(ingot::program_desc(context, info), "f", 0));
    info.sources = {ingot::source(TINYCC_SOURCE_C, kernel_of("1"))};
    for (const char *name : {"../out.h", "a/../../out.h", "/tmp/out.h", "a/.."}) {
        info.headers = {ingot::source(INGOT_SOURCE_HEADER, "", name)};
        EXPECT_THROW(ingot::program(ingot::program_desc(context, info)), ingot::error) << name;
    }
}

struct Mapping {
    unsigned long begin = 0;
    unsigned long end = 0;
    char rights[5] = "";
};

std::vector<Mapping> mappings()
{
    std::vector<Mapping> all;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        Mapping one;
        EXPECT_EQ(3, std::sscanf(line.c_str(), "%lx-%lx %4s", &one.begin, &one.end, one.rights)) << line;
        all.push_back(one);
    }
    return all;
}

/* Returns how many bytes of this process can be both changed and executed. */
unsigned long writable_code_size()
{
    unsigned long size = 0;
    for (const Mapping &one : mappings())
        size += one.rights[1] == 'w' && one.rights[2] == 'x' ? one.end - one.begin : 0;
    return size;
}

TEST_F(Tinycc, MapsNothingWritableAndExecutable)
{
    const unsigned long before = writable_code_size(); /* a sanitizer, an emulator or a driver may have some */
    const ingot::kernel kernel(describe(kTwice), "twice");
    tinycc_function_t function = nullptr;
    ingot::check(tinycc_kernel_get_function(kernel.get(), &function));
    EXPECT_EQ(before, writable_code_size());
    const auto address = reinterpret_cast<uintptr_t>(function);
    bool found = false;
    for (const Mapping &one : mappings()) {
        if (address < one.begin || address >= one.end)
            continue;
        found = true;
        EXPECT_STREQ("r-xp", one.rights);
    }
    EXPECT_TRUE(found);
}

/* Gives changed and shortened images to the loader directly, without the checks of a blob. It must refuse or load each,
 * and never crash. */
TEST_F(Tinycc, LoaderChecksEveryByteAndLength)
{
    const std::vector<uint8_t> blob = ingot::program(describe(kTwice)).get_cache_blob();
    const uint8_t magic[] = {0x7f, 'E', 'L', 'F'};
    const auto begin = std::search(blob.begin(), blob.end(), magic, magic + sizeof(magic));
    ASSERT_NE(blob.end(), begin);
    const std::vector<uint8_t> image(begin, blob.end()); /* the blob's checksum follows the image */
    size_t refused = 0;
    const auto load = [&](const std::vector<uint8_t> &bytes) {
        struct image *loaded = nullptr;
        if (image_load(&loaded, bytes.data(), bytes.size()) == INGOT_SUCCESS) {
            (void)image_find_kernel(loaded, "twice");
            image_unload(loaded);
        } else {
            ++refused;
        }
    };
    load(image);
    ASSERT_EQ(0u, refused);
    for (size_t at = 0; at < image.size(); ++at) {
        for (const uint8_t change : {0x01, 0x80, 0xff}) {
            std::vector<uint8_t> bytes = image;
            bytes[at] ^= change;
            load(bytes);
        }
    }
    EXPECT_LT(0u, refused);
    refused = 0;
    for (size_t size = 0; size < 64; ++size)
        load(std::vector<uint8_t>(image.begin(), image.begin() + static_cast<std::ptrdiff_t>(size)));
    EXPECT_EQ(64u, refused);
}

} // namespace
