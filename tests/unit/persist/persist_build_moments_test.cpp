/*
 * Tests a process that waits while another process builds a program and stores its blob. The waiting process must find
 * the blob no matter at which moments it looks, even on a file system with coarse times.
 */
#include <csignal>

#include "support/forked_child.h"
#include "support/library_clock.h"
#include "support/persist_session.h"
#include "support/threads.h"

extern "C" {
#include "persist/base/base.h"
}

using namespace store_fixture;

namespace
{

constexpr uint32_t kLongMs = 240000; /* no request waits that long */

uint64_t time_of_directories = 0; /* that the library sees; 0: their own times */
const std::function<void()> *before_rename, *after_rename, *when_pausing;

void call(const std::function<void()> *hook)
{
    if (hook != nullptr)
        (*hook)();
}

/* Starts a process that builds a program. The process pauses in the compiler, again before it moves the
 * program's entry into its place, and again after that. */
class BuildMoments : public StoreTest
{
protected:
    BuildMoments()
    {
        time_of_directories = files_wall_clock_ns();
        info_.path = root_.c_str();
        info_.lock_timeout_ms = 60000;
        info_.build_wait_ms = kLongMs;
    }
    ~BuildMoments() override
    {
        time_of_directories = 0;
        clock_lead_ns = 0;
    }

    pid_t start()
    {
        const pid_t child = forked_child::start_guarded([this] {
            const std::function<void()> before = [this] {
                has_prepared_.open();
                rename_.wait();
            };
            const std::function<void()> after = [this] {
                has_entry_.open();
                unlock_.wait();
            };
            const Store store(info_);
            Session session;
            session.at("build", [this] {
                builds_.open();
                compile_.wait();
            });
            before_rename = &before;
            after_rename = &after;
            return session.create(session.describe(), store) == INGOT_ORIGIN_BUILD ? 0 : 1;
        });
        builds_.wait();
        return child;
    }

    /* Requests the program. Calls the first step in the request's first pause, the second step in its second pause,
     * and so on. */
    ingot_origin_t request(const Store &store, const std::vector<std::function<void()>> &steps)
    {
        size_t pause = 0;
        const std::function<void()> on_pause = [&] {
            if (pause < steps.size())
                steps[pause]();
            ++pause;
        };
        const Session session;
        when_pausing = &on_pause;
        const ingot_origin_t origin = session.create(session.describe(), store);
        when_pausing = nullptr;
        EXPECT_LE(steps.size(), pause);
        return origin;
    }

    const std::function<void()> prepare_ = [this] {
        compile_.open();
        has_prepared_.wait();
    };
    const std::function<void()> make_entry_ = [this] {
        rename_.open();
        has_entry_.wait();
    };

    ingot_persist_info_t info_ = INGOT_PERSIST_INFO_INIT;
    Gate builds_, compile_, has_prepared_, rename_, has_entry_, unlock_;
};

} // namespace

/* The linker redirects the library's calls to these functions. */
extern "C" {
void __real_files_pause_ns(uint64_t duration_ns);
int __real_files_facts_at(int at, const char *path, struct file_facts *facts);
int __real_files_rename(int from_at, const char *from, int to_at, const char *to);
void __wrap_files_pause_ns(uint64_t duration_ns);
int __wrap_files_facts_at(int at, const char *path, struct file_facts *facts);
int __wrap_files_rename(int from_at, const char *from, int to_at, const char *to);

void __wrap_files_pause_ns(uint64_t duration_ns)
{
    if (duration_ns >= 1000000) /* not one between two looks */
        call(when_pausing);
    __real_files_pause_ns(duration_ns);
}

int __wrap_files_facts_at(int at, const char *path, struct file_facts *facts)
{
    const int result = __real_files_facts_at(at, path, facts);
    if (result == 0 && facts->is_directory && time_of_directories != 0)
        facts->modified_ns = facts->changed_ns = time_of_directories;
    return result;
}

int __wrap_files_rename(int from_at, const char *from, int to_at, const char *to)
{
    call(before_rename);
    const int result = __real_files_rename(from_at, from, to_at, to);
    call(after_rename);
    return result;
}
}

/* The time limit is long, so the waiting process must find the entry before the limit is reached. */
TEST_F(BuildMoments, AnEntryIsFoundWhileTheBuilderGoesOn)
{
    const pid_t builder = start();
    const Store store(info_);
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, request(store, {prepare_, make_entry_}));
    EXPECT_EQ(1u, store.stats().awaited);
    EXPECT_EQ(0u, store.stats().wait_timeouts);
    unlock_.open();
    EXPECT_EQ(0, forked_child::wait_for(builder));
}

TEST_F(BuildMoments, AnEntryIsFoundThoughTheBuilderDiesWithTheLock)
{
    const pid_t builder = start();
    const Store store(info_);
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, request(store, {prepare_, [&] {
                                                        make_entry_();
                                                        kill(builder, SIGKILL);
                                                    }}));
    EXPECT_EQ(128 + SIGKILL, forked_child::wait_for(builder));
    EXPECT_EQ(1u, store.stats().awaited);
}

/* What is prepared is no entry. */
TEST_F(BuildMoments, ABuilderThatDiesBeforeItsEntryAppearsIsReplaced)
{
    const pid_t builder = start();
    const Store store(info_);
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(store, {prepare_, [&] { kill(builder, SIGKILL); }}));
    EXPECT_EQ(128 + SIGKILL, forked_child::wait_for(builder));
}
