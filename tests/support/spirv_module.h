/*
 * spirv_module.h - makes a SPIR-V module for OpenCL with a specialization constant, word by word.
 *
 * The kernel "specialized" writes the specialization constant with id 3, a 32-bit integer that is 5 by default, to its
 * buffer.
 */
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

namespace spirv_module
{

inline void put(std::vector<uint32_t> &module, uint32_t opcode, std::initializer_list<uint32_t> operands,
                const std::string &name = "", std::initializer_list<uint32_t> more = {})
{
    std::vector<uint32_t> words(operands);
    if (!name.empty()) {
        std::vector<uint32_t> text(name.size() / 4 + 1);
        memcpy(text.data(), name.data(), name.size());
        words.insert(words.end(), text.begin(), text.end());
    }
    words.insert(words.end(), more);
    module.push_back(static_cast<uint32_t>(words.size() + 1) << 16 | opcode);
    module.insert(module.end(), words.begin(), words.end());
}

inline std::vector<uint32_t> specialized()
{
    enum : uint32_t { kKernel = 1, kVoid, kInt, kConstant, kPointer, kFunction, kBuffer, kLabel, kBound };
    std::vector<uint32_t> module{0x07230203, 0x00010000, 0, kBound, 0};
    put(module, 17, {4});                            /* OpCapability Addresses */
    put(module, 17, {6});                            /* OpCapability Kernel */
    put(module, 14, {2, 2});                         /* OpMemoryModel Physical64 OpenCL */
    put(module, 15, {6, kKernel}, "specialized");    /* OpEntryPoint Kernel */
    put(module, 71, {kConstant, 1, 3});              /* OpDecorate SpecId 3 */
    put(module, 19, {kVoid});                        /* OpTypeVoid */
    put(module, 21, {kInt, 32, 0});                  /* OpTypeInt */
    put(module, 50, {kInt, kConstant, 5});           /* OpSpecConstant */
    put(module, 32, {kPointer, 5, kInt});            /* OpTypePointer CrossWorkgroup */
    put(module, 33, {kFunction, kVoid, kPointer});   /* OpTypeFunction */
    put(module, 54, {kVoid, kKernel, 0, kFunction}); /* OpFunction */
    put(module, 55, {kPointer, kBuffer});            /* OpFunctionParameter */
    put(module, 248, {kLabel});                      /* OpLabel */
    put(module, 62, {kBuffer, kConstant, 2, 4});     /* OpStore Aligned 4 */
    put(module, 253, {});                            /* OpReturn */
    put(module, 56, {});                             /* OpFunctionEnd */
    return module;
}

} // namespace spirv_module
