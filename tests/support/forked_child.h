/*
 * forked_child.h - runs work in a forked process, which inherits this process's open stores, memory and locks.
 */
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

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

/* Does the same, and waits for the child. Returns what wait_for() returns. */
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

} // namespace forked_child

/* Skips a test that makes files of other users, unless this user can make some. */
#define SKIP_UNLESS_ROOT()                                                                                             \
    if (geteuid() != 0) {                                                                                              \
        EXPECT_NE(0, chown("/", forked_child::kNobody, forked_child::kNobody)) << "the test could run after all";      \
        GTEST_SKIP() << "only root can make files of other users";                                                     \
    }
