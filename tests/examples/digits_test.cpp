/*
 * digits_test.cpp - runs the digits example with an empty store, then in another process with the filled store, and
 * checks what each run compiled.
 *
 * The device is the one that scripts/with-device gives. Each process gets its own empty driver cache, so a program that
 * it does not compile comes from Ingot's store.
 */
#include "support/child_process.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <memory>

namespace
{

namespace fs = std::filesystem;

constexpr size_t kPrograms = 8;

/* True if the device computes results. Simulated devices do not. */
bool computes()
{
    const char *device = std::getenv("INGOT_TEST_DEVICE");
    return device != nullptr && std::string(device) == "pocl";
}

class DigitsProcess
{
public:
    /* Starts the example. The name distinguishes this run's files from those of other runs in the working directory. */
    DigitsProcess(const std::string &name, const std::vector<std::string> &options) : json_path_(name + ".json")
    {
        const std::string driver_cache = "driver-cache-" + name;
        mkdir(driver_cache.c_str(), 0700);
        std::vector<std::string> arguments = {DIGITS_PROGRAM, "--json", json_path_};
        arguments.insert(arguments.end(), options.begin(), options.end());
        if (!computes())
            arguments.push_back("--no-run");
        child_ = std::make_unique<child_process::Child>(
            arguments, name + ".log", child_process::Child::Environment{{"POCL_CACHE_DIR", driver_cache}});
    }

    int wait() { return child_->wait(); }
    std::string output() const { return child_->output(); }

    /* Returns the value of a member of the report, as text, or "" if it is missing. */
    std::string value(const std::string &member) const
    {
        const std::string json = report(), label = "\"" + member + "\": ";
        const size_t at = json.find(label);
        if (at == std::string::npos)
            return "";
        const size_t begin = at + label.size();
        return json.substr(begin, json.find_first_of(",\n}", begin) - begin);
    }

    size_t count_origin(const std::string &origin) const
    {
        const std::string json = report(), member = "\"origin\": \"" + origin + "\"";
        size_t count = 0;
        for (size_t at = json.find(member); at != std::string::npos; at = json.find(member, at + 1))
            ++count;
        return count;
    }

private:
    std::string report() const
    {
        std::ifstream file(json_path_);
        return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }

    std::string json_path_;
    std::unique_ptr<child_process::Child> child_;
};

void expect_right_answers(const DigitsProcess &run)
{
    if (!computes()) {
        EXPECT_EQ("0", run.value("images"));
        return;
    }
    EXPECT_EQ("500", run.value("images"));
    EXPECT_EQ("0", run.value("differences"));
    EXPECT_GE(std::stod(run.value("accuracy")), 0.97);
}

void expect_all_built(DigitsProcess &run)
{
    ASSERT_EQ(0, run.wait()) << run.output();
    EXPECT_EQ("8", run.value("compilations"));
    EXPECT_EQ(kPrograms, run.count_origin("build"));
    expect_right_answers(run);
}

void expect_all_loaded(DigitsProcess &run)
{
    ASSERT_EQ(0, run.wait()) << run.output();
    EXPECT_EQ("0", run.value("compilations"));
    EXPECT_EQ("8", run.value("loads"));
    EXPECT_EQ(kPrograms, run.count_origin("storage"));
    expect_right_answers(run);
}

TEST(DigitsExample, CompilesNothingInTheSecondProcess)
{
    DigitsProcess cold("cold", {"--store", "store"});
    expect_all_built(cold);
    DigitsProcess warm("warm", {"--store", "store"});
    expect_all_loaded(warm);
    EXPECT_EQ(cold.value("accuracy"), warm.value("accuracy"));
}

TEST(DigitsExample, CompilesAllWithoutAStore)
{
    DigitsProcess run("bare", {});
    expect_all_built(run);
}

/* Returns the directory of the first entry of a store. */
fs::path first_entry_of(const fs::path &root)
{
    for (const auto &item : fs::recursive_directory_iterator(root))
        if (item.path().filename() == "key.bin")
            return item.path().parent_path();
    return {};
}

/* The test puts a file where the store expects the shard in which it prepares the entry. Permissions would not be
 * enough, because root may write to every directory. */
TEST(DigitsExample, RunsWhenTheStoreCannotBeUsedForWriting)
{
    const fs::path store = "store-read-only";
    DigitsProcess cold("before", {"--store", store});
    expect_all_built(cold);
    const fs::path entry = first_entry_of(store);
    ASSERT_NE("", entry);
    fs::remove_all(entry.parent_path());
    std::ofstream(entry.parent_path()) << "a file\n";
    for (const std::string name : {"after", "again"}) {
        DigitsProcess run(name, {"--store", store});
        ASSERT_EQ(0, run.wait()) << run.output();
        EXPECT_EQ("1", run.value("compilations"));
        EXPECT_EQ("7", run.value("loads"));
        expect_right_answers(run);
        EXPECT_FALSE(fs::exists(entry));
    }
}

TEST(DigitsExample, SaysWhatIsWrongWithItsArguments)
{
    DigitsProcess unknown("unknown", {"--frobnicate", "yes"});
    EXPECT_EQ(2, unknown.wait());
    EXPECT_NE(std::string::npos, unknown.output().find("usage:"));
    DigitsProcess nowhere("nowhere", {"--platform", "no such platform"});
    EXPECT_EQ(1, nowhere.wait());
    EXPECT_NE(std::string::npos, nowhere.output().find("no OpenCL platform"));
}

} // namespace
