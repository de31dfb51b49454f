/*
 * persist_request_test.cpp - tests how storages record requests, and that only sound requests are read.
 */
#include <ingot/private/artifact.h>
#include <zstd.h>

#include "support/forked_child.h"
#include "support/persist_session.h"
#include "support/recorded_requests.h"
#include "support/trust_fixture.h"

using namespace store_fixture;

namespace
{

/* A kept request, copied. */
struct Found {
    Bytes id, blob, bytes;
    std::string backend, name, group, name_space, device, place;
    uint64_t recorded_at_unix_ms = 0;
};

std::vector<Found> requests_in(ingot_storage_t storage)
{
    std::vector<Found> found;
    recorded_requests::visit(storage, [&](const ingot_persist_entry_t &entry, ingot_kept_request_t &request) {
        Found each;
        ingot_buffer_t blob = INGOT_BUFFER_INIT;
        ingot_buffer_t bytes = INGOT_BUFFER_INIT;
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_load_entry(storage, &entry, 0, &blob));
        EXPECT_EQ(INGOT_SUCCESS, ingot_request_unpack(&request, storage, &bytes)) << ingot_last_error_detail();
        each.id.assign(entry.id, entry.id + entry.id_size);
        each.blob.assign(blob.bytes, blob.bytes + blob.size);
        each.bytes.assign(bytes.bytes, bytes.bytes + bytes.size);
        each.backend = request.backend;
        each.name = request.name;
        each.group = request.group;
        each.name_space = request.name_space;
        each.device = request.device;
        each.place = entry.name_space;
        each.recorded_at_unix_ms = request.recorded_at_unix_ms;
        blob.release(&blob);
        bytes.release(&bytes);
        found.push_back(each);
    });
    return found;
}

class PersistRequest : public testing::Test
{
protected:
    std::string path(const char *name) const { return (scratch_.path() / name).string(); }
    ingot_persist_info_t info_of(const std::string &root) const
    {
        ingot_persist_info_t info = info_at(root);
        info.lock_timeout_ms = 60000;
        info.on_event = [](const ingot_event_t *event, void *user) {
            if (event->kind == INGOT_EVENT_STORAGE_DEGRADED)
                static_cast<std::vector<std::string> *>(user)->push_back(event->reason);
        };
        info.on_event_user = const_cast<std::vector<std::string> *>(&told_);
        return info;
    }

    /* Opens the store, which records the requests of its programs in another one. */
    Store open_recording(const ingot_persist_trust_t *trust = nullptr) const
    {
        ingot_persist_info_t info = info_of(root_);
        info.record_path = record_.c_str();
        info.trust = trust;
        return Store(info);
    }

    ScratchDirectory scratch_;
    std::string root_ = path("store"), record_ = path("requests");
    std::vector<std::string> told_; /* the reasons of degradations */
};

} // namespace

TEST_F(PersistRequest, IsRecordedBesideTheResultAndInAnotherStore)
{
    Session session;
    const Desc desc = session.describe("kernel twice x 2 *\n", 0, "group");
    ingot_persist_info_t info = info_of(root_);
    info.flags = INGOT_PERSIST_KEEP_REQUESTS;
    info.record_path = record_.c_str();
    info.name_space = "app";
    const Store store(info);
    EXPECT_EQ(INGOT_ORIGIN_BUILD, session.create(desc, store));
    const Store record(record_);
    for (ingot_storage_t storage : {store.get(), record.get()}) {
        const std::vector<Found> found = requests_in(storage);
        ASSERT_EQ(1u, found.size());
        EXPECT_EQ("reference", found[0].backend);
        EXPECT_EQ("test", found[0].name);
        EXPECT_EQ("group", found[0].group);
        EXPECT_EQ("app", found[0].name_space);
        EXPECT_EQ("app", found[0].place);
        EXPECT_LT(0u, found[0].recorded_at_unix_ms);
        ingot_program_desc_t made = nullptr;
        ASSERT_EQ(INGOT_SUCCESS,
                  ingot_program_desc_create_from_request(&made, session.context.get(), found[0].bytes.size(),
                                                         found[0].bytes.data(), 0, nullptr, nullptr))
            << ingot_last_error_detail();
        const Desc again(made);
        EXPECT_EQ(id_of(desc), id_of(again)) << "the result of the request is found by the application";
    }
    EXPECT_TRUE(told_.empty()) << told_[0];
}

TEST_F(PersistRequest, IsStoredOnceForAllDevicesAndDrivers)
{
    const Store store = open_recording();
    for (const char *version : {"1", "1", "2"}) {
        Session session(false, version);
        (void)session.create(session.describe(), store);
    }
    const Store record(record_);
    EXPECT_EQ(1u, requests_in(record.get()).size());
    EXPECT_EQ(2u, store.stats().stores) << "results alone";
    EXPECT_EQ(1u, store.stats().hits);
    EXPECT_EQ(2u, store.stats().misses);
}

TEST_F(PersistRequest, IsRecordedByAProgramThatWasLoaded)
{
    {
        Session session;
        EXPECT_EQ(INGOT_ORIGIN_BUILD, session.create(session.describe(), Store(root_)));
    }
    ingot_persist_info_t info = info_of(root_);
    info.flags = INGOT_PERSIST_READ_ONLY | INGOT_PERSIST_KEEP_REQUESTS; /* a read-only store keeps none */
    info.record_path = record_.c_str();
    const Store store(info);
    Session session;
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, session.create(session.describe(), store));
    EXPECT_EQ(0u, requests_in(store.get()).size());
    EXPECT_EQ(1u, recorded_requests::count(record_));
}

TEST_F(PersistRequest, IsRecordedThroughAChain)
{
    const Store store = open_recording();
    const Store other(path("other"));
    Session session;
    EXPECT_EQ(INGOT_ORIGIN_BUILD, session.create(session.describe(), chain_of({other.get(), store.get()})));
    EXPECT_EQ(1u, recorded_requests::count(record_));
}

TEST_F(PersistRequest, IsNotRecordedInAForkedChild)
{
    const Store store = open_recording();
    Session session;
    const Desc desc = session.describe();
    EXPECT_EQ(0, forked_child::run([&] {
                  ingot_persist_record_request(store.get(), desc.get(), nullptr);
                  return 0;
              }));
    EXPECT_EQ(0u, recorded_requests::count(record_));
}

TEST_F(PersistRequest, FailsNothingAndTellsEachStatusOnce)
{
    ingot_persist_info_t info = info_of(root_);
    info.record_path = "/dev/null/requests";
    {
        const Store store(info);
        EXPECT_EQ(INGOT_SUCCESS, store.status());
        ASSERT_EQ(1u, told_.size());
        Session session;
        EXPECT_EQ(INGOT_ORIGIN_BUILD, session.create(session.describe(), store));
    }
    told_.clear();
    info.record_path = nullptr;
    info.flags = INGOT_PERSIST_KEEP_REQUESTS;
    info.max_blob_bytes = 1;
    const Store store(info);
    Session session;
    for (int i = 0; i < 3; ++i)
        (void)session.create(session.describe(numbered_source(i)), store);
    size_t count = 0;
    for (const std::string &reason : told_)
        count += reason.find("a request is not recorded: ") == 0;
    EXPECT_EQ(1u, count);
}

TEST_F(PersistRequest, OfAProgramThatCannotBeCachedIsNotRecorded)
{
    const Store store = open_recording();
    Session session;
    ingot_persist_record_request(store.get(), session.describe("kernel twice x 2 * __DATE__\n").get(), nullptr);
    EXPECT_EQ(0u, recorded_requests::count(record_));
    ASSERT_EQ(1u, told_.size());
    EXPECT_EQ(0u, told_[0].find("a request is not recorded: "));
}

TEST_F(PersistRequest, HasASealIfThePolicyAsksForOne)
{
    const trust_fixture::Trust trust(INGOT_PERSIST_TRUST_REQUIRE, {trust_fixture::signing_key(1)});
    const trust_fixture::Trust other(INGOT_PERSIST_TRUST_REQUIRE, {trust_fixture::signing_key(2)});
    const Store store = open_recording(trust.get());
    Session session;
    EXPECT_EQ(INGOT_ORIGIN_BUILD, session.create(session.describe(), store));
    ingot_persist_info_t read = info_of(record_);
    read.trust = trust.get();
    const Bytes id = requests_in(Store(read).get()).at(0).id;
    read.trust = other.get();
    EXPECT_EQ(INGOT_UNTRUSTED, Store(read).load(id));
}

/* A request without the seal that the policy requires counts as missing, so that it is recorded again with one. */
TEST_F(PersistRequest, IsRecordedAgainIfItsSealIsWrong)
{
    const trust_fixture::Trust trust(INGOT_PERSIST_TRUST_REQUIRE, {trust_fixture::signing_key(1)});
    Session session;
    const Desc desc = session.describe();
    ingot_persist_record_request(recorded_requests::open_keeping_store(root_).get(), desc.get(), nullptr);
    ingot_persist_info_t info = info_of(root_);
    info.flags = INGOT_PERSIST_KEEP_REQUESTS;
    info.trust = trust.get();
    const Store store(info);
    ingot_persist_record_request(store.get(), desc.get(), nullptr);
    EXPECT_EQ(1u, requests_in(store.get()).size());
}

/* Many programs include the same files, so a store keeps each of their larger texts once. */
TEST_F(PersistRequest, SharesLargeTextsWithOthers)
{
    const std::string header(100000, '#');
    const std::string text = "kernel twice x 2 *\n# 1 \"a.h\"\n" + header + "\n# 2 \"test\"\n";
    Session session;
    ingot_persist_info_t info = info_of(root_);
    info.flags = INGOT_PERSIST_KEEP_REQUESTS;
    Store store(info);
    std::vector<Bytes> ids;
    for (int i = 0; i < 3; ++i) {
        const Desc desc = session.describe(text + "kernel n" + std::to_string(i) + " x\n");
        ids.push_back(id_of(desc));
        ingot_persist_record_request(store.get(), desc.get(), nullptr);
    }
    EXPECT_TRUE(told_.empty()) << told_[0];
    EXPECT_EQ(4u, entries_of(root_).size()) << "three requests and a text";
    for (const Found &found : requests_in(store.get())) {
        ingot_program_desc_t made = nullptr;
        ASSERT_EQ(INGOT_SUCCESS,
                  ingot_program_desc_create_from_request(&made, session.context.get(), found.bytes.size(),
                                                         found.bytes.data(), 0, nullptr, nullptr));
        EXPECT_EQ(1, std::count(ids.begin(), ids.end(), id_of(Desc(made))));
    }
}

/* A request whose text was evicted cannot be answered, and is recorded again with the text. */
TEST_F(PersistRequest, IsRecordedAgainIfATextIsMissing)
{
    Session session;
    const Desc desc = session.describe("kernel twice x 2 *\n" + std::string(10000, '#') + "\n");
    const Store store = recorded_requests::open_keeping_store(root_);
    ingot_persist_record_request(store.get(), desc.get(), nullptr);
    const auto remove_texts = [](const ingot_persist_entry_t *entry, void *user) {
        const auto held = static_cast<ingot_storage_t>(user);
        return ingot_request_is_id(entry->id_size, entry->id) != 0
                   ? INGOT_SUCCESS
                   : ingot_storage_remove(held, entry->id_size, entry->id);
    };
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_for_each(store.get(), remove_texts, store.get()));
    ASSERT_EQ(1u, entries_of(root_).size());
    recorded_requests::visit(store.get(), [&](const ingot_persist_entry_t &, ingot_kept_request_t &request) {
        ingot_buffer_t bytes = INGOT_BUFFER_INIT;
        EXPECT_EQ(INGOT_NOT_FOUND, ingot_request_unpack(&request, store.get(), &bytes));
        EXPECT_EQ(INGOT_NOT_FOUND, ingot_request_unpack(&request, nullptr, &bytes));
    });
    ingot_persist_record_request(store.get(), desc.get(), nullptr);
    EXPECT_EQ(1u, requests_in(store.get()).size());
    EXPECT_EQ(2u, entries_of(root_).size());
}

/* ---- reading ---- */

namespace
{

Bytes digest_of(const Bytes &request)
{
    Bytes digest(INGOT_REQUEST_DIGEST_SIZE);
    EXPECT_EQ(INGOT_SUCCESS, ingot_request_get_digest(request.size(), request.data(), digest.data()));
    return digest;
}

Bytes id_with(const Bytes &digest, const std::string &backend = "reference", const char *kind = INGOT_REQUEST_KIND)
{
    const ingot_artifact_field_t fields[] = {{"backend", backend.size(), backend.data()},
                                             {"digest", digest.size(), digest.data()}};
    const ingot_artifact_key_t key = {sizeof(key), kind, 2, fields};
    size_t size = 1000;
    Bytes id(size);
    EXPECT_EQ(INGOT_SUCCESS, ingot_artifact_key_get_id(&key, &size, id.data()));
    id.resize(size);
    return id;
}

/* Reads a request with these parts. */
ingot_status_t read_with(const Bytes &id, const std::vector<std::pair<const char *, Bytes>> &parts)
{
    std::vector<ingot_artifact_part_t> sizes;
    Bytes all;
    for (const auto &[name, bytes] : parts) {
        sizes.push_back({name, bytes.size()});
        all.insert(all.end(), bytes.begin(), bytes.end());
    }
    ingot_artifact_info_t info = INGOT_ARTIFACT_INFO_INIT;
    info.parts = sizes.data();
    info.part_count = sizes.size();
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    ingot_buffer_t bytes = INGOT_BUFFER_INIT;
    ingot_kept_request_t request;
    EXPECT_EQ(INGOT_SUCCESS, ingot_artifact_pack(id.size(), id.data(), &info, all.size(), all.data(), &blob));
    ingot_status_t status = ingot_request_open(&request, id.size(), id.data(), &blob);
    if (status == INGOT_SUCCESS) {
        status = ingot_request_unpack(&request, nullptr, &bytes);
        ingot_request_close(&request);
    }
    if (bytes.release != nullptr)
        bytes.release(&bytes);
    if (blob.release != nullptr)
        blob.release(&blob);
    return status;
}

Bytes compressed(const Bytes &bytes)
{
    Bytes packed(ZSTD_compressBound(bytes.size()));
    packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 1));
    return packed;
}

} // namespace

TEST_F(PersistRequest, OfAStrangerIsReadOnlyIfItIsSound)
{
    Session session;
    ingot_buffer_t buffer = INGOT_BUFFER_INIT;
    ASSERT_EQ(INGOT_SUCCESS, ingot_program_desc_get_request(session.describe().get(), &buffer));
    const Bytes request(buffer.bytes, buffer.bytes + buffer.size);
    buffer.release(&buffer);
    const Bytes id = id_with(digest_of(request));
    Bytes other = digest_of(request);
    other[0] ^= 1;
    Bytes damaged = compressed(request);
    damaged.back() ^= 1;
    const Bytes text = {'a', '\0'};
    EXPECT_EQ(INGOT_SUCCESS, read_with(id, {{"request", request}}));
    EXPECT_EQ(INGOT_SUCCESS, read_with(id, {{"other", text}, {"device", text}, {"request", compressed(request)}}));
    EXPECT_EQ(INGOT_BLOB_CORRUPT, read_with(id, {{"device", text}})) << "no request";
    EXPECT_EQ(INGOT_BLOB_CORRUPT, read_with(id, {{"request", request}, {"group", {'a'}}})) << "a text without its NUL";
    EXPECT_EQ(INGOT_BLOB_CORRUPT, read_with(id, {{"request", request}, {"group", {'\0', 'a', '\0'}}})) << "two texts";
    EXPECT_EQ(INGOT_BLOB_CORRUPT, read_with(id, {{"request", request}, {"namespace", {}}})) << "an empty text";
    EXPECT_EQ(INGOT_BLOB_CORRUPT, read_with(id, {{"request", request}, {"texts", Bytes(47, 0)}}));
    EXPECT_EQ(INGOT_BLOB_CORRUPT, read_with(id, {{"request", request}, {"texts", Bytes(48, 0xff)}})) << "too large";
    Bytes places(2 * 48, 0);
    EXPECT_EQ(INGOT_BLOB_CORRUPT, read_with(id, {{"request", request}, {"texts", places}})) << "smaller than any text";
    places[9] = places[48 + 9] = 16; /* sizes of 4096 bytes */
    EXPECT_EQ(INGOT_NOT_FOUND, read_with(id, {{"request", request}, {"texts", places}})) << "no such text";
    places[48 + 9] = 15;
    EXPECT_EQ(INGOT_BLOB_CORRUPT, read_with(id, {{"request", request}, {"texts", places}}));
    EXPECT_EQ(INGOT_BLOB_CORRUPT, read_with(id, {{"request", damaged}}));
    EXPECT_NE(INGOT_SUCCESS, read_with(id, {{"request", Bytes(request.begin(), request.end() - 1)}}));
    EXPECT_NE(INGOT_SUCCESS, read_with(id, {{"request", {}}}));
    EXPECT_EQ(INGOT_BLOB_MISMATCH, read_with(id_with(other), {{"request", request}})) << "under another's id";
    EXPECT_EQ(INGOT_BLOB_MISMATCH, read_with(id_with(digest_of(request), "opencl"), {{"request", request}}));
    EXPECT_EQ(INGOT_BLOB_CORRUPT,
              read_with(id_with(digest_of(request), "reference", "triton"), {{"request", request}}));
    EXPECT_EQ(INGOT_BLOB_CORRUPT, read_with(id_with({'x'}), {{"request", request}}));
    EXPECT_EQ(INGOT_BLOB_CORRUPT, read_with(id_with(digest_of(request), std::string(64, 'b')), {{"request", request}}));
}

/* A small blob must not make its reader take much memory. */
TEST_F(PersistRequest, ThatWouldBeEnormousIsRefused)
{
    const Bytes digest(INGOT_REQUEST_DIGEST_SIZE, 7);
    Bytes frame = {0x28, 0xb5, 0x2f, 0xfd, 0xe0}; /* a size of eight bytes, one segment */
    frame.insert(frame.end(), {0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0});
    EXPECT_EQ(INGOT_BLOB_CORRUPT, read_with(id_with(digest), {{"request", frame}}));
    EXPECT_NE(std::string::npos, std::string(ingot_last_error_detail()).find("too large"));
}
