/*
 * project.h - a program with the files that it may include, and where such programs come from.
 */
#ifndef INGOT_TESTS_HERMETIC_PROJECT_H
#define INGOT_TESTS_HERMETIC_PROJECT_H

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

/* Writes the files below the folder `root`, and puts it in the place of @ROOT@. */
void write_project(Project *project, const std::string &root);
/* Describes the whole project, with control characters spelled out. */
std::string describe_project(const Project &project);
std::string describe_text(const std::string &text);
std::string read_file(const std::string &path);

/* project_generator.cpp: the same for the same seed, index and language. */
Project generate_project(uint64_t seed, uint64_t index, bool is_cuda);

/* program_sets.cpp: examples/digits, the programs below tests/hermetic/programs, and those of the package
 * hashcat-data. */
std::vector<Project> list_digits();
std::vector<Project> list_own();
std::vector<Project> list_hashcat(bool is_cpu);

} // namespace hermetic

#endif
