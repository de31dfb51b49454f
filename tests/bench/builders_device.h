/*
 * builders_device.h - the device of a process of the builders' benchmark: programs for it, and the front door's calls.
 */
#pragma once

#include "bench/measuring.h"

#include <ingot/pending.h>

#include <memory>

namespace builders
{

struct Program {
    std::string source;
    std::string options;
};

/* A device with a native context. */
class Device
{
public:
    virtual ~Device() = default;

    /* Returns programs of about equal size, at most 100. */
    virtual std::vector<Program> list_programs(size_t count) const = 0;
    /* Returns the beginning of a kernel f with the parameter "unsigned *x" in global memory. */
    virtual std::string head() const = 0;

    virtual ingot_status_t begin(ingot_cache_t cache, const Program &program, ingot_pending_t *pending) const = 0;
    /* Both release the native program. */
    virtual ingot_status_t take(ingot_pending_t pending, ingot_origin_t *origin) const = 0;
    virtual ingot_status_t build(ingot_cache_t cache, const Program &program, ingot_origin_t *origin) const = 0;

    /* A small program that differs for each number. */
    Program small(unsigned number) const;
    /* A program of so many branches, which compiles for seconds if there are thousands. */
    Program large(unsigned branches) const;
};

/* Opens the device that scripts/with-device shows: "cuda", or the first device of the only OpenCL platform. */
std::unique_ptr<Device> open_device(const std::string &name);

} // namespace builders
