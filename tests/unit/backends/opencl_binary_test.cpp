/*
 * opencl_binary_test.cpp - tests the binaries that the OpenCL backend takes from drivers and gives back to them, and
 * how many bytes the in-memory cache counts for its programs.
 */
#include "unit/backends/opencl_backend_fixture.h"

#include <cstring>
#include <fstream>
#include <iterator>

#include "support/child_process.h"

using namespace opencl_backend;

TEST(OpenclGetBinary, LeavesIntelsIntermediateCodeOut)
{
    const std::string spirv = {0x03, 0x02, 0x23, 0x07};
    const Built built;
    if (platform().is_intel()) {
        EXPECT_NE(std::string::npos, built.of_driver.find(spirv));
        EXPECT_EQ(std::string::npos, built.of_table.find(spirv));
        EXPECT_LT(built.of_table.size(), built.of_driver.size());
    } else {
        EXPECT_EQ(built.of_driver, built.of_table);
    }
}

/* A driver that answers like NVIDIA's: each program's binary is PTX, and PTX and machine code make the same program.
 */
struct Nvidia {
    static constexpr char kPtx[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry twice(.param .u64 x)\n{\nret;\n}\n";
    static inline std::string binary; /* what the real driver returned */
    static inline bool takes_machine_code;
    static inline std::vector<size_t> loaded; /* sizes of the loaded binaries */

    static const cl_icd_dispatch &functions()
    {
        static cl_icd_dispatch table = counting_functions();
        table.clGetPlatformInfo = [](cl_platform_id id, cl_platform_info what, size_t capacity, void *value,
                                     size_t *size) {
            const char version[] = "OpenCL 3.0 CUDA 13.0.98";
            if (what == CL_PLATFORM_VERSION && value != nullptr && capacity >= sizeof(version))
                return std::memcpy(value, version, sizeof(version)), CL_SUCCESS;
            return clGetPlatformInfo(id, what, capacity, value, size);
        };
        table.clGetDeviceInfo = [](cl_device_id id, cl_device_info what, size_t capacity, void *value, size_t *size) {
            if (what != 0x4000 && what != 0x4001)
                return clGetDeviceInfo(id, what, capacity, value, size);
            *static_cast<cl_uint *>(value) = what == 0x4000 ? 9 : 0; /* the compute capability */
            return CL_SUCCESS;
        };
        table.clGetProgramInfo = [](cl_program program, cl_program_info what, size_t capacity, void *value,
                                    size_t *size) {
            const size_t ptx_size = sizeof(kPtx);
            if (what == CL_PROGRAM_BINARY_SIZES && value != nullptr)
                return std::memcpy(value, &ptx_size, sizeof(ptx_size)), CL_SUCCESS;
            if (what == CL_PROGRAM_BINARIES && value != nullptr)
                return std::memcpy(*static_cast<void **>(value), kPtx, sizeof(kPtx)), CL_SUCCESS;
            return clGetProgramInfo(program, what, capacity, value, size);
        };
        table.clCreateProgramWithBinary = [](cl_context context, cl_uint count, const cl_device_id *devices,
                                             const size_t *sizes, const unsigned char **, cl_int *statuses,
                                             cl_int *error) -> cl_program {
            const auto *bytes = reinterpret_cast<const unsigned char *>(binary.data());
            const size_t size = binary.size();
            loaded.push_back(sizes[0]);
            if (sizes[0] == sizeof(kPtx) || takes_machine_code)
                return clCreateProgramWithBinary(context, count, devices, &size, &bytes, statuses, error);
            *error = CL_INVALID_BINARY;
            return nullptr;
        };
        return table;
    }

    /* Returns the binary that the backend would store. */
    static std::string binary_of_program()
    {
        const OpenclContext native(one_device());
        const Context context = make_with(functions(), native);
        return binary_of(context, build(context));
    }
};

TEST(OpenclGetBinary, IsMachineCodeInPlaceOfPtxIfTheDriverMakesTheSameProgramOfIt)
{
    if (!HAS_LINKER)
        GTEST_SKIP() << "no libnvJitLink, so every program keeps its PTX";
    const std::string ptx(Nvidia::kPtx, sizeof(Nvidia::kPtx));
    Nvidia::binary = Built().of_driver;
    Nvidia::takes_machine_code = true;
    Nvidia::loaded.clear();
    const std::string native = Nvidia::binary_of_program();
    EXPECT_EQ("\x7f"
              "ELF",
              native.substr(0, 4));
    EXPECT_EQ((std::vector<size_t>{ptx.size(), native.size()}), Nvidia::loaded) << "compared";
    Nvidia::takes_machine_code = false;
    EXPECT_EQ(ptx, Nvidia::binary_of_program());
    Nvidia::binary = "no driver takes this";
    EXPECT_EQ(ptx, Nvidia::binary_of_program());
}

/* NVIDIA's driver lists the kernels of a program only if the program is built for all devices of the context. */
TEST(OpenclKernelNames, AreReadFromAProgramForAllDevicesIfTheDriverListsNoneForOne)
{
    const std::vector<cl_device_id> both(platform().devices().begin(), platform().devices().begin() + 2);
    const OpenclContext native(both);
    cl_icd_dispatch table = counting_functions();
    static cl_program for_both; /* the driver's newest program for two devices */
    for_both = nullptr;
    table.clCreateProgramWithBinary = [](cl_context of, cl_uint count, const cl_device_id *devices, const size_t *sizes,
                                         const unsigned char **bytes, cl_int *statuses, cl_int *error) {
        cl_program made = clCreateProgramWithBinary(of, count, devices, sizes, bytes, statuses, error);
        for_both = count == 2 ? made : nullptr;
        return made;
    };
    table.clGetProgramInfo = [](cl_program program, cl_program_info what, size_t capacity, void *value, size_t *size) {
        if (what == CL_PROGRAM_KERNEL_NAMES && program != for_both)
            return CL_INVALID_PROGRAM_EXECUTABLE;
        return clGetProgramInfo(program, what, capacity, value, size);
    };
    table.clGetPlatformInfo = [](cl_platform_id id, cl_platform_info what, size_t capacity, void *value, size_t *size) {
        const char name[] = "NVIDIA CUDA"; /* for PoCL, the backend would request names before a binary */
        if (what != CL_PLATFORM_NAME)
            return clGetPlatformInfo(id, what, capacity, value, size);
        if (value != nullptr && capacity >= sizeof(name))
            std::memcpy(value, name, sizeof(name));
        if (size != nullptr)
            *size = sizeof(name);
        return CL_SUCCESS;
    };
    const Context context = make_with(table, native);
    Table request;
    request.state = ingot_context_get_backend_state(context.get(), &opencl_ops);
    request.device = 1;
    Sink names;
    void *program = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, request.build(&program));
    EXPECT_EQ(INGOT_SUCCESS, opencl_ops.get_kernel_names(request.state, program, names.get()))
        << ingot_last_error_detail();
    EXPECT_EQ(std::string("twice", 6), names.text());
    opencl_ops.destroy_program(request.state, program);
}

/* PoCL would abort, because it names a file after the kernel. */
TEST(OpenclGetBinary, IsNotRequestedOfPoclIfAKernelsNameCannotBeAFiles)
{
    for (const size_t length : {size_t{252}, size_t{253}}) {
        const std::string text = "kernel void " + std::string(length, 'k') + "(global int *x) { *x = 1; }\n";
        const ingot_source_view_t view = {INGOT_SOURCE_OPENCL_C, text.size(), text.data(), nullptr};
        Table table;
        table.request.sources = &view;
        Sink binary;
        void *program = nullptr;
        ASSERT_EQ(INGOT_SUCCESS, table.build(&program));
        EXPECT_EQ(platform().is_pocl() && length == 253 ? INGOT_UNIMPLEMENTED : INGOT_SUCCESS,
                  opencl_ops.get_binary(table.state, program, 0, binary.get()));
        opencl_ops.destroy_program(table.state, program);
    }
}

TEST(OpenclLoad, RefusesABinaryOfAnotherDeviceThoughTheDriverWouldCompileItAgain)
{
    child_process::Child::Environment other;
    if (platform().is_intel())
        other = {{"ProductFamilyOverride", "skl"}};
    child_process::Child child({"/proc/self/exe", "--write-binary", "other.bin"}, "other.out", other);
    ASSERT_EQ(0, child.wait()) << child.output();
    std::ifstream file("other.bin", std::ios::binary);
    std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    ASSERT_LT(16u, bytes.size());
    /* CPU devices of newer PoCL versions share binaries, so the device's number, which follows the magic, is changed.
     */
    if (platform().is_pocl()) {
        ASSERT_EQ("poclbin", std::string(bytes.begin(), bytes.begin() + 7));
        bytes[8] = static_cast<char>(bytes[8] ^ 1);
    }
    Table table;
    void *program = nullptr;
    EXPECT_EQ(INGOT_BLOB_REJECTED, table.load(bytes.size(), bytes.data(), &program)) << ingot_last_error_detail();
    EXPECT_EQ(nullptr, program);
}

/* Returns small and large programs with kernels of several kinds: long arithmetic, barriers, and many kernels in one
 * program. */
static std::vector<std::string> various_programs()
{
    std::vector<std::string> texts{kSource};
    for (const char *name : {"two_kernels.cl", "many_kernels.cl"}) {
        std::ifstream file(std::string(INGOT_SOURCE_DIR "/tests/support/kernels/") + name);
        texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    std::string barriers;
    for (const char *name : {"a", "b", "c"})
        barriers += std::string("__kernel void ") + name +
                    "(__global float *x, __local float *l) { size_t i = get_local_id(0); float s = 0; l[i] = x[i];\n"
                    "barrier(CLK_LOCAL_MEM_FENCE); for (int j = 0; j < 64; ++j) s += l[(i + j) % 64]; x[i] = s; }\n";
    texts.push_back(barriers);
    for (const int lines : {20, 100}) {
        std::string text = "__kernel void k(__global float *x) { size_t i = get_global_id(0); float a = x[i], b = a;\n";
        for (int line = 0; line < lines; ++line) {
            const std::string number = std::to_string(line);
            text += "    a = a * " + number + ".5f + b; b = b > a ? sqrt(a) : b - a * x[i + " + number + "];\n";
        }
        texts.push_back(text + "    x[i] = a + b; }\n");
    }
    return texts;
}

/* Compares what the cache counts for a program after its build with what it counts once the blob's size is known. */
TEST(OpenclCache, CountsTheBytesOfBuiltPrograms)
{
    size_t total = 0;
    const std::vector<std::string> texts = various_programs();
    for (const std::string &text : texts) {
        const Programs programs;
        const Program program = create_program(describe(programs.context, text));
        ASSERT_NE(nullptr, program);
        const auto counted = static_cast<double>(programs.stats().bytes);
        EXPECT_EQ(0u, programs.stats().blobs_taken);
        const std::vector<uint8_t> blob = blob_of(program);
        const auto real = static_cast<double>(programs.stats().bytes);
        EXPECT_GE(real, static_cast<double>(blob.size()) * 0.9) << "of which names and log are a few bytes";
        EXPECT_LE(real, static_cast<double>(blob.size()) + 8192) << "what the host has of it included";
        EXPECT_LT(real / 2, counted) << text.substr(0, 200); /* on PoCL, a coarse estimate */
        EXPECT_GT(real * 2, counted) << text.substr(0, 200);
        if (platform().is_intel()) {
            EXPECT_EQ(real, counted);
        }
        total += programs.stats().bytes;
    }
    EXPECT_LT(texts.size() * 3000, total);
}

/* The driver has code for each device, even if two are identical and share one section of the blob. */
TEST(OpenclCache, CountsTheBytesForEachDevice)
{
    const std::vector<cl_device_id> &all = platform().devices();
    ASSERT_LE(2u, all.size());
    const auto bytes_for = [](const std::vector<cl_device_id> &devices) {
        const Programs programs(devices);
        const Program program = create_program(describe(programs.context, various_programs()[1]));
        const auto counted = static_cast<double>(programs.stats().bytes);
        blob_of(program);
        const auto real = static_cast<double>(programs.stats().bytes);
        EXPECT_LT(real / 2, counted) << devices.size() << " devices"; /* on PoCL, a coarse estimate */
        EXPECT_GT(real * 2, counted) << devices.size() << " devices";
        return real;
    };
    const double one = bytes_for({all[0]});
    EXPECT_NEAR(2 * one, bytes_for({all[0], all[1]}), one / 4);
    if (all.size() > 2) { /* PoCL's third device differs */
        EXPECT_NEAR(2 * one, bytes_for({all[0], all[2]}), one / 4);
    }
}
