/*
 * failing_calls.h - makes system calls of this process fail from now on, as on a file system that does not support
 * them.
 *
 * Use this in a forked child, because it cannot be undone. The kernel applies the filter, so the calls of all libraries
 * fail.
 */
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace failing_calls
{

struct Rule {
    long call;
    int second_argument; /* kAny: every call fails; otherwise only calls with this value */
    int error;
};
constexpr int kAny = -1;

/* Returns false if the kernel has no filters. */
inline bool install(const std::vector<Rule> &rules)
{
    const uint32_t call_at = offsetof(seccomp_data, nr);
    /* This is the low half of the second argument on a little-endian machine. */
    const uint32_t argument_at = offsetof(seccomp_data, args) + sizeof(uint64_t);
    std::vector<sock_filter> filter;
    for (const Rule &rule : rules) {
        const bool is_any = rule.second_argument == kAny;
        filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, call_at));
        filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, uint32_t(rule.call), 0, uint8_t(is_any ? 1 : 3)));
        if (!is_any) {
            filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument_at));
            filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, uint32_t(rule.second_argument), 0, 1));
        }
        filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | uint32_t(rule.error)));
    }
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

} // namespace failing_calls
