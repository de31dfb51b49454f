/*
 * hermetic_fuzzer.cpp - resolves the includes of any source, with any options and any embedded header.
 *
 * The resolution must end, must give either a result or a reason, and must give the same again for the same input. It
 * must not look at more bytes than is proportional to the size of the texts, which holds on a busy machine, too. The
 * resulting text must include nothing, according to a check that shares no code with the library. The input has three
 * parts, separated by 0xff: source, options, header. The header is embedded as "inc.h" and can include itself.
 */
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include <ingot/backend.h>

extern "C" {
#include "core/hermetic/hermetic.h"
#include "core/hermetic/option_words.h"
}

namespace
{

std::string next_part(const char **at, const char *end)
{
    std::string part;
    while (*at != end && static_cast<unsigned char>(**at) != 0xff)
        part += *(*at)++;
    if (*at != end)
        ++*at;
    return part;
}

/* True if options could name files outside of the directory: the fuzzer must not read the machine's files. */
bool leaves_the_directory(const std::string &text)
{
    return text.find('/') != std::string::npos || text.find("usr") != std::string::npos;
}

void require(bool truth)
{
    if (!truth)
        abort();
}

/* ---- an independent check of the text: replaces comments by blanks and literals by 0, as clang reads C ---- */

/* Joins lines that end with a backslash and perhaps blanks, as clang does. */
std::string join_lines(const std::string &text)
{
    std::string joined;
    for (size_t i = 0; i < text.size(); ++i) {
        const size_t end = text[i] == '\\' ? text.find_first_not_of(" \t\v\f\r", i + 1) : std::string::npos;
        if (end != std::string::npos && text[end] == '\n')
            i = end;
        else
            joined += text[i];
    }
    return joined;
}

size_t literal_end(const std::string &text, size_t at)
{
    const char quote = text[at];
    for (size_t i = at + 1; i < text.size() && text[i] != '\n'; ++i) {
        if (text[i] == quote)
            return i + 1;
        i += text[i] == '\\' && i + 1 < text.size() && text[i + 1] != '\n' ? 1 : 0;
    }
    return at + 1; /* a lone quote */
}

/* Returns the end of a raw string like R"x( ... )x" whose quote is at `at`, or 0 if there is none. */
size_t raw_string_end(const std::string &text, size_t at)
{
    const size_t open = text.find('(', at);
    if (at == 0 || text[at - 1] != 'R' || text[at] != '"' || open == std::string::npos || open - at > 17)
        return 0;
    const std::string close = ")" + text.substr(at + 1, open - at - 1) + "\"";
    const size_t end = text.find(close, open);
    return end == std::string::npos ? 0 : end + close.size();
}

bool is_word(char c)
{
    return isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80) != 0;
}

std::string without_comments_and_literals(const std::string &text, bool cplusplus)
{
    std::string code;
    for (size_t i = 0; i < text.size();) {
        const bool is_separator = cplusplus && text[i] == '\'' && i != 0 && is_word(text[i - 1]);
        size_t end = cplusplus ? raw_string_end(text, i) : 0;
        const bool is_comment = end == 0 && (text.compare(i, 2, "//") == 0 || text.compare(i, 2, "/*") == 0);
        if (end == 0 && text.compare(i, 2, "//") == 0)
            end = std::min(text.find('\n', i), text.size());
        else if (end == 0 && text.compare(i, 2, "/*") == 0)
            end = text.find("*/", i + 2) == std::string::npos ? text.size() : text.find("*/", i + 2) + 2;
        else if (end == 0 && (text[i] == '"' || text[i] == '\'') && !is_separator)
            end = literal_end(text, i);
        code += end == 0 ? text[i] : is_comment ? ' ' : '0';
        i = end != 0 ? end : i + 1;
    }
    return code;
}

bool has_including_directive(const std::string &text, bool cplusplus)
{
    const std::string code = without_comments_and_literals(join_lines(text), cplusplus);
    for (size_t line = 0; line < code.size();) {
        const size_t end = std::min(code.find('\n', line), code.size());
        size_t at = line;
        const auto skip_blanks = [&] {
            while (at < end && (static_cast<unsigned char>(code[at]) <= ' ' || code[at] == 0x7f))
                ++at;
        };
        skip_blanks();
        const bool digraph = code.compare(at, 2, "%:") == 0;
        if (at < end && (code[at] == '#' || digraph)) {
            at += digraph ? 2 : 1;
            skip_blanks();
            for (const char *word : {"include", "import", "embed"})
                if (code.compare(at, strlen(word), word) == 0)
                    return true;
        }
        line = end + 1;
    }
    return false;
}

/* ---- the resolution ---- */

/* Limit of the bytes that scans look at. A scan reads most bytes two or three times. */
constexpr size_t kStepsPerByte = 24;
constexpr size_t kMoreSteps = 16384;

struct Outcome {
    std::string digests;
    std::string reason;
    std::string gap;
    std::string text;

    bool operator==(const Outcome &other) const
    {
        return digests == other.digests && reason == other.reason && gap == other.gap && text == other.text;
    }
};

Outcome resolve(const ingot_allocator_t *allocator, const hermetic_input &input)
{
    struct hermetic hermetic;
    Outcome outcome;
    hermetic_init(&hermetic, allocator);
    require(hermetic_resolve(&hermetic, &input) == INGOT_SUCCESS);
    outcome.digests.assign(reinterpret_cast<const char *>(hermetic.digests.bytes), hermetic.digests.size);
    outcome.reason = hermetic.reason != nullptr ? hermetic.reason : "";
    outcome.gap = hermetic.gap != nullptr ? hermetic.gap : "";
    require(hermetic.scan_steps <= kStepsPerByte * (input.sources[0].size + input.headers[0].size) + kMoreSteps);
    if (outcome.reason.empty()) {
        const std::string texts(reinterpret_cast<const char *>(hermetic.texts.bytes), hermetic.texts.size);
        require(std::count(texts.begin(), texts.end(), '\0') == static_cast<ptrdiff_t>(input.source_count));
        outcome.text = texts.c_str();
    }
    hermetic_fini(&hermetic);
    return outcome;
}

ingot_text_rules_t rules_of(size_t choice)
{
    static const char *const options[] = {"-w", "-g", "-cl-*", nullptr};
    ingot_text_rules_t rules{};
    rules.struct_size = sizeof(rules);
    rules.option_quotes = static_cast<ingot_option_quotes_t>(choice % 3);
    rules.current_directory = static_cast<ingot_current_directory_t>(choice / 3 % 4);
    rules.searches_beside_source = choice / 12 % 2 != 0;
    rules.knows_all_directories = choice / 24 % 2 != 0;
    rules.unnamed_source = choice / 48 % 2 != 0 ? "default_program" : nullptr;
    rules.options = options;
    return rules;
}

/* Expects that the options that options_keep() keeps contain no directory, and that a second call with these options
 * keeps all of them. Returns what is known about the options. */
option_survey check_options(const ingot_allocator_t *allocator, const ingot_text_rules_t *rules,
                            const std::string &options)
{
    arena words;
    bytes_writer once;
    bytes_writer twice;
    option_survey survey = {};
    option_survey survey_of_kept = {};
    arena_init(&words, allocator);
    bytes_writer_init(&once, allocator);
    bytes_writer_init(&twice, allocator);
    option_survey_add(&survey, rules, &words, options.c_str());
    options_keep(&once, rules, &words, options.c_str());
    bytes_put(&once, 1, "");
    if (survey.unknown.kind != OPTION_UNKNOWN) {
        const char *kept = reinterpret_cast<const char *>(once.bytes);
        option_survey_add(&survey_of_kept, rules, &words, kept);
        require(!survey_of_kept.has_directory && survey_of_kept.unknown.kind != OPTION_UNKNOWN);
        require(survey_of_kept.defines_special_name == survey.defines_special_name);
        require(survey_of_kept.keeps_names == survey.keeps_names);
        options_keep(&twice, rules, &words, kept);
        bytes_put(&twice, 1, "");
        require(once.size == twice.size && memcmp(once.bytes, twice.bytes, once.size) == 0);
    }
    bytes_writer_fini(&twice);
    bytes_writer_fini(&once);
    arena_fini(&words);
    return survey;
}

/* Returns why a text is not accepted as the text of a request, or "". */
std::string refusal_of(const ingot_allocator_t *allocator, const hermetic_input &input, const std::string &text)
{
    arena words;
    bytes_writer kept;
    struct hermetic hermetic;
    arena_init(&words, allocator);
    bytes_writer_init(&kept, allocator);
    options_keep(&kept, input.rules, &words, input.options[0]);
    bytes_put(&kept, 1, "");
    const ingot_source_view_t view = {input.sources[0].kind, text.size(), text.c_str(), input.sources[0].name};
    const hermetic_input final = {
        input.rules, &view, 1, nullptr, 0, {reinterpret_cast<const char *>(kept.bytes), "", ""}, true};
    hermetic_init(&hermetic, allocator);
    require(hermetic_resolve(&hermetic, &final) == INGOT_SUCCESS);
    const std::string refusal = hermetic.reason != nullptr ? hermetic.reason : "";
    hermetic_fini(&hermetic);
    bytes_writer_fini(&kept);
    arena_fini(&words);
    return refusal;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = reinterpret_cast<const char *>(data);
    const char *end = at + size;
    const std::string source = next_part(&at, end);
    const std::string options = std::string(next_part(&at, end).c_str());
    const std::string header = next_part(&at, end);
    if (leaves_the_directory(options))
        return 0;
    const bool cplusplus = size % 2 != 0;
    const ingot_source_kind_t kind = cplusplus ? INGOT_SOURCE_CUDA_CPP : INGOT_SOURCE_OPENCL_C;
    const ingot_source_view_t sources[] = {{kind, source.size(), source.c_str(), "k.cl"}};
    const ingot_source_view_t headers[] = {{INGOT_SOURCE_HEADER, header.size(), header.c_str(), "inc.h"}};
    const ingot_text_rules_t rules = rules_of(size / 2);
    const hermetic_input input = {&rules, sources, 1, headers, 1, {options.c_str(), "", ""}, false};
    ingot_allocator_t allocator;
    require(memory_init(&allocator, nullptr) == INGOT_SUCCESS);

    const Outcome outcome = resolve(&allocator, input);
    require(outcome.reason.empty() || (outcome.digests.empty() && outcome.gap.empty()));
    require(outcome == resolve(&allocator, input));
    if (outcome.reason.empty())
        require(!has_including_directive(outcome.text, cplusplus));
    /* A text that was made with known options is accepted as the text of a request, unless debug information names the
     * directory. One that a stranger wrote is refused if it includes. */
    const option_survey survey = check_options(&allocator, &rules, options);
    if (outcome.reason.empty() && survey.unknown.kind != OPTION_UNKNOWN) {
        const std::string refusal = refusal_of(&allocator, input, outcome.text);
        require(refusal.empty() || refusal.find("(-g)") != std::string::npos);
    }
    if (refusal_of(&allocator, input, source).empty())
        require(!has_including_directive(source, cplusplus));

    /* A text that differs from build to build is refused even if it includes nothing. */
    const bool found = !outcome.digests.empty() || !outcome.gap.empty() ||
                       outcome.reason.find("differs from build to build") != std::string::npos;
    if (!hermetic_concerns(source.size(), source.c_str()) && !hermetic_concerns(header.size(), header.c_str()) &&
        !survey.defines_special_name && !survey.keeps_names)
        require(!found); /* the quick check must not miss what the resolution finds */
    return 0;
}
