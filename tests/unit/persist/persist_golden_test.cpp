/*
 * Tests the golden entries of the store format, which tests/golden/store/make.py wrote without the library. Every
 * version of the library must read them, or refuse them as expected.
 */
#include "support/store_fixture.h"

using namespace store_fixture;
using PersistGolden = StoreTest;

namespace
{

const fs::path kGolden = fs::path(INGOT_SOURCE_DIR) / "tests" / "golden" / "store";

Bytes golden_id()
{
    Bytes id = bytes_of("golden id ");
    id.insert(id.end(), {0x00, 0x01, 0xff});
    return id;
}

/* Copies the entry to its place in a store, and sets the permissions, which a checkout does not preserve. */
void place(const fs::path &root, const std::string &where, const fs::path &from)
{
    const fs::path entry = root / where;
    fs::create_directories(entry);
    for (const fs::path &directory : {entry, entry.parent_path(), root})
        fs::permissions(directory, fs::perms::owner_all);
    for (const char *name : {"key.bin", "kernel.bin"})
        write_file(entry / name, read_file(from / name));
}

} // namespace

TEST_F(PersistGolden, IsReadOrRefusedAsItSays)
{
    const std::map<std::string, ingot_status_t> statuses = {{"success", INGOT_SUCCESS},
                                                            {"missing", INGOT_NOT_FOUND},
                                                            {"version", INGOT_BLOB_VERSION},
                                                            {"truncated", INGOT_BLOB_TRUNCATED},
                                                            {"corrupt", INGOT_BLOB_CORRUPT}};
    std::ifstream expectations(kGolden / "expected.txt");
    std::string name;
    std::string where;
    std::string expected;
    unsigned count = 0;
    for (; expectations >> name >> where >> expected; ++count) {
        ScratchDirectory scratch;
        place(scratch.path() / "store", where, kGolden / name);
        Store store(scratch.path() / "store");
        Bytes blob;
        EXPECT_EQ(statuses.at(expected), store.load(golden_id(), &blob)) << name;
        if (expected == "success") {
            EXPECT_EQ(read_file(kGolden / name / "kernel.bin"), blob) << name;
        }
    }
    EXPECT_EQ(11u, count);
}

TEST_F(PersistGolden, IsWhatIsWrittenButForTheTimes)
{
    Store store(root_);
    const Bytes blob = read_file(kGolden / "good" / "kernel.bin");
    ASSERT_EQ(INGOT_SUCCESS, store.put(golden_id(), blob));
    Bytes written = read_file(entries_of(root_).at(0) / "key.bin");
    Bytes golden = read_file(kGolden / "good" / "key.bin");
    ASSERT_EQ(golden.size(), written.size());
    for (Bytes *bytes : {&written, &golden}) {
        std::fill(bytes->begin() + 64, bytes->begin() + 72, uint8_t{0});  /* the time of creation */
        std::fill(bytes->begin() + 96, bytes->begin() + 112, uint8_t{0}); /* the checksum */
    }
    EXPECT_EQ(golden, written);
    EXPECT_EQ(read_file(kGolden / "size.txt"), bytes_of(totals_of(root_)));
}
