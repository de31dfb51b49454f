/*
 * forked_child.h - runs work in a forked process, which inherits this process's open stores, memory and locks, and
 * memory that such processes share.
 */
#pragma once

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <new>

#include "support/not_copied.h"

namespace forked_child
{

/* Returns the exit status, 128 plus the signal's number if the child was killed, or -1 if there is no such child. */
inline int wait_for(pid_t child)
{
    int status = 0;
    pid_t ended = -1;
    while (child > 0 && (ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
    }
    if (child <= 0 || ended != child)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Starts `work` in a child, which exits with its result. No destructor and no handler of exit() runs. */
inline pid_t start(const std::function<int()> &work)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(work());
    return child;
}

/* Does the same in a child that is killed if this process ends, or if it hangs for 200 seconds. */
inline pid_t start_guarded(const std::function<int()> &work)
{
    return start([&] {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(200);
        return work();
    });
}

/* Does the same as start(), and waits for the child. Returns what wait_for() returns. */
inline int run(const std::function<int()> &work)
{
    return wait_for(start(work));
}

constexpr uid_t kNobody = 65534;

/* Runs work() in a child, as the user "nobody" if this process is root. */
inline int run_as_nobody(const std::function<int()> &work)
{
    return run([&] { return geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0) ? 126 : work(); });
}

/* An object that this process shares with the children that it forks later. */
template <typename T> class Shared : NotCopied
{
public:
    Shared()
    {
        void *memory = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            throw std::bad_alloc();
        object_ = new (memory) T();
    }
    ~Shared() { munmap(object_, sizeof(T)); }
    T *operator->() const { return object_; }
    T &operator*() const { return *object_; }

private:
    T *object_;
};

} // namespace forked_child

/* Skips a test that makes files of other users, unless this user can make some. */
#define SKIP_UNLESS_ROOT()                                                                                             \
    if (geteuid() != 0) {                                                                                              \
        EXPECT_NE(0, chown("/", forked_child::kNobody, forked_child::kNobody)) << "the test could run after all";      \
        GTEST_SKIP() << "only root can make files of other users";                                                     \
    }
