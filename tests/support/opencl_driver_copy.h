/*
 * opencl_driver_copy.h - copies the OpenCL driver of a test, as if another build of it were installed.
 */
#pragma once

#include <CL/cl_icd.h>
#include <dlfcn.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/elf_build_id.h"
#include "support/opencl_platform.h"

/* Returns the file that contains a function of the driver. */
inline std::filesystem::path opencl_driver_path()
{
    const auto *dispatch = *reinterpret_cast<cl_icd_dispatch *const *>(OpenclPlatform::get().id());
    Dl_info info{};
    if (dladdr(reinterpret_cast<void *>(dispatch->clBuildProgram), &info) == 0)
        throw std::runtime_error("the driver's file was not found");
    return info.dli_fname;
}

/* Puts a driver into `directory`/lib/tests. Returns environment variables with which this driver is a process's only
 * platform. */
inline std::map<std::string, std::string> opencl_driver_at(const std::filesystem::path &directory,
                                                           const std::vector<uint8_t> &driver)
{
    namespace fs = std::filesystem;
    const fs::path original = opencl_driver_path();
    const fs::path libraries = directory / "lib" / "tests";
    const fs::path copy = libraries / original.filename();
    fs::create_directories(libraries);
    std::ofstream(copy, std::ios::binary)
        .write(reinterpret_cast<const char *>(driver.data()), static_cast<std::streamsize>(driver.size()));
    std::ofstream(libraries / "driver.icd") << copy.string() << "\n";
    if (OpenclPlatform::get().is_pocl()) { /* PoCL also needs its devices and its device library */
        fs::create_directory_symlink(original.parent_path() / "pocl", libraries / "pocl");
        fs::create_directory_symlink(original.parent_path() / ".." / ".." / "share", directory / "share");
    }
    return {{"LD_LIBRARY_PATH", libraries.string()}, {"OCL_ICD_VENDORS", (libraries / "driver.icd").string()}};
}

/* Does the same with another build of the driver. Each `number`, from 1, makes a different build. */
inline std::map<std::string, std::string> upgraded_opencl_driver(const std::filesystem::path &directory, uint8_t number)
{
    std::ifstream file(opencl_driver_path(), std::ios::binary);
    std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (!change_build_id(bytes, number))
        throw std::runtime_error("the driver has no build-id");
    return opencl_driver_at(directory, bytes);
}
