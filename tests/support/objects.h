/*
 * objects.h - handles that release Ingot's objects, and short functions for what every test does with them.
 */
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <ingot/ingot.h>

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
using Bytes = std::vector<uint8_t>;

inline Source make_source(const std::string &text, const char *name = "test",
                          ingot_source_kind_t kind = INGOT_SOURCE_OWN_TEXT)
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

/* Describes a program of one source. */
inline Desc describe_source(ingot_context_t context, ingot_source_t source, const char *compile_options = nullptr)
{
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    info.sources = &source;
    info.source_count = 1;
    info.compile_options = compile_options;
    ingot_program_desc_t desc = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_create(&desc, context, &info)) << ingot_last_error_detail();
    return Desc(desc);
}

inline Program create_program(const Desc &desc)
{
    ingot_program_t program = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get(&program, desc.get(), 0)) << ingot_last_error_detail();
    return Program(program);
}

/* Requests a program, and drops it. */
inline ingot_status_t request(const Desc &desc, uint32_t flags = 0)
{
    ingot_program_t program = nullptr;
    const ingot_status_t status = ingot_program_get(&program, desc.get(), flags);
    EXPECT_EQ(status == INGOT_SUCCESS, program != nullptr);
    ingot_program_release(program);
    return status;
}

inline ingot_status_t look_up(const Desc &desc)
{
    return request(desc, INGOT_PROGRAM_GET_IN_MEMORY);
}

inline ingot_status_t load_program(const Desc &desc, const Bytes &blob, Program *loaded = nullptr)
{
    ingot_program_t program = nullptr;
    const ingot_status_t status = ingot_program_create_from_cache_blob(&program, desc.get(), blob.size(), blob.data());
    EXPECT_EQ(status == INGOT_SUCCESS, program != nullptr);
    Program owned(program);
    if (loaded != nullptr)
        *loaded = std::move(owned);
    return status;
}

/* Gets a kernel by its program's descriptor. */
inline Kernel get_kernel(const Desc &desc, const char *name, uint32_t device = 0)
{
    ingot_kernel_t kernel = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_kernel_get(&kernel, desc.get(), device, name)) << ingot_last_error_detail();
    return Kernel(kernel);
}

inline Kernel create_kernel(const Program &program, const char *name, uint32_t device = 0)
{
    ingot_kernel_t kernel = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_kernel_create(&kernel, program.get(), device, name)) << ingot_last_error_detail();
    return Kernel(kernel);
}

inline Bytes id_of(const Desc &desc)
{
    size_t size = 0;
    const uint8_t *id = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_get_cache_blob_id(desc.get(), &size, &id)) << ingot_last_error_detail();
    return id != nullptr ? Bytes(id, id + size) : Bytes();
}

/* True if the sentence of this thread's last failure has this part. */
inline bool last_error_has(const std::string &part)
{
    return std::string(ingot_last_error_detail()).find(part) != std::string::npos;
}

/* Returns what the request for a program's blob returns. */
inline ingot_status_t has_blob(const Program &program)
{
    size_t size = 0;
    return ingot_program_get_cache_blob(program.get(), &size, nullptr);
}

inline Bytes blob_of(const Program &program)
{
    size_t size = 0;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_cache_blob(program.get(), &size, nullptr)) << ingot_last_error_detail();
    Bytes blob(size);
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_cache_blob(program.get(), &size, blob.data()));
    EXPECT_EQ(blob.size(), size);
    return blob;
}

inline ingot_program_facts_t facts_of(const Program &program)
{
    ingot_program_facts_t facts = INGOT_PROGRAM_FACTS_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_facts(program.get(), &facts));
    return facts;
}

inline std::string log_of(const Program &program)
{
    return facts_of(program).build_log;
}

inline std::vector<std::string> kernel_names_of(const Program &program)
{
    const ingot_program_facts_t facts = facts_of(program);
    std::vector<std::string> names;
    for (size_t at = 0; at < facts.kernel_names_size; at += names.back().size() + 1)
        names.emplace_back(facts.kernel_names + at);
    return names;
}

inline ingot_cache_stats_t stats_of(const Context &context)
{
    ingot_cache_stats_t stats = INGOT_CACHE_STATS_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_context_get_cache_stats(context.get(), &stats));
    return stats;
}
