/*
 * build_digits_test.cpp - tests that `ingot build` makes the same machine code from recorded requests as the
 * application itself.
 */
#include <map>

#include "cli/requests.h"

namespace
{

/* The blobs of a store, keyed by id. The blobs do not contain the time that their build took. */
using Blobs = std::map<std::vector<uint8_t>, std::vector<uint8_t>>;

std::vector<uint8_t> blob_of(ingot_storage_t store, const ingot_persist_entry_t *entry)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_load_entry(store, entry, 0, &blob)) << ingot_last_error_detail();
    const auto *bytes = static_cast<const uint8_t *>(blob.bytes);
    const std::vector<uint8_t> copy(bytes, bytes + blob.size);
    if (blob.release != nullptr)
        blob.release(&blob);
    return timeless_blob(copy);
}

Blobs blobs_in(const fs::path &root)
{
    struct Visit {
        ingot_storage_t store;
        Blobs found;
    };
    const store_fixture::Store store(root);
    Visit visit{store.get(), {}};
    const auto add = [](const ingot_persist_entry_t *entry, void *user) {
        auto *to = static_cast<Visit *>(user);
        to->found[{entry->id, entry->id + entry->id_size}] = blob_of(to->store, entry);
        return INGOT_SUCCESS;
    };
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_for_each(store.get(), add, &visit));
    return visit.found;
}

class CliBuildDigits : public RequestTest
{
};

} // namespace

/* Neither the application nor the tool launches a kernel: at a launch, PoCL adds code for the work-group's size. */
TEST_F(CliBuildDigits, BuildsTheMachineCodeOfTheApplication)
{
    const fs::path own = scratch() / "own";
    const Result recorded = run_command(
        {DIGITS_PROGRAM, "--no-run", "--store", own.string(), "--store-mode", "now", "--record", requests().string()},
        one_device());
    ASSERT_EQ(0, recorded.code) << recorded.output;
    const Result built = build();
    ASSERT_EQ(0, built.code) << built.output;
    EXPECT_TRUE(built.begins("8 built, 0 present ("));
    const Blobs expected = blobs_in(own);
    const Blobs found = blobs_in(root());
    EXPECT_EQ(8u, expected.size());
    EXPECT_EQ(8u, found.size());
    for (const auto &[id, blob] : expected) {
        const auto same = found.find(id);
        ASSERT_NE(found.end(), same) << "an id that the application does not request";
        EXPECT_EQ(blob, same->second);
    }
}
