/*
 * arguments.h - what the main functions of equality, option_fuzz and compose_fuzz share.
 */
#pragma once

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <stdexcept>

#include "hermetic/compilers.h"

namespace hermetic
{

/* Arguments of the form --NAME VALUE. Names without a default are rejected. */
class Arguments
{
public:
    Arguments(int count, char **words, std::map<std::string, std::string> defaults) : values_(std::move(defaults))
    {
        for (int i = 1; i < count; i += 2) {
            const std::string name = words[i];
            if (name.compare(0, 2, "--") != 0 || values_.count(name.substr(2)) == 0 || i + 1 == count)
                throw std::runtime_error("unknown argument, or one without its value: " + name);
            values_[name.substr(2)] = words[i + 1];
        }
    }

    const std::string &text(const std::string &name) const { return values_.at(name); }
    uint64_t number(const std::string &name) const
    {
        char *end = nullptr;
        const uint64_t value = std::strtoull(text(name).c_str(), &end, 10);
        if (end == text(name).c_str() || *end != '\0')
            throw std::runtime_error("--" + name + ": not a number: " + text(name));
        return value;
    }

private:
    std::map<std::string, std::string> values_;
};

/* Makes the compiler that --device and --platform name. Must be called only in a child process. */
inline std::unique_ptr<Compiler> make_compiler(const Arguments &arguments)
{
    if (arguments.text("device") == "nvrtc")
        return make_nvrtc_compiler();
#if HERMETIC_HAS_HIP
    if (arguments.text("device") == "hiprtc")
        return make_hiprtc_compiler();
#endif
    if (arguments.text("device") != "opencl")
        throw std::runtime_error("--device: opencl, nvrtc or hiprtc");
    return make_opencl_compiler(arguments.text("platform"));
}

inline std::time_t deadline_of(const Arguments &arguments)
{
    const uint64_t minutes = arguments.number("minutes");
    return minutes == 0 ? 0 : std::time(nullptr) + static_cast<std::time_t>(60 * minutes);
}

/* Calls run() with the arguments, of which `more` are the program's own. Returns the exit status: 0 if it returns true.
 */
template <typename Run>
int run_with_arguments(int count, char **words, const char *program, std::map<std::string, std::string> more, Run run)
{
    more.insert(
        {{"device", "opencl"}, {"platform", ""}, {"seed", "1"}, {"first", "0"}, {"count", "100"}, {"minutes", "0"}});
    try {
        return run(Arguments(count, words, std::move(more))) ? 0 : 1;
    } catch (const std::exception &problem) {
        std::fprintf(stderr, "%s: %s\n", program, problem.what());
        return 2;
    }
}

} // namespace hermetic
