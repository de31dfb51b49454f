/* SPDX-License-Identifier: MIT */
/* Private: not installed. Only Ingot's own libraries, layers, tool and tests use it. */
/**
 * @file private/metrics.h
 * Counts of this process for the directory that INGOT_METRICS_DIR names. doc/tracing.md describes them.
 */
#ifndef INGOT_PRIVATE_METRICS_H
#define INGOT_PRIVATE_METRICS_H

#include <ingot/ingot.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A counter. Its comment has the names of its labels. */
typedef enum ingot_metric {
    INGOT_METRIC_REQUESTS,        /**< origin, backend, kind */
    INGOT_METRIC_COMPILE_NS,      /**< backend, kind */
    INGOT_METRIC_LOAD_NS,         /**< backend, kind */
    INGOT_METRIC_SAVED_NS,        /**< backend, kind */
    INGOT_METRIC_EVICTED_BYTES,   /**< reason */
    INGOT_METRIC_REFUSED,         /**< reason */
    INGOT_METRIC_REMOTE_REQUESTS, /**< tier, result */
    INGOT_METRIC_REMOTE_LOST_NS,
    INGOT_METRIC_COUNT
} ingot_metric_t;

/** Adds to a counter with these labels; NULL for labels that it does not have. Does nothing if no context and no cache
 *  of this process counts. May write the process's file, so the caller holds no lock. */
INGOT_API void ingot_metrics_add(ingot_metric_t metric, const char *first, const char *second, const char *third,
                                 uint64_t amount);

#ifdef __cplusplus
}
#endif

#endif
