/*
 * reference_context.h - contexts of the reference backend, and handles that release what was made in them.
 */
#ifndef INGOT_TESTS_REFERENCE_CONTEXT_H
#define INGOT_TESTS_REFERENCE_CONTEXT_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <ingot/ingot.h>

#include "reference_backend.h"

template <typename T, void (*Release)(T)> struct Releaser {
    using pointer = T;
    void operator()(T handle) const { Release(handle); }
};
template <typename T, void (*Release)(T)>
using Handle = std::unique_ptr<std::remove_pointer_t<T>, Releaser<T, Release>>;

using Context = Handle<ingot_context_t, ingot_context_release>;
using Source = Handle<ingot_source_t, ingot_source_release>;
using Desc = Handle<ingot_program_desc_t, ingot_program_desc_release>;
using Program = Handle<ingot_program_t, ingot_program_release>;
using Kernel = Handle<ingot_kernel_t, ingot_kernel_release>;

/* The configuration of a reference context; the defaults are one device and no environment. */
struct ReferenceDevice {
    std::vector<const char *> targets{"alpha"};
    const char *driver_version = "1";
    reference_counts_t counts{};
    ingot_status_t (*hook)(void *, const char *) = nullptr;
    void *hook_user = nullptr;
    bool no_binaries = false;
    bool name_expressions = false;
    const char *name = nullptr; /* of the backend */

    Context make(ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT, bool use_environment = false)
    {
        reference_info_t reference{};
        reference.device_count = static_cast<uint32_t>(targets.size());
        reference.targets = targets.data();
        reference.driver_version = driver_version;
        reference.counts = &counts;
        reference.hook = hook;
        reference.hook_user = hook_user;
        reference.no_binaries = no_binaries;
        reference.name_expressions = name_expressions;
        reference.name = name;
        if (!use_environment)
            info.flags |= INGOT_CONTEXT_IGNORE_ENVIRONMENT;
        ingot_context_t context = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, reference_context_create(&context, &reference, &info)) << ingot_last_error_detail();
        return Context(context);
    }
};

inline Source make_source(const std::string &text, const char *name = "test",
                          ingot_source_kind_t kind = REFERENCE_SOURCE_KIND)
{
    ingot_source_info_t info = INGOT_SOURCE_INFO_INIT;
    info.kind = kind;
    info.bytes = text.data();
    info.size = text.size();
    info.name = name;
    ingot_source_t source = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_source_create(&source, &info)) << ingot_last_error_detail();
    return Source(source);
}

/* Everything that can describe a program; all members are optional. */
struct ProgramText {
    std::vector<std::string> sources{"kernel twice x 2 *\nkernel square x x *\n"};
    std::vector<std::pair<std::string, std::string>> headers{};
    std::string compile_options{};
    std::string link_options{};
    std::vector<std::pair<uint32_t, int64_t>> constants{};
    std::vector<uint32_t> devices{};
    const char *group = nullptr;
    uint32_t flags = 0;
    std::vector<const char *> name_expressions{};
    std::string source_name = "test"; /* of each source */
    ingot_source_kind_t kind = REFERENCE_SOURCE_KIND;

    ingot_status_t try_make(ingot_context_t context, ingot_program_desc_t *desc) const
    {
        std::vector<Source> kept;
        std::vector<ingot_source_t> source_handles;
        std::vector<ingot_source_t> header_handles;
        std::vector<ingot_spec_constant_t> spec_constants;
        for (const auto &text : sources) {
            kept.push_back(make_source(text, source_name.c_str(), kind));
            source_handles.push_back(kept.back().get());
        }
        for (const auto &[name, text] : headers) {
            kept.push_back(make_source(text, name.c_str(), INGOT_SOURCE_HEADER));
            header_handles.push_back(kept.back().get());
        }
        for (const auto &[id, value] : constants)
            spec_constants.push_back({id, 8, &value});
        ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
        info.sources = source_handles.data();
        info.source_count = source_handles.size();
        info.headers = header_handles.data();
        info.header_count = header_handles.size();
        info.compile_options = compile_options.c_str();
        info.link_options = link_options.c_str();
        info.spec_constants = spec_constants.data();
        info.spec_constant_count = spec_constants.size();
        info.device_indices = devices.empty() ? nullptr : devices.data();
        info.device_count = devices.size();
        info.group = group;
        info.flags = flags;
        info.name_expressions = name_expressions.data();
        info.name_expression_count = name_expressions.size();
        return ingot_program_desc_create(desc, context, &info);
    }

    Desc make(const Context &context) const
    {
        ingot_program_desc_t desc = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, try_make(context.get(), &desc)) << ingot_last_error_detail();
        return Desc(desc);
    }
};

inline Program create_program(const Desc &desc)
{
    ingot_program_t program = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get(&program, desc.get(), 0)) << ingot_last_error_detail();
    return Program(program);
}

inline Kernel create_kernel(const Program &program, const char *name, uint32_t device = 0)
{
    ingot_kernel_t kernel = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_kernel_create(&kernel, program.get(), device, name)) << ingot_last_error_detail();
    return Kernel(kernel);
}

inline int64_t run(const Kernel &kernel, int64_t x)
{
    int64_t result = 0;
    EXPECT_EQ(INGOT_SUCCESS, reference_kernel_run(kernel.get(), x, &result)) << ingot_last_error_detail();
    return result;
}

inline std::vector<uint8_t> id_of(const Desc &desc)
{
    size_t size = 0;
    const uint8_t *id = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_get_cache_blob_id(desc.get(), &size, &id)) << ingot_last_error_detail();
    return id != nullptr ? std::vector<uint8_t>(id, id + size) : std::vector<uint8_t>();
}

inline std::vector<uint8_t> blob_of(const Program &program)
{
    size_t size = 0;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_cache_blob(program.get(), &size, nullptr)) << ingot_last_error_detail();
    std::vector<uint8_t> blob(size);
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_cache_blob(program.get(), &size, blob.data()));
    EXPECT_EQ(blob.size(), size);
    return blob;
}

inline bool is_from_cache_blob(const_ingot_program_t program)
{
    ingot_program_facts_t facts = INGOT_PROGRAM_FACTS_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_facts(program, &facts));
    return facts.is_from_cache_blob != 0;
}

inline ingot_cache_stats_t stats_of(const Context &context)
{
    ingot_cache_stats_t stats = INGOT_CACHE_STATS_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_context_get_cache_stats(context.get(), &stats));
    return stats;
}

#endif
