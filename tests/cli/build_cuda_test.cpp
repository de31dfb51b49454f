/*
 * build_cuda_test.cpp - tests `ingot build` of programs that were recorded with CUDA, for the devices of this machine.
 *
 * The driver is cuda_stand_in.c, with two identical GPUs and a different one; the compilers are the real ones.
 * ApplicationsCompileNothingOnAnyGpu also passes on real GPUs:
 * scripts/with-device cuda build/dev/tests/cli/cli_cuda_test --gtest_filter=*ApplicationsCompileNothing*
 */
#include <cstring>
#include <iostream>

#include "cli/tool.h"
#include "support/cuda_driver.h"
#include "support/recorded_requests.h"

namespace
{

/* A program: its texts, which are linked if there are several, and its options. */
struct Text {
    std::vector<std::string> sources;
    std::string options;
};

const char kTwice[] = "extern \"C\" __global__ void twice(int *x) { x[0] += x[0]; }\n";

std::vector<Text> programs()
{
    const std::string add = "extern \"C\" __global__ void add(int *x) { x[threadIdx.x] += AMOUNT; }\n";
    const std::string sum = "template <typename T> __device__ T sum(const T *x, int count)\n"
                            "{ T all = 0; for (int i = 0; i < count; ++i) all += x[i]; return all; }\n"
                            "extern \"C\" __global__ void k(ELEMENT *x, int count) { x[0] = sum(x, count); }\n";
    const std::string calling = "__device__ int helper(int x);\n"
                                "extern \"C\" __global__ void call(int *x) { x[0] = helper(x[0]); }\n";
    std::vector<Text> all = {{{calling, "__device__ int helper(int x) { return 3 * x; }\n"}, ""},
                             {{calling, "__device__ int helper(int x) { return 4 * x; }\n"}, ""}};
    for (const char *options : {"", "--fmad=false", "--maxrregcount=32", "--std=c++17"})
        all.push_back({{kTwice}, options});
    for (const char *amount : {"3", "4", "5"})
        all.push_back({{add}, std::string("-DAMOUNT=") + amount});
    for (const char *type : {"int", "float", "double"})
        all.push_back({{sum}, std::string("-DELEMENT=") + type + " --use_fast_math"});
    return all;
}

/* Returns the devices, names and binaries of a blob (doc/blob-format.md), without its log, its build time and its
 * checksum. */
std::string code_of(const std::vector<uint8_t> &blob)
{
    uint32_t section_count = 0;
    uint64_t names_size = 0, log_size = 0;
    std::memcpy(&section_count, blob.data() + 12, sizeof(section_count));
    std::memcpy(&names_size, blob.data() + 24, sizeof(names_size));
    std::memcpy(&log_size, blob.data() + 32, sizeof(log_size));
    const size_t log_at = 128 + size_t{40} * section_count + names_size;
    return std::string(blob.begin() + 128, blob.begin() + static_cast<long>(log_at)) +
           std::string(blob.begin() + static_cast<long>(log_at + log_size), blob.end() - 16);
}

class CliBuildCuda : public CliTest
{
protected:
    static Context make_context(CUcontext native)
    {
        ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
        info.flags = INGOT_CONTEXT_IGNORE_ENVIRONMENT;
        ingot_context_t context = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_cuda_context_create(&context, 1, &native, &info)) << ingot_last_error_detail();
        return Context(context);
    }
    static Desc make_desc(const Context &context, const Text &text = {{kTwice}, ""})
    {
        ProgramText program{text.sources, {}, text.options};
        program.source_name = "program.cu";
        program.kind = INGOT_SOURCE_CUDA_CPP;
        return program.make(context);
    }
    std::string requests() const { return (scratch() / "requests").string(); }
    void record(const std::vector<Text> &texts = {{{kTwice}, ""}}) const
    {
        const Context context = make_context(CudaDriver::get().contexts()[0]);
        const store_fixture::Store store = recorded_requests::open_keeping_store(requests());
        for (const Text &text : texts)
            ingot_persist_record_request(store.get(), make_desc(context, text).get(), nullptr);
    }
    Result build(std::vector<std::string> options = {},
                 const std::map<std::string, std::string> &environment = {}) const
    {
        options.insert(options.begin(), {CLI_PROGRAM, "build", requests(), "--into", root().string()});
        return run_command(options, environment);
    }
    /* Requests a program. Returns where it came from, and its machine code. */
    static std::pair<ingot_origin_t, std::string> request(const Context &context, ingot_storage_t store,
                                                          const Text &text = {{kTwice}, ""})
    {
        ingot_program_t made = nullptr;
        ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_program_create(&made, make_desc(context, text).get(), store, &origin));
        const Program program(made);
        return {origin, code_of(blob_of(program))};
    }
};

/* There is only one worker, so when it comes to the second of the two identical GPUs, the store already has the program
 * of the first one. */
TEST_F(CliBuildCuda, BuildsForEachGpuOnce)
{
    record();
    EXPECT_TRUE(build({"--jobs", "1"}).begins(0, "2 built, 1 present ("));
    EXPECT_EQ("['A GPU', 'Another GPU']", json("ls", "sorted(e['device'] for e in j)"));
    EXPECT_TRUE(build().begins("0 built, 3 present ("));
}

/* On each GPU, the programs have the machine code that the application itself would have made there. */
TEST_F(CliBuildCuda, ApplicationsCompileNothingOnAnyGpu)
{
    record(programs());
    const Result built = build();
    const size_t count = programs().size();
    const size_t products = CudaDriver::get().different_device() ? 2 : 1;
    EXPECT_TRUE(built.is(0));
    EXPECT_EQ(std::to_string(products * count), json("ls", "len(j)")) << built.output;
    const store_fixture::Store store = open_store(), own_store = open_store("own");
    for (const CUcontext native : CudaDriver::get().contexts()) {
        size_t loaded = 0;
        for (const Text &text : programs()) {
            const auto [origin, code] = request(make_context(native), store.get(), text);
            loaded += origin == INGOT_ORIGIN_STORAGE;
            EXPECT_EQ(request(make_context(native), own_store.get(), text).second, code) << text.options;
        }
        EXPECT_EQ(count, loaded);
        std::cout << count << " programs, " << count - loaded << " compiled\n";
    }
}

/* cuda_empty.c is a library with the driver's name but without its functions. */
TEST_F(CliBuildCuda, FindsNoDeviceWithoutADriver)
{
    record();
    const Result result = build({}, {{"LD_LIBRARY_PATH", CUDA_EMPTY}});
    EXPECT_NE(0, result.code) << result.output;
    EXPECT_TRUE(result.says("no driver reports a device"));
}

TEST_F(CliBuildCuda, SaysWhyAGpuCannotBeUsed)
{
    record();
    EXPECT_TRUE(build({"--device", "Another GPU"}, {{"STAND_IN_FAIL", "cuDevicePrimaryCtxRetain"}})
                    .is(1, "the device cannot be used: cuDevicePrimaryCtxRetain returned 2"));
    EXPECT_EQ("0", json("ls", "len(j)"));
}

} // namespace
