/*
 * whole_file.h - reads and writes whole files.
 */
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace whole_file
{

/* Returns "" if there is no such file. */
inline std::string read(const std::filesystem::path &path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/* Makes the folders of the path that do not exist. */
inline void write(const std::filesystem::path &path, const std::string &text)
{
    if (path.has_parent_path())
        std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
}

} // namespace whole_file
