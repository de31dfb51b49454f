/*
 * persist_wish_test.cpp - wishes for programs that a store lacks, and who may answer them (doc/builders.md).
 */
#include <ingot/private/persist.h>
#include <ingot/private/wish.h>

#include "support/library_clock.h"
#include "support/persist_session.h"
#include "support/recorded_requests.h"
#include "support/trust_fixture.h"

extern "C" {
#include "persist/program/program.h"
}

using namespace store_fixture;

namespace
{

std::vector<Bytes> wishes_in(const HeldStorage &store)
{
    std::vector<Bytes> found;
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_visit_wishes(
                                 store.get(),
                                 [](void *user, size_t size, const uint8_t *id) {
                                     static_cast<std::vector<Bytes> *>(user)->emplace_back(id, id + size);
                                     return true;
                                 },
                                 &found))
        << ingot_last_error_detail();
    return found;
}

ingot_status_t take(const HeldStorage &store, const Bytes &id)
{
    return ingot_persist_take_wish(store.get(), id.size(), id.data());
}

Bytes request_id_of(const Bytes &id)
{
    Bytes request_id(512);
    size_t size = request_id.size();
    EXPECT_EQ(INGOT_SUCCESS, ingot_wish_get_request_id(id.size(), id.data(), &size, request_id.data()))
        << ingot_last_error_detail();
    request_id.resize(size);
    return request_id;
}

/* Compiles what a wish names, from its request alone, as a builder does. */
ingot_status_t answer(const HeldStorage &store, const Bytes &wish, const Session &builder)
{
    const Bytes request_id = request_id_of(wish);
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    ingot_buffer_t bytes = INGOT_BUFFER_INIT;
    ingot_kept_request_t kept;
    ingot_status_t status = ingot_storage_load(store.get(), request_id.size(), request_id.data(), &blob);
    if (status != INGOT_SUCCESS)
        return status;
    EXPECT_EQ(INGOT_SUCCESS, ingot_request_open(&kept, request_id.size(), request_id.data(), &blob));
    EXPECT_EQ(INGOT_SUCCESS, ingot_request_unpack(&kept, store.get(), &bytes));
    ingot_program_desc_t made = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_create_from_request(&made, builder.context.get(), bytes.size,
                                                                    bytes.bytes, 0, nullptr, nullptr));
    bytes.release(&bytes);
    ingot_request_close(&kept);
    const Desc desc(made);
    EXPECT_EQ(wish, id_of(desc));
    ingot_program_t program = nullptr;
    status = ingot_persist_program_try(&program, desc.get(), store.get(), nullptr);
    ingot_program_release(program);
    return status;
}

class PersistWish : public StoreTest
{
protected:
    fs::path folder() const { return root_ / "wanted"; }

    void make_old(const fs::path &file) const
    {
        fs::last_write_time(file, fs::last_write_time(file) - std::chrono::hours(2));
    }

    Session session_;
};

} // namespace

TEST_F(PersistWish, IsTheIdOfTheResultAndIsAnsweredFromItsRequest)
{
    const Store store(root_);
    const Desc desc = session_.describe();
    ASSERT_EQ(INGOT_BUSY, persist_program_begin(desc.get(), store.get()));
    EXPECT_EQ(std::vector<Bytes>{id_of(desc)}, wishes_in(store));
    EXPECT_EQ(0u, session_.counts.builds);
    const Session builder;
    EXPECT_EQ(INGOT_SUCCESS, take(store, id_of(desc)));
    EXPECT_EQ(INGOT_NOT_FOUND, take(store, id_of(desc)));
    EXPECT_EQ(INGOT_SUCCESS, answer(store, id_of(desc), builder));
    EXPECT_EQ(1u, builder.counts.builds);
    EXPECT_EQ(INGOT_SUCCESS, persist_program_begin(desc.get(), store.get()));
    EXPECT_TRUE(wishes_in(store).empty());
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, session_.create(desc, store));
}

TEST_F(PersistWish, IsLeftOnceByAllWhoWantAProgram)
{
    const Store store(root_);
    const Desc desc = session_.describe();
    const Session other;
    ASSERT_EQ(INGOT_BUSY, persist_program_begin(desc.get(), store.get()));
    const fs::path file = fs::directory_iterator(folder())->path();
    const fs::path place = place_of(id_of(desc));
    EXPECT_EQ(place.parent_path().string() + place.filename().string(), file.filename().string());
    EXPECT_EQ(id_of(desc), read_file(file));
    ASSERT_EQ(INGOT_BUSY, persist_program_begin(other.describe().get(), store.get()));
    EXPECT_EQ(1u, wishes_in(store).size());
    const Bytes request = request_id_of(id_of(desc));
    ASSERT_EQ(INGOT_SUCCESS, store.remove(request));
    ASSERT_EQ(INGOT_BUSY, persist_program_begin(desc.get(), store.get()));
    EXPECT_EQ(INGOT_NOT_FOUND, store.load(request)) << "while there is a wish, its request is not looked at";
    ASSERT_EQ(INGOT_SUCCESS, take(store, id_of(desc)));
    ASSERT_EQ(INGOT_BUSY, persist_program_begin(desc.get(), store.get()));
    EXPECT_EQ(1u, wishes_in(store).size()) << "the wish that was taken may be lost";
    EXPECT_EQ(INGOT_SUCCESS, store.load(request));
}

TEST_F(PersistWish, LiesInTheNamespaceOfItsStore)
{
    ingot_persist_info_t info = info_at(root_);
    info.name_space = "app";
    const Store store(info);
    const Desc desc = session_.describe();
    ASSERT_EQ(INGOT_BUSY, persist_program_begin(desc.get(), store.get()));
    EXPECT_TRUE(fs::exists(root_ / "app" / "wanted"));
    EXPECT_EQ(1u, wishes_in(store).size());
    EXPECT_TRUE(wishes_in(Store(root_)).empty());
    char path[4096];
    EXPECT_EQ(INGOT_BUFFER_TOO_SMALL, ingot_persist_get_wish_folder(store.get(), 1, path));
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_get_wish_folder(store.get(), sizeof(path), path));
    EXPECT_EQ((root_ / "app" / "wanted").string(), path);
    info.name_space = "wanted";
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, Store(info).status());
}

TEST_F(PersistWish, IsRemovedIfItIsTooOldOrMalformed)
{
    const Store store(root_);
    ASSERT_EQ(INGOT_BUSY, persist_program_begin(session_.describe().get(), store.get()));
    const fs::path file = fs::directory_iterator(folder())->path();
    write_file(folder() / std::string(32, 'a'), bytes_of("not what its name says"));
    write_file(folder() / std::string(32, 'b'), Bytes());
    write_file(folder() / std::string(32, 'c'), Bytes(INGOT_WISH_MAX_SIZE + 1));
    fs::create_symlink(file, folder() / std::string(32, 'd'));
    fs::create_symlink("nowhere", folder() / std::string(32, 'e'));
    write_file(folder() / "another file", bytes_of("stays"));
    EXPECT_EQ(1u, wishes_in(store).size());
    EXPECT_EQ(2, std::distance(fs::directory_iterator(folder()), fs::directory_iterator()));
    make_old(file);
    EXPECT_TRUE(wishes_in(store).empty());
    EXPECT_FALSE(fs::exists(file));
    EXPECT_TRUE(fs::exists(folder() / "another file"));
}

TEST_F(PersistWish, StaysIfAnotherUserOwnsIt)
{
    const Store store(root_);
    ASSERT_EQ(INGOT_BUSY, persist_program_begin(session_.describe().get(), store.get()));
    const fs::path file = fs::directory_iterator(folder())->path();
    if (chown(file.c_str(), 12345, gid_t(-1)) != 0)
        GTEST_SKIP() << "only root gives files to others";
    EXPECT_TRUE(wishes_in(store).empty());
    make_old(file);
    EXPECT_TRUE(wishes_in(store).empty());
    EXPECT_TRUE(fs::exists(file));
}

TEST_F(PersistWish, IsNotLeftIfThereAreTooMany)
{
    ASSERT_EQ(INGOT_BUSY, persist_program_begin(session_.describe().get(), Store(root_).get()));
    std::vector<fs::path> files;
    for (int i = 0; i < 4095; ++i) {
        char name[33];
        (void)std::snprintf(name, sizeof(name), "%032x", static_cast<unsigned>(i));
        files.push_back(folder() / name);
        write_file(files.back(), bytes_of("full"));
    }
    const Store store(root_); /* the first one would not count them again yet */
    const Desc another = session_.describe(numbered_source(1));
    EXPECT_EQ(INGOT_NO_SPACE, persist_program_begin(another.get(), store.get()));
    EXPECT_EQ(1u, session_.seen.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_NO_SPACE));
    make_old(files[7]);
    clock_lead_ns += 1000000000; /* a full folder is counted once per second */
    EXPECT_EQ(INGOT_BUSY, persist_program_begin(another.get(), store.get()));
    EXPECT_FALSE(fs::exists(files[7]));
    EXPECT_TRUE(fs::exists(files[8]));
}

/* A plain call that compiles later, as an application does in each frame. */
TEST_F(PersistWish, IsLookedAfterOncePerSecondByPlainCalls)
{
    using clock = std::chrono::steady_clock;
    const Store store(root_);
    void *native = nullptr;
    ingot_program_t program = nullptr;
    ingot_origin_t origin = INGOT_ORIGIN_BUILD;
    const auto get = [&](const Desc &desc) {
        return persist_program_get(&native, &program, desc.get(), store.get(), PROGRAM_WISH, &origin);
    };
    for (int i = 0;; ++i) {
        ASSERT_LT(i, 100);
        const Desc desc = session_.describe(numbered_source(i));
        const clock::time_point started = clock::now();
        ASSERT_EQ(INGOT_BUSY, get(desc));
        ASSERT_EQ(INGOT_SUCCESS, take(store, id_of(desc)));
        ASSERT_EQ(INGOT_BUSY, get(desc));
        if (clock::now() - started > std::chrono::milliseconds(900)) {
            (void)take(store, id_of(desc));
            continue; /* the machine is busy */
        }
        EXPECT_TRUE(wishes_in(store).empty());
        clock_lead_ns += 1100000000;
        EXPECT_EQ(INGOT_BUSY, get(desc));
        EXPECT_EQ(1u, wishes_in(store).size()) << "the first one may be lost";
        break;
    }
    EXPECT_EQ(0u, session_.counts.builds);
}

TEST_F(PersistWish, IsNotLeftWhereNobodyWouldAnswer)
{
    const Desc desc = session_.describe();
    {
        const Store store(root_);
        ASSERT_EQ(INGOT_ORIGIN_BUILD, session_.create(session_.describe(numbered_source(1)), store));
    }
    ingot_persist_info_t info = info_at(root_);
    info.flags = INGOT_PERSIST_READ_ONLY;
    const Store read_only(info);
    EXPECT_EQ(INGOT_NOT_FOUND, persist_program_begin(desc.get(), read_only.get()));
    EXPECT_EQ(INGOT_READ_ONLY, take(read_only, id_of(desc)));
    trust_fixture::Kept kept;
    const HeldStorage own = kept.open();
    EXPECT_EQ(INGOT_NOT_FOUND, persist_program_begin(desc.get(), own.get()));
    EXPECT_EQ(INGOT_UNIMPLEMENTED, take(own, id_of(desc)));
    const Store store(root_);
    fs::create_directory(folder());
    chmod(folder().c_str(), 0777);
    EXPECT_EQ(INGOT_UNTRUSTED, persist_program_begin(desc.get(), store.get()));
    EXPECT_EQ(INGOT_UNTRUSTED, take(store, id_of(desc)));
    EXPECT_TRUE(fs::is_empty(folder()));
}

TEST_F(PersistWish, IsLeftInTheDirectoryOfAChain)
{
    const Store store(root_);
    trust_fixture::Kept kept;
    const HeldStorage own = kept.open();
    const HeldStorage chain = chain_of({store.get(), own.get()});
    const Desc desc = session_.describe();
    EXPECT_EQ(INGOT_BUSY, persist_program_begin(desc.get(), chain.get()));
    EXPECT_EQ(1u, wishes_in(store).size());
    ASSERT_EQ(INGOT_ORIGIN_BUILD, session_.create(desc, own)); /* as if another machine had stored it there */
    EXPECT_EQ(INGOT_SUCCESS, persist_program_begin(desc.get(), chain.get()));
    EXPECT_EQ(INGOT_SUCCESS, store.load(id_of(desc))) << "it was promoted";
}

TEST_F(PersistWish, IsNotLeftWhileSomebodyCompilesTheProgram)
{
    const Store store(root_);
    const Store other(root_);
    Session maker;
    const Desc desc = session_.describe();
    bool was_asked = false;
    maker.at("build", [&] {
        ingot_program_t program = nullptr;
        was_asked = true;
        EXPECT_EQ(INGOT_BUSY, persist_program_begin(desc.get(), other.get()));
        EXPECT_TRUE(wishes_in(other).empty());
        EXPECT_EQ(INGOT_BUSY, ingot_persist_program_try(&program, desc.get(), other.get(), nullptr));
    });
    EXPECT_EQ(INGOT_ORIGIN_BUILD, maker.create(maker.describe(), store));
    EXPECT_TRUE(was_asked);
    EXPECT_EQ(0u, session_.counts.builds);
    EXPECT_EQ(INGOT_SUCCESS, persist_program_begin(desc.get(), other.get()));
}

TEST_F(PersistWish, IsNotLeftAfterSomebodyHasFailed)
{
    const Store store(root_);
    const Store other(root_);
    Session maker;
    const Desc desc = session_.describe();
    ingot_program_t program = nullptr;
    maker.fail("build", INGOT_BUILD_FAILED);
    EXPECT_EQ(INGOT_BUILD_FAILED, ingot_persist_program_try(&program, maker.describe().get(), store.get(), nullptr));
    EXPECT_EQ(INGOT_BUILD_FAILED, persist_program_begin(desc.get(), other.get()));
    EXPECT_TRUE(wishes_in(other).empty());
    EXPECT_EQ(INGOT_BUSY, ingot_persist_program_try(&program, desc.get(), other.get(), nullptr));
    EXPECT_EQ(0u, session_.counts.builds);
    EXPECT_EQ(INGOT_ORIGIN_BUILD, session_.create(desc, other)) << "the application finds out by itself";
}

TEST_F(PersistWish, NeedsAKeyWhereSealsAreRequired)
{
    using namespace trust_fixture;
    const Key reads_only = {INGOT_PERSIST_KEY_ED25519_PUBLIC, kSigning.bytes};
    const Desc desc = session_.describe();
    const Store store(root_);
    ASSERT_EQ(INGOT_SUCCESS, store.trust(Trust(kRequire, {reads_only})));
    EXPECT_EQ(INGOT_NOT_FOUND, persist_program_begin(desc.get(), store.get()));
    EXPECT_FALSE(fs::exists(folder()));
    const Session builder;
    {
        const Store forger(root_); /* leaves an unsealed request */
        ASSERT_EQ(INGOT_BUSY, persist_program_begin(desc.get(), forger.get()));
        EXPECT_EQ(INGOT_UNTRUSTED, answer(store, id_of(desc), builder));
        ASSERT_EQ(INGOT_SUCCESS, take(forger, id_of(desc)));
    }
    ASSERT_EQ(INGOT_SUCCESS, store.trust(Trust(kRequire, {kSecret})));
    ASSERT_EQ(INGOT_BUSY, persist_program_begin(desc.get(), store.get())) << ingot_last_error_detail();
    EXPECT_EQ(INGOT_SUCCESS, answer(store, id_of(desc), builder));
    EXPECT_EQ(INGOT_SUCCESS, persist_program_begin(desc.get(), store.get()));
}

TEST_F(PersistWish, RefusesWhatIsNoId)
{
    uint8_t bytes[512];
    size_t size = sizeof(bytes);
    const Bytes id = id_of(session_.describe());
    Bytes wrong = id;
    ++wrong[7];
    EXPECT_EQ(INGOT_BLOB_CORRUPT, ingot_wish_get_request_id(wrong.size(), wrong.data(), &size, bytes));
    EXPECT_EQ(INGOT_BLOB_TRUNCATED, ingot_wish_get_request_id(8, id.data(), &size, bytes));
    size = 1;
    EXPECT_EQ(INGOT_BUFFER_TOO_SMALL, ingot_wish_get_request_id(id.size(), id.data(), &size, bytes));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, take(HeldStorage(), id));
}
