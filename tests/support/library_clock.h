/*
 * library_clock.h - lets a test move the steady clock that the library reads. A test that includes this must be linked
 * with WRAP files_steady_clock_ns (cmake/IngotTest.cmake).
 */
#pragma once

#include <atomic>
#include <cstdint>

inline std::atomic<uint64_t> clock_lead_ns{0}; /* how far the library's clock is ahead */

extern "C" {
uint64_t __real_files_steady_clock_ns(void);
uint64_t __wrap_files_steady_clock_ns(void);
inline uint64_t __attribute__((used)) __wrap_files_steady_clock_ns(void)
{
    return __real_files_steady_clock_ns() + clock_lead_ns;
}
}
