/*
 * blob_test.cpp - tests that a blob loads as the program that it was taken from, and that nothing else loads.
 */
#include "conformance/children.h"

#include <ingot/backend.h>

using namespace conformance;

/*
 * ---- blobs with any binary ----
 *
 * Blobs have checksums, so changed bytes never reach a backend. But a second backend with the same name and the same
 * devices has the same ids. Its blobs are sound, and hold what it says. It reads its name and its devices from an id of
 * the backend under test, as doc/blob-format.md describes.
 */

constexpr size_t kSectionSizeAt = 160; /* the size of a blob's first binary */
constexpr size_t kChecksumSize = 16;
const std::string kKernels("square\0twice\0", 13);

static uint64_t number_at(const Bytes &bytes, size_t at, int size)
{
    uint64_t number = 0;
    for (int i = size - 1; i >= 0; --i)
        number = number << 8 | bytes.at(at + static_cast<size_t>(i));
    return number;
}

/* Reads framed bytes, and moves `at` behind them. */
static std::string framed_at(const Bytes &bytes, size_t *at)
{
    const auto size = static_cast<size_t>(number_at(bytes, *at, 8));
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(*at + 8);
    *at += 8 + size;
    return {begin, begin + static_cast<std::ptrdiff_t>(size)};
}

struct Impostor {
    std::string name;
    Bytes device;
    Bytes binary;

    explicit Impostor(const Bytes &id)
    {
        size_t at = 12;
        (void)framed_at(id, &at); /* the rules */
        name = framed_at(id, &at);
        at += 4; /* the number of devices */
        const std::string value = framed_at(id, &at);
        device.assign(value.begin(), value.end());
    }
};

static const Impostor &of(void *state)
{
    return *static_cast<Impostor *>(state);
}

static ingot_status_t identify(void *state, uint32_t, ingot_identity_t *identity)
{
    ingot_status_t status = INGOT_SUCCESS;
    for (size_t at = 0; status == INGOT_SUCCESS && at < of(state).device.size();) {
        const std::string name = framed_at(of(state).device, &at);
        const std::string value = framed_at(of(state).device, &at);
        status = ingot_identity_add(identity, name.c_str(), value.size(), value.data());
    }
    return status;
}

static ingot_status_t build(void *state, const ingot_build_request_t *, size_t, const uint32_t *, ingot_sink_t *,
                            void **out)
{
    *out = state;
    return INGOT_SUCCESS;
}

static ingot_status_t load(void *state, const ingot_build_request_t *, size_t, const uint32_t *, const ingot_binary_t *,
                           void **out)
{
    *out = state;
    return INGOT_SUCCESS;
}

static ingot_backend_ops_t operations_of(const Impostor &impostor)
{
    ingot_backend_ops_t ops{};
    ops.struct_size = sizeof(ops);
    ops.name = impostor.name.c_str();
    ops.destroy = [](void *) {};
    ops.identify_device = identify;
    ops.accepts = [](void *, ingot_source_kind_t) { return 1; };
    ops.build = build;
    ops.destroy_program = [](void *, void *) {};
    ops.get_kernel_names = [](void *, void *, ingot_sink_t *names) {
        return ingot_sink_write(names, kKernels.size(), kKernels.data());
    };
    ops.get_binary = [](void *state, void *, uint32_t, ingot_sink_t *binary) {
        return ingot_sink_write(binary, of(state).binary.size(), of(state).binary.data());
    };
    ops.load = load;
    ops.create_kernel = [](void *, void *, uint32_t, const char *, void **) { return INGOT_NOT_FOUND; };
    ops.destroy_kernel = [](void *, void *) {};
    return ops;
}

/* Returns the binary of a blob that has one section (doc/blob-format.md). */
static Bytes binary_of(const Bytes &blob)
{
    const auto size = static_cast<size_t>(number_at(blob, kSectionSizeAt, 8));
    const auto end = blob.end() - static_cast<std::ptrdiff_t>(kChecksumSize);
    return {end - static_cast<std::ptrdiff_t>(size), end};
}

/* Returns the blob that device 0 would make of two_kernels() if this were its binary. */
static Bytes blob_with_binary(const Bytes &binary)
{
    const ProgramText text = device_under_test().two_kernels();
    const Bytes id = id_of(text);
    Impostor impostor(id);
    impostor.binary = binary;
    const ingot_backend_ops_t ops = operations_of(impostor);
    const ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    ingot_context_t made = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_context_create(&made, &ops, &impostor, 1, &info)) << ingot_last_error_detail();
    const Context context(made);
    const Desc desc = describe(context, text);
    EXPECT_EQ(id, id_of(desc));
    return blob_of(create_program(desc));
}

/* ---- the tests ---- */

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
