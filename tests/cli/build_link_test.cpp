/*
 * build_link_test.cpp - from `ingot run --record` of an application that links its program, over `ingot build`, to an
 * application that compiles nothing.
 */
#include "cli/tool.h"

namespace
{

class CliBuildLink : public CliTest
{
protected:
    /* Runs the application under the tool, with a store. Returns the tool's counts. */
    std::string run_application(std::vector<std::string> options, const fs::path &store) const
    {
        options.insert(options.begin(),
                       {CLI_PROGRAM, "run", "--stats", "--namespace", "app", "--store", store.string()});
        options.insert(options.end(), {"--", LINK_APPLICATION});
        const Result result = run_command(options);
        EXPECT_EQ(0, result.code) << result.output;
        EXPECT_NE(std::string::npos, result.output.find("1 kernels\n")) << result.output;
        return result.output;
    }
    Result build(std::vector<std::string> options) const
    {
        options.insert(options.begin(), {CLI_PROGRAM, "build", recipe()});
        return run_command(options, {{"POCL_DEVICES", "pthread"}, {"CreateMultipleRootDevices", "1"}});
    }
    std::string recipe() const { return (scratch() / "app.recipe").string(); }
};

TEST_F(CliBuildLink, BuildsWhatTheApplicationLinks)
{
    const std::string recorded = run_application({"--record", recipe()}, scratch() / "first");
    EXPECT_EQ(std::string::npos, recorded.find("compiled        0")) << recorded;
    const Result built = build({"--into", root().string(), "--namespace", "app"});
    EXPECT_EQ(0, built.code) << built.output;
    EXPECT_EQ(0u, built.output.find("1 built, 0 present (")) << built.output;
    const std::string warm = run_application({}, root());
    EXPECT_NE(std::string::npos, warm.find("compiled        0\n")) << warm;
    EXPECT_NE(std::string::npos, warm.find("passed through  0, ")) << warm;
    const Result again = build({"--into", root().string(), "--namespace", "app"});
    EXPECT_EQ(0u, again.output.find("0 built, 1 present (")) << again.output;

    const Result without = build({"--into", (scratch() / "other").string()});
    EXPECT_EQ(1, without.code) << without.output;
    EXPECT_NE(std::string::npos, without.output.find("linked programs need the OpenCL layer")) << without.output;
}

} // namespace
