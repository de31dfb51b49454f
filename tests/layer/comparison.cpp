/*
 * comparison.cpp - compares two transcripts, sequence by sequence. Only the lines that by_design lists may differ.
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
    {"  C", " has ended", "a context lives on until its programs were stored"},
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

/* Returns the name of a program that the line makes from a binary, or "". */
std::string copy_made_in(const std::string &line)
{
    const size_t made = line.find(" = clCreateProgramWithBinary of ");
    return made != std::string::npos ? line.substr(0, made) : "";
}

/* By design, the options in the binary of a program with included files lack -I, and so do those of its copies. */
bool is_options_of(const std::set<std::string> &copies, const std::string &line)
{
    const size_t on = line.find(" on D");
    return on != std::string::npos && line.find(" CL_PROGRAM_BUILD_OPTIONS") != std::string::npos &&
           copies.count(line.substr(0, on)) != 0;
}

std::vector<std::string> compared_lines(const Block &block)
{
    std::vector<std::string> result;
    std::set<std::string> copies;
    for (const std::string &line : block.lines) {
        copies.insert(copy_made_in(line));
        if (!is_by_design(line) && !is_options_of(copies, line))
            result.push_back(without_messages_of_others(line));
    }
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
    if (expected == found)
        return "";
    std::string text = begin_of(bare.index) + "\n";
    size_t at = 0;
    for (; at < expected.size() && at < found.size() && expected[at] == found[at]; ++at)
        text += expected[at] + "\n";
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
