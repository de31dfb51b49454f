/*
 * Tests images in OCI registries: pushes, pulls and single loads, with a small registry in memory that can lie, and
 * with Debian's docker-registry and skopeo.
 */
#include <grp.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

#include <ingot/remote.h>
#include <ingot/trust.h>

#include "support/encrypted_redis.h"
#include "support/oci_registry.h"
#include "support/server_process.h"
#include "support/store_fixture.h"

extern "C" {
#include "remote/object/envelope.h"
#include "remote/oci/image.h"
}

using namespace store_fixture;
using oci_registry::Answer;
using oci_registry::Registry;
using oci_registry::Request;

namespace
{

Bytes id_of(int number)
{
    return bytes_of("an id with the number " + std::to_string(number));
}

Bytes blob_of(int number, size_t size, unsigned version = 0)
{
    uint64_t state = static_cast<uint64_t>(number) * 31 + version;
    Bytes blob(size);
    for (size_t i = 0; i < size; i += sizeof(state)) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        memcpy(&blob[i], &state, std::min(sizeof(state), size - i));
    }
    return blob;
}

/* Returns an object of a few kilobytes whose blob has 65 MiB, of which 64 are allowed. */
Bytes bomb_of(const Bytes &id)
{
    const Bytes zeros(size_t{65} << 20);
    size_t size = 0;
    uint8_t *object = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, envelope_encode(id.size(), id.data(), zeros.size(), zeros.data(), 0, 3, &size, &object));
    Bytes bytes(object, object + size);
    free(object);
    return bytes;
}

/* Returns the index of an image with this object alone. */
std::string index_of(const Bytes &id, const Bytes &object)
{
    image_entry entry = {};
    image_blob layer = {};
    image made = {};
    image_key_of(id.size(), id.data(), entry.key);
    image_digest(object.size(), object.data(), entry.digest);
    entry.size = object.size();
    made.layer_count = made.entry_count = 1;
    made.layers = &layer;
    made.entries = &entry;
    size_t size = 0;
    uint8_t *index = image_write_index(&made, &size);
    std::string text(reinterpret_cast<const char *>(index), size);
    free(index);
    return text;
}

struct Outcome {
    ingot_status_t status;
    ingot_remote_image_stats_t stats;
    std::string detail;
};

/* What a pull cost. */
struct Cost {
    ingot_status_t status;
    uint64_t failed_count;
    double seconds, processor_seconds;
    double peak_mb; /* above what the process had before */
    char detail[512];

    /* From now on, the peak is that of what follows. */
    static void forget_peak()
    {
        (void)malloc_trim(0);
        std::ofstream("/proc/self/clear_refs") << "5";
    }
    static double processor_time()
    {
        rusage usage = {};
        getrusage(RUSAGE_SELF, &usage);
        return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
               static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    }
    static long peak_kb()
    {
        rusage usage = {};
        getrusage(RUSAGE_SELF, &usage);
        return usage.ru_maxrss;
    }
};

class RemoteOci : public testing::Test
{
protected:
    RemoteOci() { setenv("DOCKER_CONFIG", scratch_.path().c_str(), 1); } /* not the user's */
    ~RemoteOci() override { unsetenv("DOCKER_CONFIG"); }

    std::string path(const std::string &name) const { return (scratch_.path() / name).string(); }
    std::unique_ptr<Store> open(const std::string &name) const
    {
        return std::make_unique<Store>(fs::path(path(name)), UINT64_MAX);
    }
    static void fill(const Store &store, int first, int end, size_t size = 3000, unsigned version = 0)
    {
        for (int i = first; i < end; ++i)
            ASSERT_EQ(INGOT_SUCCESS, store.put(id_of(i), blob_of(i, size, version)));
    }
    static void expect_has(const Store &store, int first, int end, size_t size = 3000, unsigned version = 0)
    {
        for (int i = first; i < end; ++i) {
            Bytes blob;
            ASSERT_EQ(INGOT_SUCCESS, store.load(id_of(i), &blob)) << i;
            ASSERT_EQ(blob_of(i, size, version), blob) << i;
        }
    }
    static Outcome move(const Store &store, const std::string &url, bool is_push, uint32_t stall_ms = 30000)
    {
        ingot_remote_info_t info = INGOT_REMOTE_INFO_INIT;
        Outcome outcome = {INGOT_SUCCESS, INGOT_REMOTE_IMAGE_STATS_INIT, ""};
        info.url = url.c_str();
        info.connect_timeout_ms = 30000;
        info.stall_timeout_ms = stall_ms;
        outcome.status = is_push ? ingot_remote_push_image(store.get(), &info, &outcome.stats)
                                 : ingot_remote_pull_image(store.get(), &info, &outcome.stats);
        if (outcome.status != INGOT_SUCCESS || outcome.stats.failed_count != 0)
            outcome.detail = ingot_last_error_detail();
        return outcome;
    }
    /* Pulls in a child process into a new store, and measures that. */
    Cost pull_in_child(const std::string &name, const std::string &url, uint32_t stall_ms) const
    {
        void *memory = mmap(nullptr, sizeof(Cost), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        Cost *shared = new (memory) Cost();
        const pid_t child = fork();
        if (child == 0) {
            const auto target = open(name);
            const auto begin = std::chrono::steady_clock::now();
            Cost::forget_peak();
            const long before_kb = Cost::peak_kb();
            const Outcome outcome = move(*target, url, false, stall_ms);
            shared->peak_mb = static_cast<double>(Cost::peak_kb() - before_kb) / 1024;
            shared->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            shared->processor_seconds = Cost::processor_time();
            shared->status = outcome.status;
            shared->failed_count = outcome.stats.failed_count;
            (void)std::snprintf(shared->detail, sizeof(shared->detail), "%s", outcome.detail.c_str());
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_EQ(0, status);
        const Cost cost = *shared;
        munmap(memory, sizeof(Cost));
        return cost;
    }
    static Outcome push(const Store &store, const std::string &url) { return move(store, url, true); }
    static Outcome pull(const Store &store, const std::string &url) { return move(store, url, false); }

    ScratchDirectory scratch_{store_fixture::fast_volume()};
};

} // namespace

TEST_F(RemoteOci, MovesOnlyWhatChanged)
{
    Registry registry;
    const auto store = open("store");
    const auto other = open("other");
    fill(*store, 0, 100);
    Outcome outcome = push(*store, registry.url());
    ASSERT_EQ(INGOT_SUCCESS, outcome.status) << outcome.detail;
    EXPECT_EQ(100u, outcome.stats.moved_count);
    EXPECT_EQ(0u, push(*store, registry.url()).stats.moved_count);
    outcome = pull(*other, registry.url());
    ASSERT_EQ(INGOT_SUCCESS, outcome.status) << outcome.detail;
    EXPECT_EQ(100u, outcome.stats.moved_count);
    expect_has(*other, 0, 100);

    fill(*store, 100, 110);
    fill(*store, 0, 5, 3000, 1); /* replaced */
    registry.forget_requests();
    outcome = push(*store, registry.url());
    EXPECT_EQ(15u, outcome.stats.moved_count);
    EXPECT_EQ(95u, outcome.stats.present_count);
    uint64_t sent = 0;
    for (const Request &request : registry.requests())
        sent += request.body.size();
    EXPECT_LT(sent, outcome.stats.moved_bytes * 11 / 10 + 64 + 110 * 96 + 4000); /* with the index and the manifest */
    outcome = pull(*other, registry.url());
    EXPECT_EQ(10u, outcome.stats.moved_count);
    expect_has(*other, 100, 110);
}

TEST_F(RemoteOci, GivesUpLayersThatAreMostlyUnused)
{
    Registry registry;
    const auto store = open("store");
    const auto other = open("other");
    fill(*store, 0, 60);
    ASSERT_EQ(INGOT_SUCCESS, push(*store, registry.url()).status);
    for (int i = 0; i < 40; ++i)
        ASSERT_EQ(INGOT_SUCCESS, store->remove(id_of(i)));
    EXPECT_EQ(20u, push(*store, registry.url()).stats.moved_count);
    const Outcome outcome = pull(*other, registry.url());
    EXPECT_EQ(20u, outcome.stats.entry_count);
    expect_has(*other, 40, 60);
}

/* Each entry is more than half of a layer, so each has its own range. */
TEST_F(RemoteOci, APullReadsSeveralRangesAtOnceAndReportsWhatFailed)
{
    constexpr int kCount = 3;
    constexpr size_t kSize = 4500000;
    Registry registry;
    const auto store = open("store");
    fill(*store, 0, kCount, kSize);
    ASSERT_EQ(INGOT_SUCCESS, push(*store, registry.url()).status);

    /* no range is answered until two are asked for */
    std::mutex mutex;
    std::condition_variable has_changed;
    int asked = 0;
    registry.set_lie([&](const Request &request, Answer *, FaultyConnection *) {
        if (request.header("Range").empty())
            return true;
        std::unique_lock<std::mutex> lock(mutex);
        ++asked;
        has_changed.notify_all();
        return has_changed.wait_for(lock, std::chrono::seconds(30), [&asked] { return asked >= 2; });
    });
    const auto whole = open("whole");
    Outcome outcome = pull(*whole, registry.url());
    EXPECT_EQ(INGOT_SUCCESS, outcome.status) << outcome.detail;
    EXPECT_EQ(static_cast<uint64_t>(kCount), outcome.stats.moved_count);
    expect_has(*whole, 0, kCount, kSize);

    /* a damaged entry concerns only itself */
    std::atomic<int> number{0};
    registry.set_lie([&number](const Request &request, Answer *answer, FaultyConnection *) {
        if (!request.header("Range").empty() && ++number == 2)
            answer->body[answer->body.size() / 2] ^= 1;
        return true;
    });
    outcome = pull(*open("damaged"), registry.url());
    EXPECT_EQ(INGOT_SUCCESS, outcome.status);
    EXPECT_EQ(kCount - 1u, outcome.stats.moved_count);
    EXPECT_EQ(1u, outcome.stats.failed_count);
    EXPECT_NE(std::string::npos, outcome.detail.find("does not have its digest")) << outcome.detail;

    /* a failure ends all threads, and is told by the caller's */
    number = 0;
    registry.set_lie([&number](const Request &request, Answer *answer, FaultyConnection *) {
        if (!request.header("Range").empty() && ++number == 2)
            *answer = {500};
        return true;
    });
    outcome = pull(*open("failed"), registry.url());
    EXPECT_EQ(INGOT_IO_ERROR, outcome.status);
    EXPECT_NE(std::string::npos, outcome.detail.find("HTTP status 500")) << outcome.detail;
}

TEST_F(RemoteOci, EqualStoresMakeEqualImages)
{
    Registry first, second;
    const auto store = open("store");
    const auto other = open("other");
    fill(*store, 0, 30);
    fill(*other, 0, 30);
    push(*store, first.url());
    push(*other, second.url());
    EXPECT_EQ(first.manifests, second.manifests);
    EXPECT_EQ(first.blobs, second.blobs);
}

TEST_F(RemoteOci, TheManifestAndTheIndexAreAsSpecified)
{
    Registry registry;
    const auto store = open("store");
    fill(*store, 0, 2, 100);
    ASSERT_EQ(INGOT_SUCCESS, push(*store, registry.url()).status);
    if (std::getenv("INGOT_TEST_WRITE_GOLDEN") != nullptr) {
        write_file(GOLDEN "/manifest.json", bytes_of(registry.manifests["v1"] + "\n"));
        for (const auto &blob : registry.blobs)
            if (blob.second.compare(0, 8, "\x89INGOCI\n") == 0)
                write_file(GOLDEN "/index.bin", bytes_of(blob.second));
    }
    const Bytes manifest = read_file(GOLDEN "/manifest.json");
    const Bytes index = read_file(GOLDEN "/index.bin");
    EXPECT_EQ(std::string(manifest.begin(), manifest.end()), registry.manifests["v1"] + "\n");
    EXPECT_EQ(1u, registry.blobs.count(oci_registry::digest_of(std::string(index.begin(), index.end()))));
}

TEST_F(RemoteOci, ATierReadsSingleEntriesAndIsReadOnly)
{
    Registry registry;
    const auto store = open("store");
    fill(*store, 0, 20);
    ASSERT_EQ(INGOT_SUCCESS, push(*store, registry.url()).status);
    const std::string url = registry.url();
    ingot_remote_info_t info = INGOT_REMOTE_INFO_INIT;
    info.connect_timeout_ms = info.stall_timeout_ms = 60000;
    info.lost_time_ms = INGOT_UNLIMITED;
    info.url = url.c_str();
    info.name_space = "ignored";
    ingot_storage_t tier = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_remote_open(&tier, &info)) << ingot_last_error_detail();
    registry.forget_requests();
    for (int i : {7, 3}) {
        ingot_buffer_t blob = INGOT_BUFFER_INIT;
        ASSERT_EQ(INGOT_SUCCESS, ingot_storage_load(tier, id_of(i).size(), id_of(i).data(), &blob))
            << ingot_last_error_detail();
        EXPECT_EQ(blob_of(i, 3000), Bytes(blob.bytes, blob.bytes + blob.size));
        blob.release(&blob);
    }
    EXPECT_EQ(4u, registry.requests().size()); /* the manifest, the index, and two ranges */
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_storage_load(tier, id_of(99).size(), id_of(99).data(), &blob));
    EXPECT_EQ(INGOT_READ_ONLY, ingot_storage_store(tier, id_of(1).size(), id_of(1).data(), 1, id_of(1).data()));
    ingot_storage_release(tier);
}

TEST_F(RemoteOci, AuthenticatesWithATokenOrAPasswordOnlyAtTheRegistry)
{
    Registry registry, foreign;
    const auto store = open("store");
    fill(*store, 0, 3);
    write_file(path("password"), bytes_of("me:secret\n"));
    const std::string url = registry.url() + "&credentials=" + path("password");
    for (const bool is_basic : {true, false}) {
        registry.manifests.clear();
        registry.set_lie([&registry, is_basic](const Request &request, Answer *answer, FaultyConnection *) {
            const std::string authorization = request.header("Authorization");
            if (request.path.rfind("/token?service=reg%20x&scope=repository%3Acache%3Apull", 0) == 0)
                *answer = authorization == "Basic bWU6c2VjcmV0" ? Answer{200, R"({"token":"abc"})"} : Answer{401};
            else if (authorization != (is_basic ? "Basic bWU6c2VjcmV0" : "Bearer abc"))
                *answer = {401,
                           "",
                           {is_basic ? "WWW-Authenticate: Basic realm=\"x\""
                                     : "WWW-Authenticate: Bearer realm=\"" + registry.origin() +
                                           "/token\",service=\"reg x\",scope=\"repository:cache:pull\""}};
            return true;
        });
        EXPECT_EQ(INGOT_SUCCESS, push(*store, url).status) << ingot_last_error_detail();
        const Outcome refused = pull(*store, registry.url());
        EXPECT_EQ(INGOT_IO_ERROR, refused.status);
        EXPECT_NE(std::string::npos, refused.detail.find("credentials")) << refused.detail;
    }
    /* docker's file */
    write_file(path("config.json"),
               bytes_of("{\"auths\":{\"" + registry.origin().substr(7) + "\":{\"auth\":\"bWU6c2VjcmV0\"}}}"));
    EXPECT_EQ(INGOT_SUCCESS, pull(*open("other"), registry.url()).status) << ingot_last_error_detail();
    chmod(path("config.json").c_str(), 0666);
    EXPECT_EQ(INGOT_UNTRUSTED, pull(*store, registry.url()).status);
    fs::remove(path("config.json"));

    /* blobs are elsewhere */
    foreign.blobs = registry.blobs;
    registry.set_lie([&](const Request &request, Answer *answer, FaultyConnection *) {
        if (request.header("Authorization").empty())
            *answer = {401, "", {"WWW-Authenticate: Basic realm=\"x\""}};
        else if (request.path.find("/blobs/") != std::string::npos)
            *answer = {307, "", {"Location: " + foreign.origin() + request.path}};
        return true;
    });
    const auto moved = open("moved");
    EXPECT_EQ(INGOT_SUCCESS, pull(*moved, url).status) << ingot_last_error_detail();
    expect_has(*moved, 0, 3);
    ASSERT_FALSE(foreign.requests().empty());
    for (const Request &request : foreign.requests())
        EXPECT_EQ("", request.header("Authorization"));
}

TEST_F(RemoteOci, KeepsToEncryptedAddresses)
{
    const auto store = open("store");
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, push(*store, "oci://example.org/cache:v1?plain-http=1").status);
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, push(*store, "oci://127.0.0.1/UPPER:v1?plain-http=1").status);
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, push(*store, "https://example.org/x").status);
    Registry registry;
    registry.set_lie([](const Request &, Answer *answer, FaultyConnection *) {
        *answer = {307, "", {"Location: http://example.org/x"}};
        return true;
    });
    const Outcome outcome = pull(*store, registry.url());
    EXPECT_NE(std::string::npos, outcome.detail.find("not encrypted")) << outcome.detail;
}

/* Each lie ends in an error that names it, without an entry, in bounded time and memory. It prints what each cost. */
TEST_F(RemoteOci, SurvivesBadRegistries)
{
    Registry registry;
    const auto store = open("store");
    fill(*store, 0, 3);
    ASSERT_EQ(INGOT_SUCCESS, push(*store, registry.url()).status);
    const auto is_range = [](const Request &request) { return !request.header("Range").empty(); };
    const auto is_blob = [](const Request &request) { return request.path.find("/blobs/") != std::string::npos; };
    const std::string manifest = registry.manifests["v1"];
    /* Returns a manifest whose index, or whose layer, is this one. */
    const auto with_blob = [&](std::string made, const char *type, const std::string &blob) {
        const std::string digest = oci_registry::digest_of(blob);
        registry.blobs[digest] = blob;
        const size_t at = made.find(type);
        made.replace(made.find("sha256:", at), 71, digest);
        const size_t size = made.find("\"size\":", at) + 7;
        return made.replace(size, made.find('}', size) - size, std::to_string(blob.size()));
    };
    const auto with_index = [&](const std::string &index) { return with_blob(manifest, "vnd.ingot.index.v1", index); };
    std::string huge("\x89INGOCI\n\1\0\0\0\x40\0\0\0", 16);
    huge.resize(64);
    huge[21] = 1;                                      /* 2^40 entries */
    const size_t most = IS_SANITIZED ? 10000 : 699050; /* in an index of 64 MiB */
    std::string largest = huge.substr(0, 16) + std::string(48, '\0') + std::string(most * 96, '\0');
    for (size_t i = 0; i < most; ++i) {
        for (size_t digit = 0; digit < 3; ++digit)
            largest[64 + i * 96 + digit] = static_cast<char>(i >> (16 - 8 * digit));
        largest[64 + i * 96 + 80] = i != most - 1; /* the last one has no bytes */
    }
    for (size_t digit = 0; digit < 3; ++digit)
        largest[16 + digit] = static_cast<char>(most >> (8 * digit));
    largest[24] = 1; /* layer */
    const std::string last = "entry " + std::to_string(most - 1);
    std::string items = "{\"artifactType\":\"application/vnd.ingot.store.v1\",\"layers\":[";
    while (items.size() < (4 << 20) - 3)
        items += "0,";
    items += "0]}";
    const std::string manifest_with_largest = with_index(largest);
    const Bytes bomb = bomb_of(id_of(1));
    const std::string bomb_layer(bomb.begin(), bomb.end());
    const std::string manifest_with_bomb =
        with_blob(with_index(index_of(id_of(1), bomb)), "vnd.ingot.entries.v1", bomb_layer);
    const struct {
        const char *reason;
        Registry::Lie lie;
    } lies[] = {
        {"does not have its digest",
         [&](const Request &request, Answer *answer, FaultyConnection *) {
             for (size_t i = 0; is_range(request) && i < answer->body.size(); i += 100)
                 answer->body[i] ^= 1;
             return true;
         }},
        {"bytes instead of",
         [&](const Request &request, Answer *answer, FaultyConnection *) {
             if (is_range(request))
                 answer->body.pop_back();
             return true;
         }},
        {"more than",
         [&](const Request &request, Answer *answer, FaultyConnection *) {
             if (is_range(request))
                 *answer = {200, std::string(1 << 20, 'x')};
             return true;
         }},
        {"does not have its digest",
         [&](const Request &request, Answer *answer, FaultyConnection *) {
             if (is_blob(request) && !is_range(request))
                 answer->body[70] ^= 1;
             return true;
         }},
        {"rejects the credentials",
         [&](const Request &, Answer *answer, FaultyConnection *) {
             *answer = {401, "", {"WWW-Authenticate: Bearer realm=\"" + registry.origin() + "/t\""}};
             return true;
         }},
        {"HTTP status 429",
         [&](const Request &, Answer *answer, FaultyConnection *) {
             *answer = {429, "", {"Retry-After: 3600"}};
             return true;
         }},
        {"redirects too often",
         [&](const Request &, Answer *answer, FaultyConnection *) {
             *answer = {307, "", {"Location: /again"}};
             return true;
         }},
        {"timed out",
         [&](const Request &, Answer *, FaultyConnection *connection) {
             connection->wait_for_end();
             return false;
         }},
        {"timed out",
         [&](const Request &request, Answer *answer,
             FaultyConnection *connection) { /* a byte now and then */
                                             if (!is_range(request))
                                                 return true;
                                             connection->send_bytes("HTTP/1.1 206 X\r\nContent-Length: " +
                                                                    std::to_string(answer->body.size()) + "\r\n\r\n");
                                             while (connection->pause(50) && connection->send_bytes("x")) {
                                             }
                                             return false;
         }},
        {"",
         [&](const Request &, Answer *, FaultyConnection *connection) {
             connection->send_bytes("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort");
             return false;
         }},
        {"not one of Ingot's stores",
         [&](const Request &request, Answer *answer, FaultyConnection *) {
             if (!is_blob(request))
                 answer->body = "{\"schemaVersion\":2,\"layers\":[]}";
             return true;
         }},
        {"malformed",
         [&](const Request &request, Answer *answer, FaultyConnection *) {
             if (!is_blob(request))
                 answer->body.replace(answer->body.find("entries.v1"), 10, "bomb.v1+gz");
             return true;
         }},
        {"1099511627776 entries",
         [&](const Request &request, Answer *answer, FaultyConnection *) {
             if (!is_blob(request))
                 answer->body = with_index(huge);
             return true;
         }},
        {"and the limit is",
         [&](const Request &request, Answer *answer, FaultyConnection *) {
             if (!is_blob(request))
                 answer->body = manifest_with_bomb;
             return true;
         }},
        {last.c_str(),
         [&](const Request &request, Answer *answer, FaultyConnection *) {
             if (!is_blob(request))
                 answer->body = manifest_with_largest;
             return true;
         }},
        {"not one of Ingot's stores",
         [&](const Request &request, Answer *answer, FaultyConnection *) {
             if (!is_blob(request))
                 answer->body = items;
             return true;
         }},
        {"too large",
         [&](const Request &request, Answer *answer, FaultyConnection *) {
             if (!is_blob(request)) {
                 const size_t at = answer->body.find("\"size\":", answer->body.find("index.v1")) + 7;
                 answer->body.replace(at, answer->body.find('}', at) - at, "999999999999");
             }
             return true;
         }},
        {"more than",
         [&](const Request &request, Answer *answer, FaultyConnection *) {
             if (!is_blob(request))
                 *answer = {200, std::string(5 << 20, ' ')};
             return true;
         }},
    };
    int number = 0;
    for (const auto &lie : lies) {
        registry.set_lie(lie.lie);
        const uint32_t stall_ms = std::string(lie.reason) == "timed out" ? 1000 : 30000;
        const Cost cost = pull_in_child("empty" + std::to_string(number), registry.url(), stall_ms);
        const std::string detail = cost.detail;
        const uint64_t entry_count = detail.find("and the limit is") != std::string::npos ? 1 : 3;
        EXPECT_TRUE(cost.status == INGOT_IO_ERROR || cost.failed_count == entry_count) << number;
        EXPECT_NE(std::string::npos, detail.find(lie.reason)) << number << ": " << detail;
        std::printf("%5.2f s, %5.3f s of processor time, %6.1f MB: %s\n", cost.seconds, cost.processor_seconds,
                    cost.peak_mb, cost.detail);
        if (!IS_SANITIZED) {
            EXPECT_LT(cost.peak_mb, detail.find(last) != std::string::npos ? 150 : 32) << detail;
        }
        EXPECT_EQ(0u, entries_of(path("empty" + std::to_string(number))).size()) << number;
        ++number;
    }
    registry.set_lie(nullptr);
    EXPECT_EQ(3u, pull(*open("last"), registry.url()).stats.moved_count);
}

TEST_F(RemoteOci, WaitsAsARegistryAsks)
{
    Registry registry;
    const auto store = open("store");
    fill(*store, 0, 3);
    int refused = 0;
    registry.set_lie([&refused](const Request &, Answer *answer, FaultyConnection *) {
        if (refused++ < 2)
            *answer = {429, "", {"Retry-After: 0"}};
        return true;
    });
    EXPECT_EQ(INGOT_SUCCESS, push(*store, registry.url()).status) << ingot_last_error_detail();
}

TEST_F(RemoteOci, KillsLeaveNothingHalfVisibleAndARepeatCompletes)
{
#ifdef __SANITIZE_THREAD__ /* TSan supports no threads in children of this test: one range needs none */
    constexpr size_t kSize = 700000;
#else
    constexpr size_t kSize = 900000; /* two layers */
#endif
    const int trials = std::getenv("INGOT_TEST_TRIALS") != nullptr ? std::atoi(std::getenv("INGOT_TEST_TRIALS")) : 10;
    const auto store = open("store");
    fill(*store, 0, 10, kSize);
    std::minstd_rand random(7);
    Registry complete;
    int killed[2] = {};
    ASSERT_EQ(INGOT_SUCCESS, push(*store, complete.url()).status);
    for (int i = 0; i < 2 * trials; ++i) {
        const bool is_push = i % 2 == 0;
        Registry registry;
        registry.blobs = is_push ? std::map<std::string, std::string>{} : complete.blobs;
        registry.manifests = is_push ? std::map<std::string, std::string>{} : complete.manifests;
        const std::string name = "target" + std::to_string(i);
        /* the process is killed at one of its requests */
        std::atomic<int> left{static_cast<int>(random() % (is_push ? 14 : 5)) + 1};
        std::atomic<pid_t> victim{0};
        registry.set_lie([&](const Request &, Answer *, FaultyConnection *connection) {
            if (--left != 0)
                return true;
            while (victim == 0)
                std::this_thread::yield();
            kill(victim, SIGKILL);
            connection->wait_for_end();
            return false;
        });
        const pid_t child = fork();
        if (child == 0) {
            const auto own = open(is_push ? "store" : name);
            _exit(move(*own, registry.url(), is_push).status);
        }
        victim = child;
        int status = 0;
        waitpid(child, &status, 0);
        killed[is_push] += WIFSIGNALED(status); /* a process that makes fewer requests ends by itself */
        registry.set_lie(nullptr);
        if (is_push && !registry.manifests.empty()) { /* the manifest comes last, so the image is whole */
            EXPECT_EQ(10u, pull(*open(name + " at once"), registry.url()).stats.moved_count);
        }
        const auto target = open(name);
        if (!is_push) {
            for (const fs::path &entry : entries_of(path(name)))
                EXPECT_TRUE(fs::exists(entry / "kernel.bin"));
        }
        if (is_push) {
            EXPECT_EQ(INGOT_SUCCESS, push(*store, registry.url()).status) << ingot_last_error_detail();
        }
        const Outcome outcome = pull(*target, registry.url());
        EXPECT_EQ(INGOT_SUCCESS, outcome.status) << outcome.detail;
        EXPECT_EQ(0u, outcome.stats.failed_count);
        expect_has(*target, 0, 10, kSize);
        fs::remove_all(path(name));
    }
    std::printf("%d pushes and %d pulls were killed\n", killed[1], killed[0]);
    EXPECT_GT(killed[0], 0);
    EXPECT_GT(killed[1], 0);
}

/* What doc/kubernetes.md says about users and files. A user that is not root is only its own user. */
TEST_F(RemoteOci, APodReadsWhatItsInitContainerPulled)
{
    Registry registry;
    const auto store = open("store");
    fill(*store, 0, 3);
    ASSERT_EQ(INGOT_SUCCESS, push(*store, registry.url()).status);
    const bool is_root = geteuid() == 0;
    const std::string volume = path("volume"); /* an emptyDir: everybody may write its root */
    fs::create_directory(volume);
    fs::permissions(scratch_.path(), fs::perms::all);
    fs::permissions(volume, fs::perms::all);
    write_file(path("secret"), bytes_of("me:secret\n"));
    ASSERT_EQ(0, chmod(path("secret").c_str(), 0440));
    if (is_root) {
        ASSERT_EQ(0, chown(path("secret").c_str(), 0, 20000)); /* fsGroup */
    }
    const auto as_user = [&](uid_t user, const std::function<int()> &work, const std::function<int()> &before = {}) {
        const pid_t child = fork();
        if (child == 0) {
            const int result = before ? before() : 0;
            if (result != 0)
                _exit(result);
            if (is_root && (setgroups(0, nullptr) != 0 || setgid(20000) != 0 || setuid(user) != 0))
                _exit(99);
            _exit(work());
        }
        int status = 0;
        waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    };
    const auto read_only = [&](const std::string &which) {
        ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
        info.path = which.c_str();
        info.flags = INGOT_PERSIST_READ_ONLY;
        const Store opened(info);
        return opened.status() != INGOT_SUCCESS ? opened.status() : opened.load(id_of(1));
    };
    const std::string pulled = volume + "/store";
    EXPECT_EQ(INGOT_SUCCESS, as_user(10001, [&] {
                  const Store target{fs::path(pulled)};
                  return pull(target, registry.url() + "&credentials=" + path("secret")).status;
              }));
    EXPECT_EQ(INGOT_SUCCESS, as_user(10001, [&] { return read_only(pulled); }));
    struct stat state = {};
    EXPECT_EQ(0, stat(pulled.c_str(), &state));
    EXPECT_EQ(0700u, state.st_mode & 07777);
    constexpr int kNoMount = 97;
    const auto mount_read_only =
        [&]() -> int { /* the root file system, and the volume */
                       const bool is_mounted = unshare(CLONE_NEWNS) == 0 &&
                                               mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                                               mount(volume.c_str(), volume.c_str(), nullptr, MS_BIND, nullptr) == 0;
                       for (const char *at : {volume.c_str(), "/"}) {
                           if (!is_mounted ||
                               mount("none", at, nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) != 0)
                               return kNoMount;
                       }
                       return 0;
    };
    const int mounted = as_user(
        10001,
        [&] {
            const int file = ::open((volume + "/new").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
            return file >= 0 || errno != EROFS ? 98 : static_cast<int>(read_only(pulled));
        },
        mount_read_only);
    if (mounted == kNoMount)
        std::printf("this user may not mount\n");
    else
        EXPECT_EQ(INGOT_SUCCESS, mounted);
    if (is_root) {
        EXPECT_NE(INGOT_SUCCESS, as_user(10002, [&] { return read_only(pulled); })); /* another user */
    }
    ASSERT_EQ(0, chmod(volume.c_str(), 0777));
    EXPECT_NE(INGOT_SUCCESS, as_user(10001, [&] { return read_only(volume); })); /* the volume itself is no store */

    /* a persistent volume whose files fsGroup has given to the group */
    ingot_persist_trust_t trust = INGOT_PERSIST_TRUST_INIT;
    trust.policy = INGOT_PERSIST_TRUST_REQUIRE;
    trust.next_key = [](size_t index, ingot_persist_key_t *key, void *) {
        key->kind = INGOT_PERSIST_KEY_BLAKE2B;
        memset(key->bytes, 1, sizeof(key->bytes));
        return index == 0 ? INGOT_SUCCESS : INGOT_NOT_FOUND;
    };
    ingot_persist_info_t sealing = INGOT_PERSIST_INFO_INIT;
    const std::string source = path("sealed"), shared = volume + "/shared";
    sealing.trust = &trust;
    sealing.path = source.c_str();
    {
        const Store sealed(sealing);
        fill(sealed, 0, 3);
        ASSERT_EQ(INGOT_SUCCESS, push(sealed, registry.url()).status);
    }
    sealing.path = shared.c_str();
    EXPECT_EQ(INGOT_SUCCESS, as_user(10001, [&] { return pull(Store(sealing), registry.url()).status; }));
    for (const auto &item : fs::recursive_directory_iterator(volume))
        fs::permissions(item.path(),
                        item.is_directory() ? fs::perms::group_all : fs::perms::group_write | fs::perms::group_read,
                        fs::perm_options::add);
    const uid_t other = is_root ? 10002 : geteuid();
    EXPECT_NE(INGOT_SUCCESS, as_user(other, [&] { return read_only(shared); }));
    sealing.flags = INGOT_PERSIST_READ_ONLY;
    EXPECT_EQ(INGOT_SUCCESS, as_user(other, [&] { return Store(sealing).load(id_of(1)); }));
}

/* doc/kubernetes.md: a sidecar. */
TEST_F(RemoteOci, APushReadsAStoreThatAnApplicationWrites)
{
    constexpr int kCount = 300;
    Registry registry;
    std::atomic<bool> is_done{false};
    std::thread application([&] {
        const auto own = open("store");
        fill(*own, 0, kCount);
        is_done = true;
    });
    const auto store = open("store");
    while (!is_done) {
        const Outcome outcome = push(*store, registry.url());
        EXPECT_EQ(INGOT_SUCCESS, outcome.status) << outcome.detail;
        EXPECT_EQ(0u, outcome.stats.failed_count);
        EXPECT_EQ(outcome.stats.entry_count, pull(*open("target"), registry.url()).stats.entry_count);
    }
    application.join();
    EXPECT_EQ(INGOT_SUCCESS, push(*store, registry.url()).status);
    EXPECT_EQ(INGOT_SUCCESS, pull(*open("target"), registry.url()).status);
    expect_has(*open("target"), 0, kCount);
}

#if HAS_DOCKER_REGISTRY
namespace
{

class DockerRegistry : public server_process::Server
{
public:
    /* `more` has settings of its connections. */
    explicit DockerRegistry(const std::string &more = "")
        : Server([more](uint16_t port, const std::string &folder) {
              std::ofstream(folder + "/config.yml")
                  << "version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: " << folder
                  << "/data}}\nhttp: {addr: 127.0.0.1:" << port << more << "}\n";
              return std::vector<std::string>{server_process::find_program("docker-registry"), "serve",
                                              folder + "/config.yml"};
          })
    {
    }
    std::string place(const std::string &rest) const { return "127.0.0.1:" + std::to_string(port()) + rest; }
    std::string url(const std::string &rest) const { return "oci://" + place(rest) + "?plain-http=1"; }
};

} // namespace

TEST_F(RemoteOci, DebiansRegistryAndSkopeoTakeImages)
{
    DockerRegistry first, second;
    const auto store = open("store");
    const auto other = open("other");
    fill(*store, 0, 1000, 20000);
    Outcome outcome = push(*store, first.url("/team/cache:v1"));
    ASSERT_EQ(INGOT_SUCCESS, outcome.status) << outcome.detail;
    ASSERT_EQ(1000u, pull(*other, first.url("/team/cache:v1")).stats.moved_count) << ingot_last_error_detail();
    fill(*store, 1000, 1010, 20000);
    EXPECT_EQ(10u, push(*store, first.url("/team/cache:v1")).stats.moved_count);
    outcome = pull(*other, first.url("/team/cache:v1"));
    EXPECT_EQ(10u, outcome.stats.moved_count);
    EXPECT_LT(outcome.stats.moved_bytes, 10u * 21000);
    expect_has(*other, 0, 1010, 20000);

    child_process::Child copy({server_process::find_program("skopeo"), "copy", "--src-tls-verify=false",
                               "--dest-tls-verify=false", "docker://" + first.place("/team/cache:v1"),
                               "docker://" + second.place("/mirror:v2")},
                              path("output"));
    ASSERT_EQ(0, copy.wait()) << copy.output();
    const auto mirrored = open("mirrored");
    EXPECT_EQ(1010u, pull(*mirrored, second.url("/mirror:v2")).stats.moved_count) << ingot_last_error_detail();
    expect_has(*mirrored, 0, 1010, 20000);
    child_process::Child inspect({server_process::find_program("skopeo"), "inspect", "--tls-verify=false",
                                  "docker://" + second.place("/mirror:v2")},
                                 path("output"));
    ASSERT_EQ(0, inspect.wait());
    for (const char *label : {"\"ingot.store/entry-count\": \"1010\"", "\"io.kserve.km/framework\": \"ingot\"",
                              "\"io.kserve.km/cache-type\": \"ingot-store\""})
        EXPECT_NE(std::string::npos, inspect.output().find(label)) << label << inspect.output();
}

#if HAS_OPENSSL
TEST_F(RemoteOci, VerifiesDebiansRegistryAndShowsItsCertificate)
{
    const encrypted_redis::Certificates files;
    const auto settings = [&files](const std::string &name, const std::string &clients) {
        return ", tls: {certificate: " + files.at(name + ".pem") + ", key: " + files.at(name + ".key") + clients + "}";
    };
    DockerRegistry open_to_all(settings("server", "")), other(settings("other-server", ""));
    DockerRegistry mutual(settings("server", ", clientcas: [" + files.at("ca.pem") + "]"));
    const auto store = open("store");
    const auto target = open("target");
    fill(*store, 0, 3);
    const auto url = [&files](const DockerRegistry &registry, const std::string &more = "") {
        return "oci://" + registry.place("/cache:v1") + "?ca=" + files.at("ca.pem") + more;
    };
    const std::string own = "&cert=" + files.at("client.pem") + "&key=" + files.at("client.key");
    EXPECT_EQ(INGOT_IO_ERROR, push(*store, "oci://" + open_to_all.place("/cache:v1")).status); /* unknown authority */
    EXPECT_EQ(INGOT_IO_ERROR, push(*store, url(other)).status);                                /* another name */
    EXPECT_EQ(INGOT_IO_ERROR, push(*store, url(mutual)).status);                               /* no certificate */
    EXPECT_EQ(INGOT_SUCCESS, push(*store, url(open_to_all)).status) << ingot_last_error_detail();
    EXPECT_EQ(INGOT_SUCCESS, push(*store, url(mutual, own)).status) << ingot_last_error_detail();
    EXPECT_EQ(3u, pull(*target, url(open_to_all)).stats.moved_count) << ingot_last_error_detail();
    EXPECT_EQ(3u, pull(*open("second"), url(mutual, own)).stats.moved_count) << ingot_last_error_detail();
    expect_has(*target, 0, 3);
}
#endif
#endif
