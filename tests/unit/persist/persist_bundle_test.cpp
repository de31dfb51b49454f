/*
 * Tests bundles that are written from stores and from other bundles: reading them, damage in every byte, and files
 * that are replaced while they are open.
 */
#include <cstring>

#include "support/store_fixture.h"

extern "C" {
#include "persist/base/base.h"
}

using namespace store_fixture;

namespace
{

ingot_status_t read_status = INGOT_SUCCESS; /* if this is an error, files_read_all returns it and reads nothing */
bool sizes_fail = false;                    /* true: the size of a file cannot be set, except to empty it */

Bytes numbered_blob(unsigned number)
{
    return random_bytes(number, 50 + number * 7);
}

class PersistBundle : public StoreTest
{
protected:
    /* Makes a bundle with `count` entries. */
    void make(unsigned count)
    {
        Store store(root_);
        for (unsigned i = 0; i < count; ++i)
            ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(i), numbered_blob(i)));
        uint64_t written = 0;
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_write_bundle(store.get(), path().c_str(), nullptr, nullptr, &written));
        ASSERT_EQ(count, written);
    }
    fs::path path() const { return scratch_.path() / "programs.ingot"; }
};

} // namespace

/* The linker redirects the library's calls to these functions. */
extern "C" {
ingot_status_t __real_files_read_all(int fd, const char *name, uint64_t offset, size_t size, uint8_t *bytes);
ingot_status_t __wrap_files_read_all(int fd, const char *name, uint64_t offset, size_t size, uint8_t *bytes);

ingot_status_t __wrap_files_read_all(int fd, const char *name, uint64_t offset, size_t size, uint8_t *bytes)
{
    return read_status != INGOT_SUCCESS ? read_status : __real_files_read_all(fd, name, offset, size, bytes);
}

int __real_files_truncate(int fd, uint64_t size_bytes);
int __wrap_files_truncate(int fd, uint64_t size_bytes);

int __wrap_files_truncate(int fd, uint64_t size_bytes)
{
    return sizes_fail && size_bytes != 0 ? -EIO : __real_files_truncate(fd, size_bytes);
}
}

TEST_F(PersistBundle, GivesWhatTheStoreHad)
{
    ASSERT_NO_FATAL_FAILURE(make(100));
    fs::remove_all(root_);
    const HeldStorage bundle = open_bundle(path());
    for (unsigned round = 0; round < 2; ++round)
        for (unsigned i = 0; i < 100; ++i) {
            Bytes blob;
            ASSERT_EQ(INGOT_SUCCESS, bundle.load(numbered_id(i), &blob));
            EXPECT_EQ(numbered_blob(i), blob);
        }
    EXPECT_EQ(INGOT_NOT_FOUND, bundle.load(numbered_id(100)));
    EXPECT_EQ(INGOT_READ_ONLY, bundle.put(numbered_id(0), numbered_id(0)));
    EXPECT_EQ(INGOT_READ_ONLY, bundle.remove(numbered_id(0)));
    EXPECT_FALSE(fs::exists(path().string() + ".new"));
}

TEST_F(PersistBundle, AnEmptyOneIsWholeToo)
{
    ASSERT_NO_FATAL_FAILURE(make(0));
    EXPECT_EQ(INGOT_NOT_FOUND, open_bundle(path()).load(numbered_id(0)));
}

TEST_F(PersistBundle, ReportsTheErrnoIfItsSizeCannotBeSet)
{
    const Store store(root_);
    sizes_fail = true;
    const ingot_status_t status = ingot_persist_write_bundle(store.get(), path().c_str(), nullptr, nullptr, nullptr);
    sizes_fail = false;
    EXPECT_EQ(INGOT_IO_ERROR, status);
    EXPECT_EQ(EIO, ingot_last_error_code());
    EXPECT_EQ(0u, std::string(ingot_last_error_detail()).find("setting the size of programs.ingot.new"))
        << ingot_last_error_detail();
    EXPECT_FALSE(fs::exists(path()));
}

TEST_F(PersistBundle, ABlobOutlivesItsStorageAndTheFile)
{
    ASSERT_NO_FATAL_FAILURE(make(3));
    ingot_buffer_t buffer = INGOT_BUFFER_INIT;
    const Bytes id = numbered_id(1);
    ASSERT_EQ(INGOT_SUCCESS, ingot_storage_load(open_bundle(path()).get(), id.size(), id.data(), &buffer));
    fs::remove(path());
    EXPECT_EQ(numbered_blob(1), Bytes(buffer.bytes, buffer.bytes + buffer.size));
    buffer.release(&buffer);
}

TEST_F(PersistBundle, IsListedVerifiedAndBundledAgain)
{
    ASSERT_NO_FATAL_FAILURE(make(20));
    const HeldStorage bundle = open_bundle(path());
    ingot_persist_verification_t found = verified(bundle);
    EXPECT_EQ(20u, found.done_count);
    EXPECT_EQ(0u, found.bad_count);
    EXPECT_EQ(INGOT_READ_ONLY, ingot_persist_verify(bundle.get(), 1, nullptr, nullptr, &found));

    const auto small = [](const ingot_persist_entry_t *entry, void *) { return entry->blob_size < 100 ? 1 : 0; };
    uint64_t written = 0;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_write_bundle(bundle.get(), path().c_str(), small, nullptr, &written));
    EXPECT_EQ(8u, written);
    EXPECT_EQ(INGOT_SUCCESS, bundle.load(numbered_id(19))) << "the open bundle is not the one that was just written";
    const HeldStorage again = open_bundle(path());
    EXPECT_EQ(INGOT_SUCCESS, again.load(numbered_id(7)));
    EXPECT_EQ(INGOT_NOT_FOUND, again.load(numbered_id(19)));
}

TEST_F(PersistBundle, TakesTheNewestOfOneIdInTwoNamespaces)
{
    const Store plain(root_), named = store_in(root_, "app");
    ASSERT_EQ(INGOT_SUCCESS, named.put(numbered_id(1), bytes_of("old")));
    ASSERT_EQ(INGOT_SUCCESS, plain.put(numbered_id(1), bytes_of("new")));
    uint64_t written = 0;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_write_bundle(plain.get(), path().c_str(), nullptr, nullptr, &written));
    EXPECT_EQ(1u, written);
    const HeldStorage bundle = open_bundle(path());
    Bytes blob;
    EXPECT_EQ(INGOT_SUCCESS, bundle.load(numbered_id(1), &blob));
    EXPECT_EQ(bytes_of("new"), blob);
}

TEST_F(PersistBundle, RefusesEveryTruncationAndGarbageBehind)
{
    ASSERT_NO_FATAL_FAILURE(make(4));
    const Bytes whole = read_file(path());
    for (size_t size = 0; size < whole.size(); ++size) {
        write_file(path(), Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
        ingot_storage_t bundle = nullptr;
        ASSERT_EQ(INGOT_BLOB_TRUNCATED, ingot_persist_open_bundle(&bundle, path().c_str(), nullptr)) << size;
    }
    Bytes longer = whole;
    longer.push_back(0);
    write_file(path(), longer);
    ingot_storage_t bundle = nullptr;
    EXPECT_EQ(INGOT_BLOB_CORRUPT, ingot_persist_open_bundle(&bundle, path().c_str(), nullptr));
}

TEST_F(PersistBundle, ThatIsTruncatedWhileItIsOpenEndsNobody)
{
    ASSERT_NO_FATAL_FAILURE(make(4));
    const HeldStorage bundle = open_bundle(path());
    EXPECT_EQ(INGOT_SUCCESS, bundle.load(numbered_id(0)));
    ASSERT_EQ(0, truncate(path().c_str(), 0));
    for (unsigned i = 0; i < 4; ++i)
        EXPECT_EQ(INGOT_BLOB_TRUNCATED, bundle.load(numbered_id(i))) << i;
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "became shorter")) << ingot_last_error_detail();
    EXPECT_EQ(4u, verified(bundle).bad_count);
}

TEST_F(PersistBundle, IsVerifiedAsItIsNowThoughItsBlobsWereLoadedBefore)
{
    ASSERT_NO_FATAL_FAILURE(make(4));
    const Bytes whole = read_file(path());
    const HeldStorage bundle = open_bundle(path());
    for (unsigned i = 0; i < 4; ++i)
        ASSERT_EQ(INGOT_SUCCESS, bundle.load(numbered_id(i)));
    const Bytes blob = numbered_blob(3);
    const auto at = std::search(whole.begin(), whole.end(), blob.begin(), blob.end());
    ASSERT_NE(whole.end(), at);
    Bytes flipped = whole;
    flipped[static_cast<size_t>(at - whole.begin())] ^= 1;
    write_file(path(), flipped);
    EXPECT_EQ(1u, verified(bundle).bad_count);
}

TEST_F(PersistBundle, IsVerifiedWithTheCountsOfAStore)
{
    ASSERT_NO_FATAL_FAILURE(make(3));
    const HeldStorage bundle = open_bundle(path());
    const auto verify = [&](ingot_status_t status) {
        read_status = status;
        ingot_persist_verification_t found = verified(bundle);
        read_status = INGOT_SUCCESS;
        EXPECT_EQ(3u, found.bad_count + found.foreign_count + found.unread_count);
        return found;
    };
    EXPECT_EQ(3u, verify(INGOT_IO_ERROR).unread_count);
    EXPECT_EQ(3u, verify(INGOT_OUT_OF_MEMORY).unread_count);
    EXPECT_EQ(3u, verify(INGOT_BLOB_VERSION).foreign_count);
    EXPECT_EQ(3u, verify(INGOT_UNTRUSTED).foreign_count);
    EXPECT_EQ(3u, verify(INGOT_BLOB_TRUNCATED).bad_count);
}

TEST_F(PersistBundle, NeverGivesAWrongByteWhicheverByteIsFlipped)
{
    ASSERT_NO_FATAL_FAILURE(make(4));
    const Bytes whole = read_file(path());
    for (size_t at = 0; at < whole.size(); ++at) {
        Bytes flipped = whole;
        flipped[at] ^= 0x40;
        fs::remove(path());
        write_file(path(), flipped);
        ingot_storage_t storage = nullptr;
        const ingot_status_t found = ingot_persist_open_bundle(&storage, path().c_str(), nullptr);
        const HeldStorage bundle(storage);
        if (found != INGOT_SUCCESS) {
            EXPECT_TRUE(found == INGOT_BLOB_CORRUPT || found == INGOT_BLOB_VERSION) << at;
            continue;
        }
        for (unsigned i = 0; i < 4; ++i) {
            Bytes blob;
            const ingot_status_t status = bundle.load(numbered_id(i), &blob);
            if (status == INGOT_SUCCESS) {
                ASSERT_EQ(numbered_blob(i), blob) << at;
            } else {
                ASSERT_TRUE(status == INGOT_BLOB_CORRUPT || status == INGOT_NOT_FOUND) << at;
            }
        }
    }
}

TEST_F(PersistBundle, RefusesWhatOthersCouldWriteAndWhatIsNoFile)
{
    ASSERT_NO_FATAL_FAILURE(make(1));
    ingot_storage_t bundle = nullptr;
    ASSERT_EQ(0, chmod(path().c_str(), 0666));
    EXPECT_EQ(INGOT_UNTRUSTED, ingot_persist_open_bundle(&bundle, path().c_str(), nullptr));
    ASSERT_EQ(0, chmod(path().c_str(), 0444));
    const fs::path link = path().parent_path() / "link";
    fs::create_symlink(path(), link);
    EXPECT_EQ(INGOT_UNTRUSTED, ingot_persist_open_bundle(&bundle, link.c_str(), nullptr));
    EXPECT_EQ(INGOT_UNTRUSTED, ingot_persist_open_bundle(&bundle, root_.c_str(), nullptr));
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_persist_open_bundle(&bundle, (root_ / "missing").c_str(), nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_open_bundle(&bundle, "", nullptr));
    EXPECT_EQ(nullptr, bundle);
    (void)open_bundle(path());
}

TEST_F(PersistBundle, AnotherWriterIsBusyAndALeftoverIsNot)
{
    ASSERT_NO_FATAL_FAILURE(make(1));
    Store store(root_);
    const std::string new_path = path().string() + ".new";
    write_file(new_path, random_bytes(1, 5000)); /* left by a killed process */
    const int fd = open(new_path.c_str(), O_RDWR | O_CLOEXEC);
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_len = 1;
    ASSERT_EQ(0, fcntl(fd, F_OFD_SETLK, &lock));
    EXPECT_EQ(INGOT_BUSY, ingot_persist_write_bundle(store.get(), path().c_str(), nullptr, nullptr, nullptr));
    close(fd);
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_write_bundle(store.get(), path().c_str(), nullptr, nullptr, nullptr));
    const HeldStorage bundle = open_bundle(path());
    EXPECT_EQ(INGOT_SUCCESS, bundle.load(numbered_id(0)));
}

TEST_F(PersistBundle, ReadsTheGoldenBundle)
{
    const fs::path golden = fs::path(INGOT_SOURCE_DIR) / "tests/golden/bundle/two-entries.ingot";
    fs::copy_file(golden, path());
    ASSERT_EQ(0, chmod(path().c_str(), 0600));
    const HeldStorage bundle = open_bundle(path());
    Bytes blob;
    EXPECT_EQ(INGOT_SUCCESS, bundle.load(bytes_of("first id"), &blob));
    EXPECT_EQ(bytes_of("first blob"), blob);
    EXPECT_EQ(INGOT_SUCCESS, bundle.load(bytes_of("second id"), &blob));
    EXPECT_EQ(bytes_of("second blob, longer"), blob);
    EXPECT_EQ(INGOT_NOT_FOUND, bundle.load(bytes_of("third id")));
}
