/*
 * project.h - describes a project, which is a program with the files that it may include, and makes projects.
 */
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hermetic
{

struct Project {
    std::string label;
    std::map<std::string, std::string> files; /* below the current directory */
    std::string source;
    std::string options; /* @ROOT@ stands for the current directory */
};

/* Writes the files below the folder `root`, and replaces @ROOT@ in the options by its path. */
void write_project(Project *project, const std::string &root);
/* Returns the whole project as text. describe_text writes characters that are not printable ASCII as \xNN. */
std::string describe_project(const Project &project);
std::string describe_text(const std::string &text);
std::string read_file(const std::string &path);

/* project_generator.cpp: generates a project that depends only on the seed, the index and the language. */
Project generate_project(uint64_t seed, uint64_t index, bool is_cuda);

} // namespace hermetic
