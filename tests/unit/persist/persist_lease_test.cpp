/*
 * Tests leases of a custom storage behind a directory store: when Ingot asks for one, and what follows from each
 * answer. The machine that holds a program's lease compiles the program while other machines wait.
 */
#include <deque>

#include "support/persist_session.h"

using namespace store_fixture;

namespace
{

const std::string kSource = numbered_source(0);

/* A server that other machines share, with the answers that it gives to requests for a lease. */
struct Server : Kept {
    Bytes arriving; /* a blob that another machine stores just before the answer INGOT_LEASE_STORED */
    std::deque<ingot_lease_answer_t> answers;
    ingot_lease_answer_t last = INGOT_LEASE_NONE; /* the answer when there is no other */
    unsigned requests = 0;
    std::vector<int> lease_ends; /* `may_others_take` of each */
    int lease = 0;

    static ingot_lease_answer_t take_lease(void *self, size_t id_size, const uint8_t *id, void **lease)
    {
        auto *server = static_cast<Server *>(self);
        ++server->requests;
        if (server->answers.empty())
            return server->last;
        const ingot_lease_answer_t answer = server->answers.front();
        server->answers.pop_front();
        if (answer == INGOT_LEASE_STORED && !server->arriving.empty())
            server->blobs[Bytes(id, id + id_size)] = server->arriving;
        if (answer == INGOT_LEASE_TAKEN)
            *lease = &server->lease;
        return answer;
    }
    static void end_lease(void *self, void *lease, int may_others_take)
    {
        auto *server = static_cast<Server *>(self);
        EXPECT_EQ(&server->lease, lease);
        server->lease_ends.push_back(may_others_take);
    }
    static ingot_storage_ops_t operations()
    {
        ingot_storage_ops_t ops = Kept::operations();
        ops.take_lease = take_lease;
        ops.end_lease = end_lease;
        return ops;
    }
};

class PersistLease : public testing::Test
{
protected:
    PersistLease()
    {
        EXPECT_EQ(INGOT_SUCCESS, set_setting(remote_.get(), &ingot_persist_settings_t::write_through, 1));
    }

    ingot_origin_t request(const std::string &source = kSource, uint32_t flags = 0)
    {
        const std::string path = (scratch_.path() / std::to_string(next_++)).string();
        ingot_persist_info_t info = info_at(path);
        info.flags = flags;
        info.build_wait_ms = build_wait_ms_;
        const Store directory(info);
        const HeldStorage chain = chain_of({directory.get(), remote_.get()});
        const HeldStorage outer = chain_of({chain.get()});
        Session session;
        return origin_of(session.describe(source), outer.get());
    }
    void expect_not_asked(uint32_t flags = 0)
    {
        EXPECT_EQ(INGOT_ORIGIN_BUILD, request(kSource, flags));
        EXPECT_EQ(0u, server_.requests);
    }

    ScratchDirectory scratch_;
    int next_ = 0;
    uint64_t build_wait_ms_ = 0;
    Server server_;
    const HeldStorage remote_ = server_.open(Server::operations());
};

} // namespace

TEST_F(PersistLease, IsHeldDuringABuildAndItsStore)
{
    server_.answers = {INGOT_LEASE_TAKEN};
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request());
    EXPECT_EQ(std::vector<int>{0}, server_.lease_ends);
    EXPECT_EQ(1u, server_.blobs.size());
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, request());
    EXPECT_EQ(1u, server_.requests) << "what is there needs no lease";
}

TEST_F(PersistLease, IsAwaitedUntilTheBlobIsThere)
{
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request());
    server_.arriving = server_.blobs.begin()->second;
    server_.blobs.clear();
    server_.requests = 0;
    server_.answers = {INGOT_LEASE_BUSY, INGOT_LEASE_BUSY, INGOT_LEASE_STORED};
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, request());
    EXPECT_EQ(3u, server_.requests);
    EXPECT_TRUE(server_.lease_ends.empty());
}

TEST_F(PersistLease, IsNotNeededWhereTheBlobIsOfNoUse)
{
    server_.arriving = bytes_of("nonsense");
    server_.answers = {INGOT_LEASE_STORED};
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request());
    EXPECT_EQ(1u, server_.requests);
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, request()) << "the build replaced it";
}

TEST_F(PersistLease, IsNotEndedWhereThereWasNone)
{
    server_.answers = {INGOT_LEASE_BUSY, INGOT_LEASE_NONE};
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request());
    EXPECT_EQ(2u, server_.requests);
    EXPECT_TRUE(server_.lease_ends.empty());
}

/* A server whose leases never end holds all programs together for the time of one wait. */
TEST_F(PersistLease, IsAwaitedForALimitedTimeInAll)
{
    server_.last = INGOT_LEASE_BUSY;
    build_wait_ms_ = 50;
    server_.answers = {INGOT_LEASE_STORED}; /* so that what earlier tests have waited does not count */
    (void)request(numbered_source(7));
    server_.requests = 0;
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request());
    EXPECT_LT(1u, server_.requests);
    for (int i = 1; i < 4; ++i) {
        server_.requests = 0;
        EXPECT_EQ(INGOT_ORIGIN_BUILD, request(numbered_source(i)));
        EXPECT_EQ(1u, server_.requests) << "it is asked, but not awaited";
    }
    server_.arriving = server_.blobs.begin()->second;
    server_.answers = {INGOT_LEASE_STORED};
    (void)request(numbered_source(5)); /* a wait that brings a blob */
    server_.requests = 0;
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(numbered_source(6)));
    EXPECT_LT(1u, server_.requests);
}

TEST_F(PersistLease, IsNotAskedForWhereTheStorageDoesNotGetStores)
{
    ASSERT_EQ(INGOT_SUCCESS, set_setting(remote_.get(), &ingot_persist_settings_t::write_through, 0));
    expect_not_asked();
}

TEST_F(PersistLease, IsNotAskedForWhereTheStorageIsOff)
{
    ASSERT_EQ(INGOT_SUCCESS, set_setting(remote_.get(), &ingot_persist_settings_t::is_off, 1));
    expect_not_asked();
}

TEST_F(PersistLease, IsTakenAndEndedByTwoOperations)
{
    ingot_storage_t storage = nullptr;
    ingot_storage_ops_t ops = Server::operations();
    ops.end_lease = nullptr;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_storage_create(&storage, &ops, &server_));
    ops = Server::operations();
    ops.take_lease = nullptr;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_storage_create(&storage, &ops, &server_));
}
