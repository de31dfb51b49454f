/* SPDX-License-Identifier: MIT */
/* Stable. */
/**
 * @file hip.hpp
 * The front door for HIP, for C++17. Header-only; link ingot::cache.
 */
#ifndef INGOT_HIP_HPP
#define INGOT_HIP_HPP

#include <ingot/cache.hpp>
#include <ingot/hip.h>

namespace ingot
{

/**
 * Returns a loaded module from the cache, or compiles it and stores it (ingot_cache_hip_load). The caller unloads it.
 *
 * @param      name     The file name in messages; "": none.
 * @param      options  The compiler's options.
 * @param[out] origin   May be NULL.
 * @throws error  INGOT_BUILD_FAILED: detail() has the compiler's log; other statuses of ingot_cache_hip_load
 */
inline hipModule_t hip_load(const cache &from, int device, const std::string &source, const std::string &name = "",
                            const std::vector<std::string> &options = {}, ingot_origin_t *origin = nullptr)
{
    hipModule_t module = nullptr;
    std::vector<const char *> texts;
    for (const std::string &option : options)
        texts.push_back(option.c_str());
    check(ingot_cache_hip_load(from.get(), device, source.data(), source.size(), name.empty() ? nullptr : name.c_str(),
                               texts.data(), texts.size(), &module, origin));
    return module;
}

/** Begins a module, which is taken later (ingot_cache_hip_begin).
 *  @throws error  Statuses of ingot_cache_hip_begin */
inline pending<hipModule_t> hip_begin(const cache &from, int device, const std::string &source,
                                      const std::string &name = "", const std::vector<std::string> &options = {})
{
    ingot_pending_t begun = nullptr;
    std::vector<const char *> texts;
    for (const std::string &option : options)
        texts.push_back(option.c_str());
    check(ingot_cache_hip_begin(from.get(), device, source.data(), source.size(), name.empty() ? nullptr : name.c_str(),
                                texts.data(), texts.size(), &begun));
    return pending<hipModule_t>(begun);
}

/** Returns the module (ingot_cache_hip_take). The caller unloads it. */
template <> inline hipModule_t pending<hipModule_t>::take(ingot_origin_t *origin)
{
    hipModule_t module = nullptr;
    check(ingot_cache_hip_take(std::exchange(handle_, nullptr), &module, origin));
    return module;
}

} // namespace ingot

#endif
