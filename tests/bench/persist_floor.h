/*
 * persist_floor.h - the least that a store of two files an entry can do, in plain system calls.
 */
#ifndef INGOT_TESTS_BENCH_PERSIST_FLOOR_H
#define INGOT_TESTS_BENCH_PERSIST_FLOOR_H

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

using Bytes = std::vector<uint8_t>;

/* XXH3-128 with the vector code of this processor, folded, so that nothing is optimized away. */
uint64_t checksum(size_t size, const void *bytes);

class Floor {
public:
    explicit Floor(const std::string &root);
    Floor(const Floor &) = delete;
    Floor &operator=(const Floor &) = delete;
    ~Floor();
    /* A directory, two files in it, and a rename of the directory. */
    void store(unsigned number, const Bytes &id, const Bytes &blob);
    /* openat, fstat, read and close of both files, their paths being ready, and checksums. */
    uint64_t load(unsigned number);

private:
    int root_;
    std::vector<std::string> paths_; /* key.bin and kernel.bin of each number */
    Bytes buffer_;
};

} // namespace bench

#endif
