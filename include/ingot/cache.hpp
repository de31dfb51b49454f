/* SPDX-License-Identifier: MIT */
/* Stable. */
/**
 * @file cache.hpp
 * cache.h for C++17. Header-only; link ingot::cache. opencl.hpp, level_zero.hpp and cuda.hpp have the functions
 * that return native objects.
 */
#ifndef INGOT_CACHE_HPP
#define INGOT_CACHE_HPP

#include <chrono>

#include <ingot/cache.h>
#include <ingot/handle.hpp>
#include <ingot/pending.h>

namespace ingot
{

/** A cache of compiled programs. Can be moved, not copied. An empty cache means "no cache": programs are compiled. */
class cache
{
public:
    cache() noexcept = default;
    /** Opens a cache. If its directory cannot be used, it compiles every program (ingot_cache_open).
     *  @throws error  INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY; with INGOT_CACHE_OPEN_STRICT, also other statuses
     */
    explicit cache(const ingot_cache_info_t &info) { check(ingot_cache_open(&handle_, &info)); }
    /** Opens a cache with the settings of the environment. */
    static cache open() { return cache(ingot_cache_info_t(INGOT_CACHE_INFO_INIT)); }
    /** Opens a cache in a directory. */
    static cache open(const std::string &directory)
    {
        ingot_cache_info_t info = INGOT_CACHE_INFO_INIT;
        info.directory = directory.c_str();
        return cache(info);
    }
    cache(cache &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    cache &operator=(cache &&other) noexcept
    {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~cache() { ingot_cache_release(handle_); }

    /** Returns the borrowed C handle; NULL for an empty cache. */
    ingot_cache_t get() const noexcept { return handle_; }
    /** Stores everything that waits, and waits for uploads. 0: no limit. True if nothing waits any more.
     *  @throws error  As ingot_cache_flush. */
    bool flush(std::chrono::milliseconds max_time = std::chrono::milliseconds(0))
    {
        const ingot_status_t status = ingot_cache_flush(handle_, static_cast<uint64_t>(max_time.count()));
        if (status != INGOT_BUSY)
            check(status);
        return status == INGOT_SUCCESS;
    }
    /** Returns the borrowed storage; NULL if the cache compiles everything. */
    ingot_storage_t get_storage() const noexcept
    {
        ingot_storage_t storage = nullptr;
        (void)ingot_cache_get_storage(handle_, &storage);
        return storage;
    }

private:
    ingot_cache_t handle_ = nullptr;
};

/**
 * A program that was begun (ingot/pending.h). Can be moved, not copied. The destructor drops it.
 *
 * @tparam Program  cl_program, ze_module_handle_t or CUmodule. opencl_begin, level_zero_begin and cuda_begin return
 *                  pending programs.
 */
template <typename Program> class pending
{
public:
    pending() noexcept = default;
    /** Takes ownership of a handle. */
    explicit pending(ingot_pending_t handle) noexcept : handle_(handle) {}
    pending(pending &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    pending &operator=(pending &&other) noexcept
    {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~pending() { ingot_pending_drop(handle_); }

    /** Returns the borrowed C handle; NULL for an empty object, or after take. ingot_pending_poll says why a program
     *  is not ready. */
    ingot_pending_t get() const noexcept { return handle_; }
    /** True if take loads the program, and compiles nothing. */
    bool ready() const noexcept { return ingot_pending_poll(handle_) == INGOT_SUCCESS; }
    /** Waits until the program is ready, or nobody compiles it. True if it is ready. */
    bool wait_for(std::chrono::milliseconds max_time) const noexcept
    {
        const uint64_t limit = max_time.count() > 0 ? static_cast<uint64_t>(max_time.count()) : INGOT_NONE;
        return ingot_pending_wait(handle_, limit) == INGOT_SUCCESS;
    }
    /** Returns the program, as the function of its backend does that builds it at once, and leaves the object empty.
     *  @throws error  As that function; INGOT_INVALID_ARGUMENTS if the object is empty. */
    Program take(ingot_origin_t *origin = nullptr);

private:
    ingot_pending_t handle_ = nullptr;
};

} // namespace ingot

#endif
