/*
 * devices_test.cpp - tests programs for different devices in one context: each device has a section in the blob, and
 * nothing is compiled twice.
 *
 * If no device of the machine differs from device 0, most of these tests do nothing. More tests of identical devices
 * are in id_test.cpp and blob_test.cpp.
 */
#include "conformance/objects.h"

using namespace conformance;

static DeviceUnderTest &device()
{
    return device_under_test();
}

/* Returns the number of sections, which follows the magic and the version (doc/blob-format.md). */
static uint32_t section_count_of(const Bytes &blob)
{
    EXPECT_LT(16u, blob.size());
    return blob[12] | static_cast<uint32_t>(blob[13]) << 8 | static_cast<uint32_t>(blob[14]) << 16 |
           static_cast<uint32_t>(blob[15]) << 24;
}

static Bytes blob_for(const std::vector<uint32_t> &devices)
{
    return blob_of(create_program(describe(make_context(devices), device().two_kernels())));
}

static void expect_kernels_on_each(const Program &program, uint32_t device_count)
{
    for (uint32_t index = 0; index < device_count; ++index) {
        ingot_kernel_t kernel = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_kernel_create(&kernel, program.get(), index, "twice"))
            << index << ": " << ingot_last_error_detail();
        ingot_kernel_release(kernel);
    }
}

TEST(Devices, ThatAreEqualShareOneSection)
{
    if (!device().has_equal_device())
        return;
    EXPECT_EQ(1u, section_count_of(blob_for({0})));
    EXPECT_EQ(1u, section_count_of(blob_for({0, device().equal_device()})));
}

TEST(Devices, ThatDifferHaveASectionEach)
{
    if (!device().different_device())
        return;
    const uint32_t other = *device().different_device();
    EXPECT_EQ(2u, section_count_of(blob_for({0, other})));
    EXPECT_EQ(2u, section_count_of(blob_for({other, device().equal_device(), 0})));
}

TEST(Devices, ThatDifferHaveOneIdInAnyOrderAndAnotherThanAlone)
{
    if (!device().different_device())
        return;
    const uint32_t other = *device().different_device();
    const Bytes id = id_of(describe(make_context({0, other}), device().two_kernels()));
    EXPECT_EQ(id, id_of(describe(make_context({other, 0}), device().two_kernels())));
    EXPECT_EQ(id, id_of(describe(make_context({other, device().equal_device(), 0}), device().two_kernels())));
    EXPECT_NE(id, id_of(describe(make_context({0}), device().two_kernels())));
    EXPECT_NE(id, id_of(describe(make_context({other}), device().two_kernels())));
}

TEST(Devices, ThatDifferRefuseEachOthersBlob)
{
    if (!device().different_device())
        return;
    const Context other = make_context({*device().different_device()});
    const Desc desc = describe(other, device().two_kernels());
    EXPECT_EQ(INGOT_BLOB_STALE, load_program(desc, blob_for({0}))) << ingot_last_error_detail();
    expect_kernels_on_each(create_program(desc), 1);
}

TEST(Devices, ThatABlobLacksAreBuiltAndNoOther)
{
    if (!device().different_device())
        return;
    const uint32_t other = *device().different_device();
    for (const uint32_t known : {0u, other}) {
        const Context all = make_context({0, device().equal_device(), other});
        const Program program = load(describe(all, device().two_kernels()), blob_for({known}));
        ASSERT_NE(nullptr, program);
        EXPECT_EQ(1u, stats_of(all).loads);
        EXPECT_EQ(1u, stats_of(all).builds) << "with a blob of device " << known;
        expect_kernels_on_each(program, 3);
        EXPECT_EQ(2u, section_count_of(blob_of(program)));
    }
}

TEST(Devices, EachTakeTheirPartOfABlobOfAll)
{
    if (!device().different_device())
        return;
    const uint32_t other = *device().different_device();
    const Bytes blob = blob_for({0, other});
    for (const uint32_t wanted : {0u, device().equal_device(), other}) {
        const Context one = make_context({wanted});
        const Program program = load(describe(one, device().two_kernels()), blob);
        ASSERT_NE(nullptr, program);
        EXPECT_EQ(0u, stats_of(one).builds) << "for device " << wanted;
        EXPECT_EQ(1u, section_count_of(blob_of(program)));
        expect_kernels_on_each(program, 1);
    }
}
