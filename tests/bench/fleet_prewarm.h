/*
 * fleet_prewarm.h - measures loading a hundred programs of 4 KiB from a server in three ways: by a prewarm, by one call
 * for all of them, and one by one.
 */
#ifndef INGOT_TESTS_BENCH_FLEET_PREWARM_H
#define INGOT_TESTS_BENCH_FLEET_PREWARM_H

#include <cstddef>
#include <string>

namespace fleet
{

/* Times are medians, in microseconds. A ratio is the median of the runs' ratios. */
struct PrewarmFigures {
    double gets_us = 0;      /* 100 loads by ingot_storage_load, on one connection */
    double load_many_us = 0; /* ingot_storage_load_many */
    double prewarm_us = 0;   /* ingot_prewarm_start to ingot_prewarm_wait, with the programs of the reference backend */
    double load_many_over_gets = 0;
    double prewarm_over_gets = 0;
    size_t blob_bytes = 0; /* of one program */
};

/* Stores the programs on the server at `url`, which must be empty, and measures the three ways in rotation. `folder` is
 * for the manifest. Needs the reference backend (tests/support/reference_backend.c and reference_compiler.c). Ends the
 * process if a step fails. */
PrewarmFigures measure_prewarm(const std::string &url, const std::string &folder, size_t run_count);

} // namespace fleet

#endif
