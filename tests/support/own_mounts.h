/*
 * own_mounts.h - runs work in a child process with its own mounts.
 */
#pragma once

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <functional>

#include "support/forked_child.h"

/* Returns 77 if mounts are not allowed here. */
inline int run_with_mounts(const std::function<int()> &work)
{
    return forked_child::run([&] {
        if (unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0 ||
            mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
            return 77;
        return work();
    });
}
