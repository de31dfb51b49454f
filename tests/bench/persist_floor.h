/*
 * persist_floor.h - the minimum work of a store with two files per entry, in plain system calls.
 */
#ifndef INGOT_TESTS_BENCH_PERSIST_FLOOR_H
#define INGOT_TESTS_BENCH_PERSIST_FLOOR_H

#include <cstdint>
#include <string>
#include <vector>

namespace bench
{

using Bytes = std::vector<uint8_t>;

/* XXH3-128 with the vector code of this processor, folded, so that nothing is optimized away. */
uint64_t checksum(size_t size, const void *bytes);

class StoreFloor
{
public:
    explicit StoreFloor(const std::string &root);
    StoreFloor(const StoreFloor &) = delete;
    StoreFloor &operator=(const StoreFloor &) = delete;
    ~StoreFloor();
    /* A directory, two files in it, and a rename of the directory. */
    void store(unsigned number, const Bytes &id, const Bytes &blob);
    /* Does the same in a separate directory, as the format has one for each id: makes two directories. */
    void store_in_bucket(unsigned number, const Bytes &id, const Bytes &blob);

private:
    void store_as(const std::string &entry, unsigned number, const Bytes &id, const Bytes &blob);

    int root_;
};

/*
 * Of the files of a directory store, copied one by one as they were stored: both sides read the same bytes, by paths of
 * the same length. The cost of the format is not a cost of the library.
 */
class LoadFloor
{
public:
    explicit LoadFloor(const std::string &root);
    LoadFloor(const LoadFloor &) = delete;
    LoadFloor &operator=(const LoadFloor &) = delete;
    ~LoadFloor();
    /* Copies the entry of an id, which is the next number. */
    void copy_from(const std::string &store, const Bytes &id);
    /* openat, fstat, read and close of both files of an entry, their paths being ready, and checksums. */
    uint64_t load(unsigned number);

private:
    int root_;
    std::vector<std::string> paths_; /* key.bin and kernel.bin of each entry */
    Bytes memory_;
    uint8_t *buffer_; /* a page's start in it: the copying of some processors depends on that by far */
};

} // namespace bench

#endif
