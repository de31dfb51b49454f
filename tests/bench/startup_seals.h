/*
 * startup_seals.h - measures how long checking the seal of a blob takes.
 */
#ifndef INGOT_TESTS_BENCH_STARTUP_SEALS_H
#define INGOT_TESTS_BENCH_STARTUP_SEALS_H

#include <ingot/persist.h>

namespace startup
{

/* Returns the median time, in microseconds, of loads from a storage that checks a seal and returns its only blob
 * without a copy. */
double check_seal_us(ingot_persist_key_kind_t kind, size_t id_size, const uint8_t *id, const ingot_buffer_t &blob);

} // namespace startup

#endif
