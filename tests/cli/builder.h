/*
 * builder.h - a store whose programs are begun through the front door and answered by `ingot build --watch`.
 */
#pragma once

#include <ingot/opencl.hpp>

#include "cli/tool.h"
#include "support/begun_opencl.h"
#include "support/server_process.h"

constexpr uint64_t kLongMs = 120000;

using begun_opencl::source_of;
using begun_opencl::take;

class CliBuilder : public CliTest
{
protected:
    using Environment = std::map<std::string, std::string>;

    CliBuilder() : native_(std::vector<cl_device_id>{OpenclPlatform::get().devices()[0]}) {}

    /* Runs a builder of the store that ends after a time without a wish. */
    Result build_until_idle(const Environment &environment = {}, const std::vector<std::string> &more = {}) const
    {
        std::vector<std::string> arguments = {CLI_PROGRAM, "build", "--watch", "--dir", root().string(),
                                              "--jobs",    "1",     "--idle",  "2s"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        child_process::Child child(arguments, (scratch() / "builder").string(), environment);
        const int code = child.wait();
        EXPECT_EQ(0, code) << child.output();
        return Result(code, child.output());
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
        return begun_opencl::begin(cache.get(), native_.native(), source);
    }
    size_t wish_count() const
    {
        return static_cast<size_t>(std::distance(fs::directory_iterator(root() / "wanted"), fs::directory_iterator()));
    }

    OpenclContext native_;
};
