/*
 * hermetic_fixture.h - resolves the includes of sources, with options and headers, in a directory whose files the test
 * writes.
 */
#pragma once

#include <utility>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "core/base/digest.h"
#include "core/hermetic/hermetic.h"
#include "core/hermetic/option_words.h"
}
#include "support/scratch_directory.h"
#include "support/whole_file.h"

namespace hermetic_fixture
{

using Texts = std::vector<std::pair<std::string, std::string>>; /* name, text */
using Strings = std::vector<std::string>;

/* Returns the rules for a compiler that Ingot knows nothing about. The functions below return rules close to those of
 * the backends. */
inline ingot_text_rules_t careful_rules()
{
    static const char *const options[] = {"-w", "-g", "-cl-*", "-std=*", nullptr};
    ingot_text_rules_t rules{};
    rules.struct_size = sizeof(rules);
    rules.options = options;
    return rules;
}

inline ingot_text_rules_t pocl_rules()
{
    ingot_text_rules_t rules = careful_rules();
    rules.current_directory = INGOT_CURRENT_FIRST;
    rules.assembler_reads_files = 1;
    return rules;
}

inline ingot_text_rules_t intel_rules()
{
    ingot_text_rules_t rules = careful_rules();
    rules.option_quotes = INGOT_QUOTES_DOUBLE;
    rules.current_directory = INGOT_CURRENT_LAST;
    return rules;
}

inline ingot_text_rules_t nvrtc_rules()
{
    ingot_text_rules_t rules = careful_rules();
    rules.option_quotes = INGOT_QUOTES_SHELL;
    rules.current_directory = INGOT_CURRENT_NEVER;
    rules.searches_beside_source = 1;
    rules.knows_all_directories = 1;
    rules.unnamed_source = "default_program";
    return rules;
}

struct Result {
    ingot_status_t status;
    std::string digests; /* what the id contains of the texts */
    std::string files;
    std::string reason;
    std::string gap;
    Strings texts; /* one per source */
};

struct Input {
    Texts sources;
    std::string options{};
    Texts headers{};
    ingot_source_kind_t kind = INGOT_SOURCE_OPENCL_C;
    ingot_text_rules_t rules = careful_rules();
};

/* The arguments that the core takes for an input, which must outlive this object. */
class Views
{
public:
    explicit Views(const Input &input) : options_(input.options.c_str()), rules_(&input.rules)
    {
        for (const auto &[name, text] : input.sources)
            sources_.push_back({input.kind, text.size(), text.c_str(), name.c_str()});
        for (const auto &[name, text] : input.headers)
            headers_.push_back({INGOT_SOURCE_HEADER, text.size(), text.c_str(), name.c_str()});
    }
    ingot_status_t resolve(struct hermetic *hermetic, bool is_final = false) const
    {
        const struct hermetic_input wanted = {rules_,          sources_.data(),    sources_.size(), headers_.data(),
                                              headers_.size(), {options_, "", ""}, is_final};
        return hermetic_resolve(hermetic, &wanted);
    }

private:
    const char *options_;
    const ingot_text_rules_t *rules_;
    std::vector<ingot_source_view_t> sources_;
    std::vector<ingot_source_view_t> headers_;
};

inline Strings split_texts(const struct hermetic *hermetic)
{
    Strings texts;
    const std::string all(reinterpret_cast<const char *>(hermetic->texts.bytes), hermetic->texts.size);
    size_t start = 0;
    for (; start < all.size(); start += texts.back().size() + 1)
        texts.emplace_back(all.c_str() + start);
    EXPECT_EQ(all.size(), start) << "the last text has no NUL";
    return texts;
}

inline Result resolve_with(const ingot_allocator_t *allocator, const Input &input)
{
    ingot_allocator_t table;
    EXPECT_EQ(INGOT_SUCCESS, memory_init(&table, allocator));
    const Views views(input);
    struct hermetic hermetic;
    hermetic_init(&hermetic, &table);
    Result result = {};
    result.status = views.resolve(&hermetic);
    if (result.status == INGOT_SUCCESS) {
        result.digests.assign(reinterpret_cast<const char *>(hermetic.digests.bytes), hermetic.digests.size);
        result.files.assign(reinterpret_cast<const char *>(hermetic.files.bytes), hermetic.files.size);
        result.reason = hermetic.reason != nullptr ? hermetic.reason : "";
        result.gap = hermetic.gap != nullptr ? hermetic.gap : "";
        if (hermetic.reason == nullptr)
            result.texts = split_texts(&hermetic);
    }
    hermetic_fini(&hermetic);
    return result;
}

/* Returns why the texts of a result are not accepted as those of a request, or "". */
inline std::string refusal_of(Input input, const Result &result)
{
    arena words;
    bytes_writer kept;
    struct hermetic hermetic;
    arena_init(&words, &memory_c_allocator);
    bytes_writer_init(&kept, &memory_c_allocator);
    options_keep(&kept, &input.rules, &words, input.options.c_str());
    input.options.assign(reinterpret_cast<const char *>(kept.bytes), kept.size);
    for (size_t i = 0; i < result.texts.size(); ++i)
        input.sources[i].second = result.texts[i];
    hermetic_init(&hermetic, &memory_c_allocator);
    EXPECT_EQ(INGOT_SUCCESS, Views(input).resolve(&hermetic, true));
    const std::string refusal = hermetic.reason != nullptr ? hermetic.reason : "";
    hermetic_fini(&hermetic);
    bytes_writer_fini(&kept);
    arena_fini(&words);
    return refusal;
}

inline std::string digest(const std::string &text)
{
    std::string bytes(DIGEST_SIZE, 0);
    digest_of(text.size(), text.data(), reinterpret_cast<uint8_t *>(bytes.data()));
    return bytes;
}

using whole_file::read;

inline bool has(const std::string &text, const std::string &part)
{
    return text.find(part) != std::string::npos;
}

/* Runs each test in a scratch directory. */
class HermeticTest : public testing::Test
{
protected:
    void SetUp() override
    {
        before_ = std::filesystem::current_path();
        std::filesystem::current_path(scratch_.path());
    }
    void TearDown() override { std::filesystem::current_path(before_); }

    static void write(const std::string &path, const std::string &text) { whole_file::write(path, text); }

    Result resolve(const Input &input)
    {
        const Result result = resolve_with(nullptr, input);
        EXPECT_EQ(INGOT_SUCCESS, result.status);
        if (result.reason.empty()) {
            const std::string refusal = refusal_of(input, result);
            EXPECT_TRUE(refusal.empty() || has(refusal, "(-g)")) << refusal << "\n" << result.texts[0];
        }
        return result;
    }
    Result resolve(const std::string &source, const std::string &options = "", const Texts &headers = {},
                   ingot_source_kind_t kind = INGOT_SOURCE_OPENCL_C)
    {
        return resolve(Input{{{"k.cl", source}}, options, headers, kind});
    }
    Result resolve(const ingot_text_rules_t &rules, const std::string &source, const std::string &options = "",
                   const Texts &headers = {})
    {
        return resolve(Input{{{"k.cl", source}}, options, headers, INGOT_SOURCE_OPENCL_C, rules});
    }

    /* Expects that these contents were included, in this order, that each is in the text, and that nothing was left
     * out. */
    void expect_reached(const Result &result, const Strings &contents, const Texts &headers = {})
    {
        EXPECT_EQ("", result.reason);
        EXPECT_EQ("", result.gap);
        EXPECT_EQ(contents, reached(result, headers));
        ASSERT_FALSE(result.texts.empty());
        for (const std::string &content : contents) {
            EXPECT_TRUE(has(content, "#") || has(result.texts[0], content)) << result.texts[0];
        }
        EXPECT_FALSE(has(result.texts[0], "#error Ingot could not")) << result.texts[0];
    }
    /* Expects that `gap` describes the first include that could not be replaced, and that this include became an
     * #error in the text. */
    void expect_gap(const std::string &gap, const Result &result)
    {
        EXPECT_EQ("", result.reason);
        EXPECT_EQ(gap, result.gap);
        ASSERT_FALSE(result.texts.empty());
        EXPECT_TRUE(has(result.texts[0], "#error Ingot could not replace this directive\n")) << result.texts[0];
    }

    /* Returns the contents of the included files, which the result has by their digests. They are searched for among
     * the test's files and the headers. */
    Strings reached(const Result &result, const Texts &headers = {})
    {
        Strings contents;
        bytes_reader reader;
        bytes_reader_init(&reader, result.files.size(), reinterpret_cast<const uint8_t *>(result.files.data()));
        size_t size = 0;
        while (bytes_left(&reader) != 0) {
            const uint8_t *entry = bytes_get(&reader, DIGEST_SIZE);
            (void)bytes_get_framed(&reader, &size);
            if (!reader.failed)
                contents.push_back(
                    content_of(std::string(reinterpret_cast<const char *>(entry), DIGEST_SIZE), headers));
        }
        EXPECT_FALSE(reader.failed);
        return contents;
    }

    std::string content_of(const std::string &found, const Texts &headers)
    {
        for (const auto &[name, text] : headers)
            if (digest(text) == found)
                return text;
        for (const auto &file : std::filesystem::recursive_directory_iterator(scratch_.path())) {
            const std::string text = file.is_regular_file() ? read(file.path()) : "";
            if (digest(text) == found)
                return text;
        }
        return "?";
    }

    ScratchDirectory scratch_;
    std::filesystem::path before_;
};

} // namespace hermetic_fixture
