/*
 * comparison.cpp - compares two transcripts, sequence by sequence. Only what doc/layer.md lists as differences may
 * differ: the lines of `by_design`, and the answers that `Expected` knows.
 */
#include "layer/comparison.h"

#include <regex>
#include <set>

#include "layer/transcript.h"

namespace layer
{

namespace
{

struct Difference {
    const char *begin; /* how the line begins */
    const char *end;
    const char *reason;
};

const Difference by_design[] = {
    {"  bytes of its binaries:", "", "a binary of a cached program need not be byte for byte that of a compiled one"},
    {"  references of C", "", "the layer holds references of its own to a context that has programs"},
};

bool begins_with(const std::string &line, const std::string &text)
{
    return line.compare(0, text.size(), text) == 0;
}

bool ends_with(const std::string &line, const std::string &text)
{
    return line.size() >= text.size() && line.compare(line.size() - text.size(), text.size(), text) == 0;
}

bool is_by_design(const std::string &line)
{
    for (const Difference &difference : by_design)
        if (begins_with(line, difference.begin) && ends_with(line, difference.end))
            return true;
    return false;
}

/* Removes messages about other programs from a log. When PoCL reports that a program does not link, it adds what LLVM
 * said about all programs for which PoCL has generated code since its last such report. With the layer, PoCL generates
 * code for fewer programs, so these messages differ. */
std::string without_messages_of_others(const std::string &line)
{
    static const std::regex messages("ignoring (?:debug info with an invalid version \\(\\d+\\)|invalid debug info) in "
                                     "(/[^ ]*?program\\.bc)?"
                                     "|(<unknown>|\\(temporary\\)):\\d+:\\d+: [^<]*?"
                                     "(?=<unknown>|\\(temporary\\)|ignoring |Device )");
    /* Intel's compiler names a source by a number that it counts up at each build of the process. */
    static const std::regex includers("\\d+(?=:\\d+:\\d+: (?:fatal error|error|warning|note))|from \\d+(?=:)");
    static const std::regex sizes("size \\d+( wrote \\d+)?");
    const bool is_failed_link = line.find(failed_link) != std::string::npos;
    if (!is_failed_link && !std::regex_search(line, includers))
        return line;
    const std::string own = is_failed_link ? std::regex_replace(line, messages, "") : line;
    return std::regex_replace(std::regex_replace(own, includers, "N"), sizes, "size N");
}

bool has(const std::string &line, const std::string &text)
{
    return line.find(text) != std::string::npos;
}

/* What the calls so far mean for the answers of a loaded program. */
class Expected
{
public:
    /* Notes a call. */
    void see(const std::string &line)
    {
        static const std::regex making("  (P\\d+) = clCreateProgramWithBinary of .*");
        static const std::regex building("  clBuildProgram (P\\d+) .*");
        static const std::regex odd("\"( |\\\\x)| \":|  |-cl-denorms-are-zero");
        std::smatch match;
        files_changed_ = files_changed_ || begins_with(line, "  change ");
        if (std::regex_match(line, match, making))
            rewritten_.insert(match[1]);
        if (std::regex_match(line, match, building) && std::regex_search(match[0].first + 2, line.end(), odd))
            rewritten_.insert(match[1]);
    }

    /* True if a program that Ingot loaded may answer otherwise than the bare driver's program. */
    bool may_differ(const std::string &line, const std::string &other) const
    {
        const std::string object = line.substr(2, line.find(' ', 2) - 2);
        if (has(line, " CL_PROGRAM_BUILD_LOG") && !has(line, "error: ")) /* the header as the directive spells it */
            return lacks_folders(line, other);
        if (has(line, " CL_PROGRAM_BUILD_OPTIONS")) /* without -I, and as the application gave them */
            return rewritten_.count(object) != 0;
        if (has(line, " CL_KERNEL_ATTRIBUTES") || has(line, " CL_KERNEL_ARG_")) /* missing */
            return files_changed_ && is_nothing(other);
        return false;
    }

private:
    /* True if the other log lacks the folders of sequence_files.cpp, and nothing else. An answer without the text has
     * only a size, or none. */
    static bool lacks_folders(const std::string &line, const std::string &other)
    {
        static const std::regex folders("inc_[ab]/(?=t\\.h:)");
        static const std::regex sizes("size (\\d+)( wrote \\d+)?");
        const std::string left = std::regex_replace(line, folders, "");
        const std::string own = without_messages_of_others(left);
        const std::string others = without_messages_of_others(other);
        std::smatch size, other_size;
        if (std::regex_replace(own, sizes, "") != std::regex_replace(others, sizes, ""))
            return false;
        if (!std::regex_search(own, size, sizes) || !std::regex_search(others, other_size, sizes))
            return own == others;
        const long less = std::stol(size[1]) - std::stol(other_size[1]);
        const long removed = static_cast<long>(line.size() - left.size());
        const bool asked = size[1] != "12345"; /* what sequence_queries.cpp sets the size to before it asks */
        return removed != 0 ? less == removed || !asked : less >= 0 && less % 6 == 0;
    }
    static bool is_nothing(const std::string &line)
    {
        static const std::regex nothing(".*: (-19 size \\d+( wrote 0)?|0 size \\d+( wrote [01])?)( \"(\\\\x00)?\")?");
        return std::regex_match(line, nothing);
    }

    std::set<std::string> rewritten_;
    bool files_changed_ = false;
};

std::vector<std::string> compared_lines(const Block &block)
{
    std::vector<std::string> result;
    for (const std::string &line : block.lines)
        if (!is_by_design(line))
            result.push_back(line);
    return result;
}

std::string line_at(const std::vector<std::string> &lines, size_t at)
{
    return at < lines.size() ? lines[at] : "  (nothing more)";
}

/* Returns "" if the blocks are equal. If not, returns their common lines and both versions of the first line that
 * differs. */
std::string difference_of(const Block &bare, const Block &other, const std::string &name)
{
    const std::vector<std::string> expected = compared_lines(bare);
    const std::vector<std::string> found = compared_lines(other);
    std::string text = begin_of(bare.index) + "\n";
    Expected answers;
    size_t at = 0;
    for (; at < expected.size() && at < found.size(); ++at) {
        answers.see(expected[at]);
        if (without_messages_of_others(expected[at]) != without_messages_of_others(found[at]) &&
            !answers.may_differ(expected[at], found[at]))
            break;
        text += expected[at] + "\n";
    }
    if (at == expected.size() && at == found.size())
        return "";
    return text + "bare: " + line_at(expected, at) + "\n" + name + ": " + line_at(found, at) + "\n";
}

} // namespace

const char *const end_line = "end";

std::string begin_of(size_t index)
{
    return "sequence " + std::to_string(index);
}

bool Blocks::next(Block *block)
{
    *block = {0, {}, false};
    if (ahead_.empty() && !std::getline(file_, ahead_))
        return false;
    if (ahead_.compare(0, 9, "sequence ") == 0)
        block->index = std::stoull(ahead_.substr(9));
    while (std::getline(file_, ahead_) && ahead_.compare(0, 9, "sequence ") != 0) {
        block->is_ended = block->is_ended || ahead_ == end_line;
        block->lines.push_back(ahead_);
    }
    if (!file_)
        ahead_.clear();
    return true;
}

Comparison compare(const std::string &bare_path, const std::string &other_path, const std::string &other_name,
                   size_t most)
{
    Comparison result;
    Blocks bares(bare_path);
    Blocks others(other_path);
    Block bare;
    Block other;
    while (result.differences.size() < most && bares.next(&bare)) {
        if (!others.next(&other) || other.index != bare.index) {
            result.differences.push_back({bare.index, other_name + " has no " + begin_of(bare.index) + "\n"});
            return result;
        }
        ++result.sequences;
        result.lines += bare.lines.size();
        result.crashes += bare.is_ended ? 0 : 1;
        const std::string text = bare.is_ended ? difference_of(bare, other, other_name) : "";
        if (!text.empty())
            result.differences.push_back({bare.index, text});
    }
    return result;
}

} // namespace layer
