/*
 * open_watch.h - reports which files below a folder are opened, whichever function opens them. The kernel reports them
 * through inotify.
 */
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <sys/inotify.h>
#include <unistd.h>

#include "support/not_copied.h"

namespace hermetic
{

class OpenWatch : NotCopied
{
public:
    /* Watches `root` and the folders that exist below it now. */
    explicit OpenWatch(const std::filesystem::path &root) : descriptor_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC))
    {
        if (descriptor_ < 0)
            throw std::runtime_error("inotify_init1");
        add(root);
        for (const auto &entry : std::filesystem::recursive_directory_iterator(root))
            if (entry.is_directory())
                add(entry.path());
    }
    ~OpenWatch() { close(descriptor_); }

    /* Returns the paths of the files that were opened since the last call. */
    std::set<std::string> take()
    {
        std::set<std::string> opened;
        alignas(inotify_event) char buffer[16384];
        ssize_t size;
        while ((size = read(descriptor_, buffer, sizeof(buffer))) > 0) {
            for (ssize_t at = 0; at < size;) {
                const auto *event = reinterpret_cast<const inotify_event *>(buffer + at);
                at += static_cast<ssize_t>(sizeof(*event) + event->len);
                if ((event->mask & IN_Q_OVERFLOW) != 0)
                    throw std::runtime_error("inotify: more events than it keeps");
                if ((event->mask & IN_OPEN) != 0 && (event->mask & IN_ISDIR) == 0 && event->len != 0)
                    opened.insert((folders_.at(event->wd) / event->name).string());
            }
        }
        return opened;
    }

private:
    void add(const std::filesystem::path &folder)
    {
        const int watch = inotify_add_watch(descriptor_, folder.c_str(), IN_OPEN);
        if (watch < 0)
            throw std::runtime_error("inotify_add_watch: " + folder.string());
        folders_[watch] = folder;
    }

    int descriptor_;
    std::map<int, std::filesystem::path> folders_;
};

} // namespace hermetic
