/*
 * persist_floor.cpp - does the minimum work of a store with two files per entry, in plain system calls.
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
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace bench
{
constexpr size_t buffer_size = size_t{2} << 20;
constexpr size_t page_size = 4096;

static void require(bool is_so, const char *what)
{
    if (!is_so)
        throw std::runtime_error(std::string("floor: ") + what);
}

static void write_file(int at, const char *name, const Bytes &bytes)
{
    const int fd = openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    require(fd >= 0 && write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "write");
    close(fd);
}

static Bytes read_file(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    require(file.is_open(), "open for reading");
    return Bytes(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

static int open_root(const std::string &root)
{
    const int fd = open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    require(fd >= 0, "root");
    return fd;
}

uint64_t checksum(size_t size, const void *bytes)
{
#if defined(__x86_64__)
    const XXH128_hash_t hash = XXH3_128bits_dispatch(bytes, size);
#else
    const XXH128_hash_t hash = XXH3_128bits(bytes, size);
#endif
    return hash.low64 ^ hash.high64;
}

StoreFloor::StoreFloor(const std::string &root)
{
    mkdir(root.c_str(), 0700);
    root_ = open_root(root);
    require(mkdirat(root_, "tmp", 0700) == 0 || errno == EEXIST, "tmp");
}

StoreFloor::~StoreFloor()
{
    close(root_);
}

void StoreFloor::store(unsigned number, const Bytes &id, const Bytes &blob)
{
    const std::string prepared = "tmp/" + std::to_string(number);
    require(mkdirat(root_, prepared.c_str(), 0700) == 0, "mkdir");
    write_file(root_, (prepared + "/key.bin").c_str(), id);
    write_file(root_, (prepared + "/kernel.bin").c_str(), blob);
    require(renameat(root_, prepared.c_str(), root_, std::to_string(number).c_str()) == 0, "rename");
}

LoadFloor::LoadFloor(const std::string &root) : memory_(buffer_size + page_size)
{
    buffer_ = memory_.data() + (page_size - reinterpret_cast<uintptr_t>(memory_.data()) % page_size) % page_size;
    mkdir(root.c_str(), 0700);
    root_ = open_root(root);
}

LoadFloor::~LoadFloor()
{
    close(root_);
}

void LoadFloor::copy_from(const std::string &store, const Bytes &id)
{
    const XXH128_hash_t hash = XXH3_128bits(id.data(), id.size());
    std::string entry;
    for (unsigned i = 0; i < 16; ++i) {
        char digits[4];
        const uint64_t half = i < 8 ? hash.low64 : hash.high64;
        std::snprintf(digits, sizeof(digits), "%02x%s", static_cast<unsigned>(half >> 8 * (i % 8) & 0xff),
                      i == 0 ? "/" : "");
        entry += digits;
    }
    require(mkdirat(root_, entry.substr(0, 2).c_str(), 0700) == 0 || errno == EEXIST, "mkdir");
    require(mkdirat(root_, entry.c_str(), 0700) == 0, "mkdir");
    for (const char *name : {"/key.bin", "/kernel.bin"}) {
        paths_.push_back(entry + name);
        write_file(root_, paths_.back().c_str(), read_file(store + "/" + paths_.back()));
    }
}

uint64_t LoadFloor::load(unsigned number)
{
    uint64_t sum = 0;
    for (size_t i = 2 * size_t{number}; i < 2 * size_t{number} + 2; ++i) {
        struct stat facts;
        const int fd = openat(root_, paths_[i].c_str(), O_RDONLY | O_CLOEXEC);
        require(fd >= 0 && fstat(fd, &facts) == 0, "open");
        const auto size = static_cast<size_t>(facts.st_size);
        require(size <= buffer_size && read(fd, buffer_, size) == facts.st_size, "read");
        close(fd);
        sum ^= checksum(size, buffer_);
    }
    return sum;
}

} // namespace bench
