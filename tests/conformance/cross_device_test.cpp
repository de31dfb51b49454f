/*
 * cross_device_test.cpp - tests that a blob made on one device is stale on every other device, API and platform, and
 * that no driver sees its bytes.
 *
 * Each device has a separate process: this program starts itself with `--make API FILE` and `--try API FILE...`. The
 * program defines the functions of the loaders that take a binary, and counts the calls to them.
 */
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/child_process.h"
#include "support/level_zero_driver.h"
#include "support/objects.h"
#include "support/opencl_platform.h"

namespace
{

std::atomic<int> driver_calls{0};

/* A device to make programs for: its API, and the environment in which a process sees it. */
struct Device {
    std::string name;
    std::string api;
    std::string source; /* in tests/support/kernels; the same for all devices of a test */
    child_process::Child::Environment environment;
};

std::string working_directory()
{
    char path[4096] = "";
    EXPECT_NE(nullptr, getcwd(path, sizeof(path)));
    return path;
}

Device level_zero(const std::string &product, const std::string &hardware = "default")
{
    return {"level_zero-" + product,
            "level_zero",
            "two_kernels.spv",
            {{"INGOT_TEST_DEVICE", "level_zero-" + product},
             {"ProductFamilyOverride", product},
             {"HardwareInfoOverride", hardware},
             {"OCL_ICD_VENDORS", "/dev/null"}}};
}

Device opencl(const std::string &name, const std::string &icd, const std::string &product, const std::string &source)
{
    return {name,
            "opencl",
            source,
            {{"ProductFamilyOverride", product},
             {"HardwareInfoOverride", "default"},
             {"OCL_ICD_VENDORS", "/etc/OpenCL/vendors/" + icd},
             {"POCL_CACHE_DIR", working_directory()}}};
}

std::vector<Device> spirv_devices()
{
    return {level_zero("tgllp"),
            level_zero("dg2", "2x4x16"),
            level_zero("pvc", "2x4x8"),
            level_zero("skl"),
            level_zero("adlp"),
            opencl("intel-tgllp", "intel.icd", "tgllp", "two_kernels.spv"),
            opencl("intel-skl", "intel.icd", "skl", "two_kernels.spv")};
}

std::vector<Device> opencl_c_devices()
{
    return {opencl("pocl", "pocl.icd", "tgllp", "two_kernels.cl"),
            opencl("intel-c-tgllp", "intel.icd", "tgllp", "two_kernels.cl"),
            opencl("intel-c-adlp", "intel.icd", "adlp", "two_kernels.cl")};
}

std::string run(const Device &device, std::vector<std::string> arguments)
{
    arguments.insert(arguments.begin(), "/proc/self/exe");
    arguments.insert(arguments.begin() + 2, device.api);
    arguments.insert(arguments.begin() + 3, device.source);
    child_process::Child child(arguments, device.name + ".out", device.environment);
    EXPECT_EQ(0, child.wait()) << device.name << ": " << child.output();
    return child.output();
}

/* Makes a blob on each device, and tries to load each blob on each device. */
void expect_each_takes_its_own_alone(const std::vector<Device> &devices)
{
    for (const Device &maker : devices)
        run(maker, {"--make", maker.name + ".blob"});
    for (const Device &user : devices) {
        std::vector<std::string> arguments{"--try"};
        std::string expected;
        for (const Device &maker : devices) {
            arguments.push_back(maker.name + ".blob");
            expected += maker.name + ".blob: ";
            expected += maker.name == user.name ? "INGOT_SUCCESS, seen by the driver\n" : "INGOT_BLOB_STALE, unseen\n";
        }
        EXPECT_EQ(expected, run(user, arguments)) << "on " << user.name;
    }
}

std::string read_file(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file.good()) << path;
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Context make_context(const std::string &api)
{
    ingot_context_t context = nullptr;
    if (api == "level_zero") {
        LevelZeroDriver &driver = LevelZeroDriver::get();
        EXPECT_EQ(INGOT_SUCCESS, ingot_level_zero_context_create(&context, driver.native(), driver.context(), 1,
                                                                 driver.devices().data(), nullptr));
    } else {
        const OpenclContext native({OpenclPlatform::get().devices()[0]});
        EXPECT_EQ(INGOT_SUCCESS, ingot_opencl_context_create(&context, native.native(), 0, nullptr, nullptr));
    }
    return Context(context);
}

Desc describe(const Context &context, const std::string &name)
{
    const bool is_spirv = name.find(".spv") != std::string::npos;
    const std::string bytes = read_file((is_spirv ? SPIRV_DIR "/" : INGOT_SOURCE_DIR "/tests/support/kernels/") + name);
    const Source source = make_source(bytes, nullptr, is_spirv ? INGOT_SOURCE_SPIRV : INGOT_SOURCE_OPENCL_C);
    return describe_source(context.get(), source.get());
}

void make_blob(const Desc &desc, const std::string &path)
{
    const Bytes blob = blob_of(create_program(desc));
    std::ofstream(path, std::ios::binary) << std::string(blob.begin(), blob.end());
}

void try_blob(const Desc &desc, const std::string &path)
{
    const std::string blob = read_file(path);
    driver_calls = 0;
    const ingot_status_t status = load_program(desc, Bytes(blob.begin(), blob.end()));
    std::cout << path << ": " << ingot_status_name(status) << (driver_calls > 0 ? ", seen by the driver" : ", unseen")
              << std::endl;
}

int run_as_child(const std::vector<std::string> &arguments)
{
    for (size_t i = 4; i < arguments.size(); ++i) {
        const Context context = make_context(arguments[2]); /* a new one: nothing is in memory */
        const Desc desc = describe(context, arguments[3]);
        if (arguments[1] == "--make")
            make_blob(desc, arguments[i]);
        else
            try_blob(desc, arguments[i]);
    }
    return testing::Test::HasFailure() ? 1 : 0;
}

} // namespace

extern "C" {

/* These functions replace those of the loaders, and call them. */
ze_result_t ZE_APICALL zeModuleCreate(ze_context_handle_t context, ze_device_handle_t device,
                                      const ze_module_desc_t *desc, ze_module_handle_t *module,
                                      ze_module_build_log_handle_t *log)
{
    static const auto next = reinterpret_cast<decltype(&zeModuleCreate)>(dlsym(RTLD_NEXT, "zeModuleCreate"));
    ++driver_calls;
    return next(context, device, desc, module, log);
}

cl_program CL_API_CALL clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *devices,
                                                 const size_t *sizes, const unsigned char **binaries, cl_int *statuses,
                                                 cl_int *error)
{
    static const auto next =
        reinterpret_cast<decltype(&clCreateProgramWithBinary)>(dlsym(RTLD_NEXT, "clCreateProgramWithBinary"));
    ++driver_calls;
    return next(context, count, devices, sizes, binaries, statuses, error);
}

} // extern "C"

TEST(CrossDevice, ABlobOfSpirvIsForOneProductAndApiAlone)
{
    expect_each_takes_its_own_alone(spirv_devices());
}

TEST(CrossDevice, ABlobOfOpenclCIsForOnePlatformAlone)
{
    expect_each_takes_its_own_alone(opencl_c_devices());
}

int main(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    if (argc > 4)
        return run_as_child({argv, argv + argc});
    return RUN_ALL_TESTS();
}
