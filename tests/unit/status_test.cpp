/*
 * status_test.cpp - names, version and the thread's sentence.
 */
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <ingot/backend.h>

TEST(Status, HasANameForEveryValue)
{
    for (int status = INGOT_SUCCESS; status <= INGOT_UNTRUSTED; ++status)
        EXPECT_EQ(0u, std::string(ingot_status_name(static_cast<ingot_status_t>(status))).find("INGOT_")) << status;
    EXPECT_STREQ("unknown status", ingot_status_name(static_cast<ingot_status_t>(INGOT_UNTRUSTED + 1)));
    EXPECT_STREQ("unknown status", ingot_status_name(static_cast<ingot_status_t>(-1)));
}

TEST(Status, HasANameForEveryEvent)
{
    for (int kind = INGOT_EVENT_HIT; kind <= INGOT_EVENT_PREWARM; ++kind)
        EXPECT_STRNE("unknown event", ingot_event_kind_name(static_cast<ingot_event_kind_t>(kind))) << kind;
    EXPECT_STREQ("unknown event", ingot_event_kind_name(static_cast<ingot_event_kind_t>(1000)));
}

TEST(Version, IsThatOfTheHeaderWithARevision)
{
    const std::string expected = std::to_string(INGOT_VERSION_MAJOR) + "." + std::to_string(INGOT_VERSION_MINOR) + "." +
                                 std::to_string(INGOT_VERSION_PATCH) + "+";
    EXPECT_EQ(0u, std::string(ingot_version()).find(expected)) << ingot_version();
    EXPECT_GT(std::string(ingot_version()).size(), expected.size());
}

TEST(ErrorDetail, BelongsToItsThread)
{
    EXPECT_EQ(INGOT_IO_ERROR, ingot_set_error_detail(INGOT_IO_ERROR, "here %d", 1));
    std::thread([] {
        EXPECT_STREQ("", ingot_last_error_detail());
        ingot_set_error_detail(INGOT_BUSY, "there");
    }).join();
    EXPECT_STREQ("here 1", ingot_last_error_detail());
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
