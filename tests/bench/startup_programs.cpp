/*
 * startup_programs.cpp - lists the programs of the startup benchmark, and launches kernels of which it knows only what
 * the driver reports about their arguments. So that the driver reports this, every program is built with
 * -cl-kernel-arg-info.
 */
#include "bench/startup_programs.h"

namespace startup
{

constexpr size_t buffer_size = 1 << 20;
constexpr char hashcat_folder[] = "/usr/share/hashcat/OpenCL";

constexpr size_t digits_programs = 8;

/* Returns the digits example's eight programs, then the same layers of wider and wider networks. extension: "cl", or
 * "cu" for the same programs in CUDA. */
static std::vector<ProgramFile> list_layers(size_t count, const std::string &extension)
{
    const bool is_cuda = extension == "cu";
    const std::string folder =
        is_cuda ? INGOT_SOURCE_DIR "/tests/bench/cuda/digits" : INGOT_SOURCE_DIR "/examples/digits/kernels";
    const std::string options = (is_cuda ? "--std=c++17 -I " : "-cl-std=CL1.2 -cl-kernel-arg-info -I ") + folder + " ";
    std::vector<ProgramFile> list;
    for (int round = 0; list.size() < count; ++round) {
        const auto more = [round](int base) { return std::to_string(base + round); };
        const struct {
            const char *name, *file;
            std::string options;
        } programs[] = {
            {"normalize", "normalize", "-DGROUP=64 -DMAX_PIXEL=" + more(16)},
            {"convolve 1", "conv", "-DIN_CHANNELS=1 -DOUT_CHANNELS=" + more(8) + " -DFUSE_RELU"},
            {"convolve 2", "conv", "-DIN_CHANNELS=" + more(8) + " -DOUT_CHANNELS=" + more(16) + " -DFUSE_RELU"},
            {"max pool", "pool", "-DGROUP=64 -DCHANNELS=" + more(16)},
            {"dense hidden", "dense", "-DTILE=8 -DINPUTS=256 -DOUTPUTS=" + more(32) + " -DFUSE_RELU"},
            {"dense classes", "dense", "-DTILE=8 -DINPUTS=32 -DOUTPUTS=" + more(10)},
            {"softmax", "softmax", "-DGROUP=64 -DCLASSES=" + more(10)},
            {"argmax", "argmax", "-DGROUP=64 -DCLASSES=" + more(10)},
        };
        for (const auto &program : programs)
            list.push_back({program.name, folder + "/" + program.file + "." + extension, options + program.options});
    }
    list.resize(count);
    return list;
}

/* Returns the options that hashcat 6.2 uses for an unsalted hash and a mask. VENDOR_ID is 8 for Intel, 64 for PoCL. */
static std::string hashcat_options(bool is_cpu)
{
    const std::string folder = hashcat_folder;
    return "-cl-std=CL1.2 -cl-kernel-arg-info -w -D KERNEL_STATIC -I " + folder + " -D INCLUDE_PATH=" + folder +
           " -D XM2S(x)=#x -D M2S(x)=XM2S(x) -D LOCAL_MEM_TYPE=1 -D VECT_SIZE=1 -D CUDA_ARCH=0 -D HAS_VPERM=0" +
           " -D VENDOR_ID=" + (is_cpu ? "64" : "8") + " -D DEVICE_TYPE=" + (is_cpu ? "2" : "4") +
           " -D DGST_R0=0 -D DGST_R1=3 -D DGST_R2=2 -D DGST_R3=1 -D DGST_ELEM=4 -D KERN_TYPE=0" +
           " -D ATTACK_EXEC=11 -D ATTACK_KERN=3 -D ATTACK_MODE=3";
}

static std::vector<ProgramFile> list_hashcat(bool is_cpu)
{
    /* hashcat has over 1,200 files. The files listed here compile within seconds on both devices. */
    const char *const files[] = {"markov_le.cl",
                                 "markov_be.cl",
                                 "amp_a0.cl",
                                 "amp_a3.cl",
                                 "m00000_a3-optimized.cl",
                                 "m00200_a3-optimized.cl",
                                 "m00900_a3-optimized.cl",
                                 "m01000_a3-optimized.cl",
                                 "m02000_a3-pure.cl",
                                 "m02000_a3-optimized.cl"};
    std::vector<ProgramFile> list;
    for (const char *file : files)
        list.push_back({std::string(file).substr(0, std::string(file).rfind('.')),
                        std::string(hashcat_folder) + "/" + file, hashcat_options(is_cpu)});
    return list;
}

/* Sets a scalar to zero. The driver does not report its size, so this tries all sizes. */
static void set_scalar_to_zero(cl_kernel kernel, cl_uint index)
{
    static const char zeros[128] = {};
    for (const size_t size : {4, 8, 1, 2, 16, 32, 64, 128})
        if (clSetKernelArg(kernel, index, size, zeros) == CL_SUCCESS)
            return;
    require(false, "a kernel's argument could not be set");
}

static void set_argument(cl_kernel kernel, cl_uint index, cl_mem buffer)
{
    cl_kernel_arg_address_qualifier where = 0;
    require_cl(clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof(where), &where, nullptr),
               "clGetKernelArgInfo");
    if (where == CL_KERNEL_ARG_ADDRESS_PRIVATE)
        set_scalar_to_zero(kernel, index);
    else if (where == CL_KERNEL_ARG_ADDRESS_LOCAL)
        require_cl(clSetKernelArg(kernel, index, 4096, nullptr), "clSetKernelArg");
    else
        require_cl(clSetKernelArg(kernel, index, sizeof(buffer), &buffer), "clSetKernelArg");
}

static void launch(cl_command_queue queue, cl_kernel kernel, cl_device_id device, cl_mem buffer)
{
    cl_uint count = 0;
    require_cl(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(count), &count, nullptr), "clGetKernelInfo");
    for (cl_uint i = 0; i < count; ++i)
        set_argument(kernel, i, buffer);
    size_t group[3] = {};
    require_cl(
        clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof(group), group, nullptr),
        "clGetKernelWorkGroupInfo");
    if (group[0] == 0) {
        group[0] = 64;
        group[1] = group[2] = 1;
    }
    require_cl(clEnqueueNDRangeKernel(queue, kernel, 3, nullptr, group, group, 0, nullptr, nullptr),
               "clEnqueueNDRangeKernel");
}

std::vector<ProgramFile> list_programs(const std::string &set, bool is_cpu)
{
    if (set == "digits")
        return list_layers(digits_programs, "cl");
    if (set == "100 layers")
        return list_layers(100, "cl");
    if (set == "8 CUDA layers" || set == "100 CUDA layers")
        return list_layers(set[0] == '8' ? digits_programs : 100, "cu");
    require(set == "hashcat", "no set " + set);
    return list_hashcat(is_cpu);
}

std::vector<cl_kernel> kernels_of(cl_program program)
{
    cl_uint count = 0;
    require_cl(clCreateKernelsInProgram(program, 0, nullptr, &count), "clCreateKernelsInProgram");
    std::vector<cl_kernel> kernels(count);
    require_cl(clCreateKernelsInProgram(program, count, kernels.data(), nullptr), "clCreateKernelsInProgram");
    return kernels;
}

void launch_kernels(cl_context context, cl_command_queue queue, const std::vector<cl_kernel> &kernels,
                    cl_device_id device)
{
    cl_int error = CL_SUCCESS;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, buffer_size, nullptr, &error);
    require_cl(error, "clCreateBuffer");
    const cl_uint zero = 0;
    require_cl(clEnqueueFillBuffer(queue, buffer, &zero, sizeof(zero), 0, buffer_size, 0, nullptr, nullptr),
               "clEnqueueFillBuffer");
    for (cl_kernel kernel : kernels)
        launch(queue, kernel, device, buffer);
    require_cl(clFinish(queue), "clFinish");
    for (cl_kernel kernel : kernels)
        clReleaseKernel(kernel);
    clReleaseMemObject(buffer);
}

void launch_all_kernels(cl_context context, cl_command_queue queue, cl_program program, cl_device_id device)
{
    launch_kernels(context, queue, kernels_of(program), device);
}

void require_cl(cl_int error, const std::string &what)
{
    require(error == CL_SUCCESS, what + " failed (" + std::to_string(error) + ")");
}

} // namespace startup
