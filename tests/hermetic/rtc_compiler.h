/*
 * rtc_compiler.h - builds programs with a run-time compiler (NVRTC, hipRTC), directly and through Ingot, for a device
 * that need not exist.
 */
#pragma once

#include <stdexcept>

#include <ingot/private/program.h>

#include "hermetic/compilers.h"

extern "C" {
#include "backends/rtc/vendor.h"
#include "core/base/sink.h"
}

namespace hermetic
{

class RtcCompiler : public Compiler
{
public:
    RtcCompiler(const char *name, const rtc_vendor &vendor, const void *natives) : name_(name), vendor_(vendor)
    {
        const ingot_context_info_t info = context_info();
        if (rtc_context_create(&vendor_, &context_, 1, natives, &info) != INGOT_SUCCESS ||
            memory_init(&allocator_, nullptr) != INGOT_SUCCESS)
            throw std::runtime_error(name_ + ": " + ingot_last_error_detail());
    }

    std::string name() const override { return name_; }
    bool is_cuda() const override { return true; }
    ingot_source_kind_t kind() const override { return vendor_.kinds[0]; }

    Build build(const Program &program, Want) override
    {
        const auto *state = static_cast<const rtc_state *>(ingot_context_get_backend_state(context_, vendor_.ops));
        const rtc_target target{allocator_, state->driver_major, state->devices[0].architecture};
        const ingot_source_view_t view{kind(), program.source.size(), program.source.c_str(), ""};
        ingot_build_request_t request{};
        request.struct_size = sizeof(request);
        request.sources = &view;
        request.source_count = 1;
        request.compile_options = program.options.c_str();
        request.link_options = "";
        ingot_sink log{};
        bytes_writer_init(&log.writer, &allocator_);
        rtc_bytes image{0, nullptr};
        const ingot_status_t status = vendor_.compile(&target, &request, &log, &image);
        Build result = take(status == INGOT_SUCCESS, image.size, image.bytes);
        result.log.assign(reinterpret_cast<const char *>(log.writer.bytes), log.writer.size);
        bytes_writer_fini(&log.writer);
        rtc_bytes_fini(&image, &allocator_);
        if (status != INGOT_SUCCESS && status != INGOT_BUILD_FAILED)
            throw std::runtime_error(name_ + ": " + ingot_last_error_detail());
        return result;
    }

protected:
    Build read(ingot_program_t program, Want) override
    {
        ingot_sink binary{};
        bytes_writer_init(&binary.writer, &allocator_);
        if (rtc_get_binary(nullptr, ingot_program_get_backend_program(program, vendor_.ops), 0, &binary) !=
            INGOT_SUCCESS)
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

    std::string name_;
    rtc_vendor vendor_;
    ingot_allocator_t allocator_{};
};

} // namespace hermetic
