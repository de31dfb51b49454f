/*
 * driver_copies.cpp - copies drivers and libraries for a separate process; see driver_copies.h.
 */
#include "conformance/driver_copies.h"

#include <unistd.h>

#include "support/opencl_driver_copy.h"

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
    return opencl_driver_path().string();
}

std::string file_name(const std::string &path)
{
    return path.substr(path.find_last_of('/') + 1);
}

static std::string new_directory()
{
    static int count = 0;
    return "libraries-" + std::to_string(count++);
}

Environment with_driver(const Bytes &driver)
{
    const auto variables = opencl_driver_at(absolute(new_directory()), driver);
    return {variables.begin(), variables.end()};
}

Environment with_another_build_of(const std::string &name)
{
    return {{"LD_LIBRARY_PATH", path_with_another_build(name.c_str(), new_directory())}};
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
