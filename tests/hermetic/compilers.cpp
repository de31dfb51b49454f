/*
 * compilers.cpp - describes and builds a program through Ingot, and makes build logs comparable. This code is the
 * same for all compilers.
 */
#include "hermetic/compilers.h"

#include <algorithm>
#include <cstring>
#include <ingot/private/program.h>
#include <stdexcept>

namespace hermetic
{

namespace
{

void require(ingot_status_t status, const char *what)
{
    if (status != INGOT_SUCCESS)
        throw std::runtime_error(std::string(what) + ": " + ingot_status_name(status) + ": " +
                                 ingot_last_error_detail());
}

constexpr char kMadeUp[] = "tempfile_";
constexpr size_t kMadeUpSize = 6; /* random characters that follow kMadeUp */

bool ends_path(char c)
{
    return std::strchr(" \t\r\n\"'()<>:,;[]", c) != nullptr;
}

bool is_number(const std::string &word)
{
    return !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
}

bool ends_with(const std::string &text, const std::string &end)
{
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/* Adds a word without what precedes its last slash, and with a constant name for a temporary file. */
void add_word(const std::string &word, std::string *out)
{
    const size_t slash = word.rfind('/');
    std::string name = slash == std::string::npos ? word : word.substr(slash + 1);
    if (name.compare(0, std::strlen(kMadeUp), kMadeUp) == 0)
        name.replace(0, std::strlen(kMadeUp) + kMadeUpSize, "source");
    *out += name;
}

} // namespace

Compiler::~Compiler()
{
    ingot_context_release(context_);
}

void Compiler::on_event(const ingot_event_t *event, void *user)
{
    if (event->kind == INGOT_EVENT_NATIVE_BUILD)
        static_cast<Compiler *>(user)->native_reason_ = event->reason;
}

ingot_context_info_t Compiler::context_info()
{
    ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    info.on_event = on_event;
    info.on_event_user = this;
    return info;
}

ingot_program_desc_t Compiler::make(const Program &program)
{
    ingot_source_info_t source_info = INGOT_SOURCE_INFO_INIT;
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    ingot_source_t source = nullptr;
    ingot_program_desc_t desc = nullptr;

    source_info.kind = kind();
    source_info.bytes = program.source.data();
    source_info.size = program.source.size();
    require(ingot_source_create(&source, &source_info), "ingot_source_create");
    info.sources = &source;
    info.source_count = 1;
    info.compile_options = program.options.c_str();
    const ingot_status_t status = ingot_program_desc_create(&desc, context_, &info);
    ingot_source_release(source);
    require(status, "ingot_program_desc_create");
    return desc;
}

Description Compiler::describe(const Program &program)
{
    Description description;
    ingot_program_desc_t desc = make(program);
    const char *reason = nullptr;
    if (ingot_program_desc_is_cacheable(desc, &reason) == INGOT_SUCCESS) {
        size_t size = 0;
        const uint8_t *id = nullptr;
        require(ingot_program_desc_get_cache_blob_id(desc, &size, &id), "ingot_program_desc_get_cache_blob_id");
        description.id.assign(reinterpret_cast<const char *>(id), size);
        description.is_cacheable = true;
    } else {
        description.reason = reason != nullptr ? reason : "";
    }
    ingot_program_desc_release(desc);
    return description;
}

IngotBuild Compiler::build_with_ingot(const Program &program, Want want)
{
    IngotBuild result;
    ingot_program_desc_t desc = make(program);
    ingot_program_t built = nullptr;
    const char *reason = nullptr;

    native_reason_.clear();
    if (ingot_program_desc_is_cacheable(desc, &reason) != INGOT_SUCCESS)
        native_reason_ = reason;
    const ingot_status_t status = ingot_program_build(&built, desc);
    ingot_program_desc_release(desc);
    if (status == INGOT_BUILD_FAILED) {
        result.build.log = ingot_last_error_detail();
        result.build.log.resize(std::min(result.build.log.size(), result.build.log.rfind("clBuildProgram: CL_")));
    } else {
        require(status, "ingot_program_build");
        result.build = read(built, want);
        ingot_program_facts_t facts = INGOT_PROGRAM_FACTS_INIT;
        require(ingot_program_get_facts(built, &facts), "ingot_program_get_facts");
        result.build.log = facts.build_log;
    }
    ingot_program_release(built);
    result.is_native = !native_reason_.empty();
    result.reason = native_reason_;
    return result;
}

std::string log_without_names(const std::string &log)
{
    std::string out;
    std::string word;
    for (const char c : log) {
        if (!ends_path(c)) {
            word += c;
            continue;
        }
        const bool is_place = c == ':' && (out.empty() || out.back() == '\n' || ends_with(out, "from "));
        add_word(is_place && is_number(word) ? "source" : word, &out);
        word.clear();
        out += c;
    }
    add_word(word, &out);
    out.erase(out.find_last_not_of("\n") + 1);
    return out;
}

} // namespace hermetic
