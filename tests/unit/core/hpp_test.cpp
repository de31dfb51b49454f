/*
 * hpp_test.cpp - tests the C++ interface: handles count references as documented, a call that fails throws its status
 * and error detail, and no exception from a callback passes through C code.
 */
#include <mutex>

#include <ingot/ingot.hpp>

#include "support/reference_backend.h"
#include "support/threads.h"

namespace
{

const char kText[] = "kernel twice x 2 *\nkernel square x x *\n";

/* Makes contexts of the reference backend. The backend's counts outlive them. */
class Hpp : public testing::Test
{
protected:
    ingot::context make_context(const char *driver_version = "1")
    {
        static const char *const targets[] = {"alpha", "beta"};
        reference_info_t info{};
        info.device_count = 2;
        info.targets = targets;
        info.driver_version = driver_version;
        info.counts = &counts;
        info.name_expressions = 1;
        ingot_context_info_t context_info = INGOT_CONTEXT_INFO_INIT;
        context_info.flags = INGOT_CONTEXT_IGNORE_ENVIRONMENT;
        return ingot::context::create(reference_context_create, &info, &context_info);
    }

    ingot::program_desc describe(const char *text = kText)
    {
        return ingot::program_desc(context, ingot::source(REFERENCE_SOURCE_KIND, text));
    }

    static int64_t run(const ingot::kernel &kernel, int64_t x)
    {
        int64_t result = 0;
        ingot::check(reference_kernel_run(kernel.get(), x, &result));
        return result;
    }

    reference_counts_t counts{};
    ingot::context context{make_context()};
};

template <typename Body> ingot_status_t status_of(Body body)
{
    try {
        body();
    } catch (const ingot::error &caught) {
        EXPECT_STRNE("", caught.detail());
        return caught.status();
    }
    return INGOT_SUCCESS;
}

TEST_F(Hpp, BuildsAndRunsAProgram)
{
    const ingot::program program(describe());
    EXPECT_EQ(42, run(ingot::kernel(program, "twice"), 21));
    EXPECT_EQ(49, run(ingot::kernel(describe(), "square", 1), 7));
    EXPECT_EQ((std::vector<std::string>{"square", "twice"}), program.kernel_names());
    EXPECT_NE(std::string::npos, program.build_log().find("alpha")) << program.build_log();
    EXPECT_NE(0u, program.facts().build_time_ns);
    EXPECT_EQ(ingot_version(), ingot::version());
}

TEST_F(Hpp, DescribesAllThatAProgramInfoSays)
{
    ingot::program_info info;
    info.sources = {ingot::source(REFERENCE_SOURCE_KIND, "#include \"amount.h\"\nkernel add x AMOUNT + EXTRA + $3 +\n"),
                    ingot::source(REFERENCE_SOURCE_KIND, "function unused 1 +\n")};
    info.headers = {ingot::source(INGOT_SOURCE_HEADER, "#define AMOUNT 10\n", "amount.h")};
    info.compile_options = "-DEXTRA=100";
    info.link_options = "-O2";
    info.spec_constants = {{3u, int64_t{1000}}};
    info.device_indices = {1};
    info.group = "a group";
    info.name_expressions = {"scale<float>"};
    const ingot::program_desc desc(context, info);
    EXPECT_NE(std::string::npos, ingot::describe_cache_blob_id(desc.view_cache_blob_id()).find("scale<float>"));
    EXPECT_EQ(1111, run(ingot::kernel(desc, "add", 1), 1));
    EXPECT_EQ(1u, context.cache_stats().groups);
    context.clear_cache("another");
    EXPECT_EQ(1u, context.cache_stats().programs);
    context.clear_cache("a group");
    EXPECT_EQ(0u, context.cache_stats().programs);
}

TEST_F(Hpp, MakesAProgramOfItsBlob)
{
    const ingot::program_desc desc = describe();
    const std::vector<uint8_t> id = desc.get_cache_blob_id();
    const ingot::bytes_view view = desc.view_cache_blob_id();
    EXPECT_EQ(id, std::vector<uint8_t>(view.begin(), view.end()));
    const std::vector<uint8_t> blob = ingot::program(desc).get_cache_blob();
    context.clear_cache();

    const uint64_t builds = counts.builds;
    const ingot::program loaded(desc, blob);
    EXPECT_EQ(42, run(ingot::kernel(loaded, "twice"), 21));
    EXPECT_EQ(blob, loaded.get_cache_blob());
    EXPECT_EQ(builds, counts.builds);
    EXPECT_NE(std::string::npos, ingot::describe_cache_blob_id(id).find("reference"));
}

TEST_F(Hpp, ThrowsTheStatusAndTheSentenceOfThisThread)
{
    const ingot::program_desc desc = describe();
    std::vector<uint8_t> blob = ingot::program(desc).get_cache_blob();
    context.clear_cache();
    blob[blob.size() / 2] ^= 1;
    EXPECT_EQ(INGOT_BLOB_CORRUPT, status_of([&] { ingot::program(desc, blob); }));
    EXPECT_EQ(INGOT_NOT_FOUND, status_of([&] { ingot::kernel(desc, "thrice"); }));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, status_of([&] { ingot::program{ingot::program_desc{}}; }));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, status_of([&] { ingot::context().cache_stats(); }));
    try {
        ingot::program{describe("kernel add x no_such_name +\n")};
        FAIL() << "it was built";
    } catch (const std::exception &caught) { /* as code that does not know about Ingot would */
        EXPECT_EQ(caught.what(), std::string("INGOT_BUILD_FAILED: ") + ingot_last_error_detail());
        EXPECT_NE(nullptr, strstr(caught.what(), "no_such_name"));
    }
}

TEST_F(Hpp, CopiesOfAnErrorHaveASentenceOfTheirOwn)
{
    ingot::error first(INGOT_NOT_FOUND, "a sentence", -5);
    const ingot::error copy = first;
    first = ingot::error(INGOT_BUSY, "another");
    (void)ingot_set_error_detail(INGOT_IO_ERROR, "a third");
    EXPECT_EQ(INGOT_NOT_FOUND, copy.status());
    EXPECT_STREQ("a sentence", copy.detail());
    EXPECT_EQ(-5, copy.code());
    EXPECT_EQ(0, first.code());
    EXPECT_STREQ("INGOT_NOT_FOUND: a sentence", copy.what());
    EXPECT_STREQ("another", first.detail());
}

TEST_F(Hpp, LookupIsEmptyWhereNothingIsInMemory)
{
    const ingot::program_desc desc = describe();
    EXPECT_FALSE(ingot::program::lookup(desc));
    const ingot::program program(desc);
    EXPECT_TRUE(ingot::program::lookup(desc) == program);
}

TEST_F(Hpp, AHandleIsOneReferenceThatMoves)
{
    ingot::program program(describe());
    ingot::program second(describe());
    EXPECT_TRUE(second == program);
    context.clear_cache(); /* these are the only references */
    ASSERT_EQ(1, counts.live_programs);
    ingot::program moved = std::move(program);
    EXPECT_FALSE(program);
    EXPECT_TRUE(second == moved);
    second.reset();
    EXPECT_EQ(1, counts.live_programs);
    ingot_program_t raw = moved.detach();
    EXPECT_EQ(1, counts.live_programs);
    second = ingot::program(raw);
    second = ingot::program();
    EXPECT_EQ(0, counts.live_programs);
}

TEST_F(Hpp, AContextEndsWithItsLastHandle)
{
    ingot::program_desc desc = describe();
    ingot::kernel kernel(desc, "twice");
    context.reset();
    desc = {};
    EXPECT_EQ(0u, counts.states_destroyed);
    EXPECT_EQ(42, run(kernel, 21)); /* a kernel holds its program, which holds the context */
    kernel.reset();
    EXPECT_EQ(1u, counts.states_destroyed);
}

TEST_F(Hpp, KernelsAreMutexes)
{
    ingot::kernel kernel(describe(), "twice");
    int64_t sum = 0;
    in_threads(4, [&](size_t) {
        for (int n = 0; n < 1000; ++n) {
            const std::lock_guard<ingot::kernel> hold(kernel);
            sum += run(kernel, 1);
        }
    });
    EXPECT_EQ(8000, sum);
}

} // namespace
