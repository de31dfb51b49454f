/*
 * ninja.h - reads and changes ninja's logs.
 *
 * ninja rebuilds an output if one of its inputs is newer, and not if an input has other contents. So outputs of another
 * machine may be used only if all inputs have the same contents here. Then they get the present time.
 */
#ifndef INGOT_CLI_ADOPT_NINJA_H
#define INGOT_CLI_ADOPT_NINJA_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/adopt/files.h"

/* Set the times of all outputs in a .ninja_log or .ninja_deps. Return false if the file has another format. */
bool ninja_set_log_times(struct adopt_content *log, uint64_t time_ns);
bool ninja_set_deps_times(struct adopt_content *deps, uint64_t time_ns);

/* Returns the oldest time of an output in a .ninja_log, or 0 if there is none. */
uint64_t ninja_oldest_time(const struct adopt_content *log);

/* The inputs that are not below the directory, which a .ninja_deps lists. */
struct ninja_inputs {
    uint64_t low; /* a digest of their paths and contents */
    uint64_t high;
    uint64_t newest_ns; /* when one of them changed last */
};

/* Reads all inputs. Returns false if one is missing, or if the file has another format. */
bool ninja_read_inputs(struct ninja_inputs *inputs, const struct adopt_content *deps, const char *directory);

#endif
