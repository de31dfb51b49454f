/*
 * objects.h - makes programs for the device under test, and compares their ids.
 */
#pragma once

#include <ingot/ingot.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "conformance/device_under_test.h"
#include "support/objects.h"

namespace conformance
{

inline Context make_context(const std::vector<uint32_t> &devices = {0})
{
    const ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    return Context(device_under_test().make_context(devices, info));
}

inline Desc describe(const Context &context, const ProgramText &text)
{
    std::vector<Source> kept;
    std::vector<ingot_source_t> sources;
    std::vector<ingot_source_t> headers;
    std::vector<ingot_spec_constant_t> constants;
    for (const SourceText &source : text.sources) {
        kept.push_back(
            make_source(source.bytes, text.source_name.empty() ? nullptr : text.source_name.c_str(), source.kind));
        sources.push_back(kept.back().get());
    }
    for (const auto &[name, bytes] : text.headers) {
        kept.push_back(make_source(bytes, name.c_str(), INGOT_SOURCE_HEADER));
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
    info.name_expressions = text.name_expressions.data();
    info.name_expression_count = text.name_expressions.size();
    ingot_program_desc_t desc = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_create(&desc, context.get(), &info)) << ingot_last_error_detail();
    return Desc(desc);
}

inline Program load(const Desc &desc, const Bytes &blob)
{
    Program program;
    EXPECT_EQ(INGOT_SUCCESS, load_program(desc, blob, &program)) << ingot_last_error_detail();
    return program;
}

using ::id_of;
inline Bytes id_of(const ProgramText &text)
{
    return id_of(describe(make_context(), text));
}

/* Returns the fields of an id, and their values as in JSON. */
inline std::vector<std::pair<std::string, std::string>> fields_of(const Bytes &id)
{
    size_t size = 0;
    EXPECT_EQ(INGOT_SUCCESS, ingot_cache_blob_id_describe(id.size(), id.data(), &size, nullptr));
    std::string json(size, '\0');
    EXPECT_EQ(INGOT_SUCCESS, ingot_cache_blob_id_describe(id.size(), id.data(), &size, json.data()));
    std::vector<std::pair<std::string, std::string>> fields;
    for (size_t at = json.find('"'); at != std::string::npos; at = json.find('"', at)) {
        const size_t name_end = json.find("\": ", at + 1);
        const size_t value = name_end + 3;
        const bool is_text = json.at(value) == '"';
        size_t end = value + 1;
        while (is_text ? json.at(end) != '"' : json.at(end) != ',' && json.at(end) != '}')
            end += json[end] == '\\' ? 2 : 1;
        fields.emplace_back(json.substr(at + 1, name_end - at - 1), json.substr(value, end - value));
        at = end + 1;
    }
    return fields;
}

/* Returns the names of the fields in which two ids differ, joined by spaces; the digest of the whole request only if
 * nothing else does. */
inline std::string differing_fields(const Bytes &expected, const Bytes &found)
{
    const auto before = fields_of(expected), after = fields_of(found);
    std::string names;
    const auto add_missing = [&](const auto &from, const auto &in) {
        for (const auto &field : from)
            if (std::find(in.begin(), in.end(), field) == in.end() && names.find(field.first) == std::string::npos &&
                (field.first != "request.blake2b" || names.empty()))
                names += (names.empty() ? "" : " ") + field.first;
    };
    add_missing(before, after);
    add_missing(after, before);
    return names;
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
    Bytes bytes(std::filesystem::file_size(path)); /* drivers are large, so not byte by byte */
    file.read(reinterpret_cast<char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return bytes;
}

} // namespace conformance
