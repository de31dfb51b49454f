/*
 * driver_copies.cpp - see driver_copies.h.
 */
#include "conformance/driver_copies.h"

#include <link.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>

#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "support/elf_build_id.h"
#include "support/opencl_platform.h"

namespace conformance
{

std::string absolute(const std::string &path)
{
    char directory[4096] = "";
    EXPECT_NE(nullptr, getcwd(directory, sizeof(directory)));
    return std::string(directory) + "/" + path;
}

std::string driver_path()
{
    const auto *dispatch = *reinterpret_cast<cl_icd_dispatch *const *>(OpenclPlatform::get().id());
    Dl_info info{};
    EXPECT_NE(0, dladdr(reinterpret_cast<void *>(dispatch->clBuildProgram), &info));
    return info.dli_fname;
}

std::string file_name(const std::string &path)
{
    return path.substr(path.find_last_of('/') + 1);
}

Environment with_library(const std::string &name, const Bytes &bytes)
{
    static int count = 0;
    const std::string directory = "libraries-" + std::to_string(count++) + "/lib/tests";
    EXPECT_TRUE(std::filesystem::create_directories(directory));
    write_file(directory + "/" + name, bytes);
    return {{"LD_LIBRARY_PATH", absolute(directory)}};
}

Environment with_driver(const Bytes &driver)
{
    Environment environment = with_library(file_name(driver_path()), driver);
    const std::string directory = environment[0].second;
    const std::string path = directory + "/" + file_name(driver_path()) + "\n";
    write_file(directory + "/driver.icd", Bytes(path.begin(), path.end()));
    environment.emplace_back("OCL_ICD_VENDORS", directory + "/driver.icd");
    const std::string parts = driver_path().substr(0, driver_path().find_last_of('/')) + "/pocl"; /* PoCL's devices */
    if (OpenclPlatform::get().is_pocl()) {
        EXPECT_EQ(0, symlink(parts.c_str(), (directory + "/pocl").c_str()));
        const std::string share = driver_path().substr(0, driver_path().find_last_of('/')) + "/../../share";
        EXPECT_EQ(0, symlink(share.c_str(), (directory + "/../../share").c_str())); /* its device library */
    }
    return environment;
}

Environment with_another_build_of(const std::string &name)
{
    void *library = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
    struct link_map *map = nullptr;
    if (library == nullptr || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
        throw std::runtime_error(dlerror());
    Bytes bytes = read_file(map->l_name);
    dlclose(library);
    EXPECT_TRUE(change_build_id(bytes));
    return with_library(name, bytes);
}

Environment with_own_pocl(const std::string &directory)
{
    namespace fs = std::filesystem;
    const fs::path libraries = fs::path(directory) / "lib" / "here";
    const fs::path original = fs::path(driver_path()).parent_path();
    fs::create_directories(libraries);
    fs::create_directories(fs::path(directory) / "share");
    fs::copy_file(driver_path(), libraries / file_name(driver_path()));
    fs::create_directory_symlink(original / "pocl", libraries / "pocl");
    fs::copy("/usr/share/pocl", fs::path(directory) / "share" / "pocl", fs::copy_options::recursive);
    const std::string path = (libraries / file_name(driver_path())).string() + "\n";
    write_file((libraries / "driver.icd").string(), Bytes(path.begin(), path.end()));
    return {{"LD_LIBRARY_PATH", libraries.string()}, {"OCL_ICD_VENDORS", (libraries / "driver.icd").string()}};
}

} // namespace conformance
