/*
 * project.cpp - writes projects to files, and describes them as readable text.
 */
#include "hermetic/project.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace hermetic
{

std::string describe_text(const std::string &text)
{
    std::string out;
    char code[8];
    for (const char c : text) {
        const unsigned char byte = static_cast<unsigned char>(c);
        if (byte == '\n' || (byte >= ' ' && byte < 0x7f)) {
            out += c;
            continue;
        }
        (void)std::snprintf(code, sizeof(code), "\\x%02x", byte);
        out += code;
    }
    return out;
}

std::string read_file(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    if (!file)
        throw std::runtime_error("cannot read " + path);
    text << file.rdbuf();
    return text.str();
}

void write_project(Project *project, const std::string &root)
{
    for (const auto &[path, content] : project->files) {
        const std::filesystem::path whole = std::filesystem::path(root) / path;
        std::filesystem::create_directories(whole.parent_path());
        std::ofstream file(whole, std::ios::binary);
        file << content;
        if (!file)
            throw std::runtime_error("cannot write " + whole.string());
    }
    const std::string mark = "@ROOT@";
    for (size_t at = 0; (at = project->options.find(mark, at)) != std::string::npos; at += root.size())
        project->options.replace(at, mark.size(), root);
}

std::string describe_project(const Project &project)
{
    std::string text = "options: " + describe_text(project.options) + "\n";
    text += "==== source\n" + describe_text(project.source) + "\n";
    for (const auto &[path, content] : project.files)
        text += "==== " + path + "\n" + describe_text(content) + "\n";
    return text;
}

} // namespace hermetic
