/*
 * persist_bench.cpp - measures loads and stores of a directory store and a bundle, and compares them with bare system
 * calls, LMDB and SQLite. All subjects take turns within a round, and a ratio is the median of the rounds' ratios.
 *
 * A bundle is compared with LMDB in two ways. For bundle_over_lmdb, both are used through their plain interface: LMDB
 * never copies or verifies, and a bundle verifies a blob only at its first load, in the round that warms up. For
 * bundle_checked_over_lmdb, every load on both sides includes a copy and a checksum.
 *
 * For store_over_floor, the floor makes the fewest system calls that a store with two files per entry can make.
 *
 * Blob sizes are compared with 1,000 entries each. Numbers of entries are compared with the smallest blobs, because
 * 100,000 blobs of 1 MiB would be 100 GB.
 *
 * Everything is on one volume, with a warm page cache: in $INGOT_BENCH_DIR, or in /dev/shm if that is not set. --only
 * 4k, 64k, 1m, counts, processes, eviction or million measures one part.
 */
#include <lmdb.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <cstring>
#include <exception>

#include <ingot/persist.h>
#include <ingot/private/directory.h>

#include "bench/bench_report.h"
#include "bench/measuring.h"
#include "bench/persist_floor.h"
#include "bench/sample.h"
#include "support/scratch_directory.h"

namespace
{

namespace fs = std::filesystem;
using bench::Bytes;
using bench::Clock;
using bench::Goal;
using bench::id_of;
using bench::kIdSize;
using bench::time_of;

constexpr unsigned kRounds = 26; /* one more warms up */
uint64_t sink;                   /* so that no load is optimized away */

void require(bool is_so, const char *what)
{
    if (!is_so)
        throw std::runtime_error(std::string("persist: ") + what + ": " + ingot_last_error_detail());
}

class Storage : NotCopied
{
public:
    Storage(const std::string &path, uint64_t max_bytes, uint32_t low_water_percent = 0)
    {
        ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
        info.path = path.c_str();
        info.max_bytes = max_bytes;
        info.lock_timeout_ms = 10000;
        info.low_water_percent = low_water_percent;
        require(ingot_persist_open(&storage_, &info) == INGOT_SUCCESS, "open");
    }
    explicit Storage(const std::string &bundle)
    {
        require(ingot_persist_open_bundle(&storage_, bundle.c_str(), nullptr) == INGOT_SUCCESS, "open bundle");
    }
    ~Storage() { ingot_storage_release(storage_); }
    ingot_storage_t get() const { return storage_; }
    void store(const Bytes &id, const Bytes &blob) const
    {
        require(ingot_storage_store(storage_, id.size(), id.data(), blob.size(), blob.data()) == INGOT_SUCCESS,
                "store");
    }
    /* Returns false if the blob was refused, because stores came faster than the thread evicts. */
    bool try_to_store(const Bytes &id, const Bytes &blob) const
    {
        const ingot_status_t status = ingot_storage_store(storage_, id.size(), id.data(), blob.size(), blob.data());
        require(status == INGOT_SUCCESS || status == INGOT_NO_SPACE, "store");
        return status == INGOT_SUCCESS;
    }
    void remove(const Bytes &id) const
    {
        require(ingot_storage_remove(storage_, id.size(), id.data()) == INGOT_SUCCESS, "remove");
    }
    void load(const Bytes &id) const
    {
        ingot_buffer_t blob = INGOT_BUFFER_INIT;
        require(ingot_storage_load(storage_, id.size(), id.data(), &blob) == INGOT_SUCCESS, "load");
        sink ^= blob.bytes[blob.size / 2];
        blob.release(&blob);
    }
    /* Copies the blob and computes a checksum, as Peer::load does. */
    uint64_t load_checked(const Bytes &id)
    {
        ingot_buffer_t blob = INGOT_BUFFER_INIT;
        require(ingot_storage_load(storage_, id.size(), id.data(), &blob) == INGOT_SUCCESS, "load");
        copy_.resize(blob.size);
        std::memcpy(copy_.data(), blob.bytes, blob.size);
        blob.release(&blob);
        return bench::checksum(copy_.size(), copy_.data());
    }

private:
    Bytes copy_;
    ingot_storage_t storage_ = nullptr;
};

/* The two peers are used as their documentation recommends. All stores in LMDB are in one transaction, because only
 * loads are compared. SQLite has a write-ahead log, and otherwise default settings. */
class Lmdb : NotCopied
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
    ~Lmdb()
    {
        mdb_txn_abort(transaction_);
        mdb_env_close(environment_);
    }
    void store(const Bytes &id, const Bytes &blob)
    {
        MDB_val key = {id.size(), const_cast<uint8_t *>(id.data())};
        MDB_val value = {blob.size(), const_cast<uint8_t *>(blob.data())};
        require(mdb_put(transaction_, database_, &key, &value, 0) == 0, "lmdb put");
    }
    /* Copies the blob out and returns its checksum. */
    uint64_t load(const Bytes &id)
    {
        const MDB_val value = look_up(id);
        copy_.resize(value.mv_size);
        std::memcpy(copy_.data(), value.mv_data, value.mv_size);
        return bench::checksum(copy_.size(), copy_.data());
    }
    /* Returns a byte of the blob, without any copy or check that LMDB does not make itself. */
    uint64_t touch(const Bytes &id)
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

class Sqlite : NotCopied
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
    ~Sqlite()
    {
        sqlite3_finalize(insert_);
        sqlite3_finalize(select_);
        sqlite3_close(database_);
    }
    void store(const Bytes &id, const Bytes &blob)
    {
        sqlite3_bind_blob(insert_, 1, id.data(), static_cast<int>(id.size()), SQLITE_STATIC);
        sqlite3_bind_blob(insert_, 2, blob.data(), static_cast<int>(blob.size()), SQLITE_STATIC);
        require(sqlite3_step(insert_) == SQLITE_DONE, "sqlite insert");
        sqlite3_reset(insert_);
    }
    uint64_t load(const Bytes &id)
    {
        select(id);
        copy_.resize(static_cast<size_t>(sqlite3_column_bytes(select_, 0)));
        std::memcpy(copy_.data(), sqlite3_column_blob(select_, 0), copy_.size());
        sqlite3_reset(select_);
        return bench::checksum(copy_.size(), copy_.data());
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

struct Turn {
    bench::Sample *sample;
    unsigned count;
    std::function<void(unsigned)> work;
};

/* Measures all subjects once, in even rounds forwards and in odd rounds backwards. If the order were always the same,
 * each subject would always follow the same other subject, whose data is then in the processor's caches. */
void take_turns(const std::vector<Turn> &turns, unsigned round)
{
    for (size_t i = 0; i < turns.size(); ++i) {
        const Turn &turn = turns[round % 2 == 0 ? i : turns.size() - 1 - i];
        turn.sample->values.push_back(time_of(turn.count, turn.work));
    }
}

/* Drops the round that warms up, and replaces each pair of rounds, one forwards and one backwards, by its mean. Without
 * that, a median would be a value of only one of the two orders. */
void join_rounds(std::vector<double> *values)
{
    std::vector<double> joined;
    for (size_t i = 1; i + 1 < values->size(); i += 2)
        joined.push_back(((*values)[i] + (*values)[i + 1]) / 2);
    *values = joined;
}

void add_ratio(bench::Report *report, const std::string &name, const bench::Sample &of, const bench::Sample &to,
               Goal goal, double bound)
{
    report->add(name, bench::ratios_of(of, to).median(), "times", goal, bound);
}

/* For one blob size, measures loading all entries and storing new ones, and compares the directory store and a bundle
 * with the floors, LMDB and SQLite. */
void compare_size(bench::Report *report, const fs::path &scratch, const std::string &label, size_t blob_size,
                  unsigned count, unsigned stores_a_round)
{
    const fs::path folder = scratch / label;
    fs::create_directory(folder);
    const Bytes blob = random_bytes(blob_size, blob_size);
    std::vector<Bytes> ids;
    for (unsigned i = 0; i < count + (kRounds + 1) * stores_a_round; ++i)
        ids.push_back(id_of(i));

    bench::LoadFloor load_floor(folder / "files");
    bench::StoreFloor store_floor(folder / "floor");
    Storage store(folder / "store", UINT64_MAX);
    Lmdb lmdb(folder / "lmdb");
    Sqlite sqlite(folder / "sqlite");
    for (unsigned i = 0; i < count; ++i) {
        store.store(ids[i], blob);
        load_floor.copy_from(folder / "store", ids[i]);
        store_floor.store(i, ids[i], ids[i]); /* only the number of entries matters: these are never loaded */
        lmdb.store(ids[i], blob);
        sqlite.store(ids[i], blob);
    }
    require(ingot_persist_write_bundle(store.get(), (folder / "bundle").c_str(), nullptr, nullptr, nullptr) ==
                INGOT_SUCCESS,
            "bundle");
    Storage bundle(folder / "bundle");

    const unsigned sqlite_loads = blob_size < (1 << 20) ? count : count / 5; /* large blobs would take minutes */
    bench::Sample loads, load_floors, bundles, checked_bundles, lmdbs, checked_lmdbs, sqlites, stores, store_floors;
    unsigned next = count;
    const std::vector<Turn> turns = {
        {&load_floors, count, [&](unsigned i) { sink ^= load_floor.load(i); }},
        {&loads, count, [&](unsigned i) { store.load(ids[i]); }},
        {&bundles, count, [&](unsigned i) { bundle.load(ids[i]); }},
        {&lmdbs, count, [&](unsigned i) { sink ^= lmdb.touch(ids[i]); }},
        {&checked_bundles, count, [&](unsigned i) { sink ^= bundle.load_checked(ids[i]); }},
        {&checked_lmdbs, count, [&](unsigned i) { sink ^= lmdb.load(ids[i]); }},
        {&sqlites, sqlite_loads, [&](unsigned i) { sink ^= sqlite.load(ids[i]); }},
        {&store_floors, stores_a_round, [&](unsigned i) { store_floor.store(next + i, ids[next + i], blob); }},
        {&stores, stores_a_round, [&](unsigned i) { store.store(ids[next + i], blob); }},
    };
    for (unsigned round = 0; round <= kRounds; ++round) {
        take_turns(turns, round);
        next += stores_a_round;
    }
    for (const Turn &turn : turns)
        join_rounds(&turn.sample->values);
    add_ratio(report, "load_over_floor_" + label, loads, load_floors, Goal::at_most, 1.25);
    add_ratio(report, "store_over_floor_" + label, stores, store_floors, Goal::at_most, 1.4);
    add_ratio(report, "bundle_over_lmdb_" + label, bundles, lmdbs, Goal::at_most, 1.0);
    add_ratio(report, "bundle_checked_over_lmdb_" + label, checked_bundles, checked_lmdbs, Goal::at_most, 1.0);
    report->add("load_" + label, loads.median(), "us");
    report->add("load_floor_" + label, load_floors.median(), "us");
    report->add("store_" + label, stores.median(), "us");
    report->add("store_floor_" + label, store_floors.median(), "us");
    report->add("bundle_load_" + label, bundles.median(), "us");
    report->add("lmdb_load_" + label, lmdbs.median(), "us");
    report->add("lmdb_checked_load_" + label, checked_lmdbs.median(), "us");
    report->add("sqlite_load_" + label, sqlites.median(), "us");
    fs::remove_all(folder);
}

/* Measures how much slower a large store is than a small one. */
void compare_counts(bench::Report *report, const fs::path &scratch)
{
    constexpr unsigned small_count = 1000, large_count = 100000, a_round = 1000;
    const Bytes blob = random_bytes(1, 4096);
    Storage small(scratch / "small", UINT64_MAX);
    Storage large(scratch / "large", UINT64_MAX);
    std::vector<Bytes> ids;
    for (unsigned i = 0; i < large_count + (kRounds + 1) * a_round; ++i)
        ids.push_back(id_of(i));
    for (unsigned i = 0; i < small_count; ++i)
        small.store(ids[i], blob);
    for (unsigned i = 0; i < large_count; ++i)
        large.store(ids[i], blob);
    bench::Sample small_loads, large_loads, small_stores, large_stores;
    unsigned next = large_count;
    const std::vector<Turn> turns = {
        {&small_loads, a_round, [&](unsigned i) { small.load(ids[i]); }},
        {&large_loads, a_round, [&](unsigned i) { large.load(ids[(i * 97u) % large_count]); }},
        {&small_stores, a_round, [&](unsigned i) { small.store(ids[next + i], blob); }},
        {&large_stores, a_round, [&](unsigned i) { large.store(ids[next + i], blob); }},
    };
    for (unsigned round = 0; round <= kRounds; ++round) {
        take_turns(turns, round);
        for (const Storage *store : {&small, &large}) /* so that both keep their size, and both reuse memory */
            for (unsigned i = 0; i < a_round; ++i)
                store->remove(ids[next + i]);
        next += a_round;
    }
    for (const Turn &turn : turns)
        join_rounds(&turn.sample->values);
    add_ratio(report, "load_100k_over_1k", large_loads, small_loads, Goal::at_most, 1.5);
    add_ratio(report, "store_100k_over_1k", large_stores, small_stores, Goal::at_most, 1.5);
}

/* Stores a blob under an id. Each measured process has its own function of this type. */
using StoreOne = std::function<void(unsigned number, const Bytes &id, const Bytes &blob)>;

/* Returns the milliseconds in which `processes` processes have each stored `count` different ids. */
double time_processes(const std::function<StoreOne()> &open, unsigned processes, unsigned count)
{
    const Bytes blob = random_bytes(2, 4096);
    const auto store_all = [&](const bench::Together &together) {
        static const StoreOne store_one = open(); /* not closed, because another process is still measured then */
        const unsigned first = together.number() * count;
        std::vector<Bytes> ids;
        for (unsigned i = 0; i < count; ++i)
            ids.push_back(id_of(first + i));
        together.start();
        for (unsigned i = 0; i < count; ++i)
            store_one(first + i, ids[i], blob);
        together.finish({});
    };
    bench::Tally ignored;
    return bench::run_together(processes, store_all, &ignored);
}

/* Returns, for each round, how many times as much two processes store in the same time as one process. Each run begins
 * with an empty directory. */
bench::Sample speedups_of(const fs::path &root, const std::function<StoreOne()> &open)
{
    constexpr unsigned count = 4000;
    bench::Sample speedups;
    for (unsigned round = 0; round < 8; ++round) {
        double times[2];
        for (unsigned turn = 0; turn < 2; ++turn) {
            const unsigned processes = (round + turn) % 2 + 1;
            times[processes - 1] = time_processes(open, processes, count);
            fs::remove_all(root);
        }
        speedups.values.push_back(2 * times[0] / times[1]);
    }
    return speedups;
}

void compare_processes(bench::Report *report, const fs::path &scratch)
{
    const std::string root = scratch / "processes";
    bench::Sample ours = speedups_of(root, [&root]() -> StoreOne {
        const auto store = std::make_shared<Storage>(root, UINT64_MAX);
        return [store](unsigned, const Bytes &id, const Bytes &blob) { store->store(id, blob); };
    });
    bench::Sample floors = speedups_of(root, [&root]() -> StoreOne {
        const auto floor = std::make_shared<bench::StoreFloor>(root);
        return [floor](unsigned number, const Bytes &id, const Bytes &blob) { floor->store(number, id, blob); };
    });
    report->add("two_process_speedup", ours.median(), "times", Goal::at_least, 1.6);
    report->add("two_process_speedup_of_floor", floors.median(), "times");
}

/* How long storing a blob takes if the store is full. */
struct FullStore {
    double longest_ms; /* the longest time in a turn; the median over the turns */
    double worst_ms;   /* the longest time in all turns */
    double cost_us;    /* the mean time in a turn, with and without evictions; the median over the turns */
    double refused;    /* the part of the blobs that was refused, in percent */
};

/*
 * Fills a store with `entry_count` entries and continues to store in three turns. Each turn stores enough for at least
 * one eviction, which leaves nine tenths of the bytes. Nothing is compiled between the stores, so they are faster than
 * in any application, and some may be refused (doc/store-format.md). The longest wait is a median over the turns,
 * because the machine itself sometimes stops a process.
 */
FullStore measure_full_store(const fs::path &scratch, unsigned entry_count)
{
    constexpr size_t blob_size = 512;
    const unsigned a_turn = std::max(entry_count / 10, 3000u);
    const Bytes blob = random_bytes(4, blob_size);
    const fs::path root = scratch / "full";
    FullStore result{};
    {
        const Storage store(root, uint64_t{entry_count} * (blob_size + kIdSize + 128), 90);
        for (unsigned i = 0; i < entry_count; ++i)
            (void)store.try_to_store(id_of(i), blob);
        bench::Sample longest, costs;
        unsigned next = entry_count, refused = 0;
        for (unsigned turn = 0; turn < 3; ++turn) {
            double longest_us = 0, sum_us = 0;
            for (unsigned i = 0; i < a_turn; ++i) {
                const Bytes id = id_of(next++);
                const Clock::time_point start = Clock::now();
                refused += store.try_to_store(id, blob) ? 0 : 1;
                const double us = bench::microseconds_since(start);
                longest_us = std::max(longest_us, us);
                sum_us += us;
            }
            longest.values.push_back(longest_us / 1000);
            costs.values.push_back(sum_us / a_turn);
        }
        result = {longest.median(), *std::max_element(longest.values.begin(), longest.values.end()), costs.median(),
                  100.0 * refused / (3 * a_turn)};
    }
    fs::remove_all(root);
    return result;
}

void measure_full_stores(bench::Report *report, const fs::path &scratch, const std::vector<unsigned> &sizes)
{
    double cost_3k = 0;
    for (const unsigned thousands : sizes) {
        const FullStore full = measure_full_store(scratch, thousands * 1000);
        const std::string label = std::to_string(thousands) + "k";
        report->add("eviction_longest_wait_" + label, full.longest_ms, "ms", Goal::at_most, 10);
        report->add("eviction_worst_wait_" + label, full.worst_ms, "ms");
        report->add("eviction_cost_" + label, full.cost_us, "us");
        report->add("eviction_refused_" + label, full.refused, "%");
        if (thousands == 3)
            cost_3k = full.cost_us;
        if (thousands >= 200)
            report->add("eviction_cost_" + label + "_over_3k", full.cost_us / cost_3k, "times", Goal::at_most, 2);
    }
}

int run(const char *json, const std::string &only)
{
    const char *chosen = std::getenv("INGOT_BENCH_DIR");
    bench::Report report;
    int result = 0;
    try {
        const ScratchDirectory directory(chosen != nullptr ? chosen : "/dev/shm");
        const fs::path &scratch = directory.path();
        const auto is_wanted = [&only](const char *part) { return only.empty() || only == part; };
        if (is_wanted("4k"))
            compare_size(&report, scratch, "4k", 4096, 1000, 500);
        if (is_wanted("64k"))
            compare_size(&report, scratch, "64k", 65536, 1000, 200);
        if (is_wanted("1m"))
            compare_size(&report, scratch, "1m", 1 << 20, 1000, 20);
        if (is_wanted("counts"))
            compare_counts(&report, scratch);
        fs::remove_all(scratch / "large");
        if (is_wanted("processes"))
            compare_processes(&report, scratch);
        if (is_wanted("eviction"))
            measure_full_stores(&report, scratch, {3, 30, 200});
        if (only == "million") /* only on request: 4 million files and directories take 14 GiB of a tmpfs */
            measure_full_stores(&report, scratch, {3, 1000});
        report.print();
        result = json != nullptr && !report.write_json(json) ? 1 : 0;
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        result = 1;
    }
    return result;
}

} // namespace

int main(int count, char **arguments)
{
    const char *json = nullptr;
    std::string only;
    for (int i = 1; i + 1 < count; ++i) {
        if (std::strcmp(arguments[i], "--json") == 0)
            json = arguments[i + 1];
        if (std::strcmp(arguments[i], "--only") == 0)
            only = arguments[i + 1];
    }
    return run(json, only);
}
