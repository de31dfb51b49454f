/*
 * store_soak [--no-kills] SECONDS [SEED [FOLDER...]] - runs eight processes that load, store, remove, evict and clear,
 * and kills and restarts them. The store has a tenth of the space that all entries need, except in the last quarter of
 * the time.
 *
 * The store is in a temporary directory, or in FOLDER. Several folders must be mounts of the same network file system:
 * the processes are distributed among them, as if they were on different machines.
 *
 * No result may be wrong and no call may hang. At the end, every checksum must match. The recorded total may be too low
 * by at most one entry's size per kill, never evicts an entry by being too high, and must be right after a recount.
 * Prints what was done. The exit status is 0, or 1 after the reason was printed.
 */
#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <random>
#include <thread>

#include "support/forked_child.h"
#include "support/store_fixture.h"

using namespace store_fixture;

namespace
{

using Clock = std::chrono::steady_clock;

constexpr unsigned kProcesses = 8;
constexpr unsigned kIds = 600;
constexpr uint64_t kLimit = 600 * 1000; /* all entries need ten times as much: see size_of */
constexpr uint64_t kRoom = 64 * 1024;
constexpr int kHangSeconds = 120;

enum Failure { kNone = 0, kWrongBlob, kWrongStatus, kOpenFailed };

/* Shared by the parent and its children. */
struct Board {
    std::atomic<uint64_t> hits{0}, misses{0}, stores{0}, removals{0}, evictions{0}, clears{0}, busy{0};
    std::atomic<uint64_t> beats[kProcesses] = {};
    std::atomic<int> failure{kNone};
    std::atomic<int> failed_status{0};
    /* False in the last quarter of the time, because an eviction corrects the total. */
    std::atomic<bool> has_limit{true};
    std::atomic<bool> is_over{false};
};

Bytes id_of(unsigned number)
{
    return bytes_of("soaked program number " + std::to_string(number));
}

size_t size_of(unsigned number)
{
    return 2000 + number * 27; /* about 10 KB on average */
}

void fail(Board *board, Failure failure, ingot_status_t status, const char *action)
{
    std::fprintf(stderr, "%s: %s: %s\n", action, ingot_status_name(status), ingot_last_error_detail());
    board->failed_status = status;
    board->failure = failure;
}

void expect(Board *board, const char *action, ingot_status_t status, std::initializer_list<ingot_status_t> allowed)
{
    if (status == INGOT_BUSY)
        ++board->busy;
    for (const ingot_status_t one : allowed)
        if (status == one)
            return;
    fail(board, kWrongStatus, status, action);
}

void load_one(Board *board, const Store &store, unsigned number)
{
    Bytes blob;
    const ingot_status_t status = store.load(id_of(number), &blob);
    ++(status == INGOT_SUCCESS ? board->hits : board->misses);
    expect(board, "load", status, {INGOT_SUCCESS, INGOT_NOT_FOUND});
    if (status == INGOT_SUCCESS && blob != random_bytes(number, size_of(number)))
        fail(board, kWrongBlob, status, "load");
}

void work_once(Board *board, const Store &store, std::mt19937 *random)
{
    const unsigned number = (*random)() % kIds;
    const unsigned choice = (*random)() % 10000;
    if (choice < 5000) {
        load_one(board, store, number);
    } else if (choice < 9600) {
        const ingot_status_t status = store.put(id_of(number), random_bytes(number, size_of(number)));
        /* when the limit ends, other processes may fill the store for one that still has it */
        if (status != INGOT_NO_SPACE || board->has_limit)
            expect(board, "store", status, {INGOT_SUCCESS, INGOT_BUSY});
        ++board->stores;
    } else if (choice < 9980) {
        expect(board, "remove", store.remove(id_of(number)), {INGOT_SUCCESS, INGOT_NOT_FOUND, INGOT_BUSY});
        ++board->removals;
    } else if (!board->has_limit) {
        load_one(board, store, number);
    } else if (choice < 9995) {
        ingot_persist_limits_t limits = INGOT_PERSIST_LIMITS_INIT;
        limits.max_bytes = kLimit / 3;
        expect(board, "evict", ingot_persist_evict(store.get(), &limits, nullptr, nullptr),
               {INGOT_SUCCESS, INGOT_BUSY});
        ++board->evictions;
    } else {
        expect(board, "clear", clear_store(store.get()), {INGOT_SUCCESS, INGOT_BUSY});
        ++board->clears;
    }
}

[[noreturn]] void run_child(Board *board, const std::string &root, unsigned process, unsigned seed)
{
    std::mt19937 random(seed);
    ingot_persist_info_t info = info_at(root);
    info.eviction = process % 2 == 0 ? INGOT_PERSIST_EVICT_LRU : INGOT_PERSIST_EVICT_FIFO;
    while (!board->is_over && board->failure == kNone) {
        const bool has_limit = board->has_limit;
        info.max_bytes = has_limit ? kLimit : UINT64_MAX;
        info.max_entries = has_limit && process == 3 ? 100 : 0;
        const Store store(info);
        if (store.status() != INGOT_SUCCESS) {
            fail(board, kOpenFailed, store.status(), "open");
            break;
        }
        for (unsigned i = 0; i < 200 && !board->is_over && board->has_limit == has_limit; ++i) {
            work_once(board, store, &random);
            ++board->beats[process];
        }
    }
    _exit(0);
}

/* Lets the processes work until the time is up. Kills a random process and restarts it, again and again, if `kills` is
 * not NULL. Returns false if a process hung. */
bool run_processes(Board *board, const std::vector<std::string> &roots, unsigned seconds, std::mt19937 *random,
                   unsigned *kills)
{
    pid_t children[kProcesses];
    uint64_t last_beats[kProcesses] = {};
    Clock::time_point last_change[kProcesses];
    const auto start = [&](unsigned process) {
        const auto seed = static_cast<unsigned>((*random)());
        children[process] = fork();
        if (children[process] == 0)
            run_child(board, roots[process % roots.size()], process, seed);
        last_change[process] = Clock::now();
    };
    for (unsigned process = 0; process < kProcesses; ++process)
        start(process);
    const Clock::time_point end = Clock::now() + std::chrono::seconds(seconds);
    const Clock::time_point end_of_limit = end - std::chrono::seconds(seconds) / 4;
    bool is_hung = false;
    while (Clock::now() < end && board->failure == kNone && !is_hung) {
        board->has_limit = Clock::now() < end_of_limit;
        std::this_thread::sleep_for(std::chrono::milliseconds(5 + (*random)() % 40)); /* the pace of the kills */
        if (kills != nullptr) {
            const unsigned victim = (*random)() % kProcesses;
            kill(children[victim], SIGKILL);
            waitpid(children[victim], nullptr, 0);
            ++*kills;
            start(victim);
        }
        for (unsigned process = 0; process < kProcesses; ++process) {
            const uint64_t beats = board->beats[process];
            if (beats != last_beats[process])
                last_change[process] = Clock::now();
            last_beats[process] = beats;
            is_hung = is_hung || Clock::now() - last_change[process] > std::chrono::seconds(kHangSeconds);
        }
    }
    board->is_over = true;
    for (const pid_t child : children) {
        if (is_hung)
            kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
    }
    return !is_hung;
}

/* True if the remaining entries are sound, and a store that has kRoom left takes one more entry without evicting
 * another. The recorded total may then be too low by most_uncounted bytes, and too high by kRoom. If it was too high by
 * more, because a count found entries that other processes owed, this store has counted. A recount must correct it.
 */
bool is_sound_at_the_end(const std::string &root, uint64_t most_uncounted)
{
    const Bytes id = bytes_of("the last program");
    const Bytes last = random_bytes(kIds, 100);
    ingot_persist_info_t info = info_at(root);
    const uint64_t bytes_before = bytes_in(root);
    info.max_bytes = bytes_before + kRoom;
    info.max_entries = 0;
    const Store store(info);
    if (store.put(id, last) != INGOT_SUCCESS)
        return false;
    const uint64_t bytes = bytes_in(root);
    ingot_persist_verification_t verification = {};
    ingot_persist_count_t first = {};
    ingot_persist_count_t second = {};
    if (ingot_persist_verify(store.get(), 0, nullptr, nullptr, &verification) != INGOT_SUCCESS ||
        ingot_persist_recount(store.get(), &first) != INGOT_SUCCESS ||
        ingot_persist_recount(store.get(), &second) != INGOT_SUCCESS)
        return false;
    std::printf("verified %" PRIu64 " entries: %" PRIu64 " bad, %" PRIu64 " foreign, %" PRIu64 " unread\n",
                verification.done_count, verification.bad_count, verification.foreign_count, verification.unread_count);
    std::printf("counted %" PRIu64 " bytes, one entry stored with room for it: %" PRIu64 "; recorded %" PRIu64
                " before the recount, counted %" PRIu64 ", recorded %" PRIu64 " after\n",
                bytes_before, bytes, first.recorded_bytes, first.counted_bytes, second.recorded_bytes);
    return verification.bad_count == 0 && verification.foreign_count == 0 && verification.unread_count == 0 &&
           bytes == bytes_before + entry_size(id.size(), last.size()) && first.is_recorded != 0 &&
           first.recorded_bytes + most_uncounted >= bytes && first.recorded_bytes <= bytes + kRoom &&
           first.counted_bytes == bytes && second.is_recorded != 0 && second.recorded_bytes == bytes &&
           second.counted_bytes == bytes;
}

} // namespace

int main(int count, char **arguments)
{
    const bool has_kills = count < 2 || std::string(arguments[1]) != "--no-kills";
    if (!has_kills) {
        --count;
        ++arguments;
    }
    const unsigned seconds = count > 1 ? static_cast<unsigned>(std::atoi(arguments[1])) : 60;
    const unsigned seed = count > 2 ? static_cast<unsigned>(std::atoi(arguments[2])) : std::random_device()();
    std::mt19937 random(seed);
    const ScratchDirectory scratch(count > 3 ? arguments[3] : std::getenv("TMPDIR"));
    std::vector<std::string> roots = {(scratch.path() / "store").string()};
    for (int i = 4; i < count; ++i)
        roots.push_back((fs::path(arguments[i]) / scratch.path().filename() / "store").string());
    const forked_child::Shared<Board> shared;
    Board *board = &*shared;
    unsigned kills = 0;
    std::printf("seed %u\n", seed);
    const bool has_ended = run_processes(board, roots, seconds, &random, has_kills ? &kills : nullptr);
    std::printf("%" PRIu64 " hits, %" PRIu64 " misses, %" PRIu64 " stores, %" PRIu64 " removals, %" PRIu64
                " evictions, %" PRIu64 " clears, %" PRIu64 " busy, %u kills\n",
                board->hits.load(), board->misses.load(), board->stores.load(), board->removals.load(),
                board->evictions.load(), board->clears.load(), board->busy.load(), kills);
    const bool is_sound = is_sound_at_the_end(roots[0], kills * (size_of(kIds) + 200));
    if (board->failure != kNone)
        std::printf("failure %d, status %s\n", board->failure.load(),
                    ingot_status_name(static_cast<ingot_status_t>(board->failed_status.load())));
    if (!has_ended)
        std::printf("a process hung\n");
    const bool did_anything = board->hits != 0 && board->stores != 0 && (kills != 0 || !has_kills);
    return has_ended && is_sound && did_anything && board->failure == kNone ? 0 : 1;
}
