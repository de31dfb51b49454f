/* SPDX-License-Identifier: MIT */
/* Stable, advanced. */
/**
 * @file ingot.hpp
 * ingot.h for C++17: reference-counting handles, statuses as exceptions, bytes as vectors. Header-only.
 *
 * Each function calls the function of ingot.h with the same name. Its contract applies: results, threads, lifetime.
 * object_cache.hpp and persist.hpp do the same for their headers.
 *
 * @par Handles
 * A handle is one reference. Copying a handle adds a reference and does not copy the object; kernels, objects and
 * object caches can only be moved. Moving transfers the reference, and destroying drops it. A default-constructed or
 * moved-from handle is empty: it is false in a condition, and get() returns NULL. Member functions that can fail throw
 * INGOT_INVALID_ARGUMENTS if the handle is empty. As with a pointer, two threads must not modify one handle variable at
 * once. Any number of threads may use the object behind it.
 *
 * @par Errors
 * Every function that can fail throws ingot::error with the statuses of its C function, unless it is noexcept or states
 * otherwise. Functions that create a C++ container also throw std::bad_alloc. Exceptions do not pass through C code: an
 * exception from a callback leaves the C++ function that got the callback, in the thread that called it.
 *
 * @par Contexts
 * A backend's function creates a context:
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
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <ingot/handle.hpp>
#include <ingot/ingot.h>

namespace ingot
{

/* ---- what to build --------------------------------------------------------------------------------------- */

class context;

/** Immutable build input, independent of contexts. Copies share it. */
class source
{
public:
    source() noexcept = default;
    /** Takes ownership of a reference. */
    explicit source(ingot_source_t handle) : handle_(handle, ingot_source_release) {}
    /** Copies @p bytes and @p name. A header needs a name, as it appears in the include. */
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
        ingot_source_t handle = nullptr;
        check(ingot_source_create(&handle, &info));
        handle_.reset(handle, ingot_source_release);
    }

    /** Returns the borrowed C handle; NULL for an empty handle. */
    ingot_source_t get() const noexcept { return handle_.get(); }
    explicit operator bool() const noexcept { return handle_ != nullptr; }

private:
    std::shared_ptr<std::remove_pointer_t<ingot_source_t>> handle_;
};

/** The value of one specialization constant. true and false take one byte. */
class spec_constant
{
public:
    template <typename T> spec_constant(uint32_t id, T value) noexcept : id_(id), size_(sizeof(T))
    {
        static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8, "a number of 1, 2, 4 or 8 bytes");
        std::memcpy(value_.data(), &value, sizeof(T));
    }
    /** Returns the C structure; valid as long as this object. */
    ingot_spec_constant_t view() const noexcept { return {id_, size_, value_.data()}; }

private:
    uint32_t id_;
    uint32_t size_;
    std::array<unsigned char, 8> value_{};
};

/** Program configuration with the fields and meanings of ingot_program_info_t. */
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

/** One backend, one native context, its devices, and one in-memory cache. */
class context : public detail::owner<ingot_context_t, ingot_context_release>
{
public:
    context() noexcept = default;
    /** Takes ownership of a reference. */
    explicit context(ingot_context_t handle) noexcept : owner(handle) {}
    /** Creates a context with any backend's function and the arguments that follow its context parameter. */
    template <typename Create, typename... Arguments> static context create(Create function, Arguments &&...arguments)
    {
        context made;
        check(function(made.out(), std::forward<Arguments>(arguments)...));
        return made;
    }

    /** Drops programs from memory. @param group  NULL: all programs. */
    void clear_cache(const char *group = nullptr) { check(ingot_context_clear_cache(get(), group)); }
    ingot_cache_stats_t cache_stats() const
    {
        ingot_cache_stats_t stats = INGOT_CACHE_STATS_INIT;
        check(ingot_context_get_cache_stats(get(), &stats));
        return stats;
    }
};

/** Describes what to build. It remembers its program, so keep it and use it again. */
class program_desc : public detail::owner<ingot_program_desc_t, ingot_program_desc_release>
{
public:
    program_desc() noexcept = default;
    /** Takes ownership of a reference. */
    explicit program_desc(ingot_program_desc_t handle) noexcept : owner(handle) {}
    program_desc(const context &context, const ingot_program_info_t &info)
    {
        check(ingot_program_desc_create(out(), context.get(), &info));
    }
    program_desc(const context &context, const program_info &info) : program_desc(make(context, info)) {}
    /** Describes one source for all devices. @param compile_options  NULL: none. */
    program_desc(const context &context, const source &source, const char *compile_options = nullptr)
    {
        const ingot_source_t handle = source.get();
        ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
        info.sources = &handle;
        info.source_count = 1;
        info.compile_options = compile_options;
        check(ingot_program_desc_create(out(), context.get(), &info));
    }

    /** Returns the cache blob id. @throws error  INGOT_NOT_CACHEABLE, INGOT_BACKEND_ERROR, INGOT_OUT_OF_MEMORY */
    std::vector<uint8_t> get_cache_blob_id() const
    {
        const bytes_view id = view_cache_blob_id();
        return std::vector<uint8_t>(id.begin(), id.end());
    }
    /** Returns the cache blob id without a copy; valid as long as the descriptor. */
    bytes_view view_cache_blob_id() const
    {
        size_t size = 0;
        const uint8_t *id = nullptr;
        check(ingot_program_desc_get_cache_blob_id(get(), &size, &id));
        return bytes_view(id, size);
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

/** A built program. Requests with equal descriptors share it. */
class program : public detail::owner<ingot_program_t, ingot_program_release>
{
public:
    program() noexcept = default;
    /** Takes ownership of a reference. */
    explicit program(ingot_program_t handle) noexcept : owner(handle) {}
    /**
     * Gets the program from memory, waits for a thread that is building it, or builds it.
     * @throws error  INGOT_BUILD_FAILED with the build log, INGOT_UNIMPLEMENTED, INGOT_BACKEND_ERROR,
     *                INGOT_OUT_OF_MEMORY
     */
    explicit program(const program_desc &desc) { check(ingot_program_get(out(), desc.get(), 0)); }
    /**
     * Gets the program from memory, or from a blob without compiling.
     * @throws error  INGOT_BLOB_*: rejected, treat it as a miss and build; INGOT_NOT_CACHEABLE, INGOT_BACKEND_ERROR,
     *                INGOT_OUT_OF_MEMORY
     */
    program(const program_desc &desc, bytes_view cache_blob)
    {
        check(ingot_program_create_from_cache_blob(out(), desc.get(), cache_blob.size(), cache_blob.data()));
    }

    /** Returns what is known of the program; the pointers are valid as long as it. */
    ingot_program_facts_t facts() const
    {
        ingot_program_facts_t facts = INGOT_PROGRAM_FACTS_INIT;
        check(ingot_program_get_facts(get(), &facts));
        return facts;
    }

    /** Returns the program, or an empty handle if it is not in memory. */
    static program lookup(const program_desc &desc)
    {
        program found;
        const ingot_status_t status = ingot_program_get(found.out(), desc.get(), INGOT_PROGRAM_GET_IN_MEMORY);
        if (status != INGOT_NOT_FOUND)
            check(status);
        return found;
    }

    /** Returns the cache blob.
     *  @throws error  INGOT_NOT_CACHEABLE, INGOT_UNIMPLEMENTED, INGOT_BACKEND_ERROR, INGOT_OUT_OF_MEMORY */
    std::vector<uint8_t> get_cache_blob() const
    {
        return detail::copy_out<std::vector<uint8_t>>(
            [this](size_t *size, uint8_t *to) { return ingot_program_get_cache_blob(get(), size, to); });
    }
    /** Returns the compiler's messages. */
    std::string build_log() const { return facts().build_log; }
    /** Returns the sorted kernel names. */
    std::vector<std::string> kernel_names() const
    {
        const ingot_program_facts_t known = facts();
        std::vector<std::string> names;
        for (size_t at = 0; at < known.kernel_names_size; at += names.back().size() + 1)
            names.emplace_back(known.kernel_names + at);
        return names;
    }
};

/** One entry point of a program on one device. Shared. Holds its program. Works with std::lock_guard. */
class kernel : public detail::owner<ingot_kernel_t, ingot_kernel_release>
{
public:
    kernel() noexcept = default;
    /** Takes ownership of a reference. */
    explicit kernel(ingot_kernel_t handle) noexcept : owner(handle) {}
    /** Creates a kernel. @throws error  INGOT_NOT_FOUND: the program has no such kernel; INGOT_BACKEND_ERROR,
     *  INGOT_OUT_OF_MEMORY */
    kernel(const program &program, const char *name, uint32_t device_index = 0)
    {
        check(ingot_kernel_create(out(), program.get(), device_index, name));
    }
    /** Gets a kernel from a descriptor by the fast path. @throws error  As ingot::program and the constructor above. */
    kernel(const program_desc &desc, const char *name, uint32_t device_index = 0)
    {
        check(ingot_kernel_get(out(), desc.get(), device_index, name));
    }

    /** Locks the kernel for setting arguments and launching. Not recursive. */
    void lock() { check(ingot_kernel_lock(get())); }
    void unlock() { check(ingot_kernel_unlock(get())); }
};

/* ---- text ------------------------------------------------------------------------------------------------ */

/** Returns the version and build revision of the loaded library. */
inline std::string version()
{
    return ingot_version();
}

/** Describes an id as a JSON object. @throws error  INGOT_BLOB_CORRUPT, INGOT_BLOB_TRUNCATED, INGOT_BLOB_VERSION */
inline std::string describe_cache_blob_id(bytes_view id)
{
    return detail::copy_text(
        [id](size_t *size, char *to) { return ingot_cache_blob_id_describe(id.size(), id.data(), size, to); });
}

} // namespace ingot

#endif
