/*
 * blob_test.cpp - tests that a blob loads as the program that it was taken from, and that nothing else loads.
 */
#include "conformance/children.h"
#include "conformance/impostor.h"

using namespace conformance;

static DeviceUnderTest &device()
{
    return device_under_test();
}

/* Returns a blob of two_kernels() that was taken after a launch. All tests of damaged blobs use it. */
static const Bytes &sound_blob()
{
    static const Bytes blob = [] {
        const Context context = make_context();
        const Program program = create_program(describe(context, device().two_kernels()));
        if (device().executes())
            device().run(context.get(), create_kernel(program, "twice").get(), 1);
        return blob_of(program);
    }();
    return blob;
}

/* Expects that the blob is refused with this status, that nothing of it is kept, and that the program can be made
 * without it. */
static void expect_refused(ingot_status_t expected, const Bytes &blob)
{
    const Context context = make_context();
    const Desc desc = describe(context, device().two_kernels());
    EXPECT_EQ(expected, load_program(desc, blob)) << ingot_last_error_detail();
    EXPECT_STRNE("", ingot_last_error_detail());
    EXPECT_EQ(0u, stats_of(context).programs);
    const Program program = create_program(desc);
    EXPECT_EQ((std::vector<std::string>{"square", "twice"}), kernel_names_of(program));
}

TEST(Blob, MakesTheSameProgramWithoutBuilding)
{
    const Context first = make_context();
    const Program built = create_program(describe(first, device().two_kernels()));
    const Bytes blob = blob_of(built);
    const Context second = make_context();
    const Program loaded = load(describe(second, device().two_kernels()), blob);
    EXPECT_EQ(kernel_names_of(built), kernel_names_of(loaded));
    EXPECT_EQ(log_of(built), log_of(loaded));
    EXPECT_EQ(1u, stats_of(second).loads);
    EXPECT_EQ(0u, stats_of(second).builds);
    for (const char *name : {"twice", "square"}) {
        const Kernel from_build = create_kernel(built, name);
        const Kernel from_blob = create_kernel(loaded, name);
        if (device().executes()) {
            EXPECT_EQ(device().run(first.get(), from_build.get(), 7), device().run(second.get(), from_blob.get(), 7));
        }
    }
}

TEST(Blob, GoesAroundForEveryKindOfProgram)
{
    std::vector<ProgramText> texts{device().with_option(3), device().several_sources(), device().with_header(3)};
    if (device().takes_link_options()) {
        texts.push_back(device().two_kernels());
        texts.back().link_options = device().harmless_option();
    }
    if (device().takes_spec_constants()) {
        texts.push_back(device().specialized());
        texts.back().spec_constants = {{3, 7}};
    }
    for (const ProgramText &text : texts) {
        const Program built = create_program(describe(make_context(), text));
        ASSERT_NE(nullptr, built);
        const Bytes blob = blob_of(built);
        const Program loaded = load(describe(make_context(), text), blob);
        ASSERT_NE(nullptr, loaded);
        EXPECT_EQ(kernel_names_of(built), kernel_names_of(loaded));
        EXPECT_EQ(log_of(built), log_of(loaded));
        EXPECT_EQ(blob, blob_of(loaded));
    }
}

TEST(Blob, OfOneDeviceServesAllEqualOnes)
{
    if (!device().has_equal_device())
        return;
    const Context both = make_context({0, device().equal_device()});
    const Program loaded = load(describe(both, device().two_kernels()), sound_blob());
    ingot_kernel_t kernel = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_kernel_create(&kernel, loaded.get(), 1, "twice")) << ingot_last_error_detail();
    ingot_kernel_release(kernel);
    EXPECT_EQ(0u, stats_of(both).builds);
    EXPECT_EQ(sound_blob(), blob_of(loaded));
}

TEST(Blob, OfTwoEqualDevicesIsThatOfOne)
{
    if (!device().has_equal_device())
        return;
    const Context both = make_context({0, device().equal_device()});
    const Program built = create_program(describe(both, device().two_kernels()));
    const Bytes blob = blob_of(built);
    const Context one = make_context();
    const Program loaded = load(describe(one, device().two_kernels()), blob);
    EXPECT_EQ(blob, blob_of(loaded));
    EXPECT_EQ(0u, stats_of(one).builds);
}

TEST(Blob, IsRefusedByAnotherDevice)
{
    expect_refused(INGOT_BLOB_STALE, blob_in_child(device().environment_of_another_device()));
}

TEST(Blob, IsRefusedByAnotherDriver)
{
    if (device().environment_of_another_driver().empty())
        return;
    expect_refused(INGOT_BLOB_STALE, blob_in_child(device().environment_of_another_driver()));
}

/* The blob's checksum and the identity in it are right, so only the backend can refuse these binaries. The children
 * show it if a driver ends the process. */
TEST(Blob, WithABinaryThatIsNoneIsRefused)
{
    const Bytes sound = binary_of(sound_blob());
    const Bytes half(sound.begin(), sound.begin() + static_cast<std::ptrdiff_t>(sound.size() / 2));
    EXPECT_EQ("INGOT_SUCCESS", status_in_child(blob_with_binary(sound), {}));
    if (!device().refuses_wrong_binaries())
        GTEST_SKIP() << "this driver ends the process at a binary that is none";
    EXPECT_EQ("INGOT_BLOB_REJECTED", status_in_child(blob_with_binary(half), {}));
    EXPECT_EQ("INGOT_BLOB_REJECTED", status_in_child(blob_with_binary(Bytes(4096, 'x')), {}));
    EXPECT_EQ("INGOT_BLOB_REJECTED", status_in_child(blob_with_binary(Bytes(1, 0)), {}));
}

TEST(Blob, WithTheBinaryOfAnIncompatibleDeviceIsRefused)
{
    const Environment incompatible = device().environment_of_incompatible_device();
    if (!device().refuses_wrong_binaries() || incompatible.empty())
        GTEST_SKIP() << "this driver ends the process at such a binary, or has no incompatible device";
    const Bytes foreign = binary_of(blob_in_child(incompatible));
    ASSERT_FALSE(binary_of(sound_blob()) == foreign);
    EXPECT_EQ("INGOT_BLOB_REJECTED", status_in_child(blob_with_binary(foreign), {}));
}

TEST(Blob, TakenAfterTheFirstLaunchLeavesNothingToCompileInTheNextProcess)
{
    const std::string result = device().executes() ? " 42" : "";
    EXPECT_EQ("loaded" + result + " alone", warm_in_child(blob_in_child({}), {}));
}
