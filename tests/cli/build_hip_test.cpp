/*
 * build_hip_test.cpp - tests `ingot build` of programs that were recorded with HIP, for the devices of this machine,
 * and for an architecture that it does not have.
 *
 * The driver is hip_stand_in.c, with two identical GPUs and a different one; hipRTC is the real one.
 */
#include "cli/tool.h"
#include "support/hip_driver.h"
#include "support/recorded_requests.h"

extern "C" {
#include "persist/program/program.h"
}

namespace
{

class CliBuildHip : public CliTest
{
protected:
    static Desc make_desc(const Context &context)
    {
        return describe_source(context.get(),
                               make_source("extern \"C\" __global__ void twice(int *x) { x[0] += x[0]; }\n",
                                           "program.hip", INGOT_SOURCE_HIP_CPP)
                                   .get());
    }
    static Context make_context(int device)
    {
        ingot_context_t context = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_hip_context_create(&context, 1, &device, nullptr)) << ingot_last_error_detail();
        return Context(context);
    }
    std::string requests() const { return (scratch() / "requests").string(); }
    void record() const
    {
        const store_fixture::Store store = recorded_requests::open_keeping_store(requests());
        ingot_persist_record_request(store.get(), make_desc(make_context(0)).get(), nullptr);
    }
    Result build(std::vector<std::string> options, const std::map<std::string, std::string> &environment = {}) const
    {
        options.insert(options.begin(), {CLI_PROGRAM, "build", requests(), "--into", root().string(), "--jobs", "1"});
        return run_command(options, environment);
    }
    ingot_origin_t origin_on(int device) const
    {
        const store_fixture::Store store = open_store();
        return origin_of(make_desc(make_context(device)), store.get());
    }
};

TEST_F(CliBuildHip, BuildsForEachGpuOnce)
{
    record();
    EXPECT_TRUE(build({}).begins("2 built, 1 present ("));
    EXPECT_EQ("['gfx1030', 'gfx90a:sramecc+:xnack-']", json("ls", "sorted(e['device'] for e in j)"));
    for (const int device : HipDriver::get().devices())
        EXPECT_EQ(INGOT_ORIGIN_STORAGE, origin_on(device)) << device;
}

/* No call to the driver works, as on a machine without a GPU. */
TEST_F(CliBuildHip, BuildsForAnArchitectureWithoutAGpu)
{
    record();
    const std::map<std::string, std::string> no_gpu = {{"STAND_IN_FAIL", "hipGetDeviceProperties"}};
    EXPECT_NE(0, build({}, no_gpu).code);
    const Result built = build({"--device", "hip:gfx1030", "--device", "hip:gfx908"}, no_gpu);
    EXPECT_TRUE(built.is(0)) << built.output;
    EXPECT_TRUE(built.begins("2 built, 0 present ("));
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, origin_on(HipDriver::get().devices().back())) << "its architecture is gfx1030";
    EXPECT_TRUE(build({"--device", "hip:sm_90"}, no_gpu).is(1, "is not an architecture"));
    EXPECT_TRUE(run({"show", json("ls", "[e['entry'] for e in j if e['device'] == 'gfx908'][0]")}).is(0, "gfx908"));
}

/* A builder without a GPU answers what a machine with one wishes for. */
TEST_F(CliBuildHip, AnswersAWishWithoutAGpu)
{
    const int device = HipDriver::get().devices().back();
    EXPECT_EQ(INGOT_BUSY, persist_program_begin(make_desc(make_context(device)).get(), open_store().get()));
    const Result built = run_command({CLI_PROGRAM, "build", "--watch", "--dir", root().string(), "--jobs", "1",
                                      "--idle", "1s", "--device", "hip:gfx1030"},
                                     {{"STAND_IN_FAIL", "hipGetDeviceProperties"}});
    EXPECT_TRUE(built.is(0, "1 built, 0 present")) << built.output;
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, origin_on(device));
}

} // namespace
