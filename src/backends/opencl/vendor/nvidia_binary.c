/*
 * nvidia_binary.c - replaces PTX, which NVIDIA's driver returns as a program's binary, with machine code.
 *
 * As observed with driver 580, clCreateProgramWithBinary accepts an ELF file of machine code as well as PTX, and
 * such a program returns the same file as its binary. The linker does not know the options that change the driver's
 * own translation, so programs with such options keep their PTX. Programs that would answer fewer queries after the
 * translation also keep their PTX.
 */
#include "backends/opencl/vendor/nvidia_binary.h"

#include "backends/opencl/vendor/nvidia_linker.h"

#include <stdio.h>
#include <string.h>

#define TARGET_MARK ".target sm_"
#define MARK_WITHIN 1024u
#define CUDA_MARK "CUDA "

/* Queries of the extension cl_nv_device_attribute_query. */
#define DEVICE_COMPUTE_CAPABILITY_MAJOR 0x4000u
#define DEVICE_COMPUTE_CAPABILITY_MINOR 0x4001u

/* Options that change the translation of PTX. */
static const char *const translation_options[] = {"-cl-nv-", "-cl-opt-disable", "-nv-"};

static bool is_ptx(size_t size, const void *bytes)
{
    return memmem(bytes, size < MARK_WITHIN ? size : MARK_WITHIN, TARGET_MARK, strlen(TARGET_MARK)) != NULL;
}

static bool has_translation_options(const cl_icd_dispatch *cl, const ingot_allocator_t *allocator, cl_program program,
                                    cl_device_id device)
{
    size_t size = 0;
    bool has = true;
    if (cl->clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_OPTIONS, 0, NULL, &size) != CL_SUCCESS)
        return true;
    char *options = ingot_allocate(allocator, size + 1); /* with room for a NUL */
    if (options == NULL)
        return true;
    if (size == 0 ||
        cl->clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_OPTIONS, size, options, NULL) == CL_SUCCESS) {
        has = false;
        for (size_t i = 0; i < sizeof(translation_options) / sizeof(translation_options[0]); ++i)
            has = has || strstr(options, translation_options[i]) != NULL;
    }
    ingot_deallocate(allocator, options, size + 1);
    return has;
}

/* Returns the device's compute capability, 10 * major + minor, or 0 if the driver does not report it. */
static unsigned capability_of(const cl_icd_dispatch *cl, cl_device_id device)
{
    cl_uint major = 0;
    cl_uint minor = 0;
    if (cl->clGetDeviceInfo(device, DEVICE_COMPUTE_CAPABILITY_MAJOR, sizeof(major), &major, NULL) != CL_SUCCESS ||
        cl->clGetDeviceInfo(device, DEVICE_COMPUTE_CAPABILITY_MINOR, sizeof(minor), &minor, NULL) != CL_SUCCESS)
        return 0;
    return 10 * major + minor;
}

/* Returns the major version of CUDA: 13 for "OpenCL 3.0 CUDA 13.0.98". Returns 0 if the driver does not report it. */
static unsigned cuda_major_of(const cl_icd_dispatch *cl, cl_platform_id platform)
{
    char version[128] = "";
    unsigned major = 0;
    if (cl->clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof(version) - 1, version, NULL) != CL_SUCCESS)
        return 0;
    const char *mark = strstr(version, CUDA_MARK);
    return mark != NULL && sscanf(mark + strlen(CUDA_MARK), "%3u", &major) == 1 ? major : 0;
}

ingot_status_t nvidia_binary_translate(const cl_icd_dispatch *cl, const ingot_allocator_t *allocator,
                                       cl_platform_id platform, cl_program program, cl_device_id device,
                                       const ingot_binary_t *binary, size_t *native_size, void **native)
{
    if (!is_ptx(binary->size, binary->bytes) || has_translation_options(cl, allocator, program, device))
        return INGOT_SUCCESS;
    const unsigned capability = capability_of(cl, device);
    const unsigned major = cuda_major_of(cl, platform);
    if (capability == 0 || major == 0)
        return INGOT_SUCCESS;
    const size_t length = strnlen((const char *)binary->bytes, binary->size);
    char *text = ingot_allocate(allocator, length + 1); /* with room for a NUL */
    if (text == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu bytes of PTX", length);
    memcpy(text, binary->bytes, length);
    const ingot_status_t status = nvidia_link_ptx(allocator, major, capability, length, text, native_size, native);
    ingot_deallocate(allocator, text, length + 1);
    return status == INGOT_OUT_OF_MEMORY ? status : INGOT_SUCCESS; /* if linking fails, the PTX stays */
}

/* The answer to a query, or its error. */
struct answer {
    cl_int error;
    char bytes[256];
};

static bool are_equal(const struct answer *a, const struct answer *b)
{
    return a->error == b->error && memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

static struct answer ask_argument(const cl_icd_dispatch *cl, cl_kernel kernel, cl_uint index, cl_kernel_arg_info what)
{
    struct answer answer = {CL_SUCCESS, ""};
    answer.error = cl->clGetKernelArgInfo(kernel, index, what, sizeof(answer.bytes), answer.bytes, NULL);
    return answer;
}

static bool arguments_are_equal(const cl_icd_dispatch *cl, cl_kernel kernel, cl_kernel other, cl_uint count)
{
    static const cl_kernel_arg_info infos[] = {CL_KERNEL_ARG_NAME, CL_KERNEL_ARG_TYPE_NAME,
                                               CL_KERNEL_ARG_ADDRESS_QUALIFIER, CL_KERNEL_ARG_ACCESS_QUALIFIER,
                                               CL_KERNEL_ARG_TYPE_QUALIFIER};
    for (cl_uint i = 0; i < count; ++i) {
        for (size_t n = 0; n < sizeof(infos) / sizeof(infos[0]); ++n) {
            const struct answer mine = ask_argument(cl, kernel, i, infos[n]);
            const struct answer theirs = ask_argument(cl, other, i, infos[n]);
            if (!are_equal(&mine, &theirs))
                return false;
        }
    }
    return true;
}

static struct answer ask_group_size(const cl_icd_dispatch *cl, cl_kernel kernel, cl_device_id device)
{
    struct answer answer = {CL_SUCCESS, ""};
    answer.error = cl->clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof(answer.bytes),
                                                answer.bytes, NULL);
    return answer;
}

static bool has_equal_kernel(const cl_icd_dispatch *cl, cl_device_id device, cl_kernel kernel, cl_program other_program)
{
    char name[1024] = "";
    cl_int error = CL_SUCCESS;
    if (cl->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof(name), name, NULL) != CL_SUCCESS)
        return false;
    cl_kernel other = cl->clCreateKernel(other_program, name, &error);
    if (other == NULL)
        return false;
    const struct answer mine = ask_group_size(cl, kernel, device);
    const struct answer theirs = ask_group_size(cl, other, device);
    cl_uint counts[2] = {0, 0};
    const bool equal =
        are_equal(&mine, &theirs) &&
        cl->clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(counts[0]), &counts[0], NULL) == CL_SUCCESS &&
        cl->clGetKernelInfo(other, CL_KERNEL_NUM_ARGS, sizeof(counts[1]), &counts[1], NULL) == CL_SUCCESS &&
        counts[0] == counts[1] && arguments_are_equal(cl, kernel, other, counts[0]);
    (void)cl->clReleaseKernel(other);
    return equal;
}

bool nvidia_binary_is_equal(const cl_icd_dispatch *cl, const ingot_allocator_t *allocator, cl_device_id device,
                            cl_program of_ptx, cl_program of_native)
{
    cl_uint count = 0;
    bool equal = true;
    if (cl->clCreateKernelsInProgram(of_ptx, 0, NULL, &count) != CL_SUCCESS || count == 0)
        return false;
    const size_t size = count * sizeof(cl_kernel);
    cl_kernel *kernels = ingot_allocate(allocator, size);
    if (kernels == NULL)
        return false;
    if (cl->clCreateKernelsInProgram(of_ptx, count, kernels, NULL) != CL_SUCCESS) {
        equal = false;
        count = 0; /* the driver created no kernels */
    }
    for (cl_uint i = 0; i < count; ++i) {
        equal = equal && has_equal_kernel(cl, device, kernels[i], of_native);
        (void)cl->clReleaseKernel(kernels[i]);
    }
    ingot_deallocate(allocator, kernels, size);
    return equal;
}
