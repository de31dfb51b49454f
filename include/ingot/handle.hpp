/* SPDX-License-Identifier: MIT */
/* Stable. */
/**
 * @file handle.hpp
 * The parts that the C++ headers share: errors, views of bytes, and the base class of handles. ingot.hpp includes it.
 */
#ifndef INGOT_HANDLE_HPP
#define INGOT_HANDLE_HPP

#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <ingot/backend.h>
#include <ingot/ingot.h>

namespace ingot
{

/** A status other than INGOT_SUCCESS, with the error message of the failing thread. Copying never throws. */
class error : public std::runtime_error
{
public:
    /** Copies @p detail. @p code is a code as returned by ingot_last_error_code. */
    error(ingot_status_t status, const char *detail, std::int64_t code = 0)
        : std::runtime_error(std::string(ingot_status_name(status)) + ": " + detail), status_(status), code_(code)
    {
    }

    /** Returns the status, which is not INGOT_SUCCESS. */
    ingot_status_t status() const noexcept { return status_; }
    /** Returns the error message, with the driver's code or the build log. what() prefixes it with the status's
     *  name. */
    const char *detail() const noexcept { return what() + std::strlen(ingot_status_name(status_)) + 2; }
    /** Returns the driver's code, as ingot_last_error_code does; 0: none. */
    std::int64_t code() const noexcept { return code_; }

private:
    ingot_status_t status_;
    std::int64_t code_;
};

namespace detail
{

[[noreturn]] inline void fail(ingot_status_t status)
{
    throw error(status, ingot_last_error_detail(), ingot_last_error_code());
}

} // namespace detail

/** Throws ingot::error with the thread's error message unless @p status is INGOT_SUCCESS. For calls to C functions. */
inline void check(ingot_status_t status)
{
    if (status != INGOT_SUCCESS)
        detail::fail(status);
}

/** A view of bytes that another object owns; valid as long as that object. */
class bytes_view
{
public:
    bytes_view() noexcept = default;
    bytes_view(const uint8_t *bytes, size_t size) noexcept : bytes_(bytes), size_(size) {}
    bytes_view(const std::vector<uint8_t> &bytes) noexcept : bytes_(bytes.data()), size_(bytes.size()) {}

    const uint8_t *data() const noexcept { return bytes_; }
    size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    const uint8_t *begin() const noexcept { return bytes_; }
    const uint8_t *end() const noexcept { return bytes_ + size_; }

private:
    const uint8_t *bytes_ = nullptr;
    size_t size_ = 0;
};

namespace detail
{

/* One reference to an object of the C interface, which can be moved. */
template <typename Handle, void (*Release)(Handle)> class owner
{
public:
    using c_handle = Handle;

    owner() noexcept = default;
    owner(owner &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    owner &operator=(owner &&other) noexcept
    {
        owner(std::move(other)).swap(*this);
        return *this;
    }
    ~owner() { Release(handle_); } /* does nothing for NULL; a test here would slow down every hit */

    /** Returns the borrowed C handle; NULL for an empty handle. */
    Handle get() const noexcept { return handle_; }
    explicit operator bool() const noexcept { return handle_ != nullptr; }
    /** Transfers the reference to the caller. */
    Handle detach() noexcept { return std::exchange(handle_, nullptr); }
    void reset() noexcept { owner().swap(*this); }
    void swap(owner &other) noexcept { std::swap(handle_, other.handle_); }
    /** True if both refer to the same object. */
    friend bool operator==(const owner &a, const owner &b) noexcept { return a.handle_ == b.handle_; }
    friend bool operator!=(const owner &a, const owner &b) noexcept { return a.handle_ != b.handle_; }

protected:
    /* Takes ownership of the caller's reference. */
    explicit owner(Handle handle) noexcept : handle_(handle) {}
    Handle *out() noexcept { return &handle_; } /* called on an empty handle, for a function that creates an object */

private:
    Handle handle_ = nullptr;
};

/* One reference, which can be copied. */
template <typename Handle, void (*Retain)(Handle), void (*Release)(Handle)>
class reference : public owner<Handle, Release>
{
public:
    reference() noexcept = default;
    reference(const reference &other) noexcept : owner<Handle, Release>(other.get()) { Retain(other.get()); }
    reference(reference &&other) noexcept = default;
    reference &operator=(const reference &other) noexcept
    {
        reference(other).swap(*this);
        return *this;
    }
    reference &operator=(reference &&other) noexcept = default;

protected:
    explicit reference(Handle handle) noexcept : owner<Handle, Release>(handle) {}
};

/* Calls get(size, buffer) for the size, then for the content, and again if the size has grown meanwhile. */
template <typename Container, typename Get> Container copy_out(Get get)
{
    Container out;
    size_t size = 0;
    check(get(&size, nullptr));
    for (;;) {
        out.resize(size);
        const ingot_status_t status = get(&size, out.data());
        if (status == INGOT_BUFFER_TOO_SMALL)
            continue;
        check(status);
        out.resize(size);
        return out;
    }
}

template <typename Get> std::string copy_text(Get get)
{
    std::string text = copy_out<std::string>(get);
    if (!text.empty())
        text.pop_back(); /* the NUL */
    return text;
}

/* Runs a callback whose exceptions must not reach C. It catches and keeps an exception, and returns a status to C. */
class exception_keeper
{
public:
    template <typename Body> ingot_status_t run(Body body) noexcept
    {
        thrown_ = nullptr;
        try {
            body();
            return INGOT_SUCCESS;
        } catch (const error &caught) {
            thrown_ = std::current_exception();
            const ingot_status_t status = caught.status() != INGOT_SUCCESS ? caught.status() : INGOT_BACKEND_ERROR;
            return ingot_set_error(status, caught.code(), "%s", caught.detail());
        } catch (const std::bad_alloc &) {
            thrown_ = std::current_exception();
            return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "a callback threw std::bad_alloc");
        } catch (const std::exception &caught) {
            thrown_ = std::current_exception();
            return ingot_set_error_detail(INGOT_BACKEND_ERROR, "a callback threw: %s", caught.what());
        } catch (...) {
            thrown_ = std::current_exception();
            return ingot_set_error_detail(INGOT_BACKEND_ERROR,
                                          "a callback threw something other than a std::exception");
        }
    }
    /* Works as ingot::check, but rethrows the callback's exception if there is one. */
    void check(ingot_status_t status) const
    {
        if (status == INGOT_SUCCESS)
            return;
        if (thrown_ != nullptr)
            std::rethrow_exception(thrown_);
        fail(status);
    }

private:
    std::exception_ptr thrown_;
};

} // namespace detail

} // namespace ingot

#endif
