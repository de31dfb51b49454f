/*
 * nvidia_binary_test.cpp - tests which programs of NVIDIA's OpenCL get machine code in place of their PTX.
 *
 * The driver is a table of functions whose answers each test sets. The linker is the toolkit's real one.
 */
#include <string>
#include <vector>

#include "support/failing_allocator.h"

extern "C" {
#include "backends/opencl/vendor/nvidia_binary.h"
}

struct _cl_platform_id {
    cl_int error = CL_SUCCESS;
    std::string version = "OpenCL 3.0 CUDA 13.0.98";
};

struct _cl_device_id {
    cl_int major_error = CL_SUCCESS;
    cl_int minor_error = CL_SUCCESS;
};

struct Argument {
    std::string name;
    std::string type;
    cl_uint address = CL_KERNEL_ARG_ADDRESS_GLOBAL;
    cl_uint access = CL_KERNEL_ARG_ACCESS_NONE;
    cl_ulong qualifier = CL_KERNEL_ARG_TYPE_NONE;
    cl_int error = CL_SUCCESS;
};

struct _cl_kernel {
    std::string name;
    std::vector<Argument> arguments;
    size_t group_size = 64;
    cl_int name_error = CL_SUCCESS;
    cl_int count_error = CL_SUCCESS;
};

struct _cl_program {
    std::string options;
    cl_int options_error = CL_SUCCESS;
    std::vector<_cl_kernel> kernels;
    cl_int count_error = CL_SUCCESS;
    cl_int list_error = CL_SUCCESS;
};

namespace
{

int live_kernels;

cl_int answer(const void *bytes, size_t size, size_t capacity, void *value, size_t *size_ret)
{
    if (value != nullptr && capacity < size)
        return CL_INVALID_VALUE;
    if (value != nullptr && size > 0)
        std::memcpy(value, bytes, size);
    if (size_ret != nullptr)
        *size_ret = size;
    return CL_SUCCESS;
}

cl_int answer(const std::string &text, size_t capacity, void *value, size_t *size_ret)
{
    return answer(text.c_str(), text.size() + 1, capacity, value, size_ret);
}

cl_int CL_API_CALL get_platform_info(cl_platform_id platform, cl_platform_info, size_t capacity, void *value,
                                     size_t *size)
{
    return platform->error != CL_SUCCESS ? platform->error : answer(platform->version, capacity, value, size);
}

/* Returns compute capability 9.0. */
cl_int CL_API_CALL get_device_info(cl_device_id device, cl_device_info what, size_t capacity, void *value, size_t *size)
{
    const bool is_major = what == 0x4000;
    const cl_int error = is_major ? device->major_error : device->minor_error;
    const cl_uint number = is_major ? 9 : 0;
    return error != CL_SUCCESS ? error : answer(&number, sizeof(number), capacity, value, size);
}

cl_int CL_API_CALL get_build_info(cl_program program, cl_device_id, cl_program_build_info, size_t capacity, void *value,
                                  size_t *size)
{
    return program->options_error != CL_SUCCESS ? program->options_error
                                                : answer(program->options, capacity, value, size);
}

cl_int CL_API_CALL get_kernel_info(cl_kernel kernel, cl_kernel_info what, size_t capacity, void *value, size_t *size)
{
    const auto count = static_cast<cl_uint>(kernel->arguments.size());
    if (what == CL_KERNEL_FUNCTION_NAME)
        return kernel->name_error != CL_SUCCESS ? kernel->name_error : answer(kernel->name, capacity, value, size);
    return kernel->count_error != CL_SUCCESS ? kernel->count_error
                                             : answer(&count, sizeof(count), capacity, value, size);
}

cl_int CL_API_CALL get_argument_info(cl_kernel kernel, cl_uint index, cl_kernel_arg_info what, size_t capacity,
                                     void *value, size_t *size)
{
    const Argument &argument = kernel->arguments.at(index);
    if (argument.error != CL_SUCCESS)
        return argument.error;
    switch (what) {
    case CL_KERNEL_ARG_NAME: return answer(argument.name, capacity, value, size);
    case CL_KERNEL_ARG_TYPE_NAME: return answer(argument.type, capacity, value, size);
    case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
        return answer(&argument.address, sizeof(argument.address), capacity, value, size);
    case CL_KERNEL_ARG_ACCESS_QUALIFIER:
        return answer(&argument.access, sizeof(argument.access), capacity, value, size);
    case CL_KERNEL_ARG_TYPE_QUALIFIER:
        return answer(&argument.qualifier, sizeof(argument.qualifier), capacity, value, size);
    default: return CL_INVALID_VALUE;
    }
}

cl_int CL_API_CALL get_group_info(cl_kernel kernel, cl_device_id, cl_kernel_work_group_info, size_t capacity,
                                  void *value, size_t *size)
{
    const size_t sizes[3] = {kernel->group_size, 1, 1};
    return answer(sizes, sizeof(sizes), capacity, value, size);
}

cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *error)
{
    for (const _cl_kernel &kernel : program->kernels) {
        if (kernel.name != name)
            continue;
        ++live_kernels;
        *error = CL_SUCCESS;
        return new _cl_kernel(kernel);
    }
    *error = CL_INVALID_KERNEL_NAME;
    return nullptr;
}

/* Writes no kernels if it fails. */
cl_int CL_API_CALL create_kernels(cl_program program, cl_uint capacity, cl_kernel *kernels, cl_uint *count)
{
    if (count != nullptr)
        *count = static_cast<cl_uint>(program->kernels.size());
    if (kernels == nullptr || program->list_error != CL_SUCCESS)
        return kernels == nullptr ? program->count_error : program->list_error;
    for (cl_uint i = 0; i < capacity; ++i) {
        kernels[i] = new _cl_kernel(program->kernels[i]);
        ++live_kernels;
    }
    return CL_SUCCESS;
}

cl_int CL_API_CALL release_kernel(cl_kernel kernel)
{
    --live_kernels;
    delete kernel;
    return CL_SUCCESS;
}

const cl_icd_dispatch &driver()
{
    static const cl_icd_dispatch table = [] {
        cl_icd_dispatch made{};
        made.clGetPlatformInfo = get_platform_info;
        made.clGetDeviceInfo = get_device_info;
        made.clGetProgramBuildInfo = get_build_info;
        made.clGetKernelInfo = get_kernel_info;
        made.clGetKernelArgInfo = get_argument_info;
        made.clGetKernelWorkGroupInfo = get_group_info;
        made.clCreateKernel = create_kernel;
        made.clCreateKernelsInProgram = create_kernels;
        made.clReleaseKernel = release_kernel;
        return made;
    }();
    return table;
}

const ingot_allocator_t kDefault{nullptr, nullptr, nullptr};
const std::string kElf("\x7f"
                       "ELF");

/* A program on a device. Each test translates its binary and examines the result. */
class NvidiaBinary : public ::testing::Test
{
protected:
    void SetUp() override
    {
        if (!HAS_LINKER)
            GTEST_SKIP() << "no libnvJitLink, so every program keeps its PTX";
    }
    ingot_status_t translate(const ingot_allocator_t *allocator = &kDefault)
    {
        const ingot_binary_t binary{bytes_.size(), reinterpret_cast<const uint8_t *>(bytes_.data())};
        size_t size = 0;
        void *native = nullptr;
        native_.clear();
        const ingot_status_t status =
            nvidia_binary_translate(&driver(), allocator, &platform_, &program_, &device_, &binary, &size, &native);
        if (native != nullptr)
            native_.assign(static_cast<const char *>(native), size);
        ingot_deallocate(allocator, native, size);
        return status;
    }
    bool keeps_ptx(size_t *blocks = nullptr)
    {
        FailingAllocator counting;
        EXPECT_EQ(INGOT_SUCCESS, translate(counting.table())) << ingot_last_error_detail();
        EXPECT_EQ(0u, counting.live_count());
        if (blocks != nullptr)
            *blocks = counting.requests();
        return native_.empty();
    }
    /* True if the linker was not called. Calling the linker takes another block of memory, for the text. */
    bool keeps_ptx_at_once()
    {
        size_t blocks = 0;
        return keeps_ptx(&blocks) && blocks <= 1; /* one block for the options */
    }

    _cl_platform_id platform_;
    _cl_device_id device_;
    _cl_program program_;
    std::string bytes_ = ".version 8.0\n.target sm_80, texmode_independent\n.address_size 64\n"
                         ".entry scale(.param .u64 .ptr .global .align 4 scale_param_0)\n{\nret;\n}\n";
    std::string native_;
};

} // namespace

TEST_F(NvidiaBinary, BecomesMachineCodeForTheDevice)
{
    EXPECT_FALSE(keeps_ptx());
    ASSERT_EQ(kElf, native_.substr(0, 4));
    EXPECT_EQ(90, native_[49]) << "the architecture, in the ELF header's flags";
    EXPECT_NE(std::string::npos, native_.find("scale"));
    bytes_ += std::string("\0the driver's own", 17); /* the text ends at the NUL */
    EXPECT_FALSE(keeps_ptx());
    EXPECT_EQ(kElf, native_.substr(0, 4));
}

TEST_F(NvidiaBinary, StaysAsItIsIfItIsNotPtx)
{
    bytes_ = kElf + std::string(2000, '\0');
    EXPECT_TRUE(keeps_ptx_at_once());
    bytes_ = "";
    EXPECT_TRUE(keeps_ptx_at_once());
}

TEST_F(NvidiaBinary, KeepsThePtxThatTheLinkerRefuses)
{
    bytes_.replace(bytes_.find("ret;"), 4, "frob;");
    EXPECT_TRUE(keeps_ptx());
}

TEST_F(NvidiaBinary, KeepsThePtxOfOptionsThatTheLinkerDoesNotKnow)
{
    for (const char *options : {"-cl-nv-maxrregcount=16", "-DX -cl-opt-disable", "-nv-verbose"}) {
        program_.options = options;
        EXPECT_TRUE(keeps_ptx_at_once()) << options;
    }
    for (const char *options : {"", "-cl-fast-relaxed-math -DX=1"}) {
        program_.options = options;
        EXPECT_FALSE(keeps_ptx()) << options;
    }
    program_.options_error = CL_INVALID_PROGRAM;
    EXPECT_TRUE(keeps_ptx_at_once());
}

TEST_F(NvidiaBinary, KeepsThePtxIfTheDriverDoesNotSayWhichCodeItLoads)
{
    device_.major_error = CL_INVALID_VALUE;
    EXPECT_TRUE(keeps_ptx_at_once());
    device_.major_error = CL_SUCCESS;
    device_.minor_error = CL_INVALID_VALUE;
    EXPECT_TRUE(keeps_ptx_at_once());
    device_.minor_error = CL_SUCCESS;
    EXPECT_FALSE(keeps_ptx());
    for (const char *version : {"OpenCL 3.0", "OpenCL 3.0 CUDA", "OpenCL 3.0 CUDA X", ""}) {
        platform_.version = version;
        EXPECT_TRUE(keeps_ptx_at_once()) << version;
    }
    platform_ = {};
    platform_.error = CL_INVALID_PLATFORM;
    EXPECT_TRUE(keeps_ptx_at_once());
}

/* No linker may make code that is newer than the driver. */
TEST_F(NvidiaBinary, KeepsThePtxOfADriverThatIsOlderThanEveryLinker)
{
    platform_.version = "OpenCL 1.2 CUDA 11.4.56";
    EXPECT_TRUE(keeps_ptx());
}

TEST_F(NvidiaBinary, FailsCleanlyWithoutMemory)
{
    FailingAllocator counting;
    ASSERT_EQ(INGOT_SUCCESS, translate(counting.table()));
    ASSERT_EQ(3u, counting.requests()); /* the options, the text, the machine code */
    for (size_t i = 0; i < counting.requests(); ++i) {
        FailingAllocator failing(i);
        EXPECT_EQ(i == 0 ? INGOT_SUCCESS : INGOT_OUT_OF_MEMORY, translate(failing.table())) << i;
        EXPECT_TRUE(native_.empty());
        EXPECT_TRUE(failing.failed());
        EXPECT_EQ(0u, failing.live_count()) << i;
    }
}

static _cl_program two_kernels()
{
    _cl_program program;
    program.kernels = {{"twice", {{"x", "int*"}, {"by", "int"}}}, {"add", {{"a", "float*"}}}};
    return program;
}

/* True if `of_native` can replace `of_ptx`. */
static bool are_equal(_cl_program of_ptx, _cl_program of_native, const ingot_allocator_t *allocator = &kDefault)
{
    _cl_device_id device;
    live_kernels = 0;
    const bool equal = nvidia_binary_is_equal(&driver(), allocator, &device, &of_ptx, &of_native);
    EXPECT_EQ(0, live_kernels);
    return equal;
}

template <typename Change> static bool are_equal_but(Change change)
{
    _cl_program program = two_kernels();
    change(program);
    const bool equal = are_equal(two_kernels(), program);
    EXPECT_EQ(equal, are_equal(program, two_kernels()));
    return equal;
}

TEST(NvidiaPrograms, AreEqualIfTheirKernelsGiveTheSameAnswers)
{
    EXPECT_TRUE(are_equal(two_kernels(), two_kernels()));
    _cl_program turned = two_kernels();
    std::swap(turned.kernels[0], turned.kernels[1]);
    EXPECT_TRUE(are_equal(two_kernels(), turned));
    _cl_program silent = two_kernels(); /* as a program without -cl-kernel-arg-info answers */
    silent.kernels[0].arguments[0].error = CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
    EXPECT_TRUE(are_equal(silent, silent));
    _cl_program failing = silent;
    failing.kernels[0].arguments[0].error = CL_OUT_OF_HOST_MEMORY;
    EXPECT_FALSE(are_equal(silent, failing));
}

TEST(NvidiaPrograms, DifferIfAKernelAnswersDifferently)
{
    using P = _cl_program;
    EXPECT_FALSE(are_equal_but([](P &p) { p.kernels[1].group_size = 32; }));
    EXPECT_FALSE(are_equal_but([](P &p) { p.kernels[1].arguments.pop_back(); }));
    EXPECT_FALSE(are_equal_but([](P &p) { p.kernels[0].name = "thrice"; }));
    EXPECT_FALSE(are_equal_but([](P &p) { p.kernels[0].arguments[1].name = "with"; }));
    EXPECT_FALSE(are_equal_but([](P &p) { p.kernels[0].arguments[1].type = "uint"; }));
    EXPECT_FALSE(are_equal_but([](P &p) { p.kernels[0].arguments[0].address = CL_KERNEL_ARG_ADDRESS_CONSTANT; }));
    EXPECT_FALSE(are_equal_but([](P &p) { p.kernels[0].arguments[0].access = CL_KERNEL_ARG_ACCESS_READ_ONLY; }));
    EXPECT_FALSE(are_equal_but([](P &p) { p.kernels[0].arguments[0].qualifier = CL_KERNEL_ARG_TYPE_CONST; }));
    EXPECT_FALSE(are_equal_but([](P &p) { p.kernels[0].arguments[0].error = CL_KERNEL_ARG_INFO_NOT_AVAILABLE; }));
    EXPECT_FALSE(are_equal_but([](P &p) { p.kernels[1].count_error = CL_OUT_OF_HOST_MEMORY; }));
    EXPECT_TRUE(are_equal_but([](P &) {}));
}

TEST(NvidiaPrograms, DifferIfTheDriverDoesNotListTheirKernels)
{
    const auto is_equal_with = [](void (*change)(_cl_program &)) {
        _cl_program program = two_kernels();
        change(program);
        return are_equal(program, two_kernels());
    };
    EXPECT_FALSE(is_equal_with([](_cl_program &p) { p.kernels.clear(); }));
    EXPECT_FALSE(is_equal_with([](_cl_program &p) { p.count_error = CL_INVALID_PROGRAM_EXECUTABLE; }));
    EXPECT_FALSE(is_equal_with([](_cl_program &p) { p.kernels[0].name_error = CL_OUT_OF_HOST_MEMORY; }));
}

/* The driver fails before it writes a kernel into the list, so the backend must release none. */
TEST(NvidiaPrograms, DifferIfTheDriverFailsToCreateTheirKernels)
{
    FailingAllocator filling;
    _cl_program failing = two_kernels();
    failing.list_error = CL_OUT_OF_HOST_MEMORY;
    EXPECT_FALSE(are_equal(failing, two_kernels(), filling.table()));
    EXPECT_EQ(0u, filling.live_count());
}

TEST(NvidiaPrograms, DifferWithoutMemoryToCompareThem)
{
    FailingAllocator failing(0);
    EXPECT_FALSE(are_equal(two_kernels(), two_kernels(), failing.table()));
    EXPECT_TRUE(failing.failed());
    EXPECT_EQ(0u, failing.live_count());
}
