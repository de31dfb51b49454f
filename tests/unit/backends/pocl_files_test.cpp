/*
 * pocl_files_test.cpp - tests the errors about PoCL's data files, in a folder with a copy of a library that stands for
 * PoCL.
 */
#include <dlfcn.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "backends/opencl/vendor/pocl_files.h"
#include "core/base/alloc.h"
}
#include "support/scratch_directory.h"

namespace
{

class PoclFiles : public testing::Test
{
protected:
    /* Makes an installation in the directory `prefix`: the library in lib/, and empty header files with these names in
     * share/pocl/include/. */
    void install(const std::filesystem::path &prefix, const std::vector<std::string> &headers)
    {
        const std::filesystem::path include = prefix / "share/pocl/include";
        std::filesystem::create_directories(prefix / "lib");
        std::filesystem::create_directories(include);
        for (const std::string &name : headers)
            std::ofstream(include / name) << "";
        std::filesystem::copy_file(POCL_STAND_IN, prefix / "lib/libpocl.so");
        library_ = dlopen((prefix / "lib/libpocl.so").c_str(), RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(nullptr, library_) << dlerror();
    }
    void TearDown() override
    {
        if (library_ != nullptr)
            dlclose(library_);
    }
    /* Expects that the files are refused. Returns the error detail. */
    std::string refusal() const
    {
        ingot_allocator_t allocator;
        EXPECT_EQ(INGOT_SUCCESS, alloc_init(&allocator, nullptr));
        EXPECT_EQ(INGOT_BACKEND_ERROR,
                  pocl_add_files(&allocator, "basic", dlsym(library_, "clGetPlatformIDs"), nullptr));
        return ingot_last_error_detail();
    }

    ScratchDirectory scratch_;

private:
    void *library_ = nullptr;
};

TEST_F(PoclFiles, RefusesAPathThatIsTooLong)
{
    const std::string header = std::string(200, 'h') + ".h";
    install(scratch_.path() / std::string(200, 'd') / std::string(100, 'd'), {header});
    const std::string detail = refusal();
    EXPECT_NE(std::string::npos, detail.find(header + " has a path of more than 511 bytes")) << detail;
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
