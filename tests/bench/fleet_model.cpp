/*
 * fleet_model.cpp - simulates a fleet of machines that request the same programs from one server.
 */
#include "bench/fleet_model.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <random>
#include <vector>

namespace fleet
{
namespace
{

constexpr double kShortestPause = 0.001; /* the pauses of a waiting machine: doc/remote-format.md */
constexpr double kLongestPause = 0.1;
constexpr double kPartOfWait = 16;
constexpr double kFirstRetry = 1; /* doc/fleet.md, "The cost of a failing server" */
constexpr double kLongestRetry = 60;
constexpr double kIndexEntryBytes = 96; /* doc/oci-format.md */

enum class Kind : uint8_t { begin, get, take, compiled, put, crash };

struct Event {
    double at;
    uint64_t number; /* orders events of the same time: the one planned first happens first */
    uint32_t node;
    uint32_t program;
    uint32_t life; /* the node's life when the event was planned; a crash ends that life and drops the event */
    Kind kind;

    bool operator<(const Event &other) const
    {
        return at != other.at ? at > other.at : number > other.number; /* reversed: the queue's top is its largest */
    }
};

struct Node {
    double started_s = -1; /* the first start, not those after a crash */
    double waiting_since_s = -1;
    double asks_again_s = 0;
    double retry_s = kFirstRetry;
    uint32_t done = 0;
    uint32_t offset = 0;
    uint32_t life = 0;
};

struct Second {
    double requests = 0, bytes = 0, busy_s = 0;
};

/* A server that answers one request after another. */
class Server
{
public:
    explicit Server(const Model &model) : model_(model) {}

    /* Returns the time at which the machine has the answer. */
    double answer(double at, double processor_s, double bytes)
    {
        const double taken_s = std::max(processor_s, bytes / model_.network_bytes_per_s);
        const double begins = std::max(at, free_at_);
        free_at_ = begins + taken_s;
        const size_t second = static_cast<size_t>(begins);
        if (second >= seconds_.size())
            seconds_.resize(second + 1);
        seconds_[second].requests += 1;
        seconds_[second].bytes += bytes;
        seconds_[second].busy_s += taken_s;
        ++requests_;
        bytes_ += bytes;
        return free_at_ + model_.round_trip_s;
    }

    void count(Outcome *outcome) const
    {
        outcome->requests = requests_;
        outcome->bytes = bytes_;
        for (const Second &second : seconds_) {
            outcome->peak_requests = std::max(outcome->peak_requests, second.requests);
            outcome->peak_bytes = std::max(outcome->peak_bytes, second.bytes);
            outcome->peak_utilization = std::max(outcome->peak_utilization, std::min(1.0, second.busy_s));
        }
    }

private:
    const Model &model_;
    double free_at_ = 0, bytes_ = 0;
    uint64_t requests_ = 0;
    std::vector<Second> seconds_;
};

class Simulation
{
public:
    explicit Simulation(const Model &model)
        : model_(model), random_(model.seed), nodes_(model.nodes), stored_(model.programs, model.is_prewarmed),
          lease_until_(model.programs, -1)
    {
        local_.resize(model.nodes, std::vector<bool>(model.programs, model.is_warm && model.has_local_stores));
        for (unsigned i = 0; i < model.programs; ++i)
            compilation_s_.push_back(model.compilation_s * (0.5 + unit()));
        for (unsigned i = 0; i < model.nodes; ++i) {
            nodes_[i].offset = model.has_own_order ? static_cast<uint32_t>(random_() % model.programs) : 0;
            const unsigned batch = static_cast<unsigned>(uint64_t{i} * model.batches / model.nodes);
            plan(batch * model.batch_interval_s + unit() * model.start_spread_s, i, 0, Kind::begin);
        }
    }

    /* Returns the seconds that compiling each program takes. */
    const std::vector<double> &compilations() const { return compilation_s_; }

    Outcome run()
    {
        while (!events_.empty()) {
            const Event event = events_.top();
            events_.pop();
            if (event.life == nodes_[event.node].life || event.kind == Kind::put)
                happen(event);
        }
        server_.count(&outcome_);
        return outcome_;
    }

private:
    double unit() { return static_cast<double>(random_() >> 11) / 9007199254740992.0; }

    void plan(double at, uint32_t node, uint32_t program, Kind kind)
    {
        events_.push({at, ++event_count_, node, program, nodes_[node].life, kind});
    }

    /* ---- the server ---- */

    bool is_down(double at) const
    {
        return model_.outage_from_s >= 0 && at >= model_.outage_from_s && at < model_.outage_from_s + model_.outage_s;
    }

    void lose_content(double at)
    {
        if (has_lost_content_ || model_.outage_from_s < 0 || at < model_.outage_from_s)
            return;
        has_lost_content_ = true;
        std::fill(stored_.begin(), stored_.end(), false);
        std::fill(lease_until_.begin(), lease_until_.end(), -1.0);
    }

    /* Returns false if the node may not ask yet after a failure, or if this request fails. */
    bool can_ask(Node &node, double at)
    {
        if (at < node.asks_again_s)
            return false;
        if (!is_down(at)) {
            node.retry_s = kFirstRetry;
            return true;
        }
        node.asks_again_s = at + node.retry_s;
        node.retry_s = std::min(2 * node.retry_s, kLongestRetry);
        return false;
    }

    /* ---- a machine ---- */

    void next(uint32_t index, double at)
    {
        Node &node = nodes_[index];
        node.waiting_since_s = -1;
        for (; node.done < model_.programs; ++node.done) {
            const uint32_t program = (node.done + node.offset) % model_.programs;
            if (!local_[index][program]) {
                plan(at, index, program, Kind::get);
                return;
            }
            at += model_.local_load_s;
        }
        outcome_.ready_s = std::max(outcome_.ready_s, at);
        outcome_.longest_node_s = std::max(outcome_.longest_node_s, at - node.started_s);
    }

    void have(uint32_t index, uint32_t program, double at)
    {
        local_[index][program] = true;
        ++nodes_[index].done;
        next(index, at);
    }

    void compile(uint32_t index, uint32_t program, double at, bool has_lease)
    {
        const double taken_s = compilation_s_[program];
        const bool crashes = model_.crash_probability > 0 && unit() < model_.crash_probability;
        const double end = at + (crashes ? taken_s / 2 : taken_s);
        ++outcome_.compilations;
        if (has_lease) /* renewed until the compilation ends; the upload releases it */
            lease_until_[program] = end + model_.lease_s;
        plan(end, index, program, crashes ? Kind::crash : Kind::compiled);
    }

    void crash(uint32_t index, double at)
    {
        Node &node = nodes_[index];
        ++outcome_.crashes;
        ++node.life;
        node.done = 0;
        if (!model_.has_local_stores)
            std::fill(local_[index].begin(), local_[index].end(), false);
        plan(at + model_.restart_s, index, 0, Kind::begin);
    }

    void get(const Event &event)
    {
        if (!can_ask(nodes_[event.node], event.at))
            compile(event.node, event.program, event.at, false);
        else if (stored_[event.program])
            have(event.node, event.program, server_.answer(event.at, model_.get_server_s, model_.blob_bytes));
        else if (model_.has_leases)
            plan(server_.answer(event.at, model_.miss_server_s, 0), event.node, event.program, Kind::take);
        else
            compile(event.node, event.program, server_.answer(event.at, model_.miss_server_s, 0), false);
    }

    void take(const Event &event)
    {
        Node &node = nodes_[event.node];
        if (!can_ask(node, event.at)) {
            compile(event.node, event.program, event.at, false);
            return;
        }
        const double at = server_.answer(event.at, model_.lease_server_s, 0);
        if (node.waiting_since_s < 0)
            node.waiting_since_s = at;
        const double waited_s = at - node.waiting_since_s;
        if (stored_[event.program])
            plan(at, event.node, event.program, Kind::get);
        else if (lease_until_[event.program] < event.at)
            compile(event.node, event.program, at, true);
        else if (waited_s >= model_.longest_wait_s)
            compile(event.node, event.program, at, false);
        else
            plan(at + std::clamp(waited_s / kPartOfWait, kShortestPause, kLongestPause), event.node, event.program,
                 Kind::take);
    }

    void put(const Event &event)
    {
        Node &node = nodes_[event.node];
        if (!can_ask(node, event.at)) {
            plan(node.asks_again_s, event.node, event.program, Kind::put); /* waits for the next try */
            return;
        }
        (void)server_.answer(event.at, model_.get_server_s, model_.blob_bytes);
        stored_[event.program] = true;
        lease_until_[event.program] = -1;
    }

    void happen(const Event &event)
    {
        Node &node = nodes_[event.node];
        lose_content(event.at);
        switch (event.kind) {
        case Kind::begin:
            if (node.started_s < 0)
                node.started_s = event.at;
            next(event.node, event.at);
            break;
        case Kind::get: get(event); break;
        case Kind::take: take(event); break;
        case Kind::compiled:
            plan(event.at, event.node, event.program, Kind::put);
            have(event.node, event.program, event.at);
            break;
        case Kind::put: put(event); break;
        case Kind::crash: crash(event.node, event.at); break;
        }
    }

    const Model model_;
    std::mt19937_64 random_;
    std::vector<Node> nodes_;
    std::vector<bool> stored_;
    std::vector<double> lease_until_;
    std::vector<std::vector<bool>> local_;
    std::vector<double> compilation_s_;
    std::priority_queue<Event> events_;
    Server server_{model_};
    Outcome outcome_;
    uint64_t event_count_ = 0;
    bool has_lost_content_ = false;
};

} // namespace

Outcome simulate(const Model &model)
{
    return Simulation(model).run();
}

/* A machine that pulls: it reads the manifest, then the index. Then its threads each request a range, store what is in
 * it, and take the next range. */
struct Puller {
    double started_s;
    unsigned left; /* ranges that no thread has requested */
    bool has_manifest = false, has_index = false;
    double stores_until_s = 0; /* it stores one entry after another */
};

Outcome pulled(const Model &model)
{
    struct Request {
        double at;
        uint32_t node;
        bool operator<(const Request &other) const
        {
            return at != other.at ? at > other.at : node > other.node; /* reversed: the queue's top is its largest */
        }
    };
    Outcome outcome;
    Server server(model);
    std::mt19937_64 random(model.seed);
    std::priority_queue<Request> requests;
    std::vector<Puller> nodes;
    const double total = model.programs * model.blob_bytes;
    const unsigned ranges = static_cast<unsigned>(std::ceil(total / model.range_bytes));
    const double range_bytes = total / ranges, store_s = model.store_s * model.programs / ranges;
    const double range_s = model.registry_request_s + range_bytes / model.registry_bytes_per_s;
    for (uint32_t i = 0; i < model.nodes; ++i) {
        const double unit = static_cast<double>(random() >> 11) / 9007199254740992.0;
        nodes.push_back({unit * model.start_spread_s, ranges});
        requests.push({nodes[i].started_s, i});
    }
    while (!requests.empty()) {
        const Request request = requests.top();
        Puller &node = nodes[request.node];
        requests.pop();
        if (!node.has_index) {
            const double bytes = node.has_manifest ? kIndexEntryBytes * model.programs : 0;
            const double at = server.answer(request.at, model.registry_request_s, bytes);
            node.has_index = node.has_manifest;
            node.has_manifest = true;
            const unsigned next = node.has_index ? std::min(ranges, model.ranges_at_once) : 1;
            node.left -= node.has_index ? next : 0;
            for (unsigned i = 0; i < next; ++i)
                requests.push({at, request.node});
            continue;
        }
        const double at = std::max(server.answer(request.at, range_s, range_bytes), node.stores_until_s) + store_s;
        node.stores_until_s = at;
        if (node.left != 0) {
            --node.left;
            requests.push({at, request.node});
        }
        outcome.ready_s = std::max(outcome.ready_s, at);
        outcome.longest_node_s = std::max(outcome.longest_node_s, at - node.started_s);
    }
    server.count(&outcome);
    return outcome;
}

Outcome independent(const Model &model)
{
    Outcome outcome;
    const double last_start_s = (model.batches - 1) * model.batch_interval_s + model.start_spread_s;
    const Simulation simulation(model);
    for (const double seconds : simulation.compilations())
        outcome.longest_node_s += seconds;
    outcome.compilations = uint64_t{model.nodes} * model.programs;
    outcome.ready_s = last_start_s + outcome.longest_node_s;
    return outcome;
}

} // namespace fleet
