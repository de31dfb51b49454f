/*
 * traced_child.h - runs a function in a forked child and stops it at each of its system calls, to kill it there or
 * to make that call fail.
 *
 * The child is one thread, so the n-th stop is the same in every run of the same work. Stops come in pairs: before the
 * call has done anything, and after it has done all.
 */
#ifndef INGOT_TESTS_SUPPORT_TRACED_CHILD_H
#define INGOT_TESTS_SUPPORT_TRACED_CHILD_H

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

namespace traced_child {

struct Outcome {
    bool was_reached = false; /* the stop that was to be interfered with */
    int exit_status = -1;     /* 128 and the signal's number where it was killed */
    unsigned stops = 0;
};

/* Waits for the child's next stop or end. False: it ended. */
inline bool wait_for_stop(pid_t child, Outcome *outcome)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSTOPPED(status))
        return true;
    outcome->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return false;
}

/* Calls at_stop with each stop's number, from 0, until the child ends. */
inline Outcome run(const std::function<int()> &work, const std::function<void(pid_t, unsigned)> &at_stop)
{
    Outcome outcome;
    const pid_t child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0 || raise(SIGSTOP) != 0)
            _exit(125);
        _exit(work());
    }
    if (child < 0 || !wait_for_stop(child, &outcome))
        return outcome;
    ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    while (ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) == 0 || errno == ESRCH) {
        if (!wait_for_stop(child, &outcome))
            break;
        at_stop(child, outcome.stops++);
    }
    return outcome;
}

/* SIGKILL at stop number n. */
inline Outcome run_and_kill_at(unsigned n, const std::function<int()> &work)
{
    bool was_reached = false;
    Outcome outcome = run(work, [n, &was_reached](pid_t child, unsigned stop) {
        if (stop != n)
            return;
        was_reached = true;
        kill(child, SIGKILL);
    });
    outcome.was_reached = was_reached;
    return outcome;
}

#if defined(__x86_64__)
/* False for those that never do, and for those that the C library and sanitizers make for themselves. */
inline bool can_fail(unsigned long long call)
{
    static constexpr unsigned long long others[] = {
        SYS_geteuid, SYS_getpid,  SYS_exit_group,      SYS_mmap,  SYS_munmap,      SYS_mremap,     SYS_mprotect,
        SYS_madvise, SYS_brk,     SYS_rt_sigprocmask, SYS_futex, SYS_sigaltstack, SYS_sched_yield};
    for (const unsigned long long other : others)
        if (call == other)
            return false;
    return true;
}

/* The n-th system call does nothing and fails with this errno, if it is one that can. */
inline Outcome run_and_fail_call(unsigned n, int error, const std::function<int()> &work)
{
    bool was_reached = false;
    bool is_failing = false;
    Outcome outcome = run(work, [&](pid_t child, unsigned stop) {
        if (stop / 2 != n)
            return;
        was_reached = true;
        user_regs_struct registers;
        ptrace(PTRACE_GETREGS, child, nullptr, &registers);
        if (stop % 2 == 0) {
            is_failing = can_fail(registers.orig_rax);
            if (is_failing)
                registers.orig_rax = ~0ull; /* no such call */
        } else if (is_failing) {
            registers.rax = static_cast<unsigned long long>(-static_cast<long long>(error));
        }
        ptrace(PTRACE_SETREGS, child, nullptr, &registers);
    });
    outcome.was_reached = was_reached;
    return outcome;
}
#endif

} // namespace traced_child

#endif
