/*
 * persist_floor.h - does the minimum work of a store with two files per entry, in plain system calls.
 */
#pragma once

#include <string>

#include "support/not_copied.h"
#include "support/random_bytes.h"

namespace bench
{

using Bytes = std::vector<uint8_t>;

constexpr size_t kIdSize = 400;

inline Bytes id_of(unsigned number)
{
    return random_bytes(number + 1000000u, kIdSize);
}

/* Returns the XXH3-128 folded to 64 bits, computed with this processor's vector code. Callers use the value, so that
 * nothing is optimized away. */
uint64_t checksum(size_t size, const void *bytes);

class StoreFloor : NotCopied
{
public:
    explicit StoreFloor(const std::string &root);
    ~StoreFloor();
    /* Makes a directory with two files and renames the directory. */
    void store(unsigned number, const Bytes &id, const Bytes &blob);

private:
    int root_;
};

/*
 * Loads copies of a directory store's files. The copies are made one by one, in the order in which the entries were
 * stored. So both sides read the same bytes, by paths of the same length, and the format's own cost is not counted as
 * the library's.
 */
class LoadFloor : NotCopied
{
public:
    explicit LoadFloor(const std::string &root);
    ~LoadFloor();
    /* Copies an id's entry from the store. The entries are numbered in the order of the calls. */
    void copy_from(const std::string &store, const Bytes &id);
    /* Opens, reads and closes both files of an entry, whose paths are prepared. Returns their checksums, combined. */
    uint64_t load(unsigned number);

private:
    int root_;
    std::vector<std::string> paths_; /* key.bin and kernel.bin of each entry */
    Bytes memory_;
    uint8_t *buffer_; /* the start of a page in memory_: some processors copy much faster to there */
};

} // namespace bench
