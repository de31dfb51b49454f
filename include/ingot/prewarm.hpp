/* SPDX-License-Identifier: MIT */
/* INGOT_EXPERIMENTAL: may change in any version. */
/**
 * @file prewarm.hpp
 * prewarm.h for C++17. Header-only; link ingot::persist. ingot.hpp describes the conventions.
 */
#ifndef INGOT_PREWARM_HPP
#define INGOT_PREWARM_HPP

#include <ingot/persist.hpp>
#include <ingot/prewarm.h>

namespace ingot
{

/** Starts recording the requests to @p storage. @throws error  As ingot_manifest_record. */
inline void record(const storage &storage, const ingot_manifest_record_info_t &info)
{
    check(ingot_manifest_record(storage.get(), &info));
}
/** Starts recording with default settings. @param manifest  The path of the file. */
inline void record(const storage &storage, const std::string &manifest)
{
    ingot_manifest_record_info_t info = INGOT_MANIFEST_RECORD_INFO_INIT;
    info.path = manifest.c_str();
    record(storage, info);
}
/** Saves and ends the recording. @throws error  As ingot_manifest_record. */
inline void end_record(const storage &storage)
{
    check(ingot_manifest_record(storage.get(), nullptr));
}

/** Blobs that are read ahead of their requests. The destructor ends the prewarm, and drops the blobs that were not
 *  requested. */
class prewarm
{
public:
    prewarm() noexcept = default;
    prewarm(const storage &storage, const ingot_prewarm_info_t &info)
    {
        check(ingot_prewarm_start(&handle_, storage.get(), &info));
    }
    /** Starts a prewarm. @param manifest  The path of the file. */
    prewarm(const storage &storage, const std::string &manifest)
    {
        ingot_prewarm_info_t info = INGOT_PREWARM_INFO_INIT;
        info.manifest = manifest.c_str();
        check(ingot_prewarm_start(&handle_, storage.get(), &info));
    }
    prewarm(prewarm &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    prewarm &operator=(prewarm &&other) noexcept
    {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~prewarm() { ingot_prewarm_release(handle_); }

    /** Returns the borrowed C handle; NULL if it is empty. */
    ingot_prewarm_t get() const noexcept { return handle_; }
    explicit operator bool() const noexcept { return handle_ != nullptr; }

    /** Waits until the last blob is read. @throws error  INGOT_BUSY: called in the prewarm's thread. */
    ingot_prewarm_progress_t wait() const
    {
        ingot_prewarm_progress_t progress = INGOT_PREWARM_PROGRESS_INIT;
        check(ingot_prewarm_wait(handle_, &progress));
        return progress;
    }

private:
    ingot_prewarm_t handle_ = nullptr;
};

} // namespace ingot

#endif
