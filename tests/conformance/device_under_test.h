/*
 * device_under_test.h - the class that a backend's author implements for the conformance suite.
 *
 * The suite uses only the public API. A backend adds one file that implements this class for its devices and defines
 * device_under_test(). It links the suite's files, and must pass every test. No test is skipped because a device lacks
 * something, except where a function below says so.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ingot/ingot.h>

namespace conformance
{

struct SourceText {
    ingot_source_kind_t kind;
    std::string bytes;
};

/* A description of a program. */
struct ProgramText {
    std::vector<SourceText> sources;
    std::vector<std::pair<std::string, std::string>> headers{}; /* name, text */
    std::string compile_options{};
    std::string link_options{};
    std::vector<std::pair<uint32_t, uint32_t>> spec_constants{}; /* id, value of 4 bytes */
    std::vector<uint32_t> devices{};                             /* indices in the context; empty: all */
    std::string group{};
    std::string source_name{}; /* of each source */
    std::vector<const char *> name_expressions{};
};

/* Environment variables of a new process: name, value. */
using Environment = std::vector<std::pair<std::string, std::string>>;

class DeviceUnderTest
{
public:
    virtual ~DeviceUnderTest() = default;

    /* Makes a context for these devices of the machine. Throws if one does not exist. Device 0 always exists. */
    virtual ingot_context_t make_context(const std::vector<uint32_t> &devices, const ingot_context_info_t &info) = 0;
    /* Returns a second device that is equal to device 0. If the machine has none, has_equal_device() returns false,
     * and the tests leave out what needs two. */
    virtual uint32_t equal_device() const = 0;
    virtual bool has_equal_device() const { return true; }
    /* Returns a device that differs from device 0 and can be in the same context, if the machine has one. */
    virtual std::optional<uint32_t> different_device() const { return std::nullopt; }
    /* Returns environment variables that make device 0 of a new process a different device. */
    virtual Environment environment_of_another_device() const = 0;
    /* Returns environment variables that make device 0 of a new process one whose code device 0 cannot run. Returns
     * none if no variable can do that. */
    virtual Environment environment_of_incompatible_device() const { return environment_of_another_device(); }
    /* Returns environment variables that make the driver or compiler of a new process a different one. Returns none if
     * no variable can do that. */
    virtual Environment environment_of_another_driver() const { return {}; }

    /* Returns kernels "twice" (x + x) and "square" (x * x). If the compiler ever writes messages, it writes one about
     * these kernels. */
    virtual ProgramText two_kernels() const = 0;
    /* Returns kernel "add" (x + AMOUNT). An option defines AMOUNT. */
    virtual ProgramText with_option(int amount) const = 0;
    /* Returns a program that the compiler refuses, with "no_such_name" in its log. */
    virtual ProgramText failing() const = 0;
    /* Returns a program that compiles but does not link, because a function is missing. */
    virtual ProgramText not_linking() const = 0;
    /* Returns kernel "call" (x + 5), which calls a function in another source. */
    virtual ProgramText several_sources() const = 0;
    /* Returns kernel "add" (x + AMOUNT). The embedded header "amount.h" defines AMOUNT. */
    virtual ProgramText with_header(int amount) const = 0;
    /* True if sources are text. Text can include files, and some programs of text are not cacheable. If false, the
     * suite does not call with_include() and not_cacheable(). */
    virtual bool includes_files() const { return true; }
    /* Returns kernel "add" (x + AMOUNT). A file "amount.h" in this directory defines AMOUNT. */
    virtual ProgramText with_include(const std::string &directory) const = 0;
    virtual std::string amount_header(int amount) const = 0;
    /* Returns a program that is not cacheable (INGOT_NOT_CACHEABLE). */
    virtual ProgramText not_cacheable() const = 0;
    /* Returns an option that does not change what is computed. The compiler accepts it, and so does the linker, if the
     * linker takes options. */
    virtual std::string harmless_option() const = 0;
    virtual bool takes_link_options() const = 0;

    /* True if the backend takes specialization constants. specialized() then returns kernel "specialized", which
     * computes the value of constant 3 (5 by default). */
    virtual bool takes_spec_constants() const = 0;
    virtual ProgramText specialized() const = 0;

    /* False if the driver ends the process or compiles when it loads a wrong binary, and nothing can prevent that. The
     * suite then does not check that the backend refuses binaries that are damaged or of another device. */
    virtual bool refuses_wrong_binaries() const { return true; }

    /* True if kernels compute results. run() then launches the kernel with this local size on device 0, and returns its
     * result for x. */
    virtual bool executes() const = 0;
    virtual int run(ingot_context_t context, ingot_kernel_t kernel, int x, size_t local_size = 1) = 0;
};

/* Defined by the backend's file. The first call makes the device. */
DeviceUnderTest &device_under_test();

} // namespace conformance
