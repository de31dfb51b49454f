/*
 * own_mounts.h - runs work in a child process with its own mounts.
 */
#pragma once

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <string>

#include "support/forked_child.h"

/* Enters a mount namespace. A user other than root also enters a user namespace, in which the user and the group must
 * be mapped, because files belong to them. */
inline bool enter_mount_namespace()
{
    const auto write_text = [](const char *path, const std::string &text) {
        return (std::ofstream(path) << text).flush().good();
    };
    const std::string user = std::to_string(geteuid()), group = std::to_string(getegid());
    const bool is_in = geteuid() == 0
                           ? unshare(CLONE_NEWNS) == 0
                           : unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && write_text("/proc/self/setgroups", "deny") &&
                                 write_text("/proc/self/uid_map", user + " " + user + " 1") &&
                                 write_text("/proc/self/gid_map", group + " " + group + " 1");
    return is_in && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

/* Returns 77, as `work` does, and prints why, if mounts are not allowed here. */
inline int run_with_mounts(const std::function<int()> &work)
{
    return forked_child::run([&] {
        const int result = enter_mount_namespace() ? work() : 77;
        if (result == 77)
            std::perror("mounting");
        return result;
    });
}
