/*
 * rtc_compiler.h - builds programs with a run-time compiler (NVRTC, hipRTC), directly and through Ingot, for a device
 * that need not exist.
 */
#pragma once

#include <stdexcept>

#include <ingot/private/program.h>

#include "hermetic/compilers.h"
#include "support/sink.h"

extern "C" {
#include "backends/rtc/vendor.h"
}

namespace hermetic
{

class RtcCompiler : public Compiler
{
public:
    RtcCompiler(const char *name, const rtc_vendor &vendor, const void *natives) : name_(name), vendor_(vendor)
    {
        const ingot_context_info_t info = context_info();
        if (rtc_context_create(&vendor_, &context_, 1, natives, &info) != INGOT_SUCCESS)
            throw std::runtime_error(name_ + ": " + ingot_last_error_detail());
    }

    std::string name() const override { return name_; }
    bool is_cuda() const override { return true; }
    ingot_source_kind_t kind() const override { return vendor_.kinds[0]; }

    Build build(const Program &program, Want) override
    {
        const auto *state = static_cast<const rtc_state *>(ingot_context_get_backend_state(context_, vendor_.ops));
        const rtc_target target{state->allocator, state->driver_major, state->devices[0].architecture};
        const ingot_source_view_t view{kind(), program.source.size(), program.source.c_str(), ""};
        ingot_build_request_t request{};
        request.struct_size = sizeof(request);
        request.sources = &view;
        request.source_count = 1;
        request.compile_options = program.options.c_str();
        request.link_options = "";
        Sink log;
        Build result;
        rtc_bytes image{0, nullptr};
        const ingot_status_t status = vendor_.compile(&target, &request, log.get(), &image);
        result.is_built = status == INGOT_SUCCESS;
        if (result.is_built)
            result.code.assign(reinterpret_cast<const char *>(image.bytes), image.size);
        result.log = log.text();
        rtc_bytes_fini(&image, &target.allocator);
        if (status != INGOT_SUCCESS && status != INGOT_BUILD_FAILED)
            throw std::runtime_error(name_ + ": " + ingot_last_error_detail());
        return result;
    }

protected:
    Build read(ingot_program_t program, Want) override
    {
        Sink binary;
        if (rtc_get_binary(nullptr, ingot_program_get_backend_program(program, vendor_.ops), 0, binary.get()) !=
            INGOT_SUCCESS)
            throw std::runtime_error("rtc_get_binary");
        Build result;
        result.is_built = true;
        result.code = binary.text();
        return result;
    }

private:
    std::string name_;
    rtc_vendor vendor_;
};

} // namespace hermetic
