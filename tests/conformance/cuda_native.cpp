/* cuda_native.cpp - builds a program with NVRTC alone, as an application without Ingot does. */
#include <nvrtc.h>

#include <stdexcept>

#include <dlfcn.h>

#include "conformance/program_setup.h"

extern "C" {
#include "backends/rtc/compiler.h"
}

namespace conformance
{

namespace
{

/* Returns a function of NVRTC. The library is opened at run time, as the backend opens it. */
template <typename Function> Function *function(Function *, const char *name)
{
    static void *library = [] {
        void *opened = nullptr;
        for (const char *file : {"libnvrtc.so.13", "libnvrtc.so.12"})
            opened = opened != nullptr ? opened : dlopen(file, RTLD_NOW | RTLD_LOCAL);
        return opened;
    }();
    void *found = library != nullptr ? dlsym(library, name) : nullptr;
    if (found == nullptr)
        throw std::runtime_error(std::string("no ") + name);
    return reinterpret_cast<Function *>(found);
}

#define NVRTC(name) function(static_cast<decltype(&nvrtc##name)>(nullptr), "nvrtc" #name)

/* Returns the names in lines like ".visible .entry name(". */
std::string entries_of(const std::string &ptx)
{
    static const std::string mark = ".entry ";
    std::vector<std::string> names;
    for (size_t at = ptx.find(mark); at != std::string::npos; at = ptx.find(mark, at + 1)) {
        const size_t from = at + mark.size();
        names.push_back(ptx.substr(from, ptx.find_first_of("( \n", from) - from));
    }
    return joined(names);
}

} // namespace

BuildResult compile_natively(const ProgramSetup &setup)
{
    BuildResult result;
    nvrtcProgram program = nullptr;
    std::vector<const char *> names;
    std::vector<const char *> texts;
    for (const auto &[name, text] : setup.headers) {
        names.push_back(name.c_str());
        texts.push_back(text.c_str());
    }
    NVRTC(CreateProgram)
    (&program, setup.source.c_str(), setup.name.empty() ? nullptr : setup.name.c_str(), static_cast<int>(names.size()),
     texts.data(), names.data());
    rtc_options options{};
    const ingot_allocator_t allocator{};
    if (rtc_options_init(&options, &allocator, setup.options.c_str(), "", 1) != INGOT_SUCCESS)
        throw std::runtime_error(ingot_last_error_detail());
    rtc_options_add(&options, "--gpu-architecture=compute_90");
    const nvrtcResult error = NVRTC(CompileProgram)(program, static_cast<int>(options.count), options.words);
    rtc_options_fini(&options, &allocator);
    size_t size = 0;
    NVRTC(GetProgramLogSize)(program, &size);
    result.log.resize(size);
    NVRTC(GetProgramLog)(program, result.log.data());
    result.log = result.log.substr(0, result.log.find('\0'));
    result.origin = error == NVRTC_SUCCESS ? "built" : "failed";
    if (error == NVRTC_SUCCESS) {
        NVRTC(GetPTXSize)(program, &size);
        std::string ptx(size, 0);
        NVRTC(GetPTX)(program, ptx.data());
        result.kernels = entries_of(ptx);
    }
    NVRTC(DestroyProgram)(&program);
    return result;
}

} // namespace conformance
