/*
 * builders_device.cpp - the device of a process of the builders' benchmark, for OpenCL and CUDA.
 */
#include "bench/builders_device.h"

#include "bench/startup_setup.h"

#ifdef BENCH_HAS_CUDA
#include "support/cuda_driver.h"
#endif

#include <sstream>

namespace builders
{

namespace
{

std::vector<Program> programs_of(const std::string &set, size_t count)
{
    std::vector<Program> programs;
    for (const startup::ProgramFile &file : startup::list_programs(set, false))
        if (programs.size() < count)
            programs.push_back({bench::text_of(file.path), file.options});
    bench::require(programs.size() == count, "there are only 100 programs");
    return programs;
}

class OpenclDevice : public Device
{
public:
    std::vector<Program> list_programs(size_t count) const override { return programs_of("100 layers", count); }
    std::string head() const override { return "kernel void f(global unsigned *x) {"; }

    ingot_status_t begin(ingot_cache_t cache, const Program &program, ingot_pending_t *pending) const override
    {
        return ingot_cache_opencl_begin(cache, setup_.native, 1, &setup_.device, program.source.data(),
                                        program.source.size(), program.options.c_str(), pending);
    }
    ingot_status_t take(ingot_pending_t pending, ingot_origin_t *origin) const override
    {
        cl_program native = nullptr;
        return released(ingot_cache_opencl_take(pending, &native, origin), native);
    }
    ingot_status_t build(ingot_cache_t cache, const Program &program, ingot_origin_t *origin) const override
    {
        cl_program native = nullptr;
        const ingot_status_t status =
            ingot_cache_opencl_build(cache, setup_.native, 1, &setup_.device, program.source.data(),
                                     program.source.size(), program.options.c_str(), &native, origin);
        return released(status, native);
    }

private:
    static ingot_status_t released(ingot_status_t status, cl_program native)
    {
        if (native != nullptr)
            clReleaseProgram(native);
        return status;
    }

    startup::NativeSetup setup_;
};

#ifdef BENCH_HAS_CUDA
class CudaDevice : public Device
{
public:
    std::vector<Program> list_programs(size_t count) const override { return programs_of("100 CUDA layers", count); }
    std::string head() const override { return "extern \"C\" __global__ void f(unsigned *x) {"; }

    ingot_status_t begin(ingot_cache_t cache, const Program &program, ingot_pending_t *pending) const override
    {
        const Options options(program);
        return ingot_cache_cuda_begin(cache, native_, program.source.data(), program.source.size(), "program.cu",
                                      options.texts.data(), options.texts.size(), pending);
    }
    ingot_status_t take(ingot_pending_t pending, ingot_origin_t *origin) const override
    {
        CUmodule module = nullptr;
        return released(ingot_cache_cuda_take(pending, &module, origin), module);
    }
    ingot_status_t build(ingot_cache_t cache, const Program &program, ingot_origin_t *origin) const override
    {
        const Options options(program);
        CUmodule module = nullptr;
        const ingot_status_t status =
            ingot_cache_cuda_load(cache, native_, program.source.data(), program.source.size(), "program.cu",
                                  options.texts.data(), options.texts.size(), &module, origin);
        return released(status, module);
    }

private:
    struct Options {
        explicit Options(const Program &program)
        {
            std::istringstream stream(program.options);
            for (std::string word; stream >> word;)
                words.push_back(word);
            for (const std::string &each : words)
                texts.push_back(each.c_str());
        }
        std::vector<std::string> words;
        std::vector<const char *> texts;
    };

    ingot_status_t released(ingot_status_t status, CUmodule module) const
    {
        if (module != nullptr) {
            driver_.call("cuCtxPushCurrent_v2", native_);
            driver_.call("cuModuleUnload", module);
            CUcontext popped = nullptr;
            driver_.call("cuCtxPopCurrent_v2", &popped);
        }
        return status;
    }

    const CudaDriver &driver_ = CudaDriver::get();
    CUcontext native_ = driver_.contexts()[0];
};
#endif

} // namespace

Program Device::small(unsigned number) const
{
    return {head() + " x[0] *= " + std::to_string(number) + "; }", ""};
}

Program Device::large(unsigned branches) const
{
    std::string text = head() + " unsigned a = x[0], b = x[1];\n";
    for (unsigned i = 0; i < branches; ++i)
        text += "if (a & " + std::to_string(i | 1) + ") a = a * b + " + std::to_string(i) + "; else b ^= a >> " +
                std::to_string(i % 31) + ";\n";
    return {text + "x[2] = a; x[3] = b; }", ""};
}

std::unique_ptr<Device> open_device(const std::string &name)
{
#ifdef BENCH_HAS_CUDA
    if (name == "cuda")
        return std::make_unique<CudaDevice>();
#endif
    bench::require(name != "cuda", "this build has no CUDA backend");
    return std::make_unique<OpenclDevice>();
}

} // namespace builders
