/*
 * persist_floor.cpp - the least that a store of two files an entry can do, in plain system calls.
 */
#include "persist_floor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#if defined(__x86_64__)
#include <xxh_x86dispatch.h>
#endif

#include <cerrno>
#include <stdexcept>

namespace bench {
namespace {

void require(bool is_so, const char *what)
{
    if (!is_so)
        throw std::runtime_error(std::string("floor: ") + what);
}

void write_file(int at, const char *name, const Bytes &bytes)
{
    const int fd = openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    require(fd >= 0 && write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "write");
    close(fd);
}

} // namespace

uint64_t checksum(size_t size, const void *bytes)
{
#if defined(__x86_64__)
    const XXH128_hash_t hash = XXH3_128bits_dispatch(bytes, size);
#else
    const XXH128_hash_t hash = XXH3_128bits(bytes, size);
#endif
    return hash.low64 ^ hash.high64;
}

Floor::Floor(const std::string &root) : root_(-1), buffer_(size_t{2} << 20)
{
    mkdir(root.c_str(), 0700);
    root_ = open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    require(root_ >= 0 && (mkdirat(root_, "tmp", 0700) == 0 || errno == EEXIST), "root");
}

Floor::~Floor()
{
    close(root_);
}

void Floor::store(unsigned number, const Bytes &id, const Bytes &blob)
{
    const std::string prepared = "tmp/" + std::to_string(number);
    const std::string entry = std::to_string(number);
    require(mkdirat(root_, prepared.c_str(), 0700) == 0, "mkdir");
    write_file(root_, (prepared + "/key.bin").c_str(), id);
    write_file(root_, (prepared + "/kernel.bin").c_str(), blob);
    require(renameat(root_, prepared.c_str(), root_, entry.c_str()) == 0, "rename");
    if (paths_.size() < 2 * (size_t{number} + 1))
        paths_.resize(2 * (size_t{number} + 1));
    paths_[2 * size_t{number}] = entry + "/key.bin";
    paths_[2 * size_t{number} + 1] = entry + "/kernel.bin";
}

uint64_t Floor::load(unsigned number)
{
    uint64_t sum = 0;
    for (size_t i = 2 * size_t{number}; i < 2 * size_t{number} + 2; ++i) {
        struct stat facts;
        const int fd = openat(root_, paths_[i].c_str(), O_RDONLY | O_CLOEXEC);
        require(fd >= 0 && fstat(fd, &facts) == 0, "open");
        const auto size = static_cast<size_t>(facts.st_size);
        require(size <= buffer_.size() && read(fd, buffer_.data(), size) == facts.st_size, "read");
        close(fd);
        sum ^= checksum(size, buffer_.data());
    }
    return sum;
}

} // namespace bench
