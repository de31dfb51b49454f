/*
 * metrics_test.cpp - tests that the files of INGOT_METRICS_DIR have what the traces of the same processes add up to.
 */
#include <csignal>
#include <fstream>
#include <map>

extern "C" {
#include "core/base/metrics.h"
}
#include "support/forked_child.h"
#include "support/reference_context.h"
#include "support/scratch_directory.h"

namespace fs = std::filesystem;

namespace
{

using Sums = std::map<std::string, uint64_t>;

/* Adds the counters of a file; times are in nanoseconds. */
void add_file(Sums &sums, const fs::path &path)
{
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line[0] == '#')
            continue;
        const size_t end = line.rfind(' ');
        std::string value = line.substr(end + 1);
        if (value.find('.') != std::string::npos)
            value.erase(value.find('.'), 1);
        sums[line.substr(0, end)] += std::stoull(value);
    }
}

std::string field_of(const std::string &line, const std::string &name)
{
    const size_t at = line.find("\"" + name + "\":") + name.size() + 3;
    return line[at] == '"' ? line.substr(at + 1, line.find('"', at + 1) - at - 1)
                           : line.substr(at, line.find_first_of(",}", at) - at);
}

/* Adds what the first `most` lines of a trace say, by the table in doc/tracing.md. */
void add_trace(Sums &sums, const fs::path &path, size_t most)
{
    const std::string of_programs = "{backend=\"reference\",kind=\"program\"}";
    const auto requests = [](const std::string &origin) {
        return "ingot_requests_total{origin=\"" + origin + "\",backend=\"reference\",kind=\"program\"}";
    };
    std::ifstream file(path);
    std::string line;
    for (size_t i = 0; i < most && std::getline(file, line); ++i) {
        const std::string kind = field_of(line, "ingot");
        const std::string status = field_of(line, "status");
        const bool is_good = status == "INGOT_SUCCESS";
        std::string time = field_of(line, "us");
        time.erase(time.find('.'), 1);
        if (kind == "hit" || (kind == "wait" && is_good))
            sums[requests("memory")] += 1;
        if (kind == "build") {
            sums[requests(is_good ? "build" : "failed")] += 1;
            sums["ingot_compile_seconds_total" + of_programs] += std::stoull(time);
        }
        if (kind == "load") {
            sums["ingot_load_seconds_total" + of_programs] += std::stoull(time);
            if (is_good)
                sums[requests("storage")] += 1;
            else
                sums["ingot_refused_total{reason=\"" + status + "\"}"] += 1;
        }
        if (kind == "native_build")
            sums["ingot_refused_total{reason=\"native_build\"}"] += 1;
        if (kind == "evict")
            sums["ingot_evicted_bytes_total{reason=\"" + field_of(line, "reason") + "\"}"] +=
                std::stoull(field_of(line, "bytes"));
    }
}

size_t count_lines(const fs::path &path)
{
    std::ifstream file(path);
    size_t count = 0;
    for (std::string line; std::getline(file, line);)
        ++count;
    return count;
}

class Metrics : public ::testing::Test
{
protected:
    fs::path directory() const { return scratch_.path() / "metrics"; }
    fs::path path(const std::string &name) const { return scratch_.path() / name; }
    void SetUp() override { fs::create_directory(directory()); }
    void set_environment(const std::string &trace) const
    {
        setenv("INGOT_METRICS_DIR", directory().c_str(), 1);
        setenv("INGOT_TRACE", path(trace).c_str(), 1);
        setenv("INGOT_CACHE_CAPACITY", "3", 1);
    }
    /* Requests a program, which is found, built, loaded from a blob, refused by the compiler, or has a bad blob. */
    static void request(const Context &context, int number)
    {
        ingot_program_t program = nullptr;
        ProgramText text;
        text.compile_options = number % 7 == 6 ? "-unknown" : "-DN=" + std::to_string(number % 5);
        if (number % 11 == 10)
            text.sources = {"kernel broken x nonsense\n"};
        const Desc desc = text.make(context);
        if (ingot_program_get(&program, desc.get(), 0) != INGOT_SUCCESS)
            return;
        std::vector<uint8_t> blob(1 << 16);
        size_t size = blob.size();
        if (number % 4 == 0 && ingot_program_get_cache_blob(program, &size, blob.data()) == INGOT_SUCCESS) {
            blob[size - 1] ^= static_cast<uint8_t>(number % 8 == 0);
            ingot_program_t loaded = nullptr;
            text.flags = INGOT_PROGRAM_NO_MEMORY_CACHE;
            const Desc other = text.make(context);
            (void)ingot_program_create_from_cache_blob(&loaded, other.get(), size, blob.data());
            ingot_program_release(loaded);
        }
        ingot_program_release(program);
    }
    /* A process. One that is killed goes on after it has written its file for the last time. */
    int work(int number, bool is_killed) const
    {
        set_environment("trace" + std::to_string(number));
        ReferenceDevice device;
        const Context context = device.make(INGOT_CONTEXT_INFO_INIT, true);
        for (int i = 0; i < 40 + number; ++i) {
            request(context, i * (number + 1));
            if (is_killed && i == 20 + number) {
                metrics_write();
                const size_t lines = count_lines(path("trace" + std::to_string(number)));
                std::ofstream(path("mark" + std::to_string(number))) << lines;
            }
            if (is_killed && i == 30 + number)
                (void)std::raise(SIGKILL);
        }
        return ::testing::Test::HasFailure() ? 1 : 0;
    }
    Sums sums() const
    {
        Sums all;
        for (const auto &entry : fs::directory_iterator(directory()))
            add_file(all, entry.path());
        return all;
    }
    std::vector<fs::path> files() const { return {fs::directory_iterator(directory()), fs::directory_iterator()}; }

private:
    const ScratchDirectory scratch_;
};

TEST_F(Metrics, OfProcessesHalfOfWhichAreKilledAreTheSumsOfTheirTraces)
{
    constexpr int kProcesses = 8;
    std::vector<pid_t> children;
    for (int i = 0; i < kProcesses; ++i)
        children.push_back(forked_child::start([=] { return work(i, i % 2 == 1); }));
    for (int i = 0; i < kProcesses; ++i)
        EXPECT_EQ(i % 2 == 1 ? 128 + SIGKILL : 0, forked_child::wait_for(children[static_cast<size_t>(i)]));
    Sums traced;
    for (int i = 0; i < kProcesses; ++i) {
        size_t most = SIZE_MAX;
        if (i % 2 == 1)
            std::ifstream(path("mark" + std::to_string(i))) >> most;
        add_trace(traced, path("trace" + std::to_string(i)), most);
    }
    Sums counted = sums();
    EXPECT_LT(0u, counted["ingot_saved_seconds_total{backend=\"reference\",kind=\"program\"}"]);
    counted.erase("ingot_saved_seconds_total{backend=\"reference\",kind=\"program\"}"); /* the trace has no such time */
    EXPECT_EQ(traced, counted);
    EXPECT_EQ(9u, counted.size()) << "a kind of event did not occur";
    EXPECT_EQ(static_cast<size_t>(kProcesses), files().size());
}

/* The application closes all files. Afterwards, others may have taken the counts. */
TEST_F(Metrics, OfALostFileAreNotCountedTwice)
{
    set_environment("trace");
    ReferenceDevice device;
    Context context = device.make(INGOT_CONTEXT_INFO_INIT, true);
    request(context, 1);
    metrics_write();
    ASSERT_EQ(1u, files().size());
    const fs::path first = files()[0];
    const auto lose = [](const fs::path &path) {
        for (int fd = 3; fd < 100; ++fd) {
            std::error_code error;
            if (fs::read_symlink("/proc/self/fd/" + std::to_string(fd), error) == path)
                (void)close(fd);
        }
    };
    const std::string built = "ingot_requests_total{origin=\"build\",backend=\"reference\",kind=\"program\"}";
    lose(first);
    request(context, 2);
    metrics_write();
    EXPECT_EQ(std::vector<fs::path>{first}, files()) << "nobody took the file";
    EXPECT_EQ(2u, sums()[built]);
    lose(first);
    fs::remove(first);
    request(context, 3);
    context.reset();
    ASSERT_EQ(1u, files().size());
    EXPECT_NE(first, files()[0]);
    EXPECT_EQ(1u, sums()[built]);
}

TEST_F(Metrics, OfAForkedChildBeginAtNothing)
{
    set_environment("trace");
    ReferenceDevice device;
    Context context = device.make(INGOT_CONTEXT_INFO_INIT, true);
    request(context, 1);
    EXPECT_EQ(0, forked_child::run([&] {
                  const Context own = device.make(INGOT_CONTEXT_INFO_INIT, true);
                  request(own, 2);
                  return 0;
              }));
    context.reset();
    EXPECT_EQ(2u, files().size());
    EXPECT_EQ(2u, sums()["ingot_requests_total{origin=\"build\",backend=\"reference\",kind=\"program\"}"]);
}

} // namespace
