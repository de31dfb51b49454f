/*
 * persist_peers.h - stores and loads blobs by key with LMDB and SQLite, used as their documentation recommends.
 */
#pragma once

#include <memory>

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
    /* Returns a byte of the blob, without any copy or check that the peer does not make itself. */
    virtual uint64_t touch(const Bytes &id) = 0;
};

/* Opens LMDB. All stores are in one transaction, because only loads are compared. */
std::unique_ptr<Peer> open_lmdb(const std::string &directory);
/* Opens SQLite with a write-ahead log and otherwise default settings, and creates a table of blobs by key. */
std::unique_ptr<Peer> open_sqlite(const std::string &path);

} // namespace bench
