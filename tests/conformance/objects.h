/*
 * objects.h - handles that release Ingot's objects, and short functions for what every test does.
 */
#ifndef INGOT_TESTS_CONFORMANCE_OBJECTS_H
#define INGOT_TESTS_CONFORMANCE_OBJECTS_H

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/device_under_test.h"

namespace conformance
{

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

inline Context make_context(const std::vector<uint32_t> &devices = {0})
{
    const ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    return Context(device_under_test().make_context(devices, info));
}

inline Source make_source(ingot_source_kind_t kind, const std::string &bytes, const char *name)
{
    ingot_source_info_t info = INGOT_SOURCE_INFO_INIT;
    info.kind = kind;
    info.bytes = bytes.data();
    info.size = bytes.size();
    info.name = name;
    ingot_source_t source = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_source_create(&source, &info)) << ingot_last_error_detail();
    return Source(source);
}

inline Desc describe(const Context &context, const ProgramText &text)
{
    std::vector<Source> kept;
    std::vector<ingot_source_t> sources;
    std::vector<ingot_source_t> headers;
    std::vector<ingot_spec_constant_t> constants;
    for (const SourceText &source : text.sources) {
        kept.push_back(make_source(source.kind, source.bytes, nullptr));
        sources.push_back(kept.back().get());
    }
    for (const auto &[name, bytes] : text.headers) {
        kept.push_back(make_source(INGOT_SOURCE_HEADER, bytes, name.c_str()));
        headers.push_back(kept.back().get());
    }
    for (const auto &[id, value] : text.spec_constants)
        constants.push_back({id, sizeof(value), &value});
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    info.sources = sources.data();
    info.source_count = sources.size();
    info.headers = headers.data();
    info.header_count = headers.size();
    info.compile_options = text.compile_options.c_str();
    info.link_options = text.link_options.c_str();
    info.spec_constants = constants.data();
    info.spec_constant_count = constants.size();
    info.device_indices = text.devices.empty() ? nullptr : text.devices.data();
    info.device_count = text.devices.size();
    info.group = text.group.empty() ? nullptr : text.group.c_str();
    ingot_program_desc_t desc = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_create(&desc, context.get(), &info)) << ingot_last_error_detail();
    return Desc(desc);
}

inline Program create(const Desc &desc)
{
    ingot_program_t program = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get(&program, desc.get(), 0)) << ingot_last_error_detail();
    return Program(program);
}

inline ingot_status_t try_load(const Desc &desc, const Bytes &blob, Program *program = nullptr)
{
    ingot_program_t loaded = nullptr;
    const ingot_status_t status = ingot_program_create_from_cache_blob(&loaded, desc.get(), blob.size(), blob.data());
    EXPECT_EQ(status == INGOT_SUCCESS, loaded != nullptr);
    Program owned(loaded);
    if (program != nullptr)
        *program = std::move(owned);
    return status;
}

inline Program load(const Desc &desc, const Bytes &blob)
{
    Program program;
    EXPECT_EQ(INGOT_SUCCESS, try_load(desc, blob, &program)) << ingot_last_error_detail();
    return program;
}

inline Kernel kernel_of(const Program &program, const char *name)
{
    ingot_kernel_t kernel = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_kernel_create(&kernel, program.get(), 0, name)) << ingot_last_error_detail();
    return Kernel(kernel);
}

inline Bytes id_of(const Desc &desc)
{
    size_t size = 0;
    const uint8_t *id = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_get_cache_blob_id(desc.get(), &size, &id)) << ingot_last_error_detail();
    return id != nullptr ? Bytes(id, id + size) : Bytes();
}

inline Bytes id_of(const ProgramText &text)
{
    return id_of(describe(make_context(), text));
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

inline std::string log_of(const Program &program)
{
    size_t size = 0;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_build_log(program.get(), &size, nullptr));
    std::string log(size, '?');
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_build_log(program.get(), &size, log.data()));
    if (!log.empty())
        log.pop_back(); /* the NUL */
    return log;
}

inline std::vector<std::string> kernel_names_of(const Program &program)
{
    size_t size = 0;
    std::vector<std::string> names;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_kernel_names(program.get(), &size, nullptr));
    std::string text(size, '?');
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_kernel_names(program.get(), &size, text.data()));
    for (size_t at = 0; at < text.size(); at += names.back().size() + 1)
        names.emplace_back(text.c_str() + at);
    return names;
}

inline ingot_cache_stats_t stats_of(const Context &context)
{
    ingot_cache_stats_t stats = INGOT_CACHE_STATS_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_context_get_cache_stats(context.get(), &stats));
    return stats;
}

/* Returns the paths of the fields in which two ids differ, joined by spaces. */
inline std::string differing_fields(const Bytes &expected, const Bytes &found)
{
    size_t size = 0;
    EXPECT_EQ(INGOT_SUCCESS,
              ingot_cache_blob_id_explain(expected.size(), expected.data(), found.size(), found.data(), &size, nullptr))
        << ingot_last_error_detail();
    std::string json(size, '\0');
    EXPECT_EQ(INGOT_SUCCESS, ingot_cache_blob_id_explain(expected.size(), expected.data(), found.size(), found.data(),
                                                         &size, json.data()));
    static const std::string kMember = "{\"field\": \"";
    std::string fields;
    for (size_t at = json.find(kMember); at != std::string::npos; at = json.find(kMember, at)) {
        at += kMember.size();
        fields += (fields.empty() ? "" : " ") + json.substr(at, json.find('"', at) - at);
    }
    return fields;
}

inline void write_file(const std::string &path, const Bytes &bytes)
{
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    ASSERT_TRUE(file.good()) << path;
}

inline Bytes read_file(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file.good()) << path;
    return Bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

} // namespace conformance

#endif
