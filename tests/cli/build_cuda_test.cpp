/*
 * build_cuda_test.cpp - tests `ingot build` of programs that were recorded with CUDA, for the devices of this machine.
 *
 * The driver is cuda_stand_in.c, with two identical GPUs and a different one; the compilers are the real ones.
 */
#include <ingot/recipe.h>

#include "cli/tool.h"
#include "support/cuda_driver.h"

namespace
{

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
    static Desc make_desc(const Context &context)
    {
        const Source source = make_source("extern \"C\" __global__ void twice(int *x) { x[0] += x[0]; }\n", "twice.cu",
                                          INGOT_SOURCE_CUDA_CPP);
        const ingot_source_t handle = source.get();
        ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
        info.sources = &handle;
        info.source_count = 1;
        ingot_program_desc_t desc = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_create(&desc, context.get(), &info)) << ingot_last_error_detail();
        return Desc(desc);
    }
    std::string recipe() const { return (scratch() / "app.recipe").string(); }
    void record() const
    {
        const Context context = make_context(CudaDriver::get().contexts()[0]);
        ingot_recipe_writer_info_t info = INGOT_RECIPE_WRITER_INFO_INIT;
        ingot_recipe_writer_t writer = nullptr;
        const std::string path = recipe();
        info.path = path.c_str();
        ASSERT_EQ(INGOT_SUCCESS, ingot_recipe_writer_open(&writer, &info)) << ingot_last_error_detail();
        EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_writer_add(writer, make_desc(context).get(), nullptr, nullptr))
            << ingot_last_error_detail();
        ingot_recipe_writer_release(writer);
    }
    Result build(std::vector<std::string> options = {},
                 const std::map<std::string, std::string> &environment = {}) const
    {
        options.insert(options.begin(), {CLI_PROGRAM, "build", recipe(), "--into", root().string()});
        return run_command(options, environment);
    }
    /* Returns where an application with this context gets its program. */
    ingot_origin_t origin_for(CUcontext native) const
    {
        const store_fixture::Store store = open_store();
        const Context context = make_context(native);
        ingot_program_t program = nullptr;
        ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
        EXPECT_EQ(INGOT_SUCCESS,
                  ingot_persist_program_create(&program, make_desc(context).get(), store.get(), &origin));
        ingot_program_release(program);
        return origin;
    }
};

/* There is only one worker, so when it comes to the second of the two identical GPUs, the store already has the program
 * of the first one. */
TEST_F(CliBuildCuda, BuildsForEachGpuSoThatTheApplicationCompilesNothing)
{
    record();
    const Result first = build({"--jobs", "1"});
    EXPECT_EQ(0, first.code) << first.output;
    EXPECT_EQ(0u, first.output.find("2 built, 1 present (")) << first.output;
    EXPECT_EQ("['A GPU', 'Another GPU']", json("ls", "sorted(e['device'] for e in j)"));
    for (const CUcontext native : CudaDriver::get().contexts())
        EXPECT_EQ(INGOT_ORIGIN_STORAGE, origin_for(native));
    const Result second = build();
    EXPECT_EQ(0u, second.output.find("0 built, 3 present (")) << second.output;
}

TEST_F(CliBuildCuda, BuildsForTheNamedGpu)
{
    record();
    const Result result = build({"--device", "Another GPU"});
    EXPECT_EQ(0, result.code) << result.output;
    EXPECT_EQ(0u, result.output.find("1 built, 0 present (")) << result.output;
    EXPECT_EQ("['Another GPU']", json("ls", "[e['device'] for e in j]"));
}

/* cuda_empty.c is a library with the driver's name but without its functions. */
TEST_F(CliBuildCuda, FindsNoDeviceWithoutADriver)
{
    record();
    const Result result = build({}, {{"LD_LIBRARY_PATH", CUDA_EMPTY}});
    EXPECT_NE(0, result.code) << result.output;
    EXPECT_NE(std::string::npos, result.output.find("no driver reports a device")) << result.output;
}

TEST_F(CliBuildCuda, SaysWhyAGpuCannotBeUsed)
{
    record();
    const Result result = build({"--device", "Another GPU"}, {{"CUDA_STAND_IN_FAIL", "cuDevicePrimaryCtxRetain"}});
    EXPECT_EQ(1, result.code) << result.output;
    EXPECT_NE(std::string::npos, result.output.find("the device cannot be used: cuDevicePrimaryCtxRetain returned 2"))
        << result.output;
    EXPECT_EQ("0", json("ls", "len(j)"));
}

} // namespace
