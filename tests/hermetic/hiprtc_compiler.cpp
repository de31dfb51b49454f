/*
 * hiprtc_compiler.cpp - builds programs with hipRTC, directly and through Ingot, for a device that need not exist.
 */
#include <cstring>
#include <stdexcept>

#include <ingot/backend.h>
#include <ingot/private/program.h>

#include "hermetic/compilers.h"

extern "C" {
#include "backends/hip/backend.h"
#include "backends/hip/compiler/compile.h"
#include "core/base/sink.h"
}

namespace hermetic
{

namespace
{

constexpr const char *kArchitecture = "gfx90a";

class HiprtcCompiler : public Compiler
{
public:
    HiprtcCompiler()
    {
        const ingot_context_info_t info = context_info();
        if (memory_init(&target_.allocator, nullptr) != INGOT_SUCCESS ||
            ingot_hip_context_create_for(&context_, kArchitecture, &info) != INGOT_SUCCESS)
            throw std::runtime_error(std::string("ingot_hip_context_create_for: ") + ingot_last_error_detail());
        target_.driver_major =
            static_cast<const rtc_state *>(ingot_context_get_backend_state(context_, &hip_ops))->driver_major;
        target_.architecture = kArchitecture;
    }

    std::string name() const override { return "hipRTC"; }
    bool is_cuda() const override { return true; }
    ingot_source_kind_t kind() const override { return INGOT_SOURCE_HIP_CPP; }

    Build build(const Program &program, Want) override
    {
        const ingot_source_view_t view{kind(), program.source.size(), program.source.c_str(), ""};
        ingot_build_request_t request{};
        request.struct_size = sizeof(request);
        request.sources = &view;
        request.source_count = 1;
        request.compile_options = program.options.c_str();
        request.link_options = "";
        ingot_sink log{};
        bytes_writer_init(&log.writer, &target_.allocator);
        rtc_bytes image{0, nullptr};
        const ingot_status_t status = hip_compile(&target_, &request, &log, &image);
        Build result = take(status == INGOT_SUCCESS, image.size, image.bytes);
        result.log.assign(reinterpret_cast<const char *>(log.writer.bytes), log.writer.size);
        bytes_writer_fini(&log.writer);
        rtc_bytes_fini(&image, &target_.allocator);
        if (status != INGOT_SUCCESS && status != INGOT_BUILD_FAILED)
            throw std::runtime_error(std::string("hip_compile: ") + ingot_last_error_detail());
        return result;
    }

protected:
    Build read(ingot_program_t program, Want) override
    {
        ingot_sink binary{};
        bytes_writer_init(&binary.writer, &target_.allocator);
        if (rtc_get_binary(nullptr, ingot_program_get_backend_program(program, &hip_ops), 0, &binary) != INGOT_SUCCESS)
            throw std::runtime_error("rtc_get_binary");
        const Build result = take(true, binary.writer.size, binary.writer.bytes);
        bytes_writer_fini(&binary.writer);
        return result;
    }

private:
    static Build take(bool is_built, size_t size, const uint8_t *bytes)
    {
        Build result;
        result.is_built = is_built;
        if (is_built)
            result.code.assign(reinterpret_cast<const char *>(bytes), size);
        return result;
    }

    rtc_target target_{};
};

} // namespace

std::unique_ptr<Compiler> make_hiprtc_compiler()
{
    return std::make_unique<HiprtcCompiler>();
}

} // namespace hermetic
