/*
 * Tests what a storage does on a miss: compiles, reports or fails, and which reason it gives.
 */
#include "support/forked_child.h"
#include "support/persist_session.h"
#include "support/trust_fixture.h"

using namespace store_fixture;

namespace
{

constexpr auto kFail = INGOT_PERSIST_ON_MISS_FAIL;
constexpr auto kCompile = INGOT_PERSIST_ON_MISS_COMPILE;

class PersistMiss : public StoreTest
{
protected:
    Store open(ingot_persist_on_miss_t on_miss) const
    {
        ingot_persist_info_t info = info_at(root_);
        info.on_miss = on_miss;
        return Store(info);
    }

    /* Requests a program, and returns the status. The event's reason and the line on standard error are kept. */
    ingot_status_t request(Session &session, const HeldStorage &storage, const Desc &desc)
    {
        session.on_event = [this](const ingot_event_t &event) {
            if (event.kind == INGOT_EVENT_STORAGE_MISS)
                reasons_.emplace_back(event.reason);
        };
        testing::internal::CaptureStderr();
        const ingot_status_t status = request_through(desc, storage.get());
        line_ = testing::internal::GetCapturedStderr();
        if (status == INGOT_NOT_FOUND)
            detail_ = ingot_last_error_detail();
        return status;
    }

    std::vector<std::string> reasons_;
    std::string line_, detail_;
};

} // namespace

TEST_F(PersistMiss, FailsWithoutCompilingAndNamesTheFieldThatDiffers)
{
    Session first;
    EXPECT_EQ(INGOT_ORIGIN_BUILD, first.create(first.describe(), open(kCompile)));

    const Store store = open(kFail);
    Session same;
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, same.create(same.describe(), store));
    Session other(false, "2"); /* another version of the driver */
    EXPECT_EQ(INGOT_NOT_FOUND, request(other, store, other.describe()));
    EXPECT_EQ(0u, detail_.find("miss: nearest is ")) << detail_;
    EXPECT_NE(std::string::npos, detail_.find(": device[0].driver_version: wanted \"2\", stored \"1\"")) << detail_;
    EXPECT_NE(std::string::npos, detail_.find("wanted: the program with source ")) << detail_;
    ASSERT_EQ(1u, reasons_.size());
    EXPECT_EQ(detail_, reasons_[0]);
    EXPECT_EQ("", line_);
    EXPECT_EQ(0u, other.seen.count(INGOT_EVENT_BUILD, INGOT_SUCCESS));
}

/* The image of a container, for example, may have been filled in another namespace than the application's. */
TEST_F(PersistMiss, NamesTheNamespaceThatHasTheProgram)
{
    ingot_persist_info_t info = info_at(root_);
    for (const char *name_space : {static_cast<const char *>(nullptr), "games"}) {
        Session first;
        info.name_space = name_space;
        info.on_miss = kCompile;
        first.create(first.describe(numbered_source(name_space != nullptr)), Store(info));
    }
    info.name_space = "app";
    info.on_miss = kFail;
    const Store store(info);
    Session session;
    EXPECT_EQ(INGOT_NOT_FOUND, request(session, store, session.describe(numbered_source(1))));
    EXPECT_EQ(0u, detail_.find("miss: it is stored in another namespace, games; wanted: ")) << detail_;
    EXPECT_EQ(INGOT_NOT_FOUND, request(session, store, session.describe(numbered_source(0))));
    EXPECT_EQ(0u, detail_.find("miss: it is stored in another namespace, the one without a name; ")) << detail_;
    EXPECT_EQ(INGOT_NOT_FOUND, request(session, store, session.describe(numbered_source(2))));
    EXPECT_EQ(std::string::npos, detail_.find("another namespace")) << detail_;
}

TEST_F(PersistMiss, NamesTheNearestOfSeveralEntries)
{
    Session session;
    const Store filling = open(kCompile);
    for (int i = 0; i < 5; ++i)
        session.create(session.describe(numbered_source(i)), filling);
    Session other(false, "2");
    const Store store = open(kFail);
    EXPECT_EQ(INGOT_NOT_FOUND, request(other, store, other.describe(numbered_source(3))));
    EXPECT_NE(std::string::npos, detail_.find("driver_version")) << detail_;
    EXPECT_EQ(std::string::npos, detail_.find("stored null")) << detail_;
    EXPECT_EQ(INGOT_NOT_FOUND, request(session, store, session.describe(numbered_source(7))));
    EXPECT_NE(std::string::npos, detail_.find("source[0]")) << detail_;
}

TEST_F(PersistMiss, NamesAProgramWithALongId)
{
    Session session;
    ProgramText text;
    for (int i = 0; i < 40; ++i)
        text.headers.emplace_back("header" + std::to_string(i), "text");
    EXPECT_EQ(INGOT_NOT_FOUND, request(session, open(kFail), text.make(session.context)));
    EXPECT_NE(std::string::npos, detail_.find("; wanted: the program with source ")) << detail_;
}

TEST_F(PersistMiss, ShowsTheBeginningsOfLongValuesWithoutControlCharacters)
{
    Session session;
    ProgramText text;
    text.headers.emplace_back(std::string(300, 'a'), "text");
    const Store filling = open(kCompile);
    session.create(text.make(session.context), filling);
    text.headers[0].first = "\x1b\n" + std::string(300, 'b');
    EXPECT_EQ(INGOT_NOT_FOUND, request(session, open(kFail), text.make(session.context)));
    EXPECT_NE(std::string::npos, detail_.find(": header[0].name: wanted \"\\u001b\\u000ab")) << detail_;
    EXPECT_NE(std::string::npos, detail_.find("b, stored \"a")) << detail_;
    EXPECT_LT(detail_.size(), 600u);
}

TEST_F(PersistMiss, ReportsEachMissOnceAndCompiles)
{
    Session session;
    const Store store = open(INGOT_PERSIST_ON_MISS_REPORT);
    EXPECT_EQ(INGOT_SUCCESS, request(session, store, session.describe()));
    EXPECT_EQ(0u, line_.find("ingot: miss: no entry to compare with; wanted: the program with source ")) << line_;
    EXPECT_EQ(line_.size() - 1, line_.find('\n'));
    EXPECT_EQ(1u, reasons_.size());
    Session warm;
    EXPECT_EQ(INGOT_SUCCESS, request(warm, store, warm.describe()));
    EXPECT_EQ("", line_);
    EXPECT_EQ(1u, reasons_.size());
}

TEST_F(PersistMiss, IsSilentByDefault)
{
    Session session;
    EXPECT_EQ(INGOT_SUCCESS, request(session, open(kCompile), session.describe()));
    EXPECT_EQ("", line_);
    EXPECT_TRUE(reasons_.empty());
}

TEST_F(PersistMiss, FailsAlsoForWhatTheStorageCannotHave)
{
    Session session;
    const Store store = open(kFail);
    ASSERT_EQ(INGOT_SUCCESS, set_setting(store.get(), &ingot_persist_settings_t::is_off, 1));
    EXPECT_EQ(INGOT_NOT_FOUND, request(session, store, session.describe()));
    EXPECT_EQ("miss: the storage is off", detail_);
}

/* The policy still promises that nothing is compiled. */
TEST_F(PersistMiss, FailsInAForkedChildAndNamesTheFork)
{
    const Store store = open(kFail);
    EXPECT_EQ(0, forked_child::run([&] {
                  Session session;
                  EXPECT_EQ(INGOT_NOT_FOUND, request(session, store, session.describe()));
                  EXPECT_EQ(0u, detail_.find("miss: the storage is off in this process, which was forked")) << detail_;
                  EXPECT_EQ(0u, session.seen.count(INGOT_EVENT_BUILD, INGOT_SUCCESS));
                  return testing::Test::HasFailure() ? 1 : 0;
              }));
}

TEST_F(PersistMiss, AForkedChildIsToldOnceThatItsParentsStorageIsOff)
{
    Seen told;
    ingot_persist_info_t info = info_at(root_);
    told.listen(&info);
    const Store store(info);
    const auto request_twice = [&] {
        Session session;
        for (int i = 0; i < 2; ++i) {
            session.create(session.describe(numbered_source(i)), store);
            EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "forked")) << ingot_last_error_detail();
        }
        EXPECT_EQ(1u, session.seen.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_READ_ONLY));
    };
    EXPECT_EQ(0, forked_child::run([&] {
                  request_twice();
                  EXPECT_EQ(0, forked_child::run([&] { /* its child is another process */
                                                       request_twice();
                                                       return testing::Test::HasFailure() ? 1 : 0;
                            }));
                  EXPECT_EQ(1u, told.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_READ_ONLY));
                  return testing::Test::HasFailure() ? 1 : 0;
              }));
}

TEST_F(PersistMiss, AppliesToAChainThroughItsFirstTierWithAPolicy)
{
    Session session;
    const Store store = open(kFail);
    const Store behind(scratch_.path() / "other");
    const HeldStorage chain = chain_of({behind.get(), store.get()});
    EXPECT_EQ(INGOT_NOT_FOUND, request(session, chain, session.describe()));
    EXPECT_EQ(0u, detail_.find("miss: no entry to compare with")) << detail_;
    session.create(session.describe(), behind);
    Session warm;
    EXPECT_EQ(INGOT_SUCCESS, request(warm, chain, warm.describe()));
}

TEST_F(PersistMiss, BeginsWithWhyTheStoreCannotBeRead)
{
    {
        Session filling;
        filling.create(filling.describe(), open(kCompile));
    }
    const Store store = open(kFail);
    const uid_t user = geteuid();
    ASSERT_EQ(0, user == 0 ? seteuid(65534) : chmod(root_.c_str(), 0)); /* root may read everything */
    Session session;
    EXPECT_EQ(INGOT_NOT_FOUND, request(session, store, session.describe()));
    ASSERT_EQ(0, user == 0 ? seteuid(user) : chmod(root_.c_str(), 0700));
    EXPECT_EQ(0u, detail_.find("miss: ")) << detail_;
    EXPECT_EQ(std::string::npos, detail_.find("no entry to compare with")) << detail_;
    EXPECT_NE(std::string::npos, detail_.find(strerror(EACCES))) << detail_;
}
