/*
 * preprocess.h - preprocesses an OpenCL C text with clang, for tests that compare a text that includes files with the
 * text without includes that Ingot makes of it.
 */
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "support/child_process.h"

struct Preprocessed {
    int exit_status;
    std::string text; /* tokens, without line markers and empty lines */
};

/* Replaces white space that contains a line feed with one line feed, and removes it at both ends. */
inline std::string without_empty_lines(const std::string &text)
{
    std::string shorter;
    shorter.reserve(text.size());
    char blank = 0; /* the white space since the last word */
    for (const char c : text) {
        if (c == '\n' || ((c == ' ' || c == '\t') && blank != '\n')) {
            blank = c;
            continue;
        }
        if (c == ' ' || c == '\t')
            continue;
        if (blank != 0 && !shorter.empty())
            shorter += blank;
        blank = 0;
        shorter += c;
    }
    return shorter;
}

/* Preprocesses a file in the working directory, where its includes are searched for first. */
inline Preprocessed preprocess(const std::string &path, const std::vector<std::string> &options)
{
    std::vector<std::string> arguments = {CLANG, "-E", "-P", "-x", "cl", "-w", "-cl-no-stdinc"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.push_back(path);
    child_process::Child child(arguments, path + ".tokens");
    const int status = child.wait();
    return {status, without_empty_lines(child.output())};
}
