/*
 * cache_level_zero_test.cpp - ingot_cache_level_zero_create on a real driver.
 */
#include <gtest/gtest.h>

#include <algorithm>

#include <ingot/level_zero.hpp>

#include "support/level_zero_driver.h"
#include "support/scratch_directory.h"
#include "support/spirv_file.h"

namespace
{

class CacheLevelZero : public testing::Test
{
protected:
    CacheLevelZero() { open(); }

    void open()
    {
        const std::string directory = (scratch_.path() / "store").string();
        cache_ = ingot::cache::open(directory);
    }

    ze_module_desc_t desc() const
    {
        ze_module_desc_t desc = {};
        desc.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
        desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
        desc.inputSize = spirv_.size();
        desc.pInputModule = reinterpret_cast<const uint8_t *>(spirv_.data());
        return desc;
    }

    /* Creates a module and its log as an application does, and uses both. */
    ingot_status_t create(ingot_cache_t cache, const ze_module_desc_t &desc)
    {
        ze_module_handle_t module = nullptr;
        ze_module_build_log_handle_t log = nullptr;
        const LevelZeroDriver &driver = LevelZeroDriver::get();
        const ingot_status_t status =
            ingot_cache_level_zero_create(cache, driver.context(), driver.devices()[0], &desc, &module, &log, &origin_);
        size_t size = 0;
        EXPECT_NE(nullptr, log);
        EXPECT_EQ(ZE_RESULT_SUCCESS, zeModuleBuildLogGetString(log, &size, nullptr));
        EXPECT_EQ(ZE_RESULT_SUCCESS, zeModuleBuildLogDestroy(log));
        if (status != INGOT_SUCCESS)
            return status;
        ze_kernel_desc_t kernel_desc = {};
        ze_kernel_handle_t kernel = nullptr;
        kernel_desc.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC;
        kernel_desc.pKernelName = "twice";
        EXPECT_EQ(ZE_RESULT_SUCCESS, zeKernelCreate(module, &kernel_desc, &kernel));
        EXPECT_EQ(ZE_RESULT_SUCCESS, zeKernelDestroy(kernel));
        EXPECT_EQ(ZE_RESULT_SUCCESS, zeModuleDestroy(module));
        return status;
    }

    ScratchDirectory scratch_{nullptr};
    std::string spirv_ = spirv_of("two_kernels");
    ingot::cache cache_;
    ingot_origin_t origin_ = INGOT_ORIGIN_MEMORY;
};

TEST_F(CacheLevelZero, BuildsOnceAndThenLoads)
{
    ASSERT_EQ(INGOT_SUCCESS, create(cache_.get(), desc())) << ingot_last_error_detail();
    EXPECT_EQ(INGOT_ORIGIN_BUILD, origin_);
    for (int i = 0; i < 2; ++i, open()) {
        ASSERT_EQ(INGOT_SUCCESS, create(cache_.get(), desc()));
        EXPECT_EQ(INGOT_ORIGIN_STORAGE, origin_);
    }
}

TEST_F(CacheLevelZero, PassesOnWhatItDoesNotCache)
{
    uint32_t id = 0;
    uint32_t value = 1;
    const void *values[] = {&value};
    const ze_module_constants_t constants = {1, &id, values};
    ze_module_desc_t with_constants = desc();
    with_constants.pConstants = &constants;
    for (int i = 0; i < 2; ++i) { /* the module has no such constant, so the driver may refuse it, but not Ingot */
        origin_ = INGOT_ORIGIN_BUILD;
        const ingot_status_t status = create(cache_.get(), with_constants);
        EXPECT_TRUE(status == INGOT_SUCCESS || ingot_last_error_code() != 0) << ingot_last_error_detail();
        EXPECT_EQ(INGOT_ORIGIN_BUILD, origin_);
    }
}

TEST_F(CacheLevelZero, AFailedBuildReturnsTheLog)
{
    spirv_ = spirv_of("much_local");
    EXPECT_EQ(INGOT_BUILD_FAILED, create(cache_.get(), desc())) << ingot_last_error_detail();
    EXPECT_EQ(INGOT_BUILD_FAILED, create(nullptr, desc())) << ingot_last_error_detail();
}

TEST_F(CacheLevelZero, RefusesWhatIsNotSpirvBeforeTheDriverEndsTheProcessOverIt)
{
    const LevelZeroDriver &driver = LevelZeroDriver::get();
    ze_module_handle_t module = nullptr;
    ze_module_build_log_handle_t log = nullptr;
    spirv_ = "not a module, whatever it may be";
    const ze_module_desc_t given = desc();
    EXPECT_EQ(INGOT_BUILD_FAILED, ingot_cache_level_zero_create(cache_.get(), driver.context(), driver.devices()[0],
                                                                &given, &module, &log, nullptr));
    EXPECT_EQ(nullptr, log);
    EXPECT_EQ(nullptr, module);
}

TEST_F(CacheLevelZero, UsesNoContextThatTheApplicationDestroys)
{
    const LevelZeroDriver &driver = LevelZeroDriver::get();
    for (int i = 0; i < 5; ++i) { /* later contexts may get the address of earlier ones */
        ze_context_handle_t context = driver.make_context();
        ze_module_handle_t module = ingot::level_zero_create(cache_, context, driver.devices()[0], desc());
        EXPECT_EQ(ZE_RESULT_SUCCESS, zeModuleDestroy(module));
        EXPECT_EQ(ZE_RESULT_SUCCESS, zeContextDestroy(context));
    }
}

/* ---- begun modules ---- */

TEST_F(CacheLevelZero, BeginsAModuleAndTakesItWithItsLog)
{
    const LevelZeroDriver &driver = LevelZeroDriver::get();
    for (const ingot_origin_t expected : {INGOT_ORIGIN_BUILD, INGOT_ORIGIN_STORAGE}) {
        ingot_pending_t begun = nullptr;
        {
            std::string bytes = spirv_;
            ze_module_desc_t given = desc();
            given.pInputModule = reinterpret_cast<const uint8_t *>(bytes.data());
            ASSERT_EQ(INGOT_SUCCESS, ingot_cache_level_zero_begin(cache_.get(), driver.context(), driver.devices()[0],
                                                                  &given, &begun));
            std::fill(bytes.begin(), bytes.end(), '?'); /* they were copied */
        }
        EXPECT_EQ(expected == INGOT_ORIGIN_STORAGE ? INGOT_SUCCESS : INGOT_BUSY, ingot_pending_poll(begun));
        ze_module_handle_t module = nullptr;
        ze_module_build_log_handle_t log = nullptr;
        ASSERT_EQ(INGOT_SUCCESS, ingot_cache_level_zero_take(begun, &module, &log, &origin_))
            << ingot_last_error_detail();
        EXPECT_EQ(expected, origin_);
        EXPECT_EQ(ZE_RESULT_SUCCESS, zeModuleBuildLogDestroy(log));
        EXPECT_EQ(ZE_RESULT_SUCCESS, zeModuleDestroy(module));
    }
    ingot::pending<ze_module_handle_t> begun =
        ingot::level_zero_begin(ingot::cache(), driver.context(), driver.devices()[0], desc());
    EXPECT_FALSE(begun.ready());
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeModuleDestroy(begun.take()));
}

TEST_F(CacheLevelZero, BeginsNoModuleThatItCannotCopy)
{
    const LevelZeroDriver &driver = LevelZeroDriver::get();
    uint32_t id = 0;
    uint32_t value = 1;
    const void *values[] = {&value};
    const ze_module_constants_t constants = {1, &id, values};
    ze_module_desc_t given = desc();
    ingot_pending_t begun = nullptr;
    given.pConstants = &constants;
    EXPECT_EQ(INGOT_UNIMPLEMENTED,
              ingot_cache_level_zero_begin(cache_.get(), driver.context(), driver.devices()[0], &given, &begun));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS,
              ingot_cache_level_zero_begin(cache_.get(), driver.context(), driver.devices()[0], nullptr, &begun));
    EXPECT_EQ(nullptr, begun);
}

TEST_F(CacheLevelZero, RefusesWrongArguments)
{
    const LevelZeroDriver &driver = LevelZeroDriver::get();
    const ze_module_desc_t given = desc();
    ze_module_handle_t module = nullptr;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_cache_level_zero_create(cache_.get(), nullptr, driver.devices()[0], &given,
                                                                     &module, nullptr, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_cache_level_zero_create(cache_.get(), driver.context(), nullptr, &given,
                                                                     &module, nullptr, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS,
              ingot_cache_level_zero_create(cache_.get(), driver.context(), driver.devices()[0], nullptr, &module,
                                            nullptr, nullptr));
}

} // namespace
