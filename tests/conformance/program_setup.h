/*
 * program_setup.h - builds a program and its files in a separate process: by Ingot with a store, or by the compiler
 * alone.
 *
 * The included files determine the names of the kernels, so that the names identify the program even on devices that
 * compute nothing.
 */
#pragma once

#include "conformance/device_under_test.h"

namespace conformance
{

struct ProgramSetup {
    std::string source;
    std::string options{};
    std::vector<std::pair<std::string, std::string>> files{};   /* path, content; written before the build */
    std::vector<std::pair<std::string, std::string>> headers{}; /* embedded */
    Environment environment{};
    std::string name{}; /* of the source */
    /* A variable NAME=VALUE that the process sets once it has the program's id, or "". */
    std::string late_variable{};
};

struct BuildResult {
    std::string origin; /* "built", "storage", "failed", or "unrecorded" */
    std::string kernels;
    std::string log;    /* what the compiler said */
    std::string reason; /* why the program is not cacheable, or "" */

    bool is_cacheable() const { return reason.empty() && origin != "failed"; }
};

/* A directory of files, in which programs are built one after the other. */
class Workplace
{
public:
    Workplace(); /* a new directory below the working directory */

    const std::string &path() const { return path_; }
    void write(const std::string &path, const std::string &content) const;
    /* Builds with Ingot and the workplace's store. */
    BuildResult build(const ProgramSetup &setup) const;
    /* Deletes the files, and builds into a separate store all programs whose requests earlier calls to build()
     * recorded. */
    BuildResult build_requests(const ProgramSetup &setup) const;
    /* Builds with the store that build_requests() filled. */
    BuildResult build_after_requests(const ProgramSetup &setup) const;
    /* Builds as the application would without Ingot. The driver's own caches are moved out of the way. */
    BuildResult build_natively(const ProgramSetup &setup) const;

private:
    BuildResult run(const char *part, const ProgramSetup &setup, const Environment &more) const;

    std::string path_;
};

/* Builds both programs, one process after the other, with one store. Each program must be what the compiler alone
 * makes. With `must_differ`, the two programs must differ, because otherwise the test shows nothing. Returns true if
 * both are cacheable; a program that is not can never be stale. */
bool expect_not_stale(const ProgramSetup &first, const ProgramSetup &second, bool must_differ = true);
/* Builds the program twice with one store. Both times, it must equal the program that the compiler alone makes. Returns
 * true if it is cacheable; the second process must then have loaded it. */
bool expect_like_native(const ProgramSetup &setup);

/* Returns a text that defines the name of a kernel. */
std::string named(const std::string &name);
/* Expects that a program is not stale after the file at `path`, which named() gives it, was changed. Returns true if it
 * is cacheable. */
bool expect_seen(ProgramSetup setup, const std::string &path);
/* Does as expect_not_stale with two option strings, in both orders. */
void expect_told_apart(ProgramSetup setup, const std::string &one, const std::string &other, bool must_differ = true);

/* Returns the names of kernels as in a BuildResult: sorted as in a blob, each followed by a space. */
std::string joined(std::vector<std::string> names);

/* Implemented by the backend's file: returns what its compiler makes of the program, without Ingot. */
BuildResult compile_natively(const ProgramSetup &setup);

/* If the arguments name a part, runs it, sets *exit_status, and returns true. */
bool run_setup_as_child(int argc, char **argv, int *exit_status);

} // namespace conformance
