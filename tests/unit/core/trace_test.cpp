/*
 * trace_test.cpp - tests that the file of INGOT_TRACE does the application no harm.
 */
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <clocale>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <vector>

extern "C" {
#include "core/base/trace.h"
}
#include "support/forked_child.h"
#include "support/scratch_directory.h"
#include "support/whole_file.h"

namespace
{

class TraceFile : public ::testing::Test
{
protected:
    std::string path(const std::string &name) const { return (scratch_.path() / name).string(); }
    static void emit(const struct trace &trace, int count = 1)
    {
        ingot_event_t event = INGOT_EVENT_INIT;
        event.kind = INGOT_EVENT_BUILD;
        event.duration_ns = 12345067;
        event.reason = "a reason";
        for (int i = 0; i < count; ++i)
            trace_emit(&trace, &event);
    }

private:
    const ScratchDirectory scratch_;
};

TEST_F(TraceFile, SurvivesALimitOfFileSizes)
{
    EXPECT_EQ(0, forked_child::run([this] {
                  struct trace trace;
                  const struct rlimit limit = {100, 100};
                  (void)std::signal(SIGXFSZ, SIG_DFL);
                  trace_init(&trace, nullptr, nullptr, path("trace").c_str());
                  (void)setrlimit(RLIMIT_FSIZE, &limit);
                  emit(trace, 10);
                  trace_fini(&trace);
                  sigset_t pending;
                  (void)sigpending(&pending);
                  return sigismember(&pending, SIGXFSZ);
              }));
    EXPECT_EQ(100u, whole_file::read(path("trace")).size());
}

TEST_F(TraceFile, DoesNotWaitForTheReaderOfAFifo)
{
    ASSERT_EQ(0, mkfifo(path("fifo").c_str(), 0600));
    EXPECT_EQ(0, forked_child::run([this] {
                  struct trace trace;
                  (void)alarm(240);
                  trace_init(&trace, nullptr, nullptr, path("fifo").c_str());
                  emit(trace);
                  const int is_wanted = trace_wanted(&trace) ? 1 : 0;
                  trace_fini(&trace);
                  return is_wanted;
              }));
}

TEST_F(TraceFile, SurvivesAReaderThatStopsOrLeaves)
{
    ASSERT_EQ(0, mkfifo(path("fifo").c_str(), 0600));
    EXPECT_EQ(0, forked_child::run([this] {
                  struct trace trace;
                  (void)alarm(240);
                  (void)std::signal(SIGPIPE, SIG_DFL);
                  const int reader = open(path("fifo").c_str(), O_RDONLY | O_NONBLOCK);
                  trace_init(&trace, nullptr, nullptr, path("fifo").c_str());
                  emit(trace, 10000); /* more than a pipe accepts */
                  char text[9] = "";
                  const bool has_read = read(reader, text, 8) == 8 && std::strcmp(text, "{\"ingot\"") == 0;
                  (void)close(reader);
                  emit(trace);
                  trace_fini(&trace);
                  return has_read ? 0 : 1;
              }));
}

/* The application closes descriptors that are not its own, and then opens a file. */
TEST_F(TraceFile, LeavesTheApplicationsFileAlone)
{
    struct trace trace;
    trace_init(&trace, nullptr, nullptr, path("trace").c_str());
    ASSERT_LE(0, trace.file);
    const int number = trace.file;
    ASSERT_EQ(0, close(number));
    ASSERT_EQ(number, open(path("data").c_str(), O_RDWR | O_CREAT, 0600));
    emit(trace);
    trace_fini(&trace);
    EXPECT_EQ("", whole_file::read(path("data")));
    EXPECT_EQ(0, fcntl(number, F_GETFD)) << "the application's file was closed";
    (void)close(number);
}

/* Writes a locale of glibc that has nothing but a decimal comma. */
void write_comma_locale(const std::string &folder)
{
    const std::vector<std::string> values = {",", "", "", std::string("\x2c\0\0\0", 4), std::string(4, '\0'), "UTF-8"};
    std::vector<uint32_t> head = {0x20031114, static_cast<uint32_t>(values.size())};
    std::string body;
    const size_t start = sizeof(uint32_t) * (head.size() + values.size());
    for (const std::string &value : values) {
        body.resize((body.size() + 3) & ~static_cast<size_t>(3)); /* wide characters are aligned */
        head.push_back(static_cast<uint32_t>(start + body.size()));
        body += value + '\0';
    }
    (void)mkdir(folder.c_str(), 0700);
    std::ofstream file(folder + "/LC_NUMERIC", std::ios::binary);
    file.write(reinterpret_cast<const char *>(head.data()),
               static_cast<std::streamsize>(head.size() * sizeof(head[0])));
    file << body;
}

TEST_F(TraceFile, IsTheSameInEveryLocale)
{
    write_comma_locale(path("comma"));
    EXPECT_EQ(0, forked_child::run([this] {
                  struct trace trace;
                  char number[8] = "";
                  (void)setenv("LOCPATH", path("").c_str(), 1);
                  if (std::setlocale(LC_NUMERIC, "comma") == nullptr)
                      return 1;
                  (void)std::snprintf(number, sizeof(number), "%.1f", 0.5);
                  trace_init(&trace, nullptr, nullptr, path("trace").c_str());
                  emit(trace);
                  trace_fini(&trace);
                  return std::strcmp(number, "0,5") == 0 ? 0 : 2;
              }));
    EXPECT_EQ("{\"ingot\":\"build\",\"status\":\"INGOT_SUCCESS\",\"us\":12345.067,\"bytes\":0,\"group\":\"\","
              "\"name\":\"\",\"reason\":\"a reason\"}\n",
              whole_file::read(path("trace")));
}

} // namespace
