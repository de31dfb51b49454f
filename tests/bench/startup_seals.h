/*
 * startup_seals.h - measures how long checking the seal of a blob takes.
 */
#pragma once

#include <ingot/persist.h>

namespace startup
{

/* Returns the median time, in microseconds, of loads from a storage that checks a seal and returns its only blob
 * without a copy. */
double check_seal_us(ingot_persist_key_kind_t kind, size_t id_size, const uint8_t *id, const ingot_buffer_t &blob);

} // namespace startup
