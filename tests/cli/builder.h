/*
 * builder.h - a store whose programs are begun through the front door and answered by `ingot build --watch`.
 */
#pragma once

#include <ingot/opencl.hpp>
#include <ingot/pending.h>

#include "cli/tool.h"
#include "support/child_process.h"
#include "support/opencl_platform.h"
#include "support/server_process.h"

constexpr uint64_t kLongMs = 120000;

inline std::string source_of(int number)
{
    return "kernel void f(global float *x) { x[get_global_id(0)] *= " + std::to_string(number) + "; }";
}

class CliBuilder : public CliTest
{
protected:
    using Environment = std::map<std::string, std::string>;

    CliBuilder() : native_(std::vector<cl_device_id>{OpenclPlatform::get().devices()[0]}) {}

    /* Runs a builder of the store that ends after a time without a wish. */
    std::string build_until_idle(const Environment &environment = {}, const std::vector<std::string> &more = {}) const
    {
        std::vector<std::string> arguments = {CLI_PROGRAM, "build", "--watch", "--dir", root().string(),
                                              "--jobs",    "1",     "--idle",  "2s"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        child_process::Child child(arguments, (scratch() / "builder").string(), environment);
        EXPECT_EQ(0, child.wait()) << child.output();
        return child.output();
    }
    Result tool(std::vector<std::string> arguments) const
    {
        arguments.insert(arguments.begin(), CLI_PROGRAM);
        return run_command(arguments);
    }
    ingot::cache open(const fs::path &directory, bool uses_environment = false) const
    {
        const std::string path = directory.string();
        ingot_cache_info_t info = INGOT_CACHE_INFO_INIT;
        info.directory = path.c_str();
        info.flags = uses_environment ? 0 : INGOT_CACHE_OPEN_IGNORE_ENVIRONMENT;
        return ingot::cache(info);
    }
    ingot_pending_t begin(const ingot::cache &cache, const std::string &source) const
    {
        const cl_device_id device = OpenclPlatform::get().devices()[0];
        ingot_pending_t pending = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_cache_opencl_begin(cache.get(), native_.native(), 1, &device, source.data(),
                                                          source.size(), "", &pending))
            << ingot_last_error_detail();
        return pending;
    }
    size_t wish_count() const
    {
        return static_cast<size_t>(std::distance(fs::directory_iterator(root() / "wanted"), fs::directory_iterator()));
    }
    static ingot_origin_t take(ingot_pending_t pending, ingot_status_t expected = INGOT_SUCCESS)
    {
        cl_program program = nullptr;
        ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
        EXPECT_EQ(expected, ingot_cache_opencl_take(pending, &program, &origin)) << ingot_last_error_detail();
        if (program != nullptr) {
            EXPECT_EQ(CL_SUCCESS, clReleaseProgram(program));
        }
        return origin;
    }

    OpenclContext native_;
};
