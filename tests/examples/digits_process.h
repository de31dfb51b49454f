/*
 * digits_process.h - runs the digits example in a process and reads its JSON report.
 *
 * The device is the one that scripts/with-device gives. Each process gets its own empty driver cache, so a program that
 * it does not compile comes from Ingot's store.
 */
#pragma once

#include "support/child_process.h"

#include <sys/stat.h>

#include <memory>

namespace digits
{

constexpr size_t program_count = 8;

/* True if the device computes results. Simulated devices do not. */
inline bool computes()
{
    const char *device = std::getenv("INGOT_TEST_DEVICE");
    return device != nullptr && std::string(device) == "pocl";
}

class DigitsProcess
{
public:
    /* Starts the example. The name distinguishes this run's files from those of other runs in the working directory. */
    DigitsProcess(const std::string &name, const std::vector<std::string> &options) : json_path_(name + ".json")
    {
        const std::string driver_cache = "driver-cache-" + name;
        mkdir(driver_cache.c_str(), 0700);
        std::vector<std::string> arguments = {DIGITS_PROGRAM, "--json", json_path_};
        arguments.insert(arguments.end(), options.begin(), options.end());
        if (!computes())
            arguments.push_back("--no-run");
        child_ = std::make_unique<child_process::Child>(
            arguments, name + ".log", child_process::Child::Environment{{"POCL_CACHE_DIR", driver_cache}});
    }

    int wait() { return child_->wait(); }
    std::string output() const { return child_->output(); }

    /* Returns the value of a member of the report, as text, or "" if it is missing. */
    std::string value(const std::string &member) const
    {
        const std::string json = report(), label = "\"" + member + "\": ";
        const size_t at = json.find(label);
        if (at == std::string::npos)
            return "";
        const size_t begin = at + label.size();
        return json.substr(begin, json.find_first_of(",\n}", begin) - begin);
    }

    size_t count_origin(const std::string &origin) const
    {
        const std::string json = report(), member = "\"origin\": \"" + origin + "\"";
        size_t count = 0;
        for (size_t at = json.find(member); at != std::string::npos; at = json.find(member, at + 1))
            ++count;
        return count;
    }

private:
    std::string report() const
    {
        std::ifstream file(json_path_);
        return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }

    std::string json_path_;
    std::unique_ptr<child_process::Child> child_;
};

} // namespace digits
