/*
 * nvrtc_compiler.cpp - builds programs with CUDA's compiler, directly and through Ingot, without a driver. A small
 * backend uses the CUDA backend's text rules and its functions for compilation.
 */
#include <cstring>
#include <stdexcept>

#include <ingot/backend.h>

#include "hermetic/compilers.h"

extern "C" {
#include "backends/cuda/backend.h"
#include "backends/cuda/compiler/compile.h"
#include "core/base/sink.h"
}

namespace hermetic
{

namespace
{

/* The version of the driver that this backend pretends to have. */
constexpr unsigned kDriverMajor = 13;

struct Target {
    rtc_target target{};
};

struct Cubin {
    rtc_bytes bytes{0, nullptr};
};

Target *target_of(void *state)
{
    return static_cast<Target *>(state);
}

ingot_status_t identify(void *, uint32_t, ingot_identity_t *identity)
{
    return ingot_identity_add(identity, "device", 7, "nothing");
}

int accepts(void *, ingot_source_kind_t kind)
{
    return kind == INGOT_SOURCE_CUDA_CPP;
}

ingot_status_t build_cubin(void *state, const ingot_build_request_t *request, size_t, const uint32_t *,
                           ingot_sink_t *log, void **program)
{
    Cubin cubin;
    const ingot_status_t status = cuda_compile(&target_of(state)->target, request, log, &cubin.bytes);
    if (status == INGOT_SUCCESS)
        *program = new Cubin(cubin);
    return status;
}

void destroy_program(void *state, void *program)
{
    rtc_bytes_fini(&static_cast<Cubin *>(program)->bytes, &target_of(state)->target.allocator);
    delete static_cast<Cubin *>(program);
}

ingot_status_t get_names(void *, void *program, ingot_sink_t *names)
{
    const rtc_bytes &bytes = static_cast<Cubin *>(program)->bytes;
    rtc_image image{};
    const ingot_status_t status = rtc_image_read(&image, &cuda_cubin, bytes.size, bytes.bytes);
    return status == INGOT_SUCCESS ? rtc_image_write_kernel_names(&image, names) : status;
}

ingot_status_t create_kernel(void *, void *, uint32_t, const char *, void **)
{
    return INGOT_UNIMPLEMENTED;
}
void destroy_kernel(void *, void *) {}
ingot_status_t get_binary(void *, void *program, uint32_t, ingot_sink_t *binary)
{
    const rtc_bytes &bytes = static_cast<Cubin *>(program)->bytes;
    return ingot_sink_write(binary, bytes.size, bytes.bytes);
}
ingot_status_t load(void *state, const ingot_build_request_t *, size_t, const uint32_t *,
                    const ingot_binary_t *binaries, void **program)
{
    Cubin cubin;
    const ingot_status_t status = rtc_bytes_init(&cubin.bytes, &target_of(state)->target.allocator, binaries[0].size);
    if (status != INGOT_SUCCESS)
        return status;
    std::memcpy(cubin.bytes.bytes, binaries[0].bytes, binaries[0].size);
    *program = new Cubin(cubin);
    return INGOT_SUCCESS;
}
void destroy(void *) {}

ingot_backend_ops_t make_ops()
{
    ingot_backend_ops_t ops;
    std::memset(&ops, 0, sizeof(ops));
    ops.struct_size = sizeof(ops);
    ops.name = "nvrtc_alone";
    ops.destroy = destroy;
    ops.identify_device = identify;
    ops.accepts = accepts;
    ops.build = build_cubin;
    ops.destroy_program = destroy_program;
    ops.get_kernel_names = get_names;
    ops.get_binary = get_binary;
    ops.load = load;
    ops.create_kernel = create_kernel;
    ops.destroy_kernel = destroy_kernel;
    ops.get_text_rules = cuda_get_text_rules;
    return ops;
}

class NvrtcCompiler : public Compiler
{
public:
    NvrtcCompiler() : ops_(make_ops())
    {
        if (memory_init(&target_.target.allocator, nullptr) != INGOT_SUCCESS)
            throw std::runtime_error("alloc_init");
        target_.target.driver_major = kDriverMajor;
        target_.target.architecture = "sm_90";
        const ingot_context_info_t info = context_info();
        if (ingot_context_create(&context_, &ops_, &target_, 1, &info) != INGOT_SUCCESS)
            throw std::runtime_error(std::string("ingot_context_create: ") + ingot_last_error_detail());
    }

    std::string name() const override { return "NVRTC"; }
    bool is_cuda() const override { return true; }

    Build build(const Program &program, Want) override
    {
        const ingot_source_view_t view{INGOT_SOURCE_CUDA_CPP, program.source.size(), program.source.c_str(), ""};
        ingot_build_request_t request{};
        request.struct_size = sizeof(request);
        request.sources = &view;
        request.source_count = 1;
        request.compile_options = program.options.c_str();
        request.link_options = "";
        ingot_sink sink{};
        bytes_writer_init(&sink.writer, &target_.target.allocator);
        Cubin cubin;
        const ingot_status_t status = cuda_compile(&target_.target, &request, &sink, &cubin.bytes);
        Build result;
        result.is_built = status == INGOT_SUCCESS;
        result.log.assign(reinterpret_cast<const char *>(sink.writer.bytes), sink.writer.size);
        bytes_writer_fini(&sink.writer);
        if (result.is_built)
            result.code.assign(reinterpret_cast<const char *>(cubin.bytes.bytes), cubin.bytes.size);
        rtc_bytes_fini(&cubin.bytes, &target_.target.allocator);
        if (status != INGOT_SUCCESS && status != INGOT_BUILD_FAILED)
            throw std::runtime_error(std::string("cuda_compile: ") + ingot_last_error_detail());
        return result;
    }

protected:
    Build read(ingot_program_t program, Want) override
    {
        const auto *cubin = static_cast<const Cubin *>(ingot_program_get_backend_program(program, &ops_));
        if (cubin == nullptr)
            throw std::runtime_error("ingot_program_get_backend_program");
        Build result;
        result.is_built = true;
        result.code.assign(reinterpret_cast<const char *>(cubin->bytes.bytes), cubin->bytes.size);
        return result;
    }

private:
    Target target_;
    ingot_backend_ops_t ops_;
};

} // namespace

std::unique_ptr<Compiler> make_nvrtc_compiler()
{
    return std::make_unique<NvrtcCompiler>();
}

} // namespace hermetic
