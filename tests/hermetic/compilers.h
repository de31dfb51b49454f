/*
 * compilers.h - builds a program in two ways: as an application calls its compiler, and through Ingot.
 *
 * A device is "opencl" (the named platform, or the first one), "nvrtc" (CUDA's compiler without a driver) or
 * "hiprtc" (HIP's).
 */
#pragma once

#include <memory>
#include <string>

#include <ingot/ingot.h>

#include "support/not_copied.h"

namespace hermetic
{

struct Program {
    std::string source;
    std::string options;
};

struct Build {
    bool is_built = false;
    std::string code;    /* the machine code, without names of files and options */
    std::string kernels; /* the kernels' names and required sizes of work groups */
    std::string log;
};

/* Returns what to compare of a build. */
inline std::string result_of(const Build &build)
{
    return build.is_built ? "built\n" + build.kernels + build.code : "failed";
}

/* Makes a build log comparable. Removes the folders from every path, in messages and in the lines of code that they
 * show. Replaces the names that compilers invent for a source by a constant name: PoCL invents a temporary file's name,
 * and Intel's compiler uses the build's number. */
std::string log_without_names(const std::string &log);

struct Description {
    bool is_cacheable = false;
    std::string id;     /* if cacheable */
    std::string reason; /* if not cacheable */
};

struct IngotBuild {
    Build build;
    bool is_native = false;
    std::string reason; /* why it is native */
};

enum class Want { kernels, code };

class Compiler : NotCopied
{
public:
    virtual ~Compiler();

    virtual std::string name() const = 0;
    virtual bool is_cuda() const = 0; /* or a language like it */
    virtual ingot_source_kind_t kind() const { return is_cuda() ? INGOT_SOURCE_CUDA_CPP : INGOT_SOURCE_OPENCL_C; }
    /* True if the compiler's assembler can read files. */
    bool assembles() const { return name() == "Portable Computing Language" || name() == "hipRTC"; }
    virtual Build build(const Program &program, Want want) = 0;
    Description describe(const Program &program);
    IngotBuild build_with_ingot(const Program &program, Want want);

protected:
    virtual Build read(ingot_program_t program, Want want) = 0;
    ingot_context_info_t context_info();
    ingot_context_t context_ = nullptr;

private:
    ingot_program_desc_t make(const Program &program);
    static void on_event(const ingot_event_t *event, void *user);
    std::string native_reason_;
};

std::unique_ptr<Compiler> make_opencl_compiler(const std::string &platform);
std::unique_ptr<Compiler> make_nvrtc_compiler();
std::unique_ptr<Compiler> make_hiprtc_compiler();

/* Returns the machine code in a binary of an OpenCL platform, without names of files and options. Throws if there is
 * none. */
std::string code_of_binary(const std::string &binary);

} // namespace hermetic
