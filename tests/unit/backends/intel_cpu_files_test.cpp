/*
 * intel_cpu_files_test.cpp - tests that the identity of Intel's runtime for CPUs covers its data files and its
 * environment variables, in a folder with a copy of a library that stands for the runtime.
 */
#include <dlfcn.h>

#include <fstream>

#include <gtest/gtest.h>

extern "C" {
#include "backends/opencl/vendor/data_files.h"
#include "backends/opencl/vendor/vendor.h"
#include "core/identity/device_identity.h"
#include "util/memory.h"
}
#include "support/scratch_directory.h"

namespace
{

using Identify = ingot_status_t (*)(void *, uint32_t, ingot_identity_t *);

/* Returns the fields that a backend adds, or "" on failure. */
std::string fields_of(Identify identify, const void *state)
{
    ingot_backend_ops_t ops{};
    ingot_allocator_t allocator;
    device_identity *identity = nullptr;
    ops.identify_device = identify;
    EXPECT_EQ(INGOT_SUCCESS, memory_init(&allocator, nullptr));
    if (device_identity_create(&identity, &allocator, nullptr, &ops, const_cast<void *>(state), 0) != INGOT_SUCCESS) {
        ADD_FAILURE() << ingot_last_error_detail();
        return "";
    }
    const std::string bytes(reinterpret_cast<const char *>(identity->bytes), identity->size);
    device_identity_destroy(identity, &allocator);
    return bytes;
}

class IntelCpuFiles : public testing::Test
{
protected:
    void SetUp() override
    {
        std::filesystem::create_directories(directory_);
        for (const char *name : {"cl.cfg", "clbltfnz0.rtl", "clbltfnshared.rtl", "cllibrary.rtl", "cllibraryz0.o",
                                 "libocl_svml_z0.so", "libmkl_core.so"})
            write(name, "first");
        std::filesystem::copy_file(POCL_STAND_IN, directory_ / "libintelocl.so");
        library_ = dlopen((directory_ / "libintelocl.so").c_str(), RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(nullptr, library_) << dlerror();
        function_ = dlsym(library_, "clGetPlatformIDs");
    }
    void TearDown() override
    {
        if (library_ != nullptr)
            dlclose(library_);
    }
    void write(const std::string &name, const std::string &text) const { std::ofstream(directory_ / name) << text; }
    std::string fields() const
    {
        return fields_of(
            [](void *function, uint32_t, ingot_identity_t *identity) {
                ingot_allocator_t allocator;
                EXPECT_EQ(INGOT_SUCCESS, memory_init(&allocator, nullptr));
                return intel_cpu_add_files(&allocator, function, identity);
            },
            function_);
    }

    ScratchDirectory scratch_;
    const std::filesystem::path directory_ = scratch_.path() / "lib";
    const void *function_ = nullptr;

private:
    void *library_ = nullptr;
};

TEST_F(IntelCpuFiles, EachIsPartOfTheIdentity)
{
    std::string before = fields();
    ASSERT_NE("", before);
    for (const char *name : {"cl.cfg", "clbltfnz0.rtl", "clbltfnshared.rtl", "cllibrary.rtl", "cllibraryz0.o",
                             "libocl_svml_z0.so", "clbltfnl9.rtl"}) {
        write(name, "changed");
        const std::string after = fields();
        EXPECT_NE(before, after) << name;
        before = after;
    }
}

TEST_F(IntelCpuFiles, ThatAreNotFoundAreAnError)
{
    ingot_allocator_t allocator;
    EXPECT_EQ(INGOT_SUCCESS, memory_init(&allocator, nullptr));
    for (const char *name : {"clbltfnz0.rtl", "clbltfnshared.rtl", "cllibrary.rtl"})
        std::filesystem::remove(directory_ / name);
    EXPECT_EQ(INGOT_BACKEND_ERROR, intel_cpu_add_files(&allocator, function_, nullptr));
    const std::string detail = ingot_last_error_detail();
    EXPECT_NE(std::string::npos, detail.find("lib has no data files (*.rtl)")) << detail;
}

TEST_F(IntelCpuFiles, VariablesThatNameFilesAreRefused)
{
    ingot_allocator_t allocator;
    EXPECT_EQ(INGOT_SUCCESS, memory_init(&allocator, nullptr));
    for (const char *name : {"CL_CONFIG_REPLACE_IR_BEFORE_OPTIMIZER", "CL_CONFIG_REPLACE_IR_AFTER_OPTIMIZER",
                             "CL_CONFIG_FORCE_PROFILE_LIB_PATH"}) {
        setenv(name, "a", 1);
        EXPECT_EQ(INGOT_BACKEND_ERROR, intel_cpu_add_files(&allocator, function_, nullptr)) << name;
        unsetenv(name);
    }
}

TEST_F(IntelCpuFiles, OtherFilesAreNoPartOfIt)
{
    const std::string before = fields();
    ASSERT_NE("", before);
    write("libmkl_core.so", "changed");
    EXPECT_EQ(before, fields());
}

std::string settings(const char *name, const char *value)
{
    setenv(name, value, 1);
    const std::string text = fields_of(
        [](void *, uint32_t, ingot_identity_t *identity) {
            return opencl_vendor_add_settings(opencl_vendor_of("Intel(R) OpenCL"), identity);
        },
        nullptr);
    unsetenv(name);
    return text;
}

TEST(IntelCpuSettings, VariablesThatChangeCodeArePartOfTheIdentity)
{
    EXPECT_NE(settings("CL_CONFIG_CPU_TARGET_ARCH", "core-avx2"), settings("CL_CONFIG_CPU_TARGET_ARCH", "skx"));
    EXPECT_NE(settings("CL_CONFIG_CPU_VECTORIZER_MODE", "1"), settings("CL_CONFIG_CPU_VECTORIZER_MODE", "4"));
    EXPECT_EQ(settings("CL_CONFIG_LOG_FILE", "a"), settings("CL_CONFIG_LOG_FILE", "b"));
    EXPECT_EQ(settings("CL_CONFIG_CPU_TBB_NUM_WORKERS", "1"), settings("CL_CONFIG_CPU_TBB_NUM_WORKERS", "2"));
}

} // namespace
