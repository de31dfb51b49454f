/*
 * stale_test.cpp - tests `ingot build --stale`: after an upgrade of the driver, the application must compile nothing. A
 * copy of the driver with a different build-id stands in for the upgraded driver.
 */
#include <sstream>

#include <ingot/private/artifact.h>

#include "cli/requests.h"
#include "support/opencl_driver_copy.h"

namespace
{

constexpr const char *kStore = "INGOT_TEST_STALE_STORE";

store_fixture::Store open_with(const std::string &root, const char *name_space, uint32_t flags)
{
    ingot_persist_info_t info = store_fixture::info_at(root);
    info.name_space = name_space;
    info.flags = flags;
    info.lock_timeout_ms = 60000;
    return store_fixture::Store(info);
}

/* Requests the programs as an application does. Returns how many were compiled. */
int run_application(const std::string &root, const char *name_space, const std::vector<OpenclText> &texts,
                    uint32_t flags = INGOT_PERSIST_KEEP_REQUESTS)
{
    const store_fixture::Store store = open_with(root, name_space, flags);
    const Context context = make_opencl_context();
    int built = 0;
    for (const OpenclText &text : texts) {
        const ingot_origin_t origin = origin_of(text.make(context), store.get());
        EXPECT_NE(INGOT_ORIGIN_MEMORY, origin) << ingot_last_error_detail();
        built += origin == INGOT_ORIGIN_BUILD;
    }
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(store.get(), nullptr, nullptr));
    return built;
}

/* Stores an artifact, which is nothing that could be rebuilt. */
void add_artifact(const std::string &root, const char *name_space)
{
    ingot_artifact_key_t key = INGOT_ARTIFACT_KEY_INIT;
    key.kind = "triton";
    uint8_t id[100];
    size_t id_size = sizeof(id);
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_artifact_key_get_id(&key, &id_size, id));
    EXPECT_EQ(INGOT_SUCCESS, ingot_artifact_pack(id_size, id, nullptr, 1, "x", &blob));
    const store_fixture::Store store = open_with(root, name_space, 0);
    EXPECT_EQ(INGOT_SUCCESS, ingot_storage_store(store.get(), id_size, id, blob.size, blob.bytes));
    blob.release(&blob);
}

class CliStale : public RequestTest
{
protected:
    int run_here(const std::vector<OpenclText> &texts, const char *name_space = "app",
                 uint32_t flags = INGOT_PERSIST_KEEP_REQUESTS) const
    {
        return run_application(root().string(), name_space, texts, flags);
    }
    /* Upgrades the driver for all processes that are started later. */
    void upgrade()
    {
        const fs::path directory = scratch() / ("driver" + std::to_string(++upgrades_));
        for (const auto &[name, value] : upgraded_opencl_driver(directory, static_cast<uint8_t>(upgrades_)))
            upgraded_[name] = value;
    }
    /* Returns how many programs the application compiles in a new process. */
    std::string run_again() const
    {
        auto environment = environment_now();
        environment[kStore] = root().string();
        const Result result = run_command(
            {fs::read_symlink("/proc/self/exe").string(), "--gtest_filter=CliStaleApplication.Runs"}, environment);
        const size_t at = result.output.find("compiled ");
        EXPECT_TRUE(result.is(0));
        return at == std::string::npos ? result.output : result.output.substr(at, result.output.find('\n', at) - at);
    }
    Result stale(std::vector<std::string> options = {}) const
    {
        options.insert(options.begin(), {CLI_PROGRAM, "build", "--stale", "--into", root().string()});
        return run_command(options, environment_now());
    }
    /* Returns the summary without the time at its end. */
    std::string summary(const std::vector<std::string> &options = {}, int code = 0) const
    {
        const Result result = stale(options);
        EXPECT_EQ(code, result.code) << result.output;
        return result.output.substr(0, result.output.rfind(" ("));
    }
    std::map<std::string, std::string> environment_now() const
    {
        auto environment = one_device();
        environment.insert(upgraded_.begin(), upgraded_.end());
        return environment;
    }
    /* Returns the names of the results in the store, which also has requests. */
    std::vector<std::string> programs() const
    {
        std::istringstream names(json("ls --kind program", "' '.join(e['entry'] for e in j)"));
        return {std::istream_iterator<std::string>(names), {}};
    }

private:
    int upgrades_ = 0;
    std::map<std::string, std::string> upgraded_;
};

/* Runs the application in a process with another driver; see CliStale::run_again. */
TEST(CliStaleApplication, Runs)
{
    const char *root = std::getenv(kStore);
    if (root != nullptr)
        std::printf("compiled %d\n", run_application(root, "app", application_texts()));
}

/* An id has only digests of texts with all that they include. The blobs have the files. */
TEST_F(CliStale, ExplainNamesTheHeaderThatDiffers)
{
    const fs::path folder = scratch() / "headers";
    fs::create_directory(folder);
    store_fixture::write_file(folder / "same.h", store_fixture::bytes_of("#define SAME 1\n"));
    const std::vector<OpenclText> texts = {
        {"#include \"same.h\"\n#include \"size.h\"\nkernel void sized(global int *x) { x[0] = SIZE + SAME; }\n",
         "sized.cl", "-I" + folder.string()}};
    for (const char *size : {"#define SIZE 16\n", "#define SIZE 32\n"}) {
        store_fixture::write_file(folder / "size.h", store_fixture::bytes_of(size));
        EXPECT_EQ(1, run_here(texts, "app", 0));
    }
    EXPECT_EQ("['source[0].blake2b', 'file size.h']",
              json("explain --last 1", "[d['field'] for d in j[0]['differences']]"));
    EXPECT_TRUE(run({"explain", json("ls --kind program", "j[0]['entry']")}).says("\nfile size.h\n  wanted:  "));
}

TEST_F(CliStale, RebuildsSoThatTheApplicationCompilesNothingAfterAnUpgrade)
{
    ASSERT_EQ(3, run_here(application_texts()));
    EXPECT_EQ("0 rebuilt, 3 up to date", summary());
    upgrade();
    EXPECT_EQ("3 rebuilt, 0 up to date", summary());
    EXPECT_EQ("compiled 0", run_again());
    EXPECT_EQ("0 rebuilt, 3 up to date", summary());
    EXPECT_EQ(3u, recorded_requests::count(root().string()));
    EXPECT_EQ(0, tool({"verify", "--dir", root().string()}).code);
}

TEST_F(CliStale, IsFoundByWhatThisMachinesDriversCanLoad)
{
    const auto judge = [this](const std::string &path) {
        return run_command({CLI_PROGRAM, "verify", "--for-this-machine=" + path}, environment_now());
    };
    ASSERT_EQ(3, run_here(application_texts()));
    const std::string key = (scratch() / "key").string();
    ASSERT_EQ(0, tool({"key", "--secret", key}).code);
    const std::string image = CLI_HAS_REMOTE != 0 ? (scratch() / "image").string() : root().string();
    if (image != root().string()) {
        ASSERT_EQ(0, tool({"push", "--dir", root().string(), "--layout", image}).code);
    }
    for (const std::string &path : {root().string(), image}) {
        EXPECT_TRUE(judge(path).is(0, "3 of 3 programs can be loaded here\n"));
        const auto judge_with = [&](const std::vector<std::string> &options) {
            std::vector<std::string> arguments{CLI_PROGRAM, "verify", "--for-this-machine=" + path};
            arguments.insert(arguments.end(), options.begin(), options.end());
            return run_command(arguments, environment_now());
        };
        EXPECT_TRUE(judge_with({"--namespace", "other"}).is(0, "0 of 0 programs can be loaded here\n"));
        EXPECT_TRUE(judge_with({"--require", "--keys", key}).is(1, "0 of 3 programs can be loaded here\n"));
    }
    upgrade();
    EXPECT_EQ(
        1, run_command({CLI_PROGRAM, "build", "--stale", "--check", "--dir", root().string()}, environment_now()).code);
    for (const std::string &path : {root().string(), image}) {
        const Result result = judge(path);
        EXPECT_TRUE(result.is(1, "0 of 3 programs can be loaded here\n3: device[0]."));
        EXPECT_TRUE(result.says(" here, not "));
    }
    ASSERT_EQ("3 rebuilt, 0 up to date", summary());
    add_program("alpha", "1.0", ProgramText());        /* of a backend that the tool does not know */
    damage(root() / programs().back() / "kernel.bin"); /* of an earlier driver, or the current one */
    const Result result = judge(root().string());
    EXPECT_TRUE(result.is(1, " of 7 programs can be loaded here\n"));
    EXPECT_TRUE(result.says("1: this machine has no device for reference ("));
    EXPECT_TRUE(result.says("1: INGOT_BLOB_CORRUPT ("));
    EXPECT_EQ(3, judge("/nonexistent/store").code);
    EXPECT_EQ(2, tool({"verify", "--for-this-machine", "--repair", "--dir", root().string()}).code);
}

/* The results of the second driver name the device as well, so those of the first are not needed anymore. */
TEST_F(CliStale, RebuildsAfterTheNextUpgradeAsWell)
{
    ASSERT_EQ(3, run_here(application_texts()));
    const std::vector<std::string> before = programs();
    upgrade();
    EXPECT_EQ("3 rebuilt, 0 up to date", summary());
    for (const std::string &name : before)
        fs::remove_all(root() / name);
    upgrade();
    EXPECT_EQ("3 rebuilt, 0 up to date", summary());
    EXPECT_EQ("compiled 0", run_again());
    EXPECT_EQ(3u, recorded_requests::count(root().string()));
}

TEST_F(CliStale, RebuildsEachNamespaceAndSaysWhatItCannotRebuild)
{
    ASSERT_EQ(1, run_here({numbered_text(1)}, "one"));
    ASSERT_EQ(2, run_here({numbered_text(2), numbered_text(3)}, "two"));
    ASSERT_EQ(1, run_here({numbered_text(4)}, nullptr));
    ASSERT_EQ(1, run_here({numbered_text(5)}, "none", 0));
    ASSERT_EQ(1, run_here({numbered_text(6)}, "two", 0));
    add_artifact(root().string(), "two");
    upgrade();
    EXPECT_EQ("2 rebuilt, 0 up to date, 1 results without a request", summary({"--namespace", "two"}));
    const std::string parse = "import json,sys; j = json.load(sys.stdin); print([j[k] for k in ('built', 'present', "
                              "'jobs', 'without_request', 'without_device', 'refused', 'interrupted')], "
                              "len(j['devices']), j['problems'])";
    auto environment = environment_now();
    environment.insert({{"INGOT", CLI_PROGRAM}, {"STORE", root().string()}, {"PARSE", parse}});
    const Result result = run_command(
        {"/bin/bash", "-c", "$INGOT build --stale --json --dir $STORE | python3 -c \"$PARSE\""}, environment);
    EXPECT_EQ("[2, 2, 4, 2, 0, 0, False] 1 []\n", result.output);
}

TEST_F(CliStale, LeavesWhatIsOfAnotherPlatform)
{
    ASSERT_EQ(3, run_here(application_texts()));
    ASSERT_EQ(3u, programs().size());
    const bool is_pocl = OpenclPlatform::get().is_pocl();
    const std::string other = std::string("/etc/OpenCL/vendors/") + (is_pocl ? "intel.icd" : "pocl.icd");
    if (!fs::exists(other))
        GTEST_SKIP() << "this machine has no other platform";
    auto environment = one_device();
    environment["OCL_ICD_VENDORS"] = other;
    EXPECT_TRUE(run_command({CLI_PROGRAM, "build", "--stale", "--into", root().string()}, environment)
                    .begins(0, "0 rebuilt, 0 up to date, 3 without a device ("));
    EXPECT_EQ(3u, programs().size());
    const std::vector<std::string> verify{CLI_PROGRAM, "verify", "--for-this-machine", "--dir", root().string()};
    EXPECT_TRUE(run_command(verify, environment).is(1, "0 of 3 programs can be loaded here\n3: "));
    environment["OCL_ICD_VENDORS"] = "/etc/OpenCL/vendors/"; /* both */
    EXPECT_TRUE(run_command(verify, environment).is(0, "3 of 3 programs can be loaded here\n"));
}

/* An upgrade may change the name of a device. Here, Intel's driver simulates another product. */
TEST_F(CliStale, RebuildsForADeviceThatHasAnotherName)
{
    if (!OpenclPlatform::get().is_intel())
        GTEST_SKIP() << "only Intel's driver has several names";
    ASSERT_EQ(3, run_here(application_texts()));
    auto environment = one_device();
    environment["ProductFamilyOverride"] = "adlp";
    EXPECT_TRUE(run_command({CLI_PROGRAM, "build", "--stale", "--into", root().string()}, environment)
                    .begins("3 rebuilt, 0 up to date ("));
    EXPECT_EQ("0 rebuilt, 3 up to date", summary()) << "for the first one";
}

/* A request that is damaged is reported with its name, and the others are built. */
TEST_F(CliStale, GoesOnAfterARequestThatIsDamaged)
{
    ASSERT_EQ(3, run_here(application_texts()));
    const fs::path file =
        root() / json("ls --kind request", "[e['entry'] for e in j if e['name'] == 'k1.cl'][0]") / "kernel.bin";
    auto bytes = store_fixture::read_file(file);
    bytes[bytes.size() / 2] ^= 1;
    store_fixture::write_file(file, bytes);
    upgrade();
    const Result result = stale();
    EXPECT_TRUE(result.is(1, ": INGOT_BLOB_CORRUPT: "));
    EXPECT_NE(std::string::npos,
              result.output.find("2 rebuilt, 0 up to date, 1 refused, 1 results without a request ("))
        << result.output;
}

TEST_F(CliStale, ContinuesAfterItWasKilled)
{
    std::vector<OpenclText> texts = application_texts();
    for (int i = 10; i < 14; ++i)
        texts.push_back(numbered_text(i));
    ASSERT_EQ(7, run_here(texts));
    upgrade();
    const size_t before = names().size(); /* with the requests */
    EXPECT_TRUE(tool_with_signal({"build", "--stale", "--jobs", "1", "--into", root().string()}, SIGKILL, "",
                                 before + 3, environment_now())
                    .is(128 + SIGKILL));
    const size_t built = names().size() - before;
    EXPECT_LE(3u, built);
    const std::string left = summary();
    EXPECT_EQ(before + 7, names().size()) << built << " were built before: " << left;
    EXPECT_EQ("0 rebuilt, 7 up to date", summary());
    EXPECT_EQ(7u, recorded_requests::count(root().string()));
    EXPECT_EQ("compiled 0", run_again());
    EXPECT_EQ(0, tool({"verify", "--dir", root().string()}).code);
}

TEST_F(CliStale, IsReadyWithoutAStoreOrWithoutRequests)
{
    EXPECT_EQ(3, stale().code);
    ASSERT_EQ(3, run_here(application_texts(), "app", 0));
    EXPECT_EQ("0 rebuilt, 0 up to date, 3 results without a request", summary());
    EXPECT_EQ(2, stale({"requests"}).code);
    EXPECT_EQ(2, run_command({CLI_PROGRAM, "build"}).code);
}

/* If programs are built into a store from shipped requests, the store keeps these as well. */
TEST_F(CliStale, RebuildsWhatWasBuiltFromRequests)
{
    record(requests(), application_texts(), "app");
    auto environment = one_device();
    environment["INGOT_PERSIST_REQUESTS"] = "1";
    EXPECT_EQ(0, run_command({CLI_PROGRAM, "build", requests().string(), "--into", root().string()}, environment).code);
    upgrade();
    EXPECT_EQ("3 rebuilt, 0 up to date", summary());
    EXPECT_EQ("compiled 0", run_again());
}

TEST_F(CliStale, EvictingRequestsLeavesTheResults)
{
    ASSERT_EQ(3, run_here(application_texts()));
    EXPECT_EQ(0, tool({"evict", "--all", "--kind", "request", "--dir", root().string()}).code);
    EXPECT_EQ(3u, programs().size());
    EXPECT_EQ("0 rebuilt, 0 up to date, 3 results without a request", summary());
}

} // namespace
