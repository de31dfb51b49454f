/*
 * transcript.cpp - writes a transcript; see transcript.h. Flushes each line, because the next call may crash.
 */
#include "layer/transcript.h"

#include <algorithm>
#include <stdexcept>

namespace layer
{

static bool is_of_file_name(char c)
{
    return c > ' ' && c != '"' && c != '\'' && c != ':' && c != '<';
}

/* Removes names such as "/a/tempfile_AbCdEf.cl" and "/a/tempdir_AbCdEf/b.h", which differ in each build. */
static std::string without_temporary_files(std::string text)
{
    for (size_t at = 0; (at = std::min(text.find("tempfile", at), text.find("tempdir_", at))) != std::string::npos;) {
        size_t begin = at;
        while (begin > 0 && is_of_file_name(text[begin - 1]))
            --begin;
        size_t end = at;
        while (end < text.size() && is_of_file_name(text[end]))
            ++end;
        text.replace(begin, end - begin, "(temporary)");
        at = begin + 1;
    }
    return text;
}

std::string escaped(const std::string &text)
{
    std::string result = "\"";
    for (const char c : without_temporary_files(text)) {
        char code[8];
        std::snprintf(code, sizeof(code), "\\x%02x", static_cast<unsigned char>(c));
        if (c == '\n')
            result += "\\n";
        else if (c == '"' || c == '\\')
            result += std::string("\\") + c;
        else if (c >= ' ' && c < 127)
            result += c;
        else
            result += code;
    }
    return result + "\"";
}

Transcript::Transcript(const std::string &path) : file_(std::fopen(path.c_str(), "a"))
{
    if (file_ == nullptr)
        throw std::runtime_error("cannot write " + path);
}

Transcript::~Transcript()
{
    (void)std::fclose(file_);
}

void Transcript::line(const std::string &text)
{
    (void)std::fputs((text + "\n").c_str(), file_);
    (void)std::fflush(file_);
}

std::string Transcript::of(const void *handle) const
{
    if (handle == nullptr)
        return "NULL";
    const auto known = names_.find(handle);
    return known == names_.end() ? "a stranger" : known->second;
}

} // namespace layer
