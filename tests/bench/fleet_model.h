/*
 * fleet_model.h - simulates a fleet of machines that request the same programs from one server.
 *
 * A machine requests one program after another, as the tier does (doc/remote-format.md): a GET, then a request for the
 * lease, then either the compilation and an upload, or pauses and further requests for the lease. The server answers
 * one request after another. A request takes its processor time, or the time that its bytes take on the server's
 * network if that is longer. The same seed gives the same result.
 *
 * The simulation is C++, not a script, because ten thousand machines make tens of millions of requests.
 */
#ifndef INGOT_TESTS_BENCH_FLEET_MODEL_H
#define INGOT_TESTS_BENCH_FLEET_MODEL_H

#include <cstdint>

namespace fleet
{

struct Model {
    unsigned nodes = 10;
    unsigned programs = 1000;
    uint64_t seed = 1;

    bool has_leases = true;
    bool has_local_stores = true; /* a machine that restarts still has what it compiled and loaded */
    bool is_prewarmed = false;    /* the server has all programs before the first machine starts */
    bool is_warm = false;         /* each machine's own store has them too, if has_local_stores */
    bool has_own_order = false;   /* each machine begins with a random program */

    double start_spread_s = 1; /* the machines of a group start within this time */
    unsigned batches = 1;      /* machines start in this many groups, one after another */
    double batch_interval_s = 0;
    double crash_probability = 0; /* of a crash in the middle of a compilation */
    double restart_s = 10;        /* from a crash to the next start */
    double outage_from_s = -1;    /* when the server fails and loses its content; negative: never */
    double outage_s = 0;

    double compilation_s = 0.16; /* the mean; a program takes 0.5 to 1.5 times as long */
    double local_load_s = 0.0001;
    double blob_bytes = 65536;
    double round_trip_s = 0.0002; /* of the network, without the server's time */
    double network_bytes_per_s = 1.25e9;
    double get_server_s = 16e-6; /* processor time of the server for each kind of request */
    double miss_server_s = 8e-6;
    double lease_server_s = 10e-6;
    double lease_s = 5;
    double longest_wait_s = 30;

    double range_bytes = 8388608; /* a pull of an image requests so much at once (doc/oci-format.md) */
    unsigned ranges_at_once = 4;
    double registry_request_s = 0.003; /* processor time of the registry for a request, and for each byte */
    double registry_bytes_per_s = 1e9;
    double store_s = 0.001; /* processor time of a machine for receiving, checking and storing a program */
};

struct Outcome {
    uint64_t compilations = 0;
    uint64_t crashes = 0;
    uint64_t requests = 0;
    double bytes = 0;
    double ready_s = 0;          /* when the last machine has all programs */
    double longest_node_s = 0;   /* the longest time from a machine's own start until it has all programs */
    double peak_requests = 0;    /* the most in one second */
    double peak_bytes = 0;       /* the most in one second */
    double peak_utilization = 0; /* the largest fraction of any one second that the server was busy, 0 to 1 */
};

Outcome simulate(const Model &model);

/* Returns the outcome if each machine pulls an image with all programs from a registry when it starts, into an empty
 * store. */
Outcome pulled(const Model &model);

/* Returns the outcome without a server: each machine compiles all programs. */
Outcome independent(const Model &model);

} // namespace fleet

#endif
