/*
 * status_test.cpp - tests the names of statuses and events, the version, and each thread's error detail.
 */
#include <thread>

#include <ingot/object_cache.h>

#include "support/empty_backend.h"
#include "support/reference_context.h"

extern "C" {
#include "core/base/trace.h"
}

TEST(Status, HasANameForEveryValue)
{
    for (int status = INGOT_SUCCESS; status <= INGOT_DEADLOCK; ++status)
        EXPECT_EQ(0u, std::string(ingot_status_name(static_cast<ingot_status_t>(status))).find("INGOT_")) << status;
    EXPECT_STREQ("unknown status", ingot_status_name(static_cast<ingot_status_t>(INGOT_DEADLOCK + 1)));
    EXPECT_STREQ("unknown status", ingot_status_name(static_cast<ingot_status_t>(-1)));
}

TEST(Status, HasANameForEveryEvent)
{
    for (int kind = INGOT_EVENT_HIT; kind <= INGOT_EVENT_STORAGE_MISS; ++kind)
        EXPECT_STRNE("unknown event", event_kind_name(static_cast<ingot_event_kind_t>(kind))) << kind;
    EXPECT_STREQ("unknown event", event_kind_name(static_cast<ingot_event_kind_t>(1000)));
}

TEST(Version, IsThatOfTheHeaderWithARevision)
{
    const std::string expected = std::to_string(INGOT_VERSION_MAJOR) + "." + std::to_string(INGOT_VERSION_MINOR) + "." +
                                 std::to_string(INGOT_VERSION_PATCH) + "+";
    EXPECT_EQ(0u, std::string(ingot_version()).find(expected)) << ingot_version();
    EXPECT_GT(std::string(ingot_version()).size(), expected.size());
}

TEST(ErrorDetail, IsCutWhenTooLongAndMayQuoteItself)
{
    ingot_set_error_detail(INGOT_BUILD_FAILED, "%s", std::string(100000, 'x').c_str());
    const std::string cut = ingot_last_error_detail();
    EXPECT_GT(cut.size(), 1000u);
    EXPECT_EQ(" [...]", cut.substr(cut.size() - 6));
    ingot_set_error_detail(INGOT_BUILD_FAILED, "short");
    ingot_set_error_detail(INGOT_BUILD_FAILED, "again: %s", ingot_last_error_detail());
    EXPECT_STREQ("again: short", ingot_last_error_detail());
}

TEST(ErrorCode, BelongsToTheSentenceAndItsThread)
{
    EXPECT_EQ(INGOT_BACKEND_ERROR, ingot_set_error(INGOT_BACKEND_ERROR, -5, "clCall: %s", "CL_OUT_OF_RESOURCES"));
    EXPECT_EQ(-5, ingot_last_error_code());
    EXPECT_STREQ("clCall: CL_OUT_OF_RESOURCES", ingot_last_error_detail());
    std::thread([] {
        EXPECT_EQ(0, ingot_last_error_code());
        ingot_set_error(INGOT_BACKEND_ERROR, INT64_C(0x78000001), "zeCall");
        EXPECT_EQ(INT64_C(0x78000001), ingot_last_error_code());
    }).join();
    EXPECT_EQ(-5, ingot_last_error_code());
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_program_get(nullptr, nullptr, 0)) << "Ingot's own";
    EXPECT_EQ(0, ingot_last_error_code());
}

namespace
{

/* Sets an error when it is created, and expects the same error when it is destroyed. */
class Failure
{
public:
    Failure() { ingot_set_error(INGOT_BUILD_FAILED, -11, "line 3: no such type"); }
    ~Failure()
    {
        EXPECT_EQ(-11, ingot_last_error_code());
        EXPECT_STREQ("line 3: no such type", ingot_last_error_detail());
    }
};

/* Makes a call that fails, as a backend or an application may do while it cleans up. */
void fail_quietly()
{
    ingot_program_t none = nullptr;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_program_get(&none, nullptr, INGOT_PROGRAM_GET_IN_MEMORY));
}

} // namespace

TEST(ErrorDetail, SurvivesTheReleaseOfAnObjectWhoseDestructorFails)
{
    ingot_object_cache_t cache = nullptr;
    ingot_object_t object = nullptr;
    static int value;
    ASSERT_EQ(INGOT_SUCCESS, ingot_object_cache_create(&cache, nullptr));
    const ingot_object_destructor_t destroy = [](void *, void *) { fail_quietly(); };
    for (const char *name : {"a", "b"})
        ASSERT_EQ(INGOT_SUCCESS,
                  ingot_object_cache_set(*name == 'a' ? &object : nullptr, cache, "", "", name, &value, destroy));
    const Failure failure;
    ingot_object_cache_release(cache);
    ingot_object_release(object);
}

TEST(ErrorDetail, SurvivesTheReleaseOfEverythingThatABackendMade)
{
    ingot_backend_ops_t ops = empty_backend("careless"); /* all that it destroys makes a call that fails */
    ops.destroy = [](void *) { fail_quietly(); };
    ops.destroy_program = ops.destroy_kernel = [](void *, void *) { fail_quietly(); };
    ops.get_kernel_names = [](void *, void *, ingot_sink_t *sink) { return ingot_sink_write(sink, 2, "k"); };
    ingot_context_t context = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_context_create(&context, &ops, &ops, 1, nullptr));
    Context owned(context);
    Desc desc = ProgramText().make(owned);
    Program program = create_program(desc);
    Kernel kernel = create_kernel(program, "k");
    const Failure failure;
    kernel.reset();
    program.reset();
    desc.reset();
    owned.reset();
}
