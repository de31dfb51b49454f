/* SPDX-License-Identifier: MIT */
/**
 * @file ingot.hpp
 * ingot.h for C++17: handles that count themselves, statuses as exceptions, bytes as vectors. Header-only.
 *
 * Each function here calls the one of ingot.h with its name, whose contract holds: what it returns, threads, lifetime.
 * object_cache.hpp, persist.hpp and prewarm.hpp do the same for their headers.
 *
 * @par Handles
 * A handle is one reference. Copying it takes another (not a copy of the object), moving hands it over, destroying lets
 * go. A default-constructed or moved-from handle is empty: false in a condition, get() is NULL. Using an empty one for
 * what ingot.h has a function for throws INGOT_INVALID_ARGUMENTS. One handle variable is no more safe
 * to change from two threads than a pointer is; the object behind it may be used from any number of threads.
 *
 * @par Errors
 * Every function that can fail throws ingot::error with the statuses of its C function, unless it is noexcept or says
 * something else. Where a C++ container is made, std::bad_alloc also. No exception passes through C: what a callback
 * throws comes out of the C++ function that was given the callback, in the thread that called it.
 *
 * @par Contexts
 * A context is made by the function of its backend:
 * @code
 * auto context = ingot::context::create(ingot_opencl_context_create, cl_ctx, 1u, &device, nullptr);
 * ingot::program_desc desc(context, ingot::source(INGOT_SOURCE_OPENCL_C, text), "-cl-mad-enable");
 * std::vector<uint8_t> id = desc.get_cache_blob_id();
 * ingot::program program = found ? ingot::program(desc, blob) : ingot::program(desc);
 * @endcode
 */
#ifndef INGOT_INGOT_HPP
#define INGOT_INGOT_HPP

#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <ingot/backend.h>
#include <ingot/ingot.h>

namespace ingot
{

/* ---- errors ---------------------------------------------------------------------------------------------- */

/** A status that is not INGOT_SUCCESS, with the sentence that the failing thread had for it. Copying never throws. */
class error : public std::runtime_error
{
public:
    /** Copies @p detail. @p code: as ingot_last_error_code. */
    error(ingot_status_t status, const char *detail, std::int64_t code = 0)
        : std::runtime_error(std::string(ingot_status_name(status)) + ": " + detail), status_(status), code_(code)
    {
    }

    ingot_status_t status() const noexcept { return status_; }
    /** The sentence: the driver's code, the build log. what() has the status's name before it. */
    const char *detail() const noexcept { return what() + std::strlen(ingot_status_name(status_)) + 2; }
    /** The driver's own code, as ingot_last_error_code has it; 0: none. */
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

/** Throws ingot::error with the thread's sentence unless @p status is INGOT_SUCCESS; for calls to the C interface. */
inline void check(ingot_status_t status)
{
    if (status != INGOT_SUCCESS)
        detail::fail(status);
}

/** Bytes that belong to another; valid as long as what they were asked of. */
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

/* One reference to an object of the C interface. Retaining a handle that is not NULL cannot fail. */
template <typename Handle, ingot_status_t (*Retain)(Handle), void (*Release)(Handle)> class reference
{
public:
    using c_handle = Handle;

    reference() noexcept = default;
    reference(const reference &other) noexcept : handle_(other.handle_)
    {
        if (handle_ != nullptr)
            (void)Retain(handle_);
    }
    reference(reference &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    reference &operator=(const reference &other) noexcept
    {
        reference(other).swap(*this);
        return *this;
    }
    reference &operator=(reference &&other) noexcept
    {
        reference(std::move(other)).swap(*this);
        return *this;
    }
    ~reference() { Release(handle_); } /* which does nothing for NULL: a test here would be one more on every hit */

    /** Borrowed; NULL for an empty handle. */
    Handle get() const noexcept { return handle_; }
    explicit operator bool() const noexcept { return handle_ != nullptr; }
    /** The reference, which is the caller's from now on. */
    Handle detach() noexcept { return std::exchange(handle_, nullptr); }
    void reset() noexcept { reference().swap(*this); }
    void swap(reference &other) noexcept { std::swap(handle_, other.handle_); }
    /** Whether both are the same object. */
    friend bool operator==(const reference &a, const reference &b) noexcept { return a.handle_ == b.handle_; }
    friend bool operator!=(const reference &a, const reference &b) noexcept { return a.handle_ != b.handle_; }

protected:
    /* Takes over the caller's reference. */
    explicit reference(Handle handle) noexcept : handle_(handle) {}
    Handle *out() noexcept { return &handle_; } /* of an empty handle, for a function that creates */

private:
    Handle handle_ = nullptr;
};

/* Asks get(size, buffer) twice, by the size protocol; again where it grew in between. */
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

/* Runs a callback where no exception may leave it: catches, keeps the exception, and says a status to C meanwhile. */
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
            return ingot_set_error_detail(INGOT_BACKEND_ERROR, "a callback threw what is no std::exception");
        }
    }
    /* As ingot::check; a failure that came from the callback is thrown as it was. */
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

/* ---- what to build --------------------------------------------------------------------------------------- */

class context;

/** Immutable input of a build; belongs to no context. */
class source : public detail::reference<ingot_source_t, ingot_source_retain, ingot_source_release>
{
public:
    source() noexcept = default;
    /** Takes over a reference. */
    explicit source(ingot_source_t handle) noexcept : reference(handle) {}
    /** @p bytes and @p name are copied; a header needs its name, which is the one in the include. */
    source(ingot_source_kind_t kind, std::string_view bytes, const char *name = nullptr)
        : source(kind, bytes.data(), bytes.size(), name)
    {
    }
    source(ingot_source_kind_t kind, const void *bytes, size_t size, const char *name = nullptr)
    {
        ingot_source_info_t info = INGOT_SOURCE_INFO_INIT;
        info.kind = kind;
        info.bytes = bytes;
        info.size = size;
        info.name = name;
        check(ingot_source_create(out(), &info));
    }
};

/** The value of one specialization constant; true and false take one byte. */
class spec_constant
{
public:
    template <typename T> spec_constant(uint32_t id, T value) noexcept : id_(id), size_(sizeof(T))
    {
        static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8, "a number of 1, 2, 4 or 8 bytes");
        std::memcpy(value_.data(), &value, sizeof(T));
    }
    /** For the C interface; valid as long as this object. */
    ingot_spec_constant_t view() const noexcept { return {id_, size_, value_.data()}; }

private:
    uint32_t id_;
    uint32_t size_;
    std::array<unsigned char, 8> value_{};
};

/** A program to be described; ingot_program_info_t, with its meanings. */
struct program_info {
    std::vector<source> sources{};
    std::vector<source> headers{};
    std::string compile_options{};
    std::string link_options{};
    std::vector<spec_constant> spec_constants{};
    std::vector<uint32_t> device_indices{}; /**< Empty: all devices of the context. */
    std::string group{};
    uint32_t flags = 0; /**< ingot_program_flags_t */
    std::vector<std::string> name_expressions{};
};

/** One backend, one native context, its devices, one in-memory cache. */
class context : public detail::reference<ingot_context_t, ingot_context_retain, ingot_context_release>
{
public:
    context() noexcept = default;
    /** Takes over a reference. */
    explicit context(ingot_context_t handle) noexcept : reference(handle) {}
    /** By any backend's function, with what it takes after the context. */
    template <typename Create, typename... Arguments> static context create(Create function, Arguments &&...arguments)
    {
        context made;
        check(function(made.out(), std::forward<Arguments>(arguments)...));
        return made;
    }

    uint32_t device_count() const noexcept { return ingot_context_get_device_count(get()); }
    ingot_device_info_t device_info(uint32_t device_index) const
    {
        ingot_device_info_t info = INGOT_DEVICE_INFO_INIT;
        check(ingot_context_get_device_info(get(), device_index, &info));
        return info;
    }

    ingot_cache_capacity_t get_cache_capacity() const
    {
        ingot_cache_capacity_t capacity = INGOT_CACHE_CAPACITY_INIT;
        check(ingot_context_get_cache_capacity(get(), &capacity));
        return capacity;
    }
    void set_cache_capacity(const ingot_cache_capacity_t &capacity)
    {
        check(ingot_context_set_cache_capacity(get(), &capacity));
    }
    void trim_cache(const ingot_cache_capacity_t &to) { check(ingot_context_trim_cache(get(), &to)); }
    /** @param group  NULL: all programs. */
    void clear_cache(const char *group = nullptr) { check(ingot_context_clear_cache(get(), group)); }
    ingot_cache_stats_t cache_stats() const
    {
        ingot_cache_stats_t stats = INGOT_CACHE_STATS_INIT;
        check(ingot_context_get_cache_stats(get(), &stats));
        return stats;
    }
};

/** What to build; remembers the program it led to, so keep it and ask with it again. */
class program_desc
    : public detail::reference<ingot_program_desc_t, ingot_program_desc_retain, ingot_program_desc_release>
{
public:
    program_desc() noexcept = default;
    /** Takes over a reference. */
    explicit program_desc(ingot_program_desc_t handle) noexcept : reference(handle) {}
    program_desc(const context &context, const ingot_program_info_t &info)
    {
        check(ingot_program_desc_create(out(), context.get(), &info));
    }
    program_desc(const context &context, const program_info &info) : program_desc(make(context, info)) {}
    /** One source for all devices. @param compile_options  NULL: none. */
    program_desc(const context &context, const source &source, const char *compile_options = nullptr)
    {
        const ingot_source_t handle = source.get();
        ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
        info.sources = &handle;
        info.source_count = 1;
        info.compile_options = compile_options;
        check(ingot_program_desc_create(out(), context.get(), &info));
    }

    /** Of an id alone, to load its program before anybody describes it; it cannot be compiled.
     *  @throws error  INGOT_BLOB_*: no id, or not one of this context */
    static program_desc of_id(const context &context, bytes_view id)
    {
        program_desc made;
        check(ingot_program_desc_create_from_cache_blob_id(made.out(), context.get(), id.size(), id.data()));
        return made;
    }

    /** Whether an id can vouch for the program. @param[out] reason  May be NULL; valid as long as the descriptor. */
    bool is_cacheable(const char **reason = nullptr) const
    {
        const ingot_status_t status = ingot_program_desc_is_cacheable(get(), reason);
        if (status != INGOT_NOT_CACHEABLE)
            check(status);
        return status == INGOT_SUCCESS;
    }

    /** The cache blob id. @throws error  INGOT_NOT_CACHEABLE, INGOT_BACKEND_ERROR, INGOT_OUT_OF_MEMORY */
    std::vector<uint8_t> get_cache_blob_id() const
    {
        const bytes_view id = view_cache_blob_id();
        return std::vector<uint8_t>(id.begin(), id.end());
    }
    /** The same bytes where they are; valid as long as the descriptor. */
    bytes_view view_cache_blob_id() const
    {
        size_t size = 0;
        const uint8_t *id = nullptr;
        check(ingot_program_desc_get_cache_blob_id(get(), &size, &id));
        return bytes_view(id, size);
    }

    /** Its devices, ascending. */
    std::vector<uint32_t> devices() const
    {
        size_t count = 0;
        const uint32_t *indices = nullptr;
        check(ingot_program_desc_get_devices(get(), &count, &indices));
        return std::vector<uint32_t>(indices, indices + count);
    }

private:
    static ingot_program_desc_t make(const context &context, const program_info &from)
    {
        std::vector<ingot_source_t> sources;
        std::vector<ingot_source_t> headers;
        std::vector<ingot_spec_constant_t> constants;
        std::vector<const char *> expressions;
        for (const source &each : from.sources)
            sources.push_back(each.get());
        for (const source &each : from.headers)
            headers.push_back(each.get());
        for (const spec_constant &each : from.spec_constants)
            constants.push_back(each.view());
        for (const std::string &each : from.name_expressions)
            expressions.push_back(each.c_str());
        ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
        info.sources = sources.data();
        info.source_count = sources.size();
        info.headers = headers.data();
        info.header_count = headers.size();
        info.compile_options = from.compile_options.c_str();
        info.link_options = from.link_options.c_str();
        info.spec_constants = constants.data();
        info.spec_constant_count = constants.size();
        info.device_indices = from.device_indices.empty() ? nullptr : from.device_indices.data();
        info.device_count = from.device_indices.size();
        info.group = from.group.empty() ? nullptr : from.group.c_str();
        info.flags = from.flags;
        info.name_expressions = expressions.data();
        info.name_expression_count = expressions.size();
        ingot_program_desc_t desc = nullptr;
        check(ingot_program_desc_create(&desc, context.get(), &info));
        return desc;
    }
};

/* ---- programs and kernels -------------------------------------------------------------------------------- */

/** A built descriptor; shared by all who asked for an equal one. */
class program : public detail::reference<ingot_program_t, ingot_program_retain, ingot_program_release>
{
public:
    program() noexcept = default;
    /** Takes over a reference. */
    explicit program(ingot_program_t handle) noexcept : reference(handle) {}
    /**
     * From memory, or by waiting for a thread that builds it, or by building it.
     * @throws error  INGOT_BUILD_FAILED with the build log, INGOT_UNIMPLEMENTED, INGOT_BACKEND_ERROR,
     *                INGOT_OUT_OF_MEMORY
     */
    explicit program(const program_desc &desc) { check(ingot_program_create(out(), desc.get())); }
    /**
     * From memory, or from a blob, without compiling.
     * @throws error  INGOT_BLOB_*: refused, a miss to be met by building; INGOT_NOT_CACHEABLE, INGOT_BACKEND_ERROR,
     *                INGOT_OUT_OF_MEMORY
     */
    program(const program_desc &desc, bytes_view cache_blob)
    {
        check(ingot_program_create_from_cache_blob(out(), desc.get(), cache_blob.size(), cache_blob.data()));
    }

    /** Drops it from memory; who holds it keeps it. False: it was not there, or no longer. */
    bool forget()
    {
        const ingot_status_t status = ingot_program_forget(get());
        if (status != INGOT_NOT_FOUND)
            check(status);
        return status == INGOT_SUCCESS;
    }
    /** Whether the driver got its binaries, or some of them, from a cache blob. */
    bool is_from_cache_blob() const noexcept { return ingot_program_is_from_cache_blob(get()) != 0; }

    /** Empty where the program is not in memory. */
    static program lookup(const program_desc &desc)
    {
        program found;
        const ingot_status_t status = ingot_program_lookup(found.out(), desc.get());
        if (status != INGOT_NOT_FOUND)
            check(status);
        return found;
    }

    /**
     * From memory, or by @p builder, which is called in this thread as `program builder(const program_desc &)`: one
     * builder runs a key, however many threads ask. It makes programs by build() and load(); what it throws is thrown
     * here. To those who wait, an ingot::error goes by its status, and anything else is a failure after which one of
     * them tries with its own builder.
     */
    template <typename Builder> static program get_or_create(const program_desc &desc, Builder &&builder)
    {
        struct call {
            const program_desc &desc;
            std::remove_reference_t<Builder> &builder;
            detail::exception_keeper keeper;
        } call{desc, builder, {}};
        const auto build_one = [](ingot_program_t *made, const_ingot_program_desc_t, void *user) -> ingot_status_t {
            auto *self = static_cast<struct call *>(user);
            return self->keeper.run([&] {
                program built = self->builder(self->desc);
                if (!built)
                    throw error(INGOT_INVALID_ARGUMENTS, "the builder returned an empty program");
                *made = built.detach();
            });
        };
        program found;
        call.keeper.check(ingot_program_get_or_create(found.out(), desc.get(), build_one, &call));
        return found;
    }

    /** Compiles, past the in-memory cache; for builders. */
    static program build(const program_desc &desc)
    {
        program built;
        check(ingot_program_build(built.out(), desc.get()));
        return built;
    }
    /** Makes from a blob, past the in-memory cache; for builders. */
    static program load(const program_desc &desc, bytes_view cache_blob)
    {
        program loaded;
        check(ingot_program_load(loaded.out(), desc.get(), cache_blob.size(), cache_blob.data()));
        return loaded;
    }

    /** Out of one with an equal id, past the in-memory cache; for builders.
     *  @throws error  INGOT_BLOB_MISMATCH: their ids differ; INGOT_NOT_FOUND: not for all devices */
    static program share(const program_desc &desc, const program &other)
    {
        program shared;
        check(ingot_program_share(shared.out(), desc.get(), other.get()));
        return shared;
    }

    /** The cache blob.
     *  @throws error  INGOT_NOT_CACHEABLE, INGOT_UNIMPLEMENTED, INGOT_BACKEND_ERROR, INGOT_OUT_OF_MEMORY */
    std::vector<uint8_t> get_cache_blob() const
    {
        return detail::copy_out<std::vector<uint8_t>>(
            [this](size_t *size, uint8_t *to) { return ingot_program_get_cache_blob(get(), size, to); });
    }
    /** The compiler's messages. */
    std::string build_log() const
    {
        return detail::copy_text(
            [this](size_t *size, char *to) { return ingot_program_get_build_log(get(), size, to); });
    }
    /** Sorted. */
    std::vector<std::string> kernel_names() const
    {
        const std::string all = detail::copy_out<std::string>(
            [this](size_t *size, char *to) { return ingot_program_get_kernel_names(get(), size, to); });
        std::vector<std::string> names;
        for (size_t at = 0; at < all.size(); at += names.back().size() + 1)
            names.emplace_back(all.c_str() + at);
        return names;
    }
};

/** One entry point of a program on one device; shared. Holds its program. A std::lock_guard takes it for a mutex. */
class kernel : public detail::reference<ingot_kernel_t, ingot_kernel_retain, ingot_kernel_release>
{
public:
    kernel() noexcept = default;
    /** Takes over a reference. */
    explicit kernel(ingot_kernel_t handle) noexcept : reference(handle) {}
    /** @throws error  INGOT_NOT_FOUND: the program has no such kernel; INGOT_BACKEND_ERROR, INGOT_OUT_OF_MEMORY */
    kernel(const program &program, const char *name, uint32_t device_index = 0)
    {
        check(ingot_kernel_create(out(), program.get(), device_index, name));
    }
    /** The fast way from a descriptor to a kernel. @throws error  As ingot::program and the above. */
    kernel(const program_desc &desc, const char *name, uint32_t device_index = 0)
    {
        check(ingot_kernel_get(out(), desc.get(), device_index, name));
    }

    /** A native kernel object of its own.
     *  @throws error  INGOT_UNIMPLEMENTED, INGOT_BACKEND_ERROR, INGOT_OUT_OF_MEMORY */
    kernel clone() const
    {
        kernel made;
        check(ingot_kernel_clone(made.out(), get()));
        return made;
    }

    /** For setting arguments and launching; not recursive. */
    void lock() { check(ingot_kernel_lock(get())); }
    void unlock() { check(ingot_kernel_unlock(get())); }
};

/* ---- for people ------------------------------------------------------------------------------------------ */

/** Version and build revision of the library in use. */
inline std::string version()
{
    return ingot_version();
}

/** An id as a JSON object. @throws error  INGOT_BLOB_CORRUPT, INGOT_BLOB_TRUNCATED, INGOT_BLOB_VERSION */
inline std::string describe_cache_blob_id(bytes_view id)
{
    return detail::copy_text(
        [id](size_t *size, char *to) { return ingot_cache_blob_id_describe(id.size(), id.data(), size, to); });
}

/** Which fields of two ids differ, as a JSON array. @throws error  As describe_cache_blob_id. */
inline std::string explain_cache_blob_id(bytes_view expected, bytes_view found)
{
    return detail::copy_text([expected, found](size_t *size, char *to) {
        return ingot_cache_blob_id_explain(expected.size(), expected.data(), found.size(), found.data(), size, to);
    });
}

/** What a blob holds, as a JSON object. @throws error  As describe_cache_blob_id. */
inline std::string describe_cache_blob(bytes_view cache_blob)
{
    return detail::copy_text([cache_blob](size_t *size, char *to) {
        return ingot_cache_blob_describe(cache_blob.size(), cache_blob.data(), size, to);
    });
}

} // namespace ingot

#endif
