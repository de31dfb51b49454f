/*
 * reduce.cpp - reduces a project that shows a difference; see reduce.h.
 */
#include "hermetic/reduce.h"

#include <algorithm>

namespace hermetic
{

namespace
{

using Test = std::function<bool(const Project &)>;

std::vector<std::string> lines_of(const std::string &text)
{
    std::vector<std::string> lines;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
        lines.push_back(text.substr(at, end - at));
        at = end;
    }
    return lines;
}

std::string text_without(const std::vector<std::string> &lines, size_t from, size_t end)
{
    std::string text;
    for (size_t i = 0; i < lines.size(); ++i)
        if (i < from || i >= end)
            text += lines[i];
    return text;
}

/* Removes lines of `text`, which is a part of the project, as long as the project stays interesting. */
void reduce_text(const Project &project, std::string *text, const Test &is_interesting)
{
    for (size_t size = 16; size != 0; size /= 2) {
        for (size_t at = 0; at < lines_of(*text).size();) {
            const std::string before = *text;
            *text = text_without(lines_of(before), at, at + size);
            if (text->empty() || !is_interesting(project)) {
                *text = before;
                at += size;
            }
        }
    }
}

} // namespace

Project reduce_project(const Project &project, const Test &is_interesting)
{
    Project small = project;
    for (const auto &[path, content] : project.files) {
        small.files.erase(path);
        if (!is_interesting(small))
            small.files[path] = content;
    }
    reduce_text(small, &small.source, is_interesting);
    for (auto &[path, content] : small.files)
        reduce_text(small, &content, is_interesting);
    return small;
}

} // namespace hermetic
