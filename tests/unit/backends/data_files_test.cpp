/*
 * data_files_test.cpp - tests that the identities of PoCL and of Intel's runtime for CPUs cover their data files and
 * the runtime's environment variables: where these files are looked for, and the errors about them. A copy of a library
 * that stands for the driver is in a folder with the files.
 */
#include <dlfcn.h>

#include <fstream>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "backends/opencl/vendor/data_files.h"
#include "backends/opencl/vendor/pocl_binary.h"
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

class PoclFiles : public testing::Test
{
protected:
    /* Makes an installation in the directory `prefix`: a library, and a data directory with header files of these
     * names. */
    void install(const std::filesystem::path &prefix, const std::vector<std::string> &headers,
                 const std::string &library_directory = "lib", const std::string &data = "share/pocl",
                 const std::string &library = POCL_STAND_IN)
    {
        const std::filesystem::path include = prefix / data / "include";
        const std::filesystem::path path = prefix / library_directory / "libpocl.so";
        std::filesystem::create_directories(path.parent_path());
        std::filesystem::create_directories(include);
        for (const std::string &name : headers)
            std::ofstream(include / name) << "// " << name;
        std::filesystem::copy_file(library, path);
        library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(nullptr, library_) << dlerror();
        for (const char *name : {"clGetPlatformIDs", "pocl_get_private_datadir"})
            function_ = function_ != nullptr ? function_ : dlsym(library_, name);
    }
    void TearDown() override
    {
        unsetenv("POCL_BUILDING");
        unsetenv("POCL_STAND_IN_DATA");
        if (library_ != nullptr)
            dlclose(library_);
    }
    std::string fields() const
    {
        return fields_of(
            [](void *function, uint32_t, ingot_identity_t *identity) {
                ingot_allocator_t allocator;
                EXPECT_EQ(INGOT_SUCCESS, memory_init(&allocator, nullptr));
                return pocl_add_files(&allocator, "basic", function, identity);
            },
            function_);
    }
    /* Expects that the files are refused. Returns the error detail. */
    std::string refusal() const
    {
        ingot_allocator_t allocator;
        EXPECT_EQ(INGOT_SUCCESS, memory_init(&allocator, nullptr));
        EXPECT_EQ(INGOT_BACKEND_ERROR, pocl_add_files(&allocator, "basic", function_, nullptr));
        return ingot_last_error_detail();
    }

    ScratchDirectory scratch_;

private:
    void *library_ = nullptr;
    const void *function_ = nullptr;
};

TEST_F(PoclFiles, RefusesAPathThatIsTooLong)
{
    const std::string header = std::string(200, 'h') + ".h";
    install(scratch_.path() / std::string(200, 'd') / std::string(100, 'd'), {header});
    const std::string detail = refusal();
    EXPECT_NE(std::string::npos, detail.find(header + " has a path of more than 511 bytes")) << detail;
}

TEST_F(PoclFiles, AreThoseOfTheDirectoryThatTheLibraryUses)
{
    const std::filesystem::path data = scratch_.path() / "elsewhere";
    setenv("POCL_STAND_IN_DATA", data.c_str(), 1);
    install(scratch_.path(), {"a.h"}, "lib", "elsewhere", TELLING_POCL);
    const std::string before = fields();
    EXPECT_NE("", before);
    std::filesystem::create_directories(scratch_.path() / "share/pocl/include"); /* another PoCL's */
    EXPECT_EQ(before, fields());
    std::ofstream(data / "include/a.h") << "changed";
    EXPECT_NE(before, fields());
}

TEST_F(PoclFiles, OfAWheelAreFound)
{
    install(scratch_.path(), {"a.h"}, "pyopencl/.libs", "pocl_binary_distribution/.libs/share/pocl");
    const std::string before = fields();
    EXPECT_NE("", before);
    std::ofstream(scratch_.path() / "pocl_binary_distribution/.libs/share/pocl/kernel-x.bc") << "built-ins";
    EXPECT_NE(before, fields());
}

TEST_F(PoclFiles, ThatAreNotFoundAreAnError)
{
    install(scratch_.path(), {"a.h"}, "lib", "elsewhere");
    const std::string detail = refusal();
    EXPECT_NE(std::string::npos, detail.find("lib/libpocl.so were not found")) << detail;
}

/* PoCL then compiles with the files of its source directory. */
TEST_F(PoclFiles, OfASourceDirectoryAreRefused)
{
    install(scratch_.path() / "prefix", {"a.h"});
    setenv("POCL_BUILDING", "1", 1);
    const std::string detail = refusal();
    EXPECT_NE(std::string::npos, detail.find("POCL_BUILDING is set")) << detail;
}

TEST_F(PoclFiles, RefusesTooManyFiles)
{
    std::vector<std::string> headers;
    for (int i = 0; i <= 128; ++i)
        headers.push_back(std::to_string(i) + ".h");
    install(scratch_.path() / "prefix", headers);
    const std::string detail = refusal();
    EXPECT_NE(std::string::npos, detail.find("has too many files")) << detail;
}

} // namespace

/* ---- which binaries of PoCL count as complete ---- */

static std::string number(uint64_t value, size_t size)
{
    std::string bytes;
    for (size_t i = 0; i < size; ++i)
        bytes += static_cast<char>(value >> (8 * i));
    return bytes;
}

static std::string text(const std::string &value)
{
    return number(value.size(), 4) + value;
}

static std::string file(const std::string &path, const std::string &content)
{
    return text(path) + text(content);
}

static std::string kernel(const std::string &files)
{
    const std::string facts = number(0, 4) + text("name") + number(7, 12);
    return number(16 + facts.size() + files.size(), 8) + number(files.size(), 8) + facts + files;
}

/* The header that PoCL 3.1 writes. */
static std::string binary(const std::string &files, const std::string &kernels, uint32_t count, uint32_t version = 9)
{
    return std::string("poclbin", 8) + number(77, 8) + number(version, 4) + number(count, 4) + number(4, 12) +
           std::string(40, 'A') + std::string(1, '\0') + number(files.size(), 8) + files + kernels;
}

static bool is_complete(const std::string &bytes)
{
    return pocl_binary_is_complete(bytes.size(), reinterpret_cast<const unsigned char *>(bytes.data()));
}

const std::string kProgram = file("/program.bc", "code");
const std::string kGroup = file("/k/0-0-0/k.so", "more code");

TEST(PoclBinary, ACompleteOneHasAllFiles)
{
    EXPECT_TRUE(is_complete(binary(kProgram, kernel(kGroup) + kernel(kGroup + kGroup), 2)));
    EXPECT_TRUE(is_complete(binary(kProgram, kernel(""), 1))) << "no code is generated yet";
    EXPECT_FALSE(is_complete(binary("", kernel(kGroup), 1)));
    EXPECT_FALSE(is_complete(binary(file("/program.bc", ""), kernel(kGroup), 1)));
    EXPECT_FALSE(is_complete(binary(kProgram, kernel(kGroup + file("/k/0-0-0/l.so", "")), 1)));
    EXPECT_FALSE(is_complete(binary(kProgram, kernel(kGroup) + std::string(100, '\0'), 2)));
}

TEST(PoclBinary, ATruncatedOneIsNotComplete)
{
    const std::string whole = binary(kProgram, kernel(kGroup) + kernel(kGroup), 2);
    for (size_t size = 24; size < whole.size(); ++size)
        EXPECT_FALSE(is_complete(whole.substr(0, size))) << size;
}

TEST(PoclBinary, OtherFormatsAreLeftToTheDriver)
{
    EXPECT_TRUE(is_complete(binary("", "", 1, 10)));
    EXPECT_TRUE(is_complete("another driver's binary"));
    EXPECT_TRUE(is_complete(""));
}
