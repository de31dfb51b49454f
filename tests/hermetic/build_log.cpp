/*
 * build_log.cpp - makes build logs comparable; see build_log.h.
 *
 * It removes the folders from every path, in messages and in the lines of code that they show. It replaces the names
 * that compilers invent for a source by a constant name. PoCL invents a temporary file's name, and Intel's compiler
 * uses the build's number.
 */
#include "hermetic/build_log.h"

#include <cstring>

namespace hermetic
{

namespace
{

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
