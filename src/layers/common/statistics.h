/*
 * statistics.h - counts what the layer did, for `ingot run --stats`.
 */
#ifndef INGOT_LAYERS_COMMON_STATISTICS_H
#define INGOT_LAYERS_COMMON_STATISTICS_H

#include <ingot/ingot.h>

#include <stdbool.h>
#include <stdint.h>

enum statistic {
    STATISTIC_PROGRAMS, /* made from source or intermediate language */
    STATISTIC_HITS,     /* builds that the store answered */
    STATISTIC_BUILDS,   /* builds that reached the compiler, except for those of STATISTIC_PASSED */
    STATISTIC_PASSED,   /* builds, compilations and links that the driver did as the application asked */
    STATISTIC_FAILED,   /* those of STATISTIC_PASSED that failed */
    STATISTIC_LEFT,     /* those of STATISTIC_PASSED that the store lacks and the driver's own cache serves */
    STATISTIC_BUILD_NS,
    STATISTIC_COUNT
};

/* If INGOT_LAYER_STATS names a file, prepares to write the counts to it. */
void statistics_init(void);
/* Counts a program as a hit if Ingot loaded it. */
void statistics_add_loaded(const_ingot_program_t program);
void statistics_add(enum statistic statistic, uint64_t amount);
/* Counts what the store has stored, refused and awaited since the last call. */
void statistics_add_store(void);

#endif
