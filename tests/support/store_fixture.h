/*
 * store_fixture.h - opens stores in scratch directories, for the tests of persist.
 */
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <ingot/persist.h>

#include "support/held_storage.h"
#include "support/random_bytes.h"
#include "support/scratch_directory.h"

extern "C" {
#include "persist/base/base.h"
}

namespace store_fixture
{

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;
using ::ScratchDirectory;

/* Returns a volume for thousands of stores. Some file systems are ten times slower for minutes after many deletions. */
inline const char *fast_volume()
{
    return access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : std::getenv("TMPDIR");
}

inline Bytes bytes_of(const std::string &text)
{
    return Bytes(text.begin(), text.end());
}

inline Bytes numbered_id(unsigned number)
{
    return bytes_of("id number " + std::to_string(number));
}

inline Bytes read_file(const fs::path &path)
{
    std::ifstream file(path, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

inline void write_file(const fs::path &path, const Bytes &bytes)
{
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    file.close();
    chmod(path.c_str(), 0600);
}

/* Returns the place of an id's entry, below a store's root or namespace. */
inline fs::path place_of(const Bytes &id)
{
    static const char hex[] = "0123456789abcdef";
    const struct checksum hash = checksum_of(id.size(), id.data());
    std::string text;
    for (const uint8_t byte : hash.bytes)
        text += {hex[byte >> 4], hex[byte & 15]};
    return fs::path(text.substr(0, 2)) / text.substr(2);
}

/* Puts the entry of one id in the place of another id, as if both had the same hash. */
inline void plant_collision(const fs::path &root, const Bytes &from, const Bytes &to)
{
    fs::create_directories((root / place_of(to)).parent_path());
    chmod((root / place_of(to)).parent_path().c_str(), 0700);
    fs::rename(root / place_of(from), root / place_of(to));
}

/* An open store. */
class Store : public HeldStorage
{
public:
    explicit Store(const ingot_persist_info_t &info) { status_ = ingot_persist_open(&storage_, &info); }
    explicit Store(const fs::path &path, uint64_t max_bytes = 0)
    {
        ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
        info.path = path.c_str();
        info.max_bytes = max_bytes;
        info.lock_timeout_ms = 60000; /* long, because only tests of the timeout should reach it */
        status_ = ingot_persist_open(&storage_, &info);
    }

    ingot_status_t status() const { return status_; }

private:
    ingot_status_t status_ = INGOT_SUCCESS;
};

/* Opens a store, and stores a blob. */
inline Store store_with(const fs::path &root, const Bytes &id, const Bytes &blob)
{
    Store store(root);
    EXPECT_EQ(INGOT_SUCCESS, store.put(id, blob));
    return store;
}

/* A test's scratch directory, and the place of its store there. */
class StoreTest : public testing::Test
{
protected:
    const ScratchDirectory scratch_;
    const fs::path root_ = scratch_.path() / "store";
};

/* Describes a store at `root`, which must outlive the description. */
inline ingot_persist_info_t info_at(const std::string &root)
{
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    info.path = root.c_str();
    return info;
}
inline ingot_persist_info_t info_at(const fs::path &root)
{
    return info_at(root.native());
}
inline Store store_in(const fs::path &root, const char *name_space)
{
    ingot_persist_info_t info = info_at(root);
    info.name_space = name_space;
    return Store(info);
}
/* Verifies a store or bundle, which must be possible. */
inline ingot_persist_verification_t verified(const HeldStorage &storage, int repair = 0)
{
    ingot_persist_verification_t found = {};
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_verify(storage.get(), repair, nullptr, nullptr, &found));
    return found;
}
ingot_persist_info_t info_at(std::string &&root) = delete;
ingot_persist_info_t info_at(fs::path &&root) = delete;

/* True if a process prepares or deletes the entry of this directory, or did so when it was killed. */
inline bool is_temporary(const fs::path &path)
{
    const std::string name = path.filename();
    return name.size() == 16 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/* Returns the directory of every entry, in any namespace. Skips entries that processes are preparing, which may
 * vanish. */
inline std::vector<fs::path> entries_of(const fs::path &root)
{
    std::vector<fs::path> entries;
    for (auto item = fs::recursive_directory_iterator(root); item != fs::recursive_directory_iterator(); ++item) {
        if (is_temporary(item->path()))
            item.disable_recursion_pending();
        else if (item->path().filename() == "key.bin")
            entries.push_back(item->path().parent_path());
    }
    return entries;
}

/* Returns what the file system has allocated for a file. */
inline uint64_t allocated(const fs::path &file)
{
    struct stat about = {};
    (void)stat(file.c_str(), &about);
    return static_cast<uint64_t>(about.st_blocks) * 512;
}

inline uint64_t bytes_in(const fs::path &root)
{
    uint64_t bytes = 0;
    for (const fs::path &entry : entries_of(root))
        bytes += allocated(entry / "key.bin") + allocated(entry / "kernel.bin");
    return bytes;
}

/* Returns what the account adds for an entry: the size of each file, rounded up to pages. */
inline uint64_t entry_size(size_t id_size, size_t blob_size)
{
    return (128 + id_size + 4095) / 4096 * 4096 + (blob_size + 4095) / 4096 * 4096;
}

/* Returns the time of an entry: when its kernel.bin was last modified. */
inline uint64_t time_of(const fs::path &entry)
{
    struct stat about = {};
    (void)stat((entry / "kernel.bin").c_str(), &about);
    return static_cast<uint64_t>(about.st_mtim.tv_sec) * 1000000000u + static_cast<uint64_t>(about.st_mtim.tv_nsec);
}

inline void set_time_of(const fs::path &entry, uint64_t time_ns)
{
    const timespec times[2] = {{0, UTIME_OMIT},
                               {static_cast<time_t>(time_ns / 1000000000u), static_cast<long>(time_ns % 1000000000u)}};
    (void)utimensat(AT_FDCWD, (entry / "kernel.bin").c_str(), times, 0);
}

/* Returns the text of a size.txt. */
inline std::string size_text(uint64_t bytes, uint64_t entry_count)
{
    std::string text;
    for (const uint64_t number : {bytes, entry_count, uint64_t{1}}) {
        std::string line = std::to_string(number);
        line.resize(20, ' ');
        text += line + "\n";
    }
    return text;
}

/* Returns the text of a store's size.txt. */
inline std::string totals_of(const fs::path &root)
{
    const Bytes text = read_file(root / "size.txt");
    return std::string(text.begin(), text.end());
}

/* Returns the directories that processes are preparing or deleting, or that killed ones left. */
inline std::vector<fs::path> temporaries_of(const fs::path &root)
{
    std::vector<fs::path> temporaries;
    if (fs::exists(root))
        for (const auto &item : fs::recursive_directory_iterator(root))
            if (is_temporary(item.path()))
                temporaries.push_back(item.path());
    return temporaries;
}

inline size_t leftovers_in(const fs::path &root)
{
    return temporaries_of(root).size();
}

/* Makes each leftover look as if it had been in its shard for this long when the shard was last written to. By default,
 * that is so long that it can only be from a killed process. */
inline void make_leftovers_old(const fs::path &root, std::chrono::minutes age = std::chrono::minutes(61))
{
    for (const fs::path &leftover : temporaries_of(root))
        fs::last_write_time(leftover.parent_path(), fs::file_time_type::clock::now() + age);
}

} // namespace store_fixture
