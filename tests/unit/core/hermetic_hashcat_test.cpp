/*
 * hermetic_hashcat_test.cpp - tests that clang makes the same tokens from a real program and from the text in which
 * Ingot has replaced the program's includes.
 *
 * The programs are some of hashcat's OpenCL programs, or all of them with --all. The options are those of the startup
 * benchmark.
 */
#include <cstdio>
#include <cstring>

#include "support/preprocess.h"
#include "unit/core/hermetic_fixture.h"

using namespace hermetic_fixture;

namespace
{

constexpr char kFolder[] = "/usr/share/hashcat/OpenCL";
constexpr size_t kStride = 96; /* the sample has every 96th program */
bool all_programs = false;

Strings words_of_options()
{
    const std::string folder = kFolder;
    return {"-D", "KERNEL_STATIC", "-I", folder,           "-D",           "INCLUDE_PATH=" + folder,
            "-D", "XM2S(x)=#x",    "-D", "M2S(x)=XM2S(x)", "-D",           "LOCAL_MEM_TYPE=1",
            "-D", "VECT_SIZE=1",   "-D", "CUDA_ARCH=0",    "-D",           "HAS_VPERM=0",
            "-D", "VENDOR_ID=64",  "-D", "DEVICE_TYPE=2",  "-D",           "DGST_R0=0",
            "-D", "DGST_R1=3",     "-D", "DGST_R2=2",      "-D",           "DGST_R3=1",
            "-D", "DGST_ELEM=4",   "-D", "KERN_TYPE=0",    "-D",           "ATTACK_EXEC=11",
            "-D", "ATTACK_KERN=3", "-D", "ATTACK_MODE=3",  "-cl-std=CL1.2"};
}

std::vector<std::filesystem::path> programs()
{
    std::vector<std::filesystem::path> list;
    for (const auto &file : std::filesystem::directory_iterator(kFolder))
        if (file.path().extension() == ".cl" && file.path().filename().string().compare(0, 4, "inc_") != 0)
            list.push_back(file.path());
    std::sort(list.begin(), list.end());
    return list;
}

Strings without_directories(const Strings &options)
{
    Strings kept;
    for (size_t i = 0; i < options.size(); ++i) {
        if (options[i] == "-I")
            ++i;
        else
            kept.push_back(options[i]);
    }
    return kept;
}

using HermeticHashcat = HermeticTest;

TEST_F(HermeticHashcat, IsTheSameForTheCompiler)
{
    std::string joined;
    for (const std::string &word : words_of_options())
        joined += word + " ";
    const auto list = programs();
    const size_t stride = all_programs ? 1 : kStride;
    size_t count = 0;
    ASSERT_LT(1000u, list.size()) << "hashcat-data is not installed";
    for (size_t i = 0; i < list.size(); i += stride, ++count) {
        const std::string source = read(list[i]);
        const Result result =
            resolve_with(nullptr, Input{{{"", source}}, joined, {}, INGOT_SOURCE_OPENCL_C, pocl_rules()});
        ASSERT_EQ(INGOT_SUCCESS, result.status);
        EXPECT_EQ("", result.reason) << list[i];
        EXPECT_EQ("", refusal_of(Input{{{"", source}}, joined, {}, INGOT_SOURCE_OPENCL_C, pocl_rules()}, result));
        /* Only programs for other devices include <metal_stdlib>. */
        EXPECT_TRUE(result.gap.empty() || has(result.gap, "<metal_stdlib>")) << result.gap;
        EXPECT_LT(has(source, "M2S(INCLUDE_PATH/inc_common.cl)") ? 4 * 48u : 0u, result.files.size()) << list[i];
        /* The copy is not in hashcat's directory, so no include is found beside it. */
        write("native.cl", source);
        write("hermetic.cl", result.texts.at(0));
        const Preprocessed native = preprocess("native.cl", words_of_options());
        const Preprocessed hermetic = preprocess("hermetic.cl", without_directories(words_of_options()));
        ASSERT_EQ(0, native.exit_status) << list[i] << native.text;
        ASSERT_EQ(0, hermetic.exit_status) << list[i] << hermetic.text.substr(0, 1000);
        ASSERT_TRUE(native.text == hermetic.text) << list[i];
    }
    std::printf("%zu of %zu programs: equal and cacheable\n", count, list.size());
}

} // namespace

int main(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    all_programs = argc > 1 && strcmp(argv[1], "--all") == 0;
    return RUN_ALL_TESTS();
}
