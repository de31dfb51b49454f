/*
 * fleet_bench.cpp - measures loads by a remote tier and compares them with loads by the client library alone, with real
 * servers on the loopback interface. build_storm (tests/concurrency) starts many processes at the same time.
 *
 *     bench_fleet --json FILE [--only redis|http]
 *     bench_fleet --child loads redis|http -                              measures loads, with its own server
 *
 * Both sides load the same stored objects, one at a time, on a connection that stays open. An object is a header of 96
 * bytes, an id of 400 bytes and a blob (doc/remote-format.md).
 * - The tier calls ingot_storage_load, without a directory in front of it: it computes the digest of the id, runs the
 *   guard (which limits the time lost to a failing server), makes the request, checks the header and the id, and
 *   computes the XXH3-128 of the blob.
 * - The floor makes the request by hiredis or libcurl's easy interface, with a prepared key, and computes the XXH3-128
 *   of the whole object. libcurl's floor keeps its options and its buffer between requests.
 *
 * The blobs are random bytes, so nothing is compressed: the tier stores them as they are, and the HTTP server
 * compresses nothing.
 *
 * A round has turns in the order tier, floor, floor, tier, and a process runs 25 rounds. How fast a processor copies
 * 1 MiB depends on where the bytes lie in memory, in both the client and the server. So 9 processes measure, each with
 * its own server, and a figure is the median over the processes of the median over their rounds.
 */
#include "bench/bench_report.h"
#include "bench/measuring.h"
#include "bench/persist_floor.h"
#include "bench/sample.h"
#include "support/scratch_directory.h"
#include "support/server_process.h"

#include <ingot/remote.h>

#include <curl/curl.h>
#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstring>
#include <exception>

namespace
{

using bench::Bytes;
using bench::Clock;
using bench::Goal;
using bench::id_of;
using bench::kIdSize;
using bench::Sample;
using bench::time_of;

constexpr int kProcesses = 9;
constexpr unsigned kRounds = 25; /* not counting the first, which warms up */
uint64_t sink;                   /* so that no load is optimized away */

struct Case {
    const char *label; /* also the namespace in the server */
    size_t blob_size;
    unsigned count;        /* number of blobs */
    unsigned loads_a_turn; /* number of loads in a turn of about 10 ms */
};

constexpr Case kCases[] = {{"4k", 4096, 64, 200}, {"64k", 65536, 32, 100}, {"1m", size_t{1} << 20, 8, 16}};

void require(bool is_so, const char *what)
{
    if (!is_so)
        throw std::runtime_error(std::string("fleet: ") + what + ": " + ingot_last_error_detail());
}

/* Does the minimum work of a load from a server: the client library sends a GET on an open connection, and the answer
 * is checksummed. Throws if the server does not return an object. */
class Floor
{
public:
    virtual ~Floor() = default;
    /* Loads the object whose name has this index in the list. Returns its checksum. */
    virtual uint64_t load(size_t number) = 0;
    /* Returns the size of the largest object loaded so far. */
    virtual size_t object_size() const = 0;
};

class Redis : NotCopied
{
public:
    explicit Redis(uint16_t port) : connection_(redisConnect("127.0.0.1", port))
    {
        const int one = 1;
        require(connection_ != nullptr && connection_->err == 0, "no connection to Redis");
        setsockopt(connection_->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    }
    ~Redis() { redisFree(connection_); }

    /* The caller frees the reply. */
    redisReply *get(const std::string &key)
    {
        const char *texts[] = {"GET", key.c_str()};
        const size_t sizes[] = {3, key.size()};
        return static_cast<redisReply *>(redisCommandArgv(connection_, 2, texts, sizes));
    }

private:
    redisContext *connection_;
};

class RedisFloor : public Floor
{
public:
    RedisFloor(uint16_t port, const std::vector<std::string> &names) : redis_(port), names_(names) {}

    uint64_t load(size_t number) override
    {
        redisReply *reply = redis_.get(names_[number % names_.size()]);
        require(reply != nullptr && reply->type == REDIS_REPLY_STRING, "Redis does not have an object");
        size_ = std::max(size_, reply->len);
        const uint64_t sum = bench::checksum(reply->len, reply->str);
        freeReplyObject(reply);
        return sum;
    }
    size_t object_size() const override { return size_; }

private:
    Redis redis_;
    std::vector<std::string> names_;
    size_t size_ = 0;
};

class HttpFloor : public Floor, NotCopied
{
public:
    explicit HttpFloor(const std::vector<std::string> &names)
        : curl_(curl_easy_init()), names_(names), buffer_(size_t{4} << 20)
    {
        require(curl_ != nullptr, "no handle of libcurl");
        curl_easy_setopt(curl_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
        curl_easy_setopt(curl_, CURLOPT_FAILONERROR, 1L);
        curl_easy_setopt(curl_, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(curl_, CURLOPT_WRITEFUNCTION, receive);
        curl_easy_setopt(curl_, CURLOPT_WRITEDATA, this);
    }
    ~HttpFloor() override { curl_easy_cleanup(curl_); }

    uint64_t load(size_t number) override
    {
        received_ = 0;
        curl_easy_setopt(curl_, CURLOPT_URL, names_[number % names_.size()].c_str());
        require(curl_easy_perform(curl_) == CURLE_OK, "the HTTP server does not have an object");
        size_ = std::max(size_, received_);
        return bench::checksum(received_, buffer_.data());
    }
    size_t object_size() const override { return size_; }

private:
    static size_t receive(char *bytes, size_t, size_t size, void *user)
    {
        auto *self = static_cast<HttpFloor *>(user);
        if (size > self->buffer_.size() - self->received_)
            return 0;
        std::memcpy(self->buffer_.data() + self->received_, bytes, size);
        self->received_ += size;
        return size;
    }

    CURL *curl_;
    std::vector<std::string> names_;
    bench::Bytes buffer_;
    size_t received_ = 0;
    size_t size_ = 0;
};

class Tier : NotCopied
{
public:
    Tier(const std::string &url, const char *name_space)
    {
        ingot_remote_info_t info = INGOT_REMOTE_INFO_INIT;
        info.url = url.c_str();
        info.name_space = name_space;
        info.lost_time_ms = INGOT_UNLIMITED; /* a busy machine must not change what is measured */
        require(ingot_remote_open(&storage_, &info) == INGOT_SUCCESS, "open");
    }
    ~Tier() { ingot_storage_release(storage_); }

    void store(const Bytes &id, const Bytes &blob) const
    {
        require(ingot_storage_store(storage_, id.size(), id.data(), blob.size(), blob.data()) == INGOT_SUCCESS &&
                    ingot_remote_flush(storage_, INGOT_UNLIMITED) == INGOT_SUCCESS,
                "store");
    }
    void load(const Bytes &id) const
    {
        ingot_buffer_t blob = INGOT_BUFFER_INIT;
        require(ingot_storage_load(storage_, id.size(), id.data(), &blob) == INGOT_SUCCESS, "load");
        sink ^= blob.bytes[blob.size / 2];
        blob.release(&blob);
    }

private:
    ingot_storage_t storage_ = nullptr;
};

/* A running server: the prefix of its figures, its URL, and how to load with its client library alone. */
struct Subject {
    std::string name;
    std::string url;
    /* Returns the floor that loads all objects of a namespace. */
    std::function<std::unique_ptr<Floor>(const char *name_space)> make_floor;
};

/* Prints a figure for the parent process to read. */
void print(const std::string &name, double value)
{
    std::printf("%s\t%.4f\n", name.c_str(), value);
}

void compare_loads(const Subject &subject, const Case &what)
{
    const Tier tier(subject.url, what.label);
    std::vector<Bytes> ids;
    for (unsigned i = 0; i < what.count; ++i) {
        ids.push_back(id_of(i));
        tier.store(ids[i], random_bytes(i, what.blob_size));
    }
    const std::unique_ptr<Floor> floor = subject.make_floor(what.label);
    const auto load = [&] { return time_of(what.loads_a_turn, [&](unsigned i) { tier.load(ids[i % ids.size()]); }); };
    const auto load_floor = [&] { return time_of(what.loads_a_turn, [&](unsigned i) { sink ^= floor->load(i); }); };
    Sample loads, floors;
    for (unsigned round = 0; round <= kRounds; ++round) {
        const double first = load();
        const double of_floor = load_floor() + load_floor();
        const double second = load();
        if (round == 0)
            continue;
        loads.values.push_back((first + second) / 2);
        floors.values.push_back(of_floor / 2);
    }
    const std::string label = what.label;
    require(floor->object_size() == 96 + kIdSize + what.blob_size, "an object's size");
    print(subject.name + "_load_over_floor_" + label, bench::ratios_of(loads, floors).median());
    print(subject.name + "_load_us_" + label, loads.median());
    print(subject.name + "_floor_us_" + label, floors.median());
}

bool is_installed(const char *program, const char *package)
{
    if (!server_process::find_program(program).empty())
        return true;
    std::printf("%s is not installed (Debian package %s): its loads are not measured\n", program, package);
    return false;
}

std::vector<std::string> lines_of(const std::string &text)
{
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        if (!line.empty())
            lines.push_back(line);
    return lines;
}

void run_redis()
{
    const server_process::Redis server;
    const Subject subject = {
        "redis", server.url(), [&server](const char *name_space) {
            const std::string keys = "ingot:1:" + std::string(name_space) + ":*";
            return std::make_unique<RedisFloor>(server.port(), lines_of(server.ask({"KEYS", keys})));
        }};
    for (const Case &what : kCases)
        compare_loads(subject, what);
}

void run_http()
{
    const server_process::Nginx server("keepalive_requests 100000000;");
    const Subject subject = {"http", server.url(), [&server](const char *name_space) {
                                 const std::string folder = "ingot-1/" + std::string(name_space) + "/";
                                 std::vector<std::string> urls;
                                 for (const std::string &file : server.files())
                                     if (file.rfind(folder, 0) == 0)
                                         urls.push_back(server.url("/" + file));
                                 return std::make_unique<HttpFloor>(urls);
                             }};
    for (const Case &what : kCases)
        compare_loads(subject, what);
}

void measure_loads(bench::Report *report, const std::string &server, const std::string &folder)
{
    const bench::MeasuringProcesses processes(folder);
    std::vector<std::string> names;
    std::map<std::string, Sample> figures;
    if (server == "redis" ? !is_installed("redis-server", "redis-server") || !is_installed("redis-cli", "redis-tools")
                          : !is_installed("nginx", "nginx"))
        return;
    for (int process = 0; process < kProcesses; ++process)
        for (const auto &line : processes.run("none", "loads", server, "-")) {
            if (process == 0)
                names.push_back(line[0]);
            figures[line[0]].values.push_back(std::stod(line[1]));
        }
    for (const std::string &name : names) {
        const bool is_ratio = name.find("_over_floor_") != std::string::npos;
        report->add(name, figures[name].median(), is_ratio ? "times" : "us", is_ratio ? Goal::at_most : Goal::none,
                    1.3);
    }
}

int measure(const char *json, const std::string &only)
{
    const ScratchDirectory scratch;
    bench::Report report;
    for (const char *server : {"redis", "http"})
        if (only.empty() || only == server)
            measure_loads(&report, server, scratch.path().string());
    report.print();
    return report.write_json(json) ? 0 : 1;
}

} // namespace

int main(int argc, char **argv)
{
    try {
        if (argc == 5 && std::strcmp(argv[1], "--child") == 0 && std::strcmp(argv[2], "loads") == 0) {
            (std::strcmp(argv[3], "redis") == 0 ? run_redis : run_http)();
            return 0;
        }
        const std::string only = argc == 5 && std::strcmp(argv[3], "--only") == 0 ? argv[4] : "";
        const bool is_known = only == "redis" || only == "http";
        bench::require((argc == 3 || is_known) && std::strcmp(argv[1], "--json") == 0,
                       "usage: bench_fleet --json FILE [--only redis|http]");
        return measure(argv[2], only);
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "bench: %s\n", failure.what());
        return 1;
    }
}
