/*
 * small_examples_test.cpp - runs each of the examples persist_quickstart, own_storage and archive_storage twice: first
 * with an empty store, then in another process with what the first run stored.
 *
 * Each example launches a kernel and checks its result, so these tests need a device that computes results, which
 * simulated devices do not.
 */
#include "support/child_process.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

namespace
{

using child_process::Child;

/* Runs the program with an empty driver cache. Returns its output. */
std::string run(const std::string &program, const std::string &argument, const std::string &name,
                Child::Environment environment = {})
{
    const std::string driver_cache = "driver-cache-" + name;
    mkdir(driver_cache.c_str(), 0700);
    environment["POCL_CACHE_DIR"] = driver_cache;
    Child child({program, argument}, name + ".log", environment);
    EXPECT_EQ(0, child.wait()) << child.output();
    return child.output();
}

void expect_contains(const std::string &text, const std::string &part)
{
    EXPECT_NE(std::string::npos, text.find(part)) << "\"" << part << "\" is not in:\n" << text;
}

void execute(const char *path, const char *sql)
{
    sqlite3 *database = nullptr;
    ASSERT_EQ(SQLITE_OK, sqlite3_open(path, &database));
    EXPECT_EQ(SQLITE_OK, sqlite3_exec(database, sql, nullptr, nullptr, nullptr)) << sqlite3_errmsg(database);
    EXPECT_EQ(1, sqlite3_changes(database));
    sqlite3_close(database);
}

TEST(PersistQuickstartExample, LoadsInTheSecondProcess)
{
    expect_contains(run(PERSIST_QUICKSTART_PROGRAM, "quickstart-store", "quickstart-cold"), "origin: build");
    expect_contains(run(PERSIST_QUICKSTART_PROGRAM, "quickstart-store", "quickstart-warm"), "origin: storage");
}

#ifdef REFUSE_LOADED_KERNELS
TEST(PersistQuickstartExample, BuildsAnewWhatTheDriverRefusesOnlyAtAKernel)
{
    expect_contains(run(PERSIST_QUICKSTART_PROGRAM, "refused-store", "refused-cold"), "origin: build");
    expect_contains(
        run(PERSIST_QUICKSTART_PROGRAM, "refused-store", "refused", {{"LD_PRELOAD", REFUSE_LOADED_KERNELS}}),
        "origin: build");
    expect_contains(run(PERSIST_QUICKSTART_PROGRAM, "refused-store", "refused-warm"), "origin: storage");
}
#endif

TEST(OwnStorageExample, LoadsInTheSecondProcess)
{
    expect_contains(run(OWN_STORAGE_PROGRAM, "own.sqlite", "own-cold"), "origin: build");
    expect_contains(run(OWN_STORAGE_PROGRAM, "own.sqlite", "own-warm"), "origin: storage");
}

TEST(OwnStorageExample, BuildsAndStoresAnewWhenABlobIsRefused)
{
    run(OWN_STORAGE_PROGRAM, "damaged.sqlite", "damaged-cold");
    const struct {
        const char *damage;
        const char *status;
    } cases[] = {
        {"UPDATE programs SET blob = substr(blob, 1, 100)", "INGOT_BLOB_TRUNCATED"},
        {"UPDATE programs SET blob = CAST('no blob at all, but long enough for one, were it not for its text, "
         "which goes on until it is as long as any header could be' AS BLOB)",
         "INGOT_BLOB_CORRUPT"},
    };
    for (const auto &c : cases) {
        ASSERT_NO_FATAL_FAILURE(execute("damaged.sqlite", c.damage));
        const std::string output = run(OWN_STORAGE_PROGRAM, "damaged.sqlite", "damaged");
        expect_contains(output, "origin: build");
        expect_contains(output, c.status);
        expect_contains(run(OWN_STORAGE_PROGRAM, "damaged.sqlite", "healed"), "origin: storage");
    }
}

TEST(OwnStorageExample, RunsWithoutItsDatabase)
{
    const std::string output = run(OWN_STORAGE_PROGRAM, "no/such/folder.sqlite", "own-without");
    expect_contains(output, "going on without");
    expect_contains(output, "origin: build");
}

TEST(ArchiveStorageExample, LoadsInTheSecondProcess)
{
    expect_contains(run(ARCHIVE_STORAGE_PROGRAM, "archive", "archive-cold"), "runs: 1\norigin: build");
    expect_contains(run(ARCHIVE_STORAGE_PROGRAM, "archive", "archive-warm"), "runs: 2\norigin: storage");
}

/* A record of an archive: a header of 16 bytes, a key and a value. */
struct Record {
    char kind;
    uint64_t begin, end;
};

std::vector<Record> records_of(const std::string &archive)
{
    std::vector<Record> records;
    std::ifstream file(archive, std::ios::binary);
    uint32_t key_size = 0;
    uint64_t value_size = 0, begin = 0;
    for (char head[4]; file.read(head, sizeof(head)); file.seekg(static_cast<std::streamoff>(begin))) {
        file.read(reinterpret_cast<char *>(&key_size), sizeof(key_size));
        file.read(reinterpret_cast<char *>(&value_size), sizeof(value_size));
        records.push_back({head[3], begin, begin + 16 + key_size + value_size});
        begin = records.back().end;
    }
    return records;
}

/* The archive has a count of runs, the program and, on PoCL, the program with the code of its launch. */
TEST(ArchiveStorageExample, BuildsAndStoresAnewWhenItsArchiveIsCutOff)
{
    run(ARCHIVE_STORAGE_PROGRAM, "whole-archive", "cut-cold");
    const std::vector<Record> records = records_of("whole-archive");
    ASSERT_LE(2u, records.size());
    EXPECT_EQ(std::filesystem::file_size("whole-archive"), records.back().end);
    std::string runs = "1", origin = "build"; /* without the record that is cut */
    for (const Record &record : records) {
        for (const uint64_t size : {record.begin + 8, record.begin + 17, record.end - 1}) {
            SCOPED_TRACE(size);
            std::filesystem::copy_file("whole-archive", "cut-archive",
                                       std::filesystem::copy_options::overwrite_existing);
            std::filesystem::resize_file("cut-archive", size);
            expect_contains(run(ARCHIVE_STORAGE_PROGRAM, "cut-archive", "cut"),
                            "runs: " + runs + "\norigin: " + origin);
            expect_contains(run(ARCHIVE_STORAGE_PROGRAM, "cut-archive", "cut-healed"),
                            "runs: " + std::to_string(std::stoi(runs) + 1) + "\norigin: storage");
        }
        (record.kind == 'P' ? origin : runs) = record.kind == 'P' ? "storage" : "2";
    }
}

TEST(ArchiveStorageExample, BuildsAndStoresAnewWhenABlobIsDamaged)
{
    run(ARCHIVE_STORAGE_PROGRAM, "bad-archive", "bad-cold");
    std::fstream file("bad-archive", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-10, std::ios::end).write("\xde\xad\xbe\xef", 4);
    file.close();
    ASSERT_TRUE(file.good());
    expect_contains(run(ARCHIVE_STORAGE_PROGRAM, "bad-archive", "bad"), "runs: 2\norigin: build");
    expect_contains(run(ARCHIVE_STORAGE_PROGRAM, "bad-archive", "bad-healed"), "runs: 3\norigin: storage");
}

} // namespace
