/*
 * persist_peers.cpp - stores and loads blobs by key with LMDB and SQLite, used as their documentation recommends.
 */
#include "persist_peers.h"

#include <lmdb.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <cstring>
#include <stdexcept>

namespace bench
{
namespace
{

void require(bool is_so, const char *what)
{
    if (!is_so)
        throw std::runtime_error(std::string("peer: ") + what);
}

class Lmdb : public Peer, NotCopied
{
public:
    explicit Lmdb(const std::string &directory)
    {
        mkdir(directory.c_str(), 0700);
        require(mdb_env_create(&environment_) == 0 && mdb_env_set_mapsize(environment_, size_t{8} << 30) == 0 &&
                    mdb_env_open(environment_, directory.c_str(), MDB_NOSYNC, 0600) == 0 &&
                    mdb_txn_begin(environment_, nullptr, 0, &transaction_) == 0 &&
                    mdb_dbi_open(transaction_, nullptr, MDB_CREATE, &database_) == 0,
                "lmdb open");
    }
    ~Lmdb() override
    {
        mdb_txn_abort(transaction_);
        mdb_env_close(environment_);
    }
    void store(const Bytes &id, const Bytes &blob) override
    {
        MDB_val key = {id.size(), const_cast<uint8_t *>(id.data())};
        MDB_val value = {blob.size(), const_cast<uint8_t *>(blob.data())};
        require(mdb_put(transaction_, database_, &key, &value, 0) == 0, "lmdb put");
    }
    uint64_t load(const Bytes &id) override
    {
        const MDB_val value = look_up(id);
        copy_.resize(value.mv_size);
        std::memcpy(copy_.data(), value.mv_data, value.mv_size);
        return checksum(copy_.size(), copy_.data());
    }
    uint64_t touch(const Bytes &id) override
    {
        const MDB_val value = look_up(id);
        return static_cast<const uint8_t *>(value.mv_data)[value.mv_size / 2];
    }

private:
    /* Returns the value as mapped memory, valid until the next look-up. */
    MDB_val look_up(const Bytes &id)
    {
        if (!is_reading_) {
            require(mdb_txn_commit(transaction_) == 0 &&
                        mdb_txn_begin(environment_, nullptr, MDB_RDONLY, &transaction_) == 0,
                    "lmdb commit");
            is_reading_ = true;
        }
        mdb_txn_reset(transaction_); /* each look-up in an application would have its own transaction */
        require(mdb_txn_renew(transaction_) == 0, "lmdb renew");
        MDB_val key = {id.size(), const_cast<uint8_t *>(id.data())};
        MDB_val value;
        require(mdb_get(transaction_, database_, &key, &value) == 0, "lmdb get");
        return value;
    }

    MDB_env *environment_ = nullptr;
    MDB_txn *transaction_ = nullptr;
    MDB_dbi database_ = 0;
    bool is_reading_ = false;
    Bytes copy_;
};

class Sqlite : public Peer, NotCopied
{
public:
    explicit Sqlite(const std::string &path)
    {
        require(sqlite3_open(path.c_str(), &database_) == SQLITE_OK, "sqlite open");
        run("PRAGMA journal_mode=WAL");
        run("CREATE TABLE blobs(id BLOB PRIMARY KEY, blob BLOB) WITHOUT ROWID");
        require(sqlite3_prepare_v2(database_, "INSERT INTO blobs VALUES(?,?)", -1, &insert_, nullptr) == SQLITE_OK &&
                    sqlite3_prepare_v2(database_, "SELECT blob FROM blobs WHERE id=?", -1, &select_, nullptr) ==
                        SQLITE_OK,
                "sqlite prepare");
        run("BEGIN");
    }
    ~Sqlite() override
    {
        sqlite3_finalize(insert_);
        sqlite3_finalize(select_);
        sqlite3_close(database_);
    }
    void store(const Bytes &id, const Bytes &blob) override
    {
        sqlite3_bind_blob(insert_, 1, id.data(), static_cast<int>(id.size()), SQLITE_STATIC);
        sqlite3_bind_blob(insert_, 2, blob.data(), static_cast<int>(blob.size()), SQLITE_STATIC);
        require(sqlite3_step(insert_) == SQLITE_DONE, "sqlite insert");
        sqlite3_reset(insert_);
    }
    uint64_t load(const Bytes &id) override
    {
        select(id);
        copy_.resize(static_cast<size_t>(sqlite3_column_bytes(select_, 0)));
        std::memcpy(copy_.data(), sqlite3_column_blob(select_, 0), copy_.size());
        sqlite3_reset(select_);
        return checksum(copy_.size(), copy_.data());
    }
    uint64_t touch(const Bytes &id) override
    {
        select(id);
        const int size = sqlite3_column_bytes(select_, 0);
        const uint64_t byte = static_cast<const uint8_t *>(sqlite3_column_blob(select_, 0))[size / 2];
        sqlite3_reset(select_);
        return byte;
    }

private:
    void select(const Bytes &id)
    {
        if (!is_reading_)
            run("COMMIT");
        is_reading_ = true;
        sqlite3_bind_blob(select_, 1, id.data(), static_cast<int>(id.size()), SQLITE_STATIC);
        require(sqlite3_step(select_) == SQLITE_ROW, "sqlite select");
    }

    void run(const char *statement)
    {
        require(sqlite3_exec(database_, statement, nullptr, nullptr, nullptr) == SQLITE_OK, statement);
    }

    sqlite3 *database_ = nullptr;
    sqlite3_stmt *insert_ = nullptr;
    sqlite3_stmt *select_ = nullptr;
    bool is_reading_ = false;
    Bytes copy_;
};

} // namespace

std::unique_ptr<Peer> open_lmdb(const std::string &directory)
{
    return std::make_unique<Lmdb>(directory);
}

std::unique_ptr<Peer> open_sqlite(const std::string &path)
{
    return std::make_unique<Sqlite>(path);
}

} // namespace bench
