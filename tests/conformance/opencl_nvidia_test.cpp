/*
 * opencl_nvidia_test.cpp - tests NVIDIA's OpenCL: a blob contains machine code, and a program made from it does the
 * same as one made from source.
 *
 * The kernels use features that need more in a binary than instructions: local and constant memory, images and
 * samplers, printf, global ids with an offset, and required work-group sizes.
 */
#include <cmath>

#include "conformance/children.h"
#include "support/opencl_platform.h"

using namespace conformance;

const char kKernels[] =
    "__constant int table[4] = { 10, 20, 30, 40 };\n"
    "__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
    "__kernel __attribute__((reqd_work_group_size(4, 1, 1))) void mixed(__global int *x, __constant int *added,\n"
    "                                                                   __local int *scratch, int scalar) {\n"
    "    __local int fixed[4];\n"
    "    const int l = get_local_id(0), i = get_global_id(0) - get_global_offset(0);\n"
    "    scratch[l] = x[i]; fixed[3 - l] = table[l];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    x[i] = scratch[3 - l] + fixed[l] + added[l] * scalar + (int)get_global_offset(0) * 1000 + "
    "(int)get_num_groups(0) * 100000;\n"
    "    if (i == 0) printf(\"said %d\\n\", scalar);\n"
    "}\n"
    "__kernel void look(__global float *x, read_only image2d_t image) {\n"
    "    const int i = get_global_id(0);\n"
    "    x[i] = read_imagef(image, nearest, (int2)(i % 4, i / 4)).x + native_exp(0.0f) + sqrt((float)i);\n"
    "}\n";

static void check(cl_int error, const char *call)
{
    ASSERT_EQ(CL_SUCCESS, error) << call;
}

/* Returns what both kernels compute, as numbers. */
static std::vector<double> results_of(cl_context context, cl_program program)
{
    cl_int error = CL_SUCCESS;
    const cl_command_queue queue =
        clCreateCommandQueueWithProperties(context, OpenclPlatform::get().devices()[0], nullptr, &error);
    check(error, "clCreateCommandQueueWithProperties");
    std::vector<cl_int> x{1, 2, 3, 4, 5, 6, 7, 8}, added{7, 6, 5, 4};
    std::vector<cl_float> pixels(16), seen(16);
    for (size_t i = 0; i < pixels.size(); ++i)
        pixels[i] = static_cast<cl_float>(i * i);
    const cl_mem x_buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, x.size() * 4, x.data(), &error);
    const cl_mem added_buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, added.size() * 4, added.data(), &error);
    const cl_mem seen_buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, seen.size() * 4, nullptr, &error);
    const cl_image_format format = {CL_R, CL_FLOAT};
    cl_image_desc shape{};
    shape.image_type = CL_MEM_OBJECT_IMAGE2D;
    shape.image_width = shape.image_height = 4;
    const cl_mem image =
        clCreateImage(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &shape, pixels.data(), &error);
    check(error, "clCreateImage");
    const cl_int scalar = 3;
    const size_t offset = 5, global_size = 8, local_size = 4, image_size = 16;
    const cl_kernel mixed = clCreateKernel(program, "mixed", &error);
    check(error, "clCreateKernel");
    check(clSetKernelArg(mixed, 0, sizeof(cl_mem), &x_buffer), "clSetKernelArg");
    check(clSetKernelArg(mixed, 1, sizeof(cl_mem), &added_buffer), "clSetKernelArg");
    check(clSetKernelArg(mixed, 2, 4 * sizeof(cl_int), nullptr), "clSetKernelArg");
    check(clSetKernelArg(mixed, 3, sizeof(scalar), &scalar), "clSetKernelArg");
    check(clEnqueueNDRangeKernel(queue, mixed, 1, &offset, &global_size, &local_size, 0, nullptr, nullptr), "mixed");
    const cl_kernel look = clCreateKernel(program, "look", &error);
    check(error, "clCreateKernel");
    check(clSetKernelArg(look, 0, sizeof(cl_mem), &seen_buffer), "clSetKernelArg");
    check(clSetKernelArg(look, 1, sizeof(cl_mem), &image), "clSetKernelArg");
    check(clEnqueueNDRangeKernel(queue, look, 1, nullptr, &image_size, nullptr, 0, nullptr, nullptr), "look");
    check(clEnqueueReadBuffer(queue, x_buffer, CL_TRUE, 0, x.size() * 4, x.data(), 0, nullptr, nullptr), "read");
    check(clEnqueueReadBuffer(queue, seen_buffer, CL_TRUE, 0, seen.size() * 4, seen.data(), 0, nullptr, nullptr),
          "read");
    for (const cl_mem buffer : {x_buffer, added_buffer, seen_buffer, image})
        clReleaseMemObject(buffer);
    clReleaseKernel(mixed);
    clReleaseKernel(look);
    clReleaseCommandQueue(queue);
    std::vector<double> results(x.begin(), x.end());
    results.insert(results.end(), seen.begin(), seen.end());
    return results;
}

static std::vector<double> results_of(const Program &program)
{
    cl_program native = nullptr;
    cl_context context = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_opencl_program_get_native(program.get(), &native));
    EXPECT_EQ(CL_SUCCESS, clGetProgramInfo(native, CL_PROGRAM_CONTEXT, sizeof(context), &context, nullptr));
    return results_of(context, native);
}

static ProgramText text_of(const std::string &options)
{
    ProgramText text{{{INGOT_SOURCE_OPENCL_C, kKernels}}};
    text.compile_options = options;
    return text;
}

static bool holds(const Bytes &blob, const std::string &text)
{
    return std::search(blob.begin(), blob.end(), text.begin(), text.end()) != blob.end();
}

TEST(NvidiaBinary, IsMachineCodeThatComputesWhatTheSourceSays)
{
    const Program built = create_program(describe(make_context(), text_of("")));
    const Bytes blob = blob_of(built);
    EXPECT_TRUE(holds(blob, "\x7f"
                            "ELF"));
    EXPECT_FALSE(holds(blob, ".target sm_")) << "the driver would compile it at each load";
    const Context context = make_context();
    const Program loaded = load(describe(context, text_of("")), blob);
    ASSERT_NE(nullptr, loaded);
    EXPECT_EQ(0u, stats_of(context).builds);
    const std::vector<double> expected = results_of(built);
    EXPECT_EQ(205000 + 4 + 40 + 21, expected[0]);
    EXPECT_EQ(225.0f + 1.0f + std::sqrt(15.0f), static_cast<float>(expected.back()));
    EXPECT_EQ(expected, results_of(loaded));
    EXPECT_EQ(blob, blob_of(loaded));
}

TEST(NvidiaBinary, TellsOfArgumentsAsMuchAsTheDriversOwn)
{
    const ProgramText text = text_of("-cl-kernel-arg-info");
    const Program loaded =
        load(describe(make_context(), text), blob_of(create_program(describe(make_context(), text))));
    ASSERT_NE(nullptr, loaded);
    cl_program native = nullptr;
    cl_int error = CL_SUCCESS;
    char type[64] = "";
    ASSERT_EQ(INGOT_SUCCESS, ingot_opencl_program_get_native(loaded.get(), &native));
    const cl_kernel kernel = clCreateKernel(native, "mixed", &error);
    check(error, "clCreateKernel");
    error = clGetKernelArgInfo(kernel, 3, CL_KERNEL_ARG_TYPE_NAME, sizeof(type), type, nullptr);
    EXPECT_TRUE(error == CL_KERNEL_ARG_INFO_NOT_AVAILABLE || std::string(type) == "int") << error << " " << type;
    clReleaseKernel(kernel);
}

TEST(NvidiaBinary, StaysPtxWhereAnOptionIsForItsTranslation)
{
    for (const char *option : {"-cl-nv-maxrregcount=32", "-cl-opt-disable"}) {
        const Program built = create_program(describe(make_context(), text_of(option)));
        const Bytes blob = blob_of(built);
        EXPECT_TRUE(holds(blob, ".target sm_")) << option;
        EXPECT_EQ(results_of(built), results_of(load(describe(make_context(), text_of(option)), blob))) << option;
    }
}
