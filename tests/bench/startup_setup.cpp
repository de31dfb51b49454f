/*
 * startup_setup.cpp - creates the objects that each OpenCL measuring process begins with, on the only device that it
 * sees.
 */
#include "bench/startup_setup.h"

#include "bench/sample.h"
#include "support/test_device.h"

#include <cstring>

#include <ingot/private/program.h>

namespace startup
{

bool is_cpu(cl_device_id device)
{
    cl_device_type type = 0;
    require_cl(clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof(type), &type, nullptr), "clGetDeviceInfo");
    return (type & CL_DEVICE_TYPE_CPU) != 0;
}

NativeSetup::NativeSetup()
{
    cl_platform_id platform = nullptr;
    cl_int error = CL_SUCCESS;
    char name[256] = "";
    require_cl(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
    require_cl(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(name), name, nullptr), "clGetPlatformInfo");
    require(std::strstr(name, test_device::platform_word().c_str()) != nullptr,
            "to measure " + test_device::wanted() + ", but the OpenCL platform is \"" + name + "\"");
    require_cl(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "clGetDeviceIDs");
    native = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
    require_cl(error, "clCreateContext");
    queue = clCreateCommandQueueWithProperties(native, device, nullptr, &error);
    require_cl(error, "clCreateCommandQueueWithProperties");
}

NativeSetup::~NativeSetup()
{
    clReleaseCommandQueue(queue);
    clReleaseContext(native);
}

Setup::Setup(const std::string &store_path)
{
    require_ingot(ingot_opencl_context_create(&context, native, 1, &device, nullptr), "context");
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    info.path = store_path.c_str();
    info.record_path = std::getenv("BENCH_RECORD");
    require_ingot(ingot_persist_open(&store, &info), "store");
    require_ingot(ingot_persist_remember_headers(store, context), "remember headers");
    ingot_device_info_t device_info = INGOT_DEVICE_INFO_INIT;
    require_ingot(ingot_context_get_device_info(context, 0, &device_info), "device info");
    launches = device_info.generates_code_at_launch != 0;
}

Setup::~Setup()
{
    ingot_storage_release(store);
    ingot_context_release(context);
}

ingot_program_desc_t describe(const Setup &setup, const ProgramFile &file, uint32_t flags)
{
    return bench::describe(setup.context, INGOT_SOURCE_OPENCL_C, file, flags);
}

ingot_program_t load_from_store(const Setup &setup, const ProgramFile &file)
{
    ingot_program_t program = nullptr;
    ingot_origin_t origin = INGOT_ORIGIN_BUILD;
    const ingot_program_desc_t desc = describe(setup, file, INGOT_PROGRAM_NO_MEMORY_CACHE);
    require_ingot(ingot_persist_program_create(&program, desc, setup.store, &origin), file.name);
    require(origin == INGOT_ORIGIN_STORAGE, file.name + " did not come from the store");
    ingot_program_desc_release(desc);
    return program;
}

std::vector<uint8_t> binary_of(cl_program program)
{
    size_t size = 0;
    require_cl(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr), "binary size");
    std::vector<uint8_t> binary(size);
    unsigned char *bytes = binary.data();
    require_cl(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(bytes), &bytes, nullptr), "binary");
    return binary;
}

cl_program load_binary(const NativeSetup &setup, const std::vector<uint8_t> &binary, const std::string &options)
{
    const size_t size = binary.size();
    const unsigned char *bytes = binary.data();
    cl_int error = CL_SUCCESS;
    cl_program program = clCreateProgramWithBinary(setup.native, 1, &setup.device, &size, &bytes, nullptr, &error);
    if (error == CL_SUCCESS)
        error = clBuildProgram(program, 1, &setup.device, options.c_str(), nullptr, nullptr);
    require_cl(error, "the driver's own load");
    return program;
}

cl_program build_source(const NativeSetup &setup, const std::string &source, const std::string &options)
{
    const char *text = source.c_str();
    cl_int error = CL_SUCCESS;
    cl_program program = clCreateProgramWithSource(setup.native, 1, &text, nullptr, &error);
    if (error == CL_SUCCESS)
        error = clBuildProgram(program, 1, &setup.device, options.c_str(), nullptr, nullptr);
    require_cl(error, "the driver's own build");
    return program;
}

std::string binary_path(const std::string &store, size_t number)
{
    return store + ".binaries/" + std::to_string(number);
}

std::vector<std::vector<uint8_t>> read_binaries(size_t count, const std::string &store)
{
    std::vector<std::vector<uint8_t>> binaries;
    for (size_t i = 0; i < count; ++i) {
        const std::string bytes = bench::text_of(binary_path(store, i));
        binaries.emplace_back(bytes.begin(), bytes.end());
        require(!binaries.back().empty(), "no binary beside " + store);
    }
    return binaries;
}

} // namespace startup
