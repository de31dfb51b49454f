/*
 * transcript.h - writes what a sequence of OpenCL calls returned, one line per call. Equal runs write the same bytes:
 * handles appear by name, and addresses never appear.
 */
#pragma once

#include <cstdio>
#include <map>
#include <string>

#include "support/not_copied.h"

namespace layer
{

/* Marks queries for the log of a program that did not link. */
constexpr const char *failed_link = " of a program that did not link";

template <typename Number> std::string number(Number value)
{
    return std::to_string(value);
}

/* Returns a text on one line, without the names of PoCL's temporary files. */
std::string escaped(const std::string &text);

class Transcript : NotCopied
{
public:
    /* Appends to the file. */
    explicit Transcript(const std::string &path);
    ~Transcript();

    void line(const std::string &text);

    /* Later names replace earlier ones, because a driver may use an address again. */
    void name(const void *handle, const std::string &name) { names_[handle] = name; }
    /* Returns the name of a handle, "NULL" for NULL, or "a stranger" for a handle without a name. */
    std::string of(const void *handle) const;
    void forget_names() { names_.clear(); }

private:
    std::FILE *file_;
    std::map<const void *, std::string> names_;
};

} // namespace layer
