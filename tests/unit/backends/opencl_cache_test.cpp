/*
 * opencl_cache_test.cpp - tests how many bytes the in-memory cache counts for programs of the OpenCL backend.
 */
#include "unit/backends/opencl_backend_fixture.h"

#include <fstream>
#include <iterator>

using namespace opencl_backend;

/* Returns small and large programs with kernels of several kinds: long arithmetic, barriers, and many kernels in one
 * program. */
static std::vector<std::string> various_programs()
{
    std::vector<std::string> texts{kSource};
    for (const char *name : {"two_kernels.cl", "many_kernels.cl"}) {
        std::ifstream file(std::string(INGOT_SOURCE_DIR "/tests/support/kernels/") + name);
        texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    std::string barriers;
    for (const char *name : {"a", "b", "c"})
        barriers += std::string("__kernel void ") + name +
                    "(__global float *x, __local float *l) { size_t i = get_local_id(0); float s = 0; l[i] = x[i];\n"
                    "barrier(CLK_LOCAL_MEM_FENCE); for (int j = 0; j < 64; ++j) s += l[(i + j) % 64]; x[i] = s; }\n";
    texts.push_back(barriers);
    for (const int lines : {20, 100}) {
        std::string text = "__kernel void k(__global float *x) { size_t i = get_global_id(0); float a = x[i], b = a;\n";
        for (int line = 0; line < lines; ++line) {
            const std::string number = std::to_string(line);
            text += "    a = a * " + number + ".5f + b; b = b > a ? sqrt(a) : b - a * x[i + " + number + "];\n";
        }
        texts.push_back(text + "    x[i] = a + b; }\n");
    }
    return texts;
}

/* Compares what the cache counts for a program after its build with what it counts once the blob's size is known. */
TEST(OpenclCache, CountsTheBytesOfBuiltPrograms)
{
    size_t total = 0;
    const std::vector<std::string> texts = various_programs();
    for (const std::string &text : texts) {
        const Programs programs;
        const Program program = create_program(describe(programs.context, text));
        ASSERT_NE(nullptr, program);
        const auto counted = static_cast<double>(programs.stats().bytes);
        EXPECT_EQ(0u, programs.stats().blobs_taken);
        const std::vector<uint8_t> blob = blob_of(program);
        const auto real = static_cast<double>(programs.stats().bytes);
        EXPECT_GE(real, static_cast<double>(blob.size()) * 0.9) << "of which names and log are a few bytes";
        EXPECT_LE(real, static_cast<double>(blob.size()) + 8192) << "what the host has of it included";
        EXPECT_LT(real / 2, counted) << text.substr(0, 200); /* on PoCL, a coarse estimate */
        EXPECT_GT(real * 2, counted) << text.substr(0, 200);
        if (platform().is_intel()) {
            EXPECT_EQ(real, counted);
        }
        total += programs.stats().bytes;
    }
    EXPECT_LT(texts.size() * 3000, total);
}

/* The driver has code for each device, even if two are identical and share one section of the blob. */
TEST(OpenclCache, CountsTheBytesForEachDevice)
{
    const std::vector<cl_device_id> &all = platform().devices();
    ASSERT_LE(2u, all.size());
    const auto bytes_for = [](const std::vector<cl_device_id> &devices) {
        const Programs programs(devices);
        const Program program = create_program(describe(programs.context, various_programs()[1]));
        const auto counted = static_cast<double>(programs.stats().bytes);
        blob_of(program);
        const auto real = static_cast<double>(programs.stats().bytes);
        EXPECT_LT(real / 2, counted) << devices.size() << " devices"; /* on PoCL, a coarse estimate */
        EXPECT_GT(real * 2, counted) << devices.size() << " devices";
        return real;
    };
    const double one = bytes_for({all[0]});
    EXPECT_NEAR(2 * one, bytes_for({all[0], all[1]}), one / 4);
    if (all.size() > 2) { /* PoCL's third device differs */
        EXPECT_NEAR(2 * one, bytes_for({all[0], all[2]}), one / 4);
    }
}
