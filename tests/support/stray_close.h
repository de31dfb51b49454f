/*
 * stray_close.h - closes descriptors that the application did not open, and opens other files under their numbers.
 */
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "support/not_copied.h"

namespace stray_close
{

namespace fs = std::filesystem;

/* Returns the numbers of the descriptors that refer to something. */
inline std::set<int> open_descriptors()
{
    std::set<int> found;
    for (int fd = 0; fd < 1024; ++fd)
        if (fcntl(fd, F_GETFD) >= 0)
            found.insert(fd);
    return found;
}

/* Returns the descriptors that were opened since. */
inline std::vector<int> opened_since(const std::set<int> &before)
{
    std::vector<int> opened;
    for (const int fd : open_descriptors())
        if (before.count(fd) == 0)
            opened.push_back(fd);
    return opened;
}

/* What the application opens under the numbers of closed descriptors: a file of its own for each. */
class Successors : NotCopied
{
public:
    Successors(const fs::path &folder, const std::vector<int> &numbers) : numbers_(numbers)
    {
        fs::create_directories(folder);
        for (const int number : numbers) {
            const fs::path path = folder / std::to_string(number);
            std::ofstream(path) << text();
            const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
            dup3(fd, number, O_CLOEXEC);
            close(fd);
            paths_.push_back(path);
        }
    }
    ~Successors()
    {
        for (const int number : numbers_)
            close(number);
    }

    /* Returns what is wrong: "" if all are as they were, and open. */
    std::string damage() const
    {
        for (size_t i = 0; i < numbers_.size(); ++i) {
            struct stat by_number = {}, by_path = {};
            const std::string name = "descriptor " + std::to_string(numbers_[i]);
            if (fstat(numbers_[i], &by_number) != 0)
                return name + " was closed";
            if (stat(paths_[i].c_str(), &by_path) != 0 || by_number.st_ino != by_path.st_ino)
                return name + " was replaced";
            std::ifstream file(paths_[i]);
            if (std::string(std::istreambuf_iterator<char>(file), {}) != text())
                return name + " was written to";
        }
        return "";
    }

private:
    static std::string text() { return std::string(5000, 'a'); }

    std::vector<int> numbers_;
    std::vector<fs::path> paths_;
};

/* Connections of the application under the numbers of closed descriptors. */
class Peers : NotCopied
{
public:
    explicit Peers(const std::vector<int> &numbers) : numbers_(numbers)
    {
        for (const int number : numbers)
            close(number);
        for (const int number : numbers) {
            int ends[2] = {-1, -1};
            if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
                continue;
            /* the other end gets a number that none of the closed descriptors had */
            others_.push_back(fcntl(ends[1], F_DUPFD_CLOEXEC, 512));
            const int own = fcntl(ends[0], F_DUPFD_CLOEXEC, 512);
            close(ends[0]);
            close(ends[1]);
            owns_.push_back(own);
            dup3(own, number, O_CLOEXEC);
        }
    }
    ~Peers()
    {
        for (const std::vector<int> *all : {&numbers_, &owns_, &others_})
            for (const int fd : *all)
                close(fd);
    }

    /* Returns what is wrong: "" if all connections are open and nothing was sent on them. */
    std::string damage() const
    {
        char byte;
        for (size_t i = 0; i < numbers_.size(); ++i) {
            struct stat by_number = {}, own = {};
            const std::string name = "descriptor " + std::to_string(numbers_[i]);
            if (fstat(numbers_[i], &by_number) != 0)
                return name + " was closed";
            if (fstat(owns_[i], &own) != 0 || by_number.st_ino != own.st_ino)
                return name + " was replaced";
            if (recv(others_[i], &byte, 1, MSG_DONTWAIT) >= 0)
                return name + " was written to";
        }
        return "";
    }

private:
    std::vector<int> numbers_, owns_, others_;
};

} // namespace stray_close
