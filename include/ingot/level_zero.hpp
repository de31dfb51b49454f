/* SPDX-License-Identifier: MIT */
/* Stable. */
/**
 * @file level_zero.hpp
 * The front door for Level Zero, for C++17. Header-only; link ingot::cache.
 */
#ifndef INGOT_LEVEL_ZERO_HPP
#define INGOT_LEVEL_ZERO_HPP

#include <ingot/cache.hpp>
#include <ingot/level_zero.h>

namespace ingot
{

/**
 * Returns a module from the cache, or compiles it and stores it (ingot_cache_level_zero_create). The caller destroys
 * it.
 *
 * @param[out] log     The driver's build log, also after a failure; the caller destroys it. May be NULL.
 * @param[out] origin  May be NULL.
 * @throws error  INGOT_BUILD_FAILED; other statuses of ingot_cache_level_zero_create
 */
inline ze_module_handle_t level_zero_create(const cache &from, ze_context_handle_t context, ze_device_handle_t device,
                                            const ze_module_desc_t &desc, ze_module_build_log_handle_t *log = nullptr,
                                            ingot_origin_t *origin = nullptr)
{
    ze_module_handle_t module = nullptr;
    check(ingot_cache_level_zero_create(from.get(), context, device, &desc, &module, log, origin));
    return module;
}

/** Begins a module, which is taken later (ingot_cache_level_zero_begin).
 *  @throws error  Statuses of ingot_cache_level_zero_begin */
inline pending<ze_module_handle_t> level_zero_begin(const cache &from, ze_context_handle_t context,
                                                    ze_device_handle_t device, const ze_module_desc_t &desc)
{
    ingot_pending_t begun = nullptr;
    check(ingot_cache_level_zero_begin(from.get(), context, device, &desc, &begun));
    return pending<ze_module_handle_t>(begun);
}

/** Returns the module without its log (ingot_cache_level_zero_take). The caller destroys it. */
template <> inline ze_module_handle_t pending<ze_module_handle_t>::take(ingot_origin_t *origin)
{
    ze_module_handle_t module = nullptr;
    check(ingot_cache_level_zero_take(std::exchange(handle_, nullptr), &module, nullptr, origin));
    return module;
}

} // namespace ingot

#endif
