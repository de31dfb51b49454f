/*
 * spirv_test.cpp - tests the checks of SPIR-V modules: the lengths of instructions, and specialization constants.
 */
#include <gtest/gtest.h>

extern "C" {
#include "core/base/sink.h"
}
#include "support/spirv_module.h"

namespace
{

using Words = std::vector<uint32_t>;

struct Checked {
    ingot_status_t status = INGOT_SUCCESS;
    std::string log;
};

/* Checks the modules. Each constant has `size` bytes. */
Checked check(const std::vector<Words> &modules, const std::vector<uint32_t> &ids = {}, uint32_t size = 4)
{
    const uint64_t value = 0;
    std::vector<ingot_source_view_t> sources;
    std::vector<ingot_spec_constant_t> constants;
    ingot_allocator_t allocator{};
    ingot_sink_t log{};
    Checked checked;
    for (const Words &module : modules)
        sources.push_back({INGOT_SOURCE_SPIRV, module.size() * sizeof(uint32_t), module.data(), ""});
    for (const uint32_t id : ids)
        constants.push_back({id, size, &value});
    ingot_build_request_t request{};
    request.sources = sources.data();
    request.source_count = sources.size();
    request.spec_constants = constants.data();
    request.spec_constant_count = constants.size();
    memory_init(&allocator, nullptr);
    bytes_writer_init(&log.writer, &allocator);
    checked.status = ingot_spirv_check_request(&request, &log);
    checked.log.assign(reinterpret_cast<const char *>(log.writer.bytes), log.writer.size);
    bytes_writer_fini(&log.writer);
    return checked;
}

Words swapped(Words module)
{
    for (uint32_t &word : module)
        word = __builtin_bswap32(word);
    return module;
}

Words without_constants()
{
    return {0x07230203, 0x00010000, 0, 1, 0};
}

bool has(const Words &module, uint32_t id)
{
    const ingot_source_view_t view = {INGOT_SOURCE_SPIRV, module.size() * sizeof(uint32_t), module.data(), ""};
    return ingot_spirv_has_spec_constant(&view, id) != 0;
}

} // namespace

TEST(Spirv, TakesModulesOfEitherByteOrder)
{
    EXPECT_EQ(INGOT_SUCCESS, check({spirv_module::specialized()}).status);
    EXPECT_EQ(INGOT_SUCCESS, check({swapped(spirv_module::specialized())}).status);
    EXPECT_EQ(INGOT_SUCCESS, check({without_constants()}).status);
}

TEST(Spirv, NamesTheSourceThatIsNoModule)
{
    Words module = spirv_module::specialized();
    for (const Words &bad : {Words{1, 2, 3, 4, 5, 6}, Words{0x07230203, 0x00010000, 0, 1}, Words{}}) {
        const Checked checked = check({module, bad});
        EXPECT_EQ(INGOT_BUILD_FAILED, checked.status);
        EXPECT_EQ("source 1 is not a SPIR-V module\n", checked.log);
    }
}

TEST(Spirv, RefusesInstructionsThatGoOnForNoOrTooManyWords)
{
    Words endless = without_constants();
    endless.push_back(19); /* OpTypeVoid with a length of 0 words */
    EXPECT_EQ(INGOT_BUILD_FAILED, check({endless}).status);
    Words cut = without_constants();
    cut.push_back(2u << 16 | 19);
    EXPECT_EQ(INGOT_BUILD_FAILED, check({cut}).status);
    cut.push_back(1);
    EXPECT_EQ(INGOT_SUCCESS, check({cut}).status);
}

TEST(Spirv, FindsAConstantInOneOfSeveralModules)
{
    EXPECT_EQ(INGOT_SUCCESS, check({without_constants(), spirv_module::specialized()}, {3}).status);
    EXPECT_TRUE(has(spirv_module::specialized(), 3));
    EXPECT_TRUE(has(swapped(spirv_module::specialized()), 3));
    EXPECT_FALSE(has(spirv_module::specialized(), 4));
    EXPECT_FALSE(has(without_constants(), 3));
}

TEST(Spirv, NamesTheConstantThatNoModuleHas)
{
    const Checked checked = check({spirv_module::specialized(), without_constants()}, {3, 99});
    EXPECT_EQ(INGOT_BUILD_FAILED, checked.status);
    EXPECT_EQ("specialization constant 99 is not in the module\n", checked.log);
    EXPECT_STREQ("specialization constant 99 is not in the module", ingot_last_error_detail());
}

TEST(Spirv, RefusesAConstantOfAnotherSize)
{
    const Checked checked = check({spirv_module::specialized()}, {3}, 8);
    EXPECT_EQ(INGOT_BUILD_FAILED, checked.status);
    EXPECT_EQ("specialization constant 3 cannot have 8 bytes; the module declares 4\n", checked.log);
}

TEST(Spirv, TakesABooleanConstantAsOneByte)
{
    Words module = without_constants();
    spirv_module::put(module, 71, {2, 1, 5}); /* OpDecorate %2 SpecId 5 */
    spirv_module::put(module, 20, {1});       /* OpTypeBool %1 */
    spirv_module::put(module, 48, {1, 2});    /* OpSpecConstantTrue */
    EXPECT_EQ(INGOT_SUCCESS, check({module}, {5}, 1).status);
    EXPECT_EQ(INGOT_BUILD_FAILED, check({module}, {5}, 4).status);
}

TEST(Spirv, ReadsNothingOutsideAModuleWithADamagedWord)
{
    const Words sound = spirv_module::specialized();
    for (size_t at = 0; at < sound.size(); ++at) {
        for (const uint32_t damage : {0u, ~0u, 1u << 16, 3u << 16 | 50}) {
            Words damaged = sound;
            damaged[at] = damage;
            /* The check must end and read nothing but the module. A sanitizer would report a wrong read. */
            (void)check({damaged}, {3});
            (void)has(damaged, 3);
        }
    }
    EXPECT_EQ(INGOT_SUCCESS, check({sound}, {3}).status);
}
