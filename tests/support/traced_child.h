/*
 * traced_child.h - runs a function in a forked child and stops it at each of its system calls, to kill it there or to
 * make that call fail.
 *
 * The child is one thread, so the n-th stop is the same in every run of the same work. Stops come in pairs: before the
 * call does anything, and after it is complete.
 */
#pragma once

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace traced_child
{

struct Outcome {
    bool was_reached = false; /* true if the stop to interfere with was reached */
    int exit_status = -1;     /* 128 plus the signal's number if it was killed */
    unsigned stops = 0;
    int error = 0; /* the errno with which a system call was made to fail, or 0 */
};

/* Waits for the child's next stop or end. Returns false if it ended. */
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

/* Runs `work` in a traced child. Calls `at_stop` with the number of each stop, from 0 to `last`, or until the child
 * ends. After the last one, the child goes on as fast as without a tracer. */
inline Outcome run(const std::function<int()> &work, const std::function<void(pid_t, unsigned)> &at_stop,
                   unsigned last = UINT_MAX)
{
    Outcome outcome;
    const pid_t child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0 || raise(SIGSTOP) != 0)
            _exit(125);
        std::_Exit(work()); /* in a coverage build, _exit() would write files first */
    }
    if (child < 0 || !wait_for_stop(child, &outcome))
        return outcome;
    ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    while (ptrace(outcome.stops <= last ? PTRACE_SYSCALL : PTRACE_CONT, child, nullptr, nullptr) == 0 ||
           errno == ESRCH) {
        if (!wait_for_stop(child, &outcome))
            break;
        if (outcome.stops <= last)
            at_stop(child, outcome.stops++);
    }
    return outcome;
}

/* Kills the child with SIGKILL at stop number `n`. */
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
/* Runs `work` in a traced child. Calls `before` before each system call, which its registers describe. */
inline Outcome run_and_stop_before_calls(const std::function<int()> &work,
                                         const std::function<void(pid_t, const user_regs_struct &)> &before)
{
    return run(work, [&before](pid_t child, unsigned stop) {
        user_regs_struct registers;
        ptrace(PTRACE_GETREGS, child, nullptr, &registers);
        if (stop % 2 == 0)
            before(child, registers);
    });
}

/* Returns the errors with which a system call can end: those of its manual page and, for every call on a file, those of
 * network file systems (ESTALE, EIO). EIO comes first. Returns none for calls that never fail, and for calls that the C
 * library and sanitizers make for themselves. */
inline const std::vector<int> &errors_of(unsigned long long call)
{
    static const std::vector<int> none;
    static const std::vector<int> other = {EIO, EPERM, EINTR};
    static const std::vector<int> open = {EIO,    EACCES, EBUSY,  EDQUOT,  EEXIST, EINTR,   ELOOP, EMFILE,
                                          ENFILE, ENODEV, ENOENT, ENOMEM,  ENOSPC, ENOTDIR, ENXIO, EOVERFLOW,
                                          EPERM,  EROFS,  ESTALE, ETXTBSY, EAGAIN, ENOSYS};
    static const std::vector<int> status = {EIO, EACCES, ELOOP, ENOENT, ENOMEM, ENOTDIR, EOVERFLOW, ESTALE};
    static const std::vector<int> read = {EIO, EAGAIN, EINTR, EISDIR, EOVERFLOW, ESTALE};
    static const std::vector<int> write = {EIO, EAGAIN, EDQUOT, EFBIG, EINTR, ENOSPC, EPERM, ESTALE};
    static const std::vector<int> close = {EIO, EDQUOT, EINTR, ENOSPC, ESTALE};
    static const std::vector<int> make = {EIO,    EACCES, EBUSY,  EDQUOT,  EEXIST, ELOOP, EMLINK,
                                          ENOENT, ENOMEM, ENOSPC, ENOTDIR, EPERM,  EROFS, ESTALE};
    static const std::vector<int> remove = {EIO,    EACCES,  EBUSY,     EISDIR, ELOOP, ENOENT,
                                            ENOMEM, ENOTDIR, ENOTEMPTY, EPERM,  EROFS, ESTALE};
    static const std::vector<int> rename = {EIO,    EACCES, EBUSY,  EDQUOT,  EEXIST,    EINVAL, EISDIR, ELOOP, EMLINK,
                                            ENOENT, ENOMEM, ENOSPC, ENOTDIR, ENOTEMPTY, EPERM,  EROFS,  EXDEV, ESTALE};
    static const std::vector<int> lock = {EIO, EACCES, EAGAIN, EINTR, ENOLCK, ESTALE};
    static const std::vector<int> list = {EIO, ENOENT, ENOTDIR, ESTALE};
    switch (call) {
#if defined(SYS_open) /* arm64 does not have this older call, nor the older ones below */
    case SYS_open: return open;
    case SYS_stat: return status;
    case SYS_mkdir:
    case SYS_chmod: return make;
#endif
    case SYS_openat:
    case SYS_openat2: return open;
    case SYS_newfstatat:
    case SYS_fstat: return status;
    case SYS_read:
    case SYS_pread64: return read;
    case SYS_write:
    case SYS_pwrite64:
    case SYS_ftruncate:
    case SYS_fsync: return write;
    case SYS_close: return close;
    case SYS_mkdirat: return make;
    case SYS_unlinkat: return remove;
    case SYS_renameat:
    case SYS_renameat2: return rename;
    case SYS_fcntl: return lock;
    case SYS_getdents64: return list;
    case SYS_geteuid:
    case SYS_getpid:
    case SYS_exit_group:
    case SYS_mmap:
    case SYS_munmap:
    case SYS_mremap:
    case SYS_mprotect:
    case SYS_madvise:
    case SYS_brk:
    case SYS_rt_sigprocmask:
    case SYS_futex:
    case SYS_sigaltstack:
    case SYS_sched_yield: return none;
    default: return other;
    }
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t most_errors = 1; /* per call: with a sanitizer, more would take too long, and the paths are the same */
#else
constexpr size_t most_errors = SIZE_MAX;
#endif

/*
 * Makes the n-th system call do nothing and fail with one of its errors: the one with index `number` in errors_of().
 * was_reached is true if there was such a call. `error` is 0 if the call has no such error, and nothing failed.
 */
inline Outcome run_and_fail_call(unsigned n, size_t number, const std::function<int()> &work)
{
    bool was_reached = false;
    int error = 0;
    const auto fail_call = [&](pid_t child, unsigned stop) {
        if (stop / 2 != n)
            return;
        was_reached = true;
        user_regs_struct registers;
        ptrace(PTRACE_GETREGS, child, nullptr, &registers);
        if (stop % 2 == 0) {
            const std::vector<int> &errors = errors_of(registers.orig_rax);
            error = number < std::min(errors.size(), most_errors) ? errors[number] : 0;
            if (error != 0)
                registers.orig_rax = ~0ull; /* an invalid call */
        } else if (error != 0) {
            registers.rax = static_cast<unsigned long long>(-static_cast<long long>(error));
        }
        ptrace(PTRACE_SETREGS, child, nullptr, &registers);
    };
    Outcome outcome = run(work, fail_call, 2 * n + 1);
    outcome.was_reached = was_reached;
    outcome.error = error;
    return outcome;
}

/* Fails every system call of some work with each of its errors, one after the other. */
class EveryFailure
{
public:
    /* Runs the work with the next failure. Where a call has no further error, the run has no failure. Returns false
     * after the last call. */
    bool next(const std::function<int()> &work, Outcome *outcome)
    {
        *outcome = run_and_fail_call(call_, number_, work);
        if (outcome->error != 0) {
            ++number_;
            ++count_;
        } else {
            ++call_;
            number_ = 0;
        }
        return outcome->was_reached;
    }
    unsigned count() const { return count_; }
    std::string name() const { return "call " + std::to_string(call_) + ", error number " + std::to_string(number_); }

private:
    unsigned call_ = 0;
    size_t number_ = 0;
    unsigned count_ = 0;
};
#endif

} // namespace traced_child
