/* SPDX-License-Identifier: MIT */
/* Stable. */
/**
 * @file cuda.hpp
 * The front door for CUDA, for C++17. Header-only; link ingot::cache.
 */
#ifndef INGOT_CUDA_HPP
#define INGOT_CUDA_HPP

#include <ingot/cache.hpp>
#include <ingot/cuda.h>

namespace ingot
{

/**
 * Returns a loaded module from the cache, or compiles it and stores it (ingot_cache_cuda_load). The caller unloads it.
 *
 * @param      name     The file name in messages; "": none.
 * @param      options  The compiler's options.
 * @param[out] origin   May be NULL.
 * @throws error  INGOT_BUILD_FAILED: detail() has the compiler's log; other statuses of ingot_cache_cuda_load
 */
inline CUmodule cuda_load(const cache &from, CUcontext context, const std::string &source, const std::string &name = "",
                          const std::vector<std::string> &options = {}, ingot_origin_t *origin = nullptr)
{
    CUmodule module = nullptr;
    std::vector<const char *> texts;
    for (const std::string &option : options)
        texts.push_back(option.c_str());
    check(ingot_cache_cuda_load(from.get(), context, source.data(), source.size(),
                                name.empty() ? nullptr : name.c_str(), texts.data(), texts.size(), &module, origin));
    return module;
}

/** Begins a module, which is taken later (ingot_cache_cuda_begin).
 *  @throws error  Statuses of ingot_cache_cuda_begin */
inline pending<CUmodule> cuda_begin(const cache &from, CUcontext context, const std::string &source,
                                    const std::string &name = "", const std::vector<std::string> &options = {})
{
    ingot_pending_t begun = nullptr;
    std::vector<const char *> texts;
    for (const std::string &option : options)
        texts.push_back(option.c_str());
    check(ingot_cache_cuda_begin(from.get(), context, source.data(), source.size(),
                                 name.empty() ? nullptr : name.c_str(), texts.data(), texts.size(), &begun));
    return pending<CUmodule>(begun);
}

/** Returns the module (ingot_cache_cuda_take). The caller unloads it. */
template <> inline CUmodule pending<CUmodule>::take(ingot_origin_t *origin)
{
    CUmodule module = nullptr;
    check(ingot_cache_cuda_take(std::exchange(handle_, nullptr), &module, origin));
    return module;
}

} // namespace ingot

#endif
