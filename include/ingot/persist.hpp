/* SPDX-License-Identifier: MIT */
/* Stable, advanced. */
/**
 * @file persist.hpp
 * storage.h and persist.h for C++17. Header-only; link ingot::persist.
 *
 * ingot.hpp describes the conventions: handles, exceptions, threads. To inspect a directory store (entries,
 * verification, eviction), call the C functions with storage::get().
 */
#ifndef INGOT_PERSIST_HPP
#define INGOT_PERSIST_HPP

#include <ingot/ingot.hpp>
#include <ingot/persist.h>

#include <chrono>

namespace ingot
{

/** Bytes that a storage returned. The destructor releases them. */
class buffer
{
public:
    buffer() noexcept = default;
    /** Takes ownership of the bytes. */
    explicit buffer(const ingot_buffer_t &bytes) noexcept : bytes_(bytes) {}
    buffer(buffer &&other) noexcept : bytes_(std::exchange(other.bytes_, INGOT_BUFFER_INIT)) {}
    buffer &operator=(buffer &&other) noexcept
    {
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~buffer()
    {
        if (bytes_.release != nullptr)
            bytes_.release(&bytes_);
    }

    /** True if there are bytes; false means a miss. */
    explicit operator bool() const noexcept { return bytes_.bytes != nullptr; }
    operator bytes_view() const noexcept { return bytes_view(bytes_.bytes, bytes_.size); }

private:
    ingot_buffer_t bytes_ = INGOT_BUFFER_INIT;
};

/** A storage, which keeps blobs by id. Dropping the last reference flushes as flush() does. */
class storage : public detail::reference<ingot_storage_t, ingot_storage_retain, ingot_storage_release>
{
public:
    storage() noexcept = default;
    /** Takes ownership of a reference. */
    explicit storage(ingot_storage_t handle) noexcept : reference(handle) {}
    /** Creates a storage with any C function (ingot_storage_create, ingot_persist_chain, ...) and the arguments that
     *  follow its storage parameter. */
    template <typename Create, typename... Arguments> static storage create(Create function, Arguments &&...arguments)
    {
        storage made;
        check(function(made.out(), std::forward<Arguments>(arguments)...));
        return made;
    }
    /** Opens a directory store. @throws error  INGOT_INVALID_ARGUMENTS, INGOT_UNTRUSTED, INGOT_READ_ONLY,
     * INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY */
    static storage open(const ingot_persist_info_t &info) { return create(ingot_persist_open, &info); }
    static storage open(const std::string &path)
    {
        ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
        info.path = path.c_str();
        return open(info);
    }
    /** Opens a file that holds one program. */
    static storage open_file(const std::string &path, const ingot_persist_trust_t *trust = nullptr)
    {
        return create(ingot_persist_open_file, path.c_str(), trust);
    }
    /** Opens a read-only file of many programs. */
    static storage open_bundle(const std::string &path, const ingot_persist_trust_t *trust = nullptr)
    {
        return create(ingot_persist_open_bundle, path.c_str(), trust);
    }

    /** Keeps what the context learns about included files. @throws error  INGOT_UNTRUSTED, INGOT_UNIMPLEMENTED, ... */
    void remember_headers(const context &in) const { check(ingot_persist_remember_headers(get(), in.get())); }

    /** Returns the blob of an id; an empty buffer if there is none. @throws error  Any other failure. */
    buffer load(bytes_view id) const
    {
        ingot_buffer_t blob = INGOT_BUFFER_INIT;
        const ingot_status_t status = ingot_storage_load(get(), id.size(), id.data(), &blob);
        if (status != INGOT_NOT_FOUND)
            check(status);
        return buffer(blob);
    }
    /** Stores a blob. @throws error  INGOT_READ_ONLY, INGOT_NO_SPACE, INGOT_BUSY, INGOT_IO_ERROR */
    void store(bytes_view id, bytes_view blob)
    {
        check(ingot_storage_store(get(), id.size(), id.data(), blob.size(), blob.data()));
    }
    /** Removes a blob. False if there was none. */
    bool remove(bytes_view id)
    {
        const ingot_status_t status = ingot_storage_remove(get(), id.size(), id.data());
        if (status != INGOT_NOT_FOUND)
            check(status);
        return status == INGOT_SUCCESS;
    }
    /** Stores all waiting programs. @throws error  The first failure. */
    void flush() { check(ingot_persist_flush(get(), nullptr, nullptr)); }
    /** Stores waiting blobs within a time. True if all are stored; the others keep waiting.
     *  @throws error  As flush(). */
    bool flush_within(std::chrono::milliseconds time)
    {
        ingot_persist_flush_info_t info = INGOT_PERSIST_FLUSH_INFO_INIT;
        info.max_time_ms = time.count() > 0 ? static_cast<uint64_t>(time.count()) : 1;
        const ingot_status_t status = ingot_persist_flush(get(), &info, nullptr);
        if (status != INGOT_BUSY)
            check(status);
        return status == INGOT_SUCCESS;
    }
    ingot_persist_settings_t settings() const
    {
        ingot_persist_settings_t settings = INGOT_PERSIST_SETTINGS_INIT;
        check(ingot_persist_get_settings(get(), &settings));
        return settings;
    }
    /** Sets all settings; to change some, begin with settings().
     * @throws error  INGOT_INVALID_ARGUMENTS; INGOT_UNIMPLEMENTED: limits, and not a directory store */
    void set_settings(const ingot_persist_settings_t &settings) { check(ingot_persist_set_settings(get(), &settings)); }
    ingot_persist_stats_t stats() const
    {
        ingot_persist_stats_t stats = INGOT_PERSIST_STATS_INIT;
        check(ingot_persist_get_stats(get(), &stats));
        return stats;
    }
};

/**
 * Returns the program of @p desc from memory or, failing that, from @p storage. Otherwise compiles and stores it.
 *
 * @param[out] origin  May be NULL.
 * @throws error  As ingot::program. Failures of the storage do not make this function fail.
 */
inline program create_program(const program_desc &desc, const storage &storage, ingot_origin_t *origin = nullptr)
{
    ingot_program_t handle = nullptr;
    check(ingot_persist_program_create(&handle, desc.get(), storage.get(), origin));
    return program(handle);
}

/**
 * Returns a kernel of the program of @p desc. If the driver rejects the kernel of a stored program, compiles it again.
 *
 * @param[out] origin  The program's origin. May be NULL.
 * @throws error  As create_program and ingot::kernel.
 */
inline kernel create_kernel(const program_desc &desc, const storage &storage, const char *name,
                            uint32_t device_index = 0, ingot_origin_t *origin = nullptr)
{
    ingot_kernel_t handle = nullptr;
    check(ingot_persist_kernel_create(&handle, desc.get(), storage.get(), device_index, name, origin));
    return kernel(handle);
}

} // namespace ingot

#endif
