/*
 * persist_peers.h - other stores for blobs by key: LMDB and SQLite, used as their documentation recommends.
 */
#ifndef INGOT_TESTS_BENCH_PERSIST_PEERS_H
#define INGOT_TESTS_BENCH_PERSIST_PEERS_H

#include <memory>
#include <string>

#include "persist_floor.h"

namespace bench
{

class Peer
{
public:
    virtual ~Peer() = default;
    virtual void store(const Bytes &id, const Bytes &blob) = 0;
    /* Copies the blob out and returns its checksum. */
    virtual uint64_t load(const Bytes &id) = 0;
    /* Returns a byte of the blob; copies and verifies only what the peer's interface does. */
    virtual uint64_t touch(const Bytes &id) = 0;
};

/* All stores in one transaction, since only loads are compared. */
std::unique_ptr<Peer> open_lmdb(const std::string &directory);
/* A write-ahead log, otherwise plain settings; blob by key. */
std::unique_ptr<Peer> open_sqlite(const std::string &path);

} // namespace bench

#endif
