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

/** Starts recording the requests to @p storage. @throws error  As ingot_persist_record. */
inline void record(const storage &storage, const ingot_persist_record_info_t &info)
{
    check(ingot_persist_record(storage.get(), &info));
}
/** Starts recording with default settings. @param manifest  The path of the file. */
inline void record(const storage &storage, const std::string &manifest)
{
    ingot_persist_record_info_t info = INGOT_PERSIST_RECORD_INFO_INIT;
    info.path = manifest.c_str();
    record(storage, info);
}
/** Saves and ends the recording. @throws error  As ingot_persist_record_save. */
inline void end_record(const storage &storage)
{
    check(ingot_persist_record(storage.get(), nullptr));
}

/** Programs that are being loaded ahead of their requests. The destructor cancels, waits, and releases programs that
 *  were not requested. */
class prewarm
{
public:
    prewarm() noexcept = default;
    prewarm(const context &context, const storage &storage, const ingot_prewarm_info_t &info)
    {
        check(ingot_prewarm_start(&handle_, context.get(), storage.get(), &info));
    }
    /** Starts a prewarm. @param manifest  The path of the file. @param thread_count  0: 2. */
    prewarm(const context &context, const storage &storage, const std::string &manifest, uint32_t thread_count = 0)
    {
        ingot_prewarm_info_t info = INGOT_PREWARM_INFO_INIT;
        info.manifest = manifest.c_str();
        info.thread_count = thread_count;
        check(ingot_prewarm_start(&handle_, context.get(), storage.get(), &info));
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

    /** Waits until no load is in progress. @throws error  INGOT_BUSY: called in one of the prewarm's threads. */
    ingot_prewarm_progress_t wait() const
    {
        ingot_prewarm_progress_t progress = INGOT_PREWARM_PROGRESS_INIT;
        check(ingot_prewarm_wait(handle_, &progress));
        return progress;
    }
    /** Cancels the prewarm, so that no further load begins, and waits.
     *  @throws error  The same errors as wait(); even then, the prewarm is canceled. */
    void cancel() const { check(ingot_prewarm_cancel(handle_)); }
    ingot_prewarm_progress_t progress() const
    {
        ingot_prewarm_progress_t progress = INGOT_PREWARM_PROGRESS_INIT;
        check(ingot_prewarm_get_progress(handle_, &progress));
        return progress;
    }

private:
    ingot_prewarm_t handle_ = nullptr;
};

} // namespace ingot

#endif
