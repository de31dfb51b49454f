/*
 * program_setup.h - a program with its files, built in a separate process: by Ingot with a store, or by the compiler
 * alone.
 *
 * The included files determine the names of the kernels, so that the names identify the program even on devices that
 * compute nothing.
 */
#ifndef INGOT_TESTS_CONFORMANCE_PROGRAM_SETUP_H
#define INGOT_TESTS_CONFORMANCE_PROGRAM_SETUP_H

#include <string>
#include <utility>
#include <vector>

#include "conformance/device_under_test.h"

namespace conformance
{

struct ProgramSetup {
    std::string source;
    std::string options{};
    std::vector<std::pair<std::string, std::string>> files{};   /* path, content; written before the build */
    std::vector<std::pair<std::string, std::string>> headers{}; /* embedded */
    Environment environment{};
    std::string name{}; /* the source's */
};

struct BuildResult {
    std::string origin; /* "built", "storage", or "failed" */
    std::string kernels;
    std::string log;    /* what the compiler said */
    std::string reason; /* why it is not cacheable, or "" */

    bool is_cacheable() const { return reason.empty() && origin != "failed"; }
};

/* A directory of files, in which programs are built one after the other. */
class Workplace
{
public:
    Workplace(); /* a new directory below the working directory */

    const std::string &path() const { return path_; }
    void write(const std::string &path, const std::string &content) const;
    /* By Ingot, with the workplace's store. */
    BuildResult build(const ProgramSetup &setup) const;
    /* As the application would without Ingot. The driver's own caches are put aside. */
    BuildResult build_natively(const ProgramSetup &setup) const;

private:
    BuildResult run(const char *part, const ProgramSetup &setup, const Environment &more) const;

    std::string path_;
};

/* Builds both, one process after the other with one store. Each program is what the compiler makes of it alone, or is
 * not cacheable. The two programs must differ, else nothing is shown. */
void expect_not_stale(const ProgramSetup &first, const ProgramSetup &second, bool must_differ = true);
/* Twice with one store: the program is the compiler's, or not cacheable. True if it is cacheable; then the second
 * process loads it. */
bool expect_like_native(const ProgramSetup &setup);

/* Of the backend: what its compiler makes of the program, without Ingot. */
BuildResult compile_natively(const ProgramSetup &setup);

/* Runs the part that the arguments name, if they do. */
bool run_setup_as_child(int argc, char **argv, int *exit_status);

} // namespace conformance

#endif
