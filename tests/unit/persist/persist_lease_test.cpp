/*
 * Tests leases of a custom storage behind a directory store: when Ingot asks for one, and what follows from each
 * answer. The machine that holds a program's lease compiles the program while other machines wait.
 */
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <vector>

#include "support/persist_session.h"
#include "support/storage_settings.h"
#include "support/store_fixture.h"

using namespace store_fixture;

namespace
{

const std::string kSource = numbered_source(0);
const std::string kFailing = "kernel twice x no_such_name *\n";

/* A server that other machines share, with the answers that it gives to requests for a lease. */
struct Server {
    std::map<Bytes, Bytes> blobs;
    Bytes arriving; /* a blob that another machine stores just before the answer INGOT_LEASE_STORED */
    std::deque<ingot_lease_answer_t> answers;
    std::vector<int> useless; /* `is_blob_useless` of each request */
    std::vector<int> ends;    /* `may_others_take` of each end of a lease */
    int lease = 0;
};

ingot_status_t load(void *self, size_t id_size, const uint8_t *id, ingot_buffer_t *blob)
{
    auto *server = static_cast<Server *>(self);
    const auto found = server->blobs.find(Bytes(id, id + id_size));
    if (found == server->blobs.end())
        return INGOT_NOT_FOUND;
    *blob = {found->second.size(), found->second.data(), nullptr, nullptr};
    return INGOT_SUCCESS;
}

ingot_status_t store(void *self, size_t id_size, const uint8_t *id, size_t blob_size, const uint8_t *blob)
{
    static_cast<Server *>(self)->blobs[Bytes(id, id + id_size)] = Bytes(blob, blob + blob_size);
    return INGOT_SUCCESS;
}

ingot_status_t remove_id(void *self, size_t id_size, const uint8_t *id)
{
    return static_cast<Server *>(self)->blobs.erase(Bytes(id, id + id_size)) != 0 ? INGOT_SUCCESS : INGOT_NOT_FOUND;
}

ingot_lease_answer_t take(void *self, size_t id_size, const uint8_t *id, int is_blob_useless, void **lease)
{
    auto *server = static_cast<Server *>(self);
    server->useless.push_back(is_blob_useless);
    if (server->answers.empty())
        return INGOT_LEASE_NONE;
    const ingot_lease_answer_t answer = server->answers.front();
    server->answers.pop_front();
    if (answer == INGOT_LEASE_STORED && !server->arriving.empty())
        server->blobs[Bytes(id, id + id_size)] = server->arriving;
    if (answer == INGOT_LEASE_TAKEN)
        *lease = &server->lease;
    return answer;
}

void end(void *self, void *lease, int may_others_take)
{
    auto *server = static_cast<Server *>(self);
    EXPECT_EQ(&server->lease, lease);
    server->ends.push_back(may_others_take);
}

const ingot_storage_ops_t kOps = {sizeof(kOps), load, store, remove_id, nullptr, nullptr, take, end, nullptr, nullptr};

class PersistLease : public testing::Test
{
protected:
    PersistLease()
    {
        EXPECT_EQ(INGOT_SUCCESS, ingot_storage_create(&remote_, &kOps, &server_));
        EXPECT_EQ(INGOT_SUCCESS, set_setting(remote_, &ingot_persist_settings_t::write_through, 1));
    }
    ~PersistLease() override { ingot_storage_release(remote_); }

    ingot_origin_t request(const std::string &source = kSource, uint32_t flags = 0)
    {
        ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
        const std::string path = (scratch_.path() / std::to_string(next_++)).string();
        info.path = path.c_str();
        info.flags = flags;
        ingot_storage_t directory = nullptr;
        ingot_storage_t chain = nullptr;
        ingot_storage_t outer = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_open(&directory, &info));
        const ingot_storage_t tiers[] = {directory, remote_};
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_chain(&chain, 2, tiers));
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_chain(&outer, 1, &chain));
        Session session;
        const Desc desc = session.describe(source);
        ingot_program_t program = nullptr;
        ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
        (void)ingot_persist_program_create(&program, desc.get(), outer, &origin);
        ingot_program_release(program);
        ingot_storage_release(outer);
        ingot_storage_release(chain);
        ingot_storage_release(directory);
        return origin;
    }
    void expect_not_asked(uint32_t flags = 0)
    {
        EXPECT_EQ(INGOT_ORIGIN_BUILD, request(kSource, flags));
        EXPECT_EQ(0u, server_.useless.size());
    }

    ScratchDirectory scratch_;
    int next_ = 0;
    Server server_;
    ingot_storage_t remote_ = nullptr;
};

} // namespace

TEST_F(PersistLease, IsHeldDuringABuildAndItsStore)
{
    server_.answers = {INGOT_LEASE_TAKEN};
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request());
    EXPECT_EQ(std::vector<int>{0}, server_.useless);
    EXPECT_EQ(std::vector<int>{0}, server_.ends);
    EXPECT_EQ(1u, server_.blobs.size());
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, request());
    EXPECT_EQ(1u, server_.useless.size()) << "what is there needs no lease";
}

TEST_F(PersistLease, IsAwaitedUntilTheBlobIsThere)
{
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request());
    server_.arriving = server_.blobs.begin()->second;
    server_.blobs.clear();
    server_.useless.clear();
    server_.answers = {INGOT_LEASE_BUSY, INGOT_LEASE_BUSY, INGOT_LEASE_STORED};
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, request());
    EXPECT_EQ((std::vector<int>{0, 0, 0}), server_.useless);
    EXPECT_TRUE(server_.ends.empty());
}

TEST_F(PersistLease, IsAskedForOnceMoreWhereTheBlobIsOfNoUse)
{
    server_.arriving = bytes_of("nonsense");
    server_.answers = {INGOT_LEASE_STORED, INGOT_LEASE_BUSY, INGOT_LEASE_TAKEN};
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request());
    EXPECT_EQ((std::vector<int>{0, 1, 1}), server_.useless);
    EXPECT_EQ(1u, server_.ends.size());
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, request()) << "the build replaced it";
}

TEST_F(PersistLease, IsNotEndedWhereThereWasNone)
{
    server_.answers = {INGOT_LEASE_BUSY, INGOT_LEASE_NONE};
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request());
    EXPECT_EQ(2u, server_.useless.size());
    EXPECT_TRUE(server_.ends.empty());
}

TEST_F(PersistLease, OfAProgramThatDoesNotCompileIsOfNoUseToOthers)
{
    server_.answers = {INGOT_LEASE_TAKEN};
    (void)request(kFailing);
    EXPECT_EQ(std::vector<int>{0}, server_.ends);
    EXPECT_TRUE(server_.blobs.empty());
}

TEST_F(PersistLease, IsNotAskedForWhereNobodyWaits)
{
    expect_not_asked(INGOT_PERSIST_NO_BUILD_WAIT);
}

TEST_F(PersistLease, IsNotAskedForWhereTheStorageDoesNotGetStores)
{
    ASSERT_EQ(INGOT_SUCCESS, set_setting(remote_, &ingot_persist_settings_t::write_through, 0));
    expect_not_asked();
}

TEST_F(PersistLease, IsNotAskedForWhereTheStorageIsOff)
{
    ASSERT_EQ(INGOT_SUCCESS, set_setting(remote_, &ingot_persist_settings_t::is_off, 1));
    expect_not_asked();
}

TEST_F(PersistLease, IsTakenAndEndedByTwoOperations)
{
    ingot_storage_t storage = nullptr;
    ingot_storage_ops_t ops = kOps;
    ops.end_lease = nullptr;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_storage_create(&storage, &ops, &server_));
    ops = kOps;
    ops.take_lease = nullptr;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_storage_create(&storage, &ops, &server_));
}
