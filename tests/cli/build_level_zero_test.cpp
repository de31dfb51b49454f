/*
 * build_level_zero_test.cpp - tests `ingot build` of programs that were recorded with Level Zero, for this product and
 * for others.
 */
#include <iostream>
#include <sstream>

#include "cli/tool.h"
#include "support/level_zero_driver.h"
#include "support/recorded_requests.h"
#include "support/spirv_file.h"

namespace
{

class CliBuildLevelZero : public CliTest
{
protected:
    static Context make_context()
    {
        LevelZeroDriver &driver = LevelZeroDriver::get();
        ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
        info.flags = INGOT_CONTEXT_IGNORE_ENVIRONMENT;
        ingot_context_t context = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_level_zero_context_create(&context, driver.native(), driver.context(), 1,
                                                                 driver.devices().data(), &info))
            << ingot_last_error_detail();
        return Context(context);
    }
    static Desc make_desc(const Context &context)
    {
        const Source source = make_source(spirv_of("two_kernels"), "two.spv", INGOT_SOURCE_SPIRV);
        return describe_source(context.get(), source.get(), "-ze-opt-level 2");
    }
    std::string requests() const { return (scratch() / "requests").string(); }
    void record() const
    {
        const Context context = make_context();
        const store_fixture::Store store = recorded_requests::open_keeping_store(requests());
        ingot_persist_record_request(store.get(), make_desc(context).get(), nullptr);
    }
    /* Runs the tool with one device, which is of the given product. */
    Result build(const std::string &product, const fs::path &store) const
    {
        return tool({"build", requests(), "--into", store.string()},
                    {{"CreateMultipleRootDevices", "1"}, {"ProductFamilyOverride", product}});
    }
    /* Runs an application on a device of the given product. Returns its lines, one for each program. */
    std::vector<std::string> run_application(const std::string &product, const std::string &store,
                                             const std::string &recorded = "") const
    {
        std::vector<std::string> command = {LEVEL_ZERO_APPLICATION, (scratch() / store).string()};
        if (!recorded.empty())
            command.push_back(recorded);
        const Result result = run_command(command, {{"CreateMultipleRootDevices", "1"},
                                                    {"ProductFamilyOverride", product},
                                                    {"INGOT_TEST_DEVICE", "level_zero-" + product}});
        EXPECT_TRUE(result.is(0));
        std::vector<std::string> lines;
        std::istringstream output(result.output);
        for (std::string line; std::getline(output, line);)
            lines.push_back(line);
        return lines;
    }
};

long count_compiled(const std::vector<std::string> &lines)
{
    return std::count_if(lines.begin(), lines.end(), [](const std::string &line) { return line[0] == 'c'; });
}

/* Returns the lines without the first word, which says where the program came from. */
std::vector<std::string> without_origin(std::vector<std::string> lines)
{
    for (std::string &line : lines)
        line.erase(0, line.find(' '));
    return lines;
}

TEST_F(CliBuildLevelZero, BuildsForAnotherProduct)
{
    record();
    const std::string own = std::getenv("ProductFamilyOverride");
    EXPECT_EQ(0, build(own, root()).code);
    EXPECT_TRUE(build(own == "dg2" ? "pvc" : "dg2", root()).begins(0, "1 built, 0 present ("));
    EXPECT_EQ("2", json("ls", "len(set(e['device'] for e in j))"));
}

/* On each product, the application's programs have the ids and the machine code that the application itself would have
 * made there. */
TEST_F(CliBuildLevelZero, ApplicationsCompileNothingOnAnyProduct)
{
    const std::vector<std::string> recorded = run_application("tgllp", "recording", requests());
    const auto count = static_cast<long>(recorded.size());
    EXPECT_EQ(count, count_compiled(recorded));
    EXPECT_EQ(static_cast<size_t>(count), recorded_requests::count(requests()));
    for (const char *product : {"tgllp", "dg2", "pvc"}) {
        const std::string store = std::string("built-") + product;
        EXPECT_TRUE(build(product, scratch() / store).begins(0, std::to_string(count) + " built, 0 present ("));
        const std::vector<std::string> own = run_application(product, std::string("own-") + product);
        const std::vector<std::string> lines = run_application(product, store);
        EXPECT_EQ(count, count_compiled(own));
        EXPECT_EQ(0, count_compiled(lines));
        EXPECT_EQ(without_origin(own), without_origin(lines));
        std::cout << product << ": " << count << " programs, " << count_compiled(lines) << " compiled\n";
    }
}

/* An environment variable of Intel's compiler changes the ids, as another driver would, but not the device. */
TEST_F(CliBuildLevelZero, RebuildsForTheSameDeviceWithAnotherIdentity)
{
    const std::string path = root().string();
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    info.path = path.c_str();
    info.flags = INGOT_PERSIST_KEEP_REQUESTS;
    const store_fixture::Store store(info);
    const Context context = make_context();
    ASSERT_EQ(INGOT_SUCCESS, request_through(make_desc(context), store.get()));
    const std::vector<std::string> command = {CLI_PROGRAM, "build", "--stale", "--into", path};
    EXPECT_TRUE(run_command(command, {{"CreateMultipleRootDevices", "1"}}).begins("0 rebuilt, 1 up to date ("));
    EXPECT_TRUE(run_command(command, {{"CreateMultipleRootDevices", "1"}, {"IGC_ForceOCLSIMDWidth", "16"}})
                    .begins(0, "1 rebuilt, 0 up to date ("));
    EXPECT_EQ("[2, 1]", json("ls --kind program", "[len(j), len(set(e['device'] for e in j))]"));
}

} // namespace
