/*
 * replacement_kill_test.cpp - tests bundles and single files whose writer is killed at every system call, or
 * whose system calls fail one by one. Afterwards, the path must have either the old file or the complete new file, and
 * the next writer must succeed.
 */
#include <cstdio>
#include <cstring>

#include "support/reference_context.h"
#include "support/store_fixture.h"
#include "support/traced_child.h"

using namespace store_fixture;

namespace
{

const Bytes kId = bytes_of("an id");
const Bytes kOld = random_bytes(1, 400);
const Bytes kNew = random_bytes(2, 500);

ingot_status_t put_in_file(const fs::path &path, const Bytes &blob)
{
    ingot_storage_t storage = nullptr;
    ingot_status_t status = ingot_persist_open_file(&storage, path.c_str(), nullptr);
    if (status == INGOT_SUCCESS)
        status = ingot_storage_store(storage, kId.size(), kId.data(), blob.size(), blob.data());
    ingot_storage_release(storage);
    return status;
}

ingot_status_t write_bundle(const fs::path &path, const Bytes &blob)
{
    const Store store(path.parent_path() / "store");
    const ingot_status_t status = store.put(kId, blob);
    return status == INGOT_SUCCESS ? ingot_persist_write_bundle(store.get(), path.c_str(), nullptr, nullptr, nullptr)
                                   : status;
}

ingot_status_t load_from(ingot_storage_t storage, Bytes *blob)
{
    return HeldStorage(storage).load(kId, blob);
}

template <ingot_status_t (*Open)(ingot_storage_t *, const char *, const ingot_persist_trust_t *)>
ingot_status_t read_with(const fs::path &path, Bytes *blob)
{
    ingot_storage_t storage = nullptr;
    const ingot_status_t status = Open(&storage, path.c_str(), nullptr);
    return status == INGOT_SUCCESS ? load_from(storage, blob) : status;
}

/* A kind of file that is replaced as a whole. */
struct Kind {
    const char *name;
    ingot_status_t (*write)(const fs::path &path, const Bytes &blob);
    ingot_status_t (*read)(const fs::path &path, Bytes *blob);
};

const Kind kKinds[] = {{"file", put_in_file, read_with<ingot_persist_open_file>},
                       {"bundle", write_bundle, read_with<ingot_persist_open_bundle>}};

/* Expects that the file has its old or its new content, and that the next writer succeeds. may_lack: the entry may also
 * be missing, because a system call told the writer that the file was gone. */
void expect_old_or_new(const Kind &kind, const fs::path &path, const std::string &what, bool may_lack = false)
{
    Bytes blob;
    const ingot_status_t status = kind.read(path, &blob);
    ASSERT_TRUE(status == INGOT_SUCCESS || (may_lack && status == INGOT_NOT_FOUND)) << what;
    ASSERT_TRUE(status == INGOT_NOT_FOUND || blob == kOld || blob == kNew) << what;
    ASSERT_EQ(INGOT_SUCCESS, kind.write(path, kNew)) << what;
    ASSERT_EQ(INGOT_SUCCESS, kind.read(path, &blob)) << what;
    ASSERT_EQ(kNew, blob) << what;
    ASSERT_FALSE(fs::exists(path.string() + ".new")) << what;
}

class ReplacementFaults : public testing::TestWithParam<Kind>
{
};

} // namespace

TEST_P(ReplacementFaults, SurviveAKillAtEverySystemCall)
{
    const Kind &kind = GetParam();
    unsigned killed = 0;
    for (unsigned n = 0;; ++n) {
        const std::string what = std::string(kind.name) + ", stop " + std::to_string(n);
        const ScratchDirectory scratch(fast_volume());
        const fs::path path = scratch.path() / "replaced";
        ASSERT_EQ(INGOT_SUCCESS, kind.write(path, kOld));
        const auto outcome = traced_child::run_and_kill_at(n, [&] { return static_cast<int>(kind.write(path, kNew)); });
        if (!outcome.was_reached) {
            ASSERT_EQ(INGOT_SUCCESS, outcome.exit_status) << what;
            break;
        }
        ASSERT_EQ(128 + SIGKILL, outcome.exit_status) << what;
        ++killed;
        ASSERT_NO_FATAL_FAILURE(expect_old_or_new(kind, path, what));
    }
    EXPECT_GT(killed, 20u);
    std::printf("faults: %s: %u kills survived\n", kind.name, killed);
}

#if defined(__x86_64__)
TEST_P(ReplacementFaults, SurviveEveryFailureOfEverySystemCall)
{
    const Kind &kind = GetParam();
    traced_child::EveryFailure failures;
    for (;;) {
        const ScratchDirectory scratch(fast_volume());
        const fs::path path = scratch.path() / "replaced";
        ASSERT_EQ(INGOT_SUCCESS, kind.write(path, kOld));
        traced_child::Outcome outcome;
        if (!failures.next([&] { return static_cast<int>(kind.write(path, kNew)); }, &outcome)) {
            ASSERT_EQ(INGOT_SUCCESS, outcome.exit_status);
            break;
        }
        const std::string what = std::string(kind.name) + ", " + failures.name() + ", " + strerror(outcome.error);
        ASSERT_LE(outcome.exit_status, INGOT_UNTRUSTED) << what;
        const bool says_gone = outcome.error == ENOENT || outcome.error == ENOTDIR || outcome.error == ELOOP;
        ASSERT_NO_FATAL_FAILURE(expect_old_or_new(kind, path, what, says_gone));
    }
    EXPECT_GT(failures.count(), 10u);
    std::printf("faults: %s: %u failed system calls survived\n", kind.name, failures.count());
}
#endif

INSTANTIATE_TEST_SUITE_P(Kinds, ReplacementFaults, testing::ValuesIn(kKinds),
                         [](const auto &kind) { return std::string(kind.param.name); });
