/*
 * level_zero_tables_test.cpp - compares each table of functions that the Level Zero layer fills with the driver's own:
 * apart from the functions that the layer replaces, the pointers are equal, so that calls of them cost nothing.
 */
#include <gtest/gtest.h>

#include <dlfcn.h>
#include <level_zero/ze_ddi.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace
{

constexpr size_t kFunctions = 256; /* more than a table has */

struct Table {
    std::vector<void *> functions = std::vector<void *>(kFunctions);
    ze_result_t result = ZE_RESULT_SUCCESS;
};

Table fill(void *library, const std::string &name, ze_api_version_t version)
{
    Table table;
    void *symbol = dlsym(library, name.c_str());
    if (symbol == nullptr) {
        table.result = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
        return table;
    }
    ze_result_t(ZE_APICALL * function)(ze_api_version_t, void *) = nullptr;
    std::memcpy(&function, &symbol, sizeof(function));
    table.result = function(version, table.functions.data());
    return table;
}

/* All tables that the installed headers know. */
std::vector<std::string> names()
{
#define TABLE(name) #name,
    return {
#include "layers/level_zero/tables.inc"
        "zeGetModuleProcAddrTable", "zeGetModuleBuildLogProcAddrTable"};
#undef TABLE
}

} // namespace

TEST(LevelZeroTables, HaveTheDriversFunctionsExceptForThree)
{
    using Place = std::pair<std::string, size_t>;
    const std::vector<Place> expected = {
        {"zeGetModuleProcAddrTable", offsetof(ze_module_dditable_t, pfnCreate) / sizeof(void *)},
        {"zeGetModuleBuildLogProcAddrTable", offsetof(ze_module_build_log_dditable_t, pfnDestroy) / sizeof(void *)},
        {"zeGetModuleBuildLogProcAddrTable", offsetof(ze_module_build_log_dditable_t, pfnGetString) / sizeof(void *)}};
    std::vector<Place> replaced;
    void *layer = dlopen(LAYER, RTLD_LAZY | RTLD_LOCAL);
    void *driver = dlopen("libze_intel_gpu.so.1", RTLD_LAZY | RTLD_LOCAL);
    ASSERT_NE(nullptr, layer) << dlerror();
    ASSERT_NE(nullptr, driver) << dlerror();
    size_t count = 0;
    for (const std::string &name : names()) {
        EXPECT_NE(nullptr, dlsym(layer, name.c_str())) << name;
        const Table bare = fill(driver, name, ZE_API_VERSION_CURRENT);
        const Table layered = fill(layer, name, ZE_API_VERSION_CURRENT);
        EXPECT_EQ(bare.result, layered.result) << name;
        for (size_t i = 0; i < kFunctions; ++i) {
            count += bare.functions[i] != nullptr;
            if (bare.functions[i] != layered.functions[i])
                replaced.emplace_back(name, i);
        }
    }
    EXPECT_EQ(expected, replaced);
    EXPECT_LT(150u, count) << "functions of the driver";
    dlclose(layer);
    dlclose(driver);
}
