/*
 * pocl_files_test.cpp - tests where PoCL's data files are looked for, and the errors about them, in a folder with a
 * copy of a library that stands for PoCL.
 */
#include <dlfcn.h>

#include <fstream>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "backends/opencl/vendor/data_files.h"
#include "core/identity/device_identity.h"
#include "util/memory.h"
}
#include "support/scratch_directory.h"

namespace
{

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
    /* Returns the fields of an identity with the files, or "" on failure. */
    std::string fields() const
    {
        static const void *function;
        function = function_;
        ingot_backend_ops_t ops{};
        ingot_allocator_t allocator;
        device_identity *identity = nullptr;
        ops.identify_device = [](void *, uint32_t, ingot_identity_t *fields) {
            ingot_allocator_t own;
            EXPECT_EQ(INGOT_SUCCESS, memory_init(&own, nullptr));
            return pocl_add_files(&own, "basic", function, fields);
        };
        EXPECT_EQ(INGOT_SUCCESS, memory_init(&allocator, nullptr));
        if (device_identity_create(&identity, &allocator, nullptr, &ops, nullptr, 0) != INGOT_SUCCESS) {
            ADD_FAILURE() << ingot_last_error_detail();
            return "";
        }
        const std::string bytes(reinterpret_cast<const char *>(identity->bytes), identity->size);
        device_identity_destroy(identity, &allocator);
        return bytes;
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
