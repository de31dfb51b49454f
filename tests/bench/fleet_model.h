/*
 * fleet_model.h - a simulation of a fleet of machines that request the same programs from one server.
 *
 * A machine requests one program after another, as the tier does (doc/remote-format.md): a GET, then a request for the
 * lease, then either the compilation and an upload, or pauses and further requests for the lease. The server answers
 * one request after another; each takes processor time, or the time of its bytes on the server's network if that is
 * longer. The same seed gives the same result.
 *
 * It is C++ because ten thousand machines make tens of millions of requests.
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
    bool has_local_stores = true; /* a machine that starts again has what it compiled and loaded before */
    bool is_prewarmed = false;    /* the server has everything before the first machine starts */
    bool is_warm = false;         /* and so has each machine's own store, if there is one */
    bool has_own_order = false;   /* each machine begins with another program */

    double start_spread_s = 1; /* machines start within this time */
    unsigned batches = 1;      /* they start in so many groups */
    double batch_interval_s = 0;
    double crash_probability = 0; /* of a compilation, at its middle */
    double restart_s = 10;        /* after a crash */
    double outage_from_s = -1;    /* the server fails then and loses its content */
    double outage_s = 0;

    double compilation_s = 0.16; /* the mean; a program takes 0.5 to 1.5 times as long */
    double local_load_s = 0.0001;
    double blob_bytes = 65536;
    double round_trip_s = 0.0002; /* of the network, without the server */
    double network_bytes_per_s = 1.25e9;
    double get_server_s = 16e-6; /* of the server's processor */
    double miss_server_s = 8e-6;
    double lease_server_s = 10e-6;
    double lease_s = 5;
    double longest_wait_s = 30;
};

struct Outcome {
    uint64_t compilations = 0;
    uint64_t crashes = 0;
    uint64_t requests = 0;
    double bytes = 0;
    double ready_s = 0;          /* until the last machine has all programs */
    double longest_node_s = 0;   /* the longest time of a machine from its own start */
    double peak_requests = 0;    /* in one second */
    double peak_bytes = 0;       /* in one second */
    double peak_utilization = 0; /* of the server in one second, 0 to 1 */
};

Outcome simulate(const Model &model);

/* Each machine compiles everything. */
Outcome independent(const Model &model);

} // namespace fleet

#endif
