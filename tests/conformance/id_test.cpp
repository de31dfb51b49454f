/*
 * id_test.cpp - tests what of the device, the driver and the files is in an id. What of the description is in it, and
 * its bytes, are the same for all backends (tests/unit/core).
 */

#include <thread>

#include "conformance/children.h"

using namespace conformance;

static DeviceUnderTest &device()
{
    return device_under_test();
}

TEST(Id, IsEqualInOtherProcesses)
{
    const Bytes id = id_of(device().two_kernels());
    EXPECT_EQ(id, id_in_child({}));
    EXPECT_EQ(id, id_in_child({{"TMPDIR", "/"}, {"LANG", "C"}}));
}

TEST(Id, IsTheSameForEqualDevicesInAnyNumberAndOrder)
{
    if (!device().has_equal_device())
        return;
    const uint32_t other = device().equal_device();
    const Bytes id = id_of(device().two_kernels());
    EXPECT_EQ(id, id_of(describe(make_context({other}), device().two_kernels())));
    EXPECT_EQ(id, id_of(describe(make_context({0, other}), device().two_kernels())));
    EXPECT_EQ(id, id_of(describe(make_context({other, 0}), device().two_kernels())));
}

TEST(Id, IsTheSameAfterTheProgramWasBuilt)
{
    const Desc desc = describe(make_context(), device().two_kernels());
    const Bytes id = id_of(desc);
    const Program program = create_program(desc);
    EXPECT_EQ(id, id_of(desc));
}

TEST(Id, IsTheSameForThreadsThatAskAtOnce)
{
    const Context context = make_context();
    const Desc shared = describe(context, device().two_kernels());
    std::vector<Bytes> of_one_desc(8);
    std::vector<Bytes> of_own_descs(8);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < of_one_desc.size(); ++i) {
        threads.emplace_back([&, i] {
            of_one_desc[i] = id_of(shared);
            of_own_descs[i] = id_of(describe(context, device().two_kernels()));
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    const std::vector<Bytes> expected(8, id_of(device().two_kernels()));
    EXPECT_EQ(expected, of_one_desc);
    EXPECT_EQ(expected, of_own_descs);
}

TEST(Id, DiffersByContentOfAnIncludedFileNotByItsDirectory)
{
    if (!device().includes_files())
        return;
    char first[] = "include-XXXXXX";
    char second[] = "include-XXXXXX";
    ASSERT_NE(nullptr, mkdtemp(first));
    ASSERT_NE(nullptr, mkdtemp(second));
    const auto write_amount = [](const std::string &directory, int amount) {
        const std::string text = device().amount_header(amount);
        write_file(directory + "/amount.h", Bytes(text.begin(), text.end()));
    };
    write_amount(first, 3);
    write_amount(second, 3);
    const Bytes id = id_of(device().with_include(first));
    EXPECT_EQ("", differing_fields(id, id_of(device().with_include(second))));
    write_amount(second, 4);
    EXPECT_EQ("source[0].blake2b", differing_fields(id, id_of(device().with_include(second))));
}

TEST(Id, DiffersByDevice)
{
    const std::string fields =
        differing_fields(id_of(device().two_kernels()), id_in_child(device().environment_of_another_device()));
    EXPECT_NE(std::string::npos, fields.find("device[0].")) << fields;
}

TEST(Id, IsRefusedWithAReasonWhereNothingCanVouch)
{
    if (!device().includes_files())
        return;
    const Desc desc = describe(make_context(), device().not_cacheable());
    size_t size = 0;
    const uint8_t *id = nullptr;
    EXPECT_EQ(INGOT_NOT_CACHEABLE, ingot_program_desc_get_cache_blob_id(desc.get(), &size, &id));
    EXPECT_STRNE("", ingot_last_error_detail());
    const Program program = create_program(desc);
    EXPECT_EQ(INGOT_NOT_CACHEABLE, ingot_program_get_cache_blob(program.get(), &size, nullptr));
}
