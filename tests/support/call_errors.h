/*
 * call_errors.h - lists the errors that a system call can end with, according to its manual page, and those of network
 * file systems (ESTALE, EIO) for every call on a file.
 */
#pragma once

#include <sys/syscall.h>

#include <cerrno>
#include <vector>

namespace traced_child
{

/* Returns the errors of a call, EIO first. Returns none for calls that never fail, and for calls that the C library
 * and sanitizers make for themselves. */
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

} // namespace traced_child
