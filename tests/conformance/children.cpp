/*
 * children.cpp - runs parts of a test in a separate process; see children.h.
 *
 * The test starts itself with `--child PART FILE`. If a driver runs a compiler or linker as a separate program, the
 * process that called the driver has child processes, and their resource usage shows it.
 */
#include "conformance/children.h"

#include <sys/resource.h>

#include <cstring>
#include <iostream>
#include <sstream>

#include "support/child_process.h"

namespace conformance
{

static std::string fresh_name(const char *kind)
{
    static int count = 0;
    return std::string("child-") + std::to_string(getpid()) + "-" + std::to_string(count++) + "." + kind;
}

static std::string run_child(const char *part, const std::string &file, const Environment &environment)
{
    child_process::Child::Environment variables(environment.begin(), environment.end());
    child_process::Child child({"/proc/self/exe", "--child", part, file}, fresh_name("out"), variables);
    EXPECT_EQ(0, child.wait()) << part << ": " << child.output();
    return child.output();
}

Bytes id_in_child(const Environment &environment)
{
    const std::string file = fresh_name("id");
    run_child("id", file, environment);
    return read_file(file);
}

Bytes blob_in_child(const Environment &environment, bool is_second)
{
    const std::string file = fresh_name("blob");
    run_child(is_second ? "second blob" : "blob", file, environment);
    return read_file(file);
}

static std::string last_line(const std::string &text)
{
    const std::string trimmed = text.substr(0, text.find_last_not_of('\n') + 1);
    return trimmed.substr(trimmed.find_last_of('\n') + 1);
}

std::string warm_in_child(const Bytes &blob, const Environment &environment)
{
    const std::string file = fresh_name("blob");
    write_file(file, blob);
    return last_line(run_child("warm", file, environment));
}

std::string cold_in_child(const Environment &environment)
{
    return last_line(run_child("cold", "none", environment));
}

std::string status_in_child(const Bytes &blob, const Environment &environment)
{
    const std::string file = fresh_name("blob");
    write_file(file, blob);
    return last_line(run_child("try", file, environment));
}

static bool had_children()
{
    rusage usage{};
    return getrusage(RUSAGE_CHILDREN, &usage) != 0 || usage.ru_minflt + usage.ru_majflt > 0;
}

static void report(const Context &context, const Program &program, const char *origin)
{
    DeviceUnderTest &device = device_under_test();
    std::ostringstream line;
    line << origin;
    if (device.executes())
        line << ' ' << device.run(context.get(), create_kernel(program, "twice").get(), 21, 4);
    line << (had_children() ? " helped" : " alone");
    std::cout << line.str() << std::endl;
}

bool run_as_child(int argc, char **argv, int *exit_status)
{
    if (argc != 4 || strcmp(argv[1], "--child") != 0)
        return false;
    const std::string part = argv[2];
    const Context context = make_context();
    const Desc desc = describe(context, device_under_test().two_kernels());
    if (part == "id") {
        write_file(argv[3], id_of(desc));
    } else if (part == "blob" || part == "second blob") {
        const Program program = create_program(desc);
        if (part == "second blob")
            (void)blob_of(program);
        report(context, program, "built");
        write_file(argv[3], blob_of(program));
    } else if (part == "warm") {
        report(context, load(desc, read_file(argv[3])), "loaded");
    } else if (part == "try") {
        std::cout << ingot_status_name(load_program(desc, read_file(argv[3]))) << std::endl;
    } else if (part == "cold") {
        report(context, create_program(desc), "built");
    } else {
        std::cerr << "no part " << part << std::endl;
        *exit_status = 2;
        return true;
    }
    *exit_status = testing::Test::HasFailure() ? 1 : 0;
    return true;
}

} // namespace conformance
