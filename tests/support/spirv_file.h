/*
 * spirv_file.h - reads modules that the build made from tests/support/kernels, for tests that define SPIRV_DIR.
 */
#pragma once

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

/* Returns a module made from tests/support/kernels. */
inline std::string spirv_of(const std::string &name)
{
    const std::string path = std::string(SPIRV_DIR) + "/" + name + ".spv";
    std::ifstream file(path, std::ios::binary);
    if (!file.good())
        throw std::runtime_error("no " + path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}
