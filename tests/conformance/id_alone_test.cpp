/*
 * id_alone_test.cpp - tests programs that are loaded by their id alone, before the application describes them, and
 * programs that share what was loaded.
 */
#include "conformance/objects.h"

using namespace conformance;

static DeviceUnderTest &device()
{
    return device_under_test();
}

static ingot_status_t try_describe(const Context &context, const Bytes &id, Desc *desc)
{
    ingot_program_desc_t made = nullptr;
    const ingot_status_t status =
        ingot_program_desc_create_from_cache_blob_id(&made, context.get(), id.size(), id.data());
    EXPECT_EQ(status == INGOT_SUCCESS, made != nullptr);
    *desc = Desc(made);
    return status;
}

static Desc describe_id(const Context &context, const Bytes &id)
{
    Desc desc;
    EXPECT_EQ(INGOT_SUCCESS, try_describe(context, id, &desc)) << ingot_last_error_detail();
    return desc;
}

static ingot_status_t share_other(ingot_program_t *program, const_ingot_program_desc_t desc, void *user)
{
    return ingot_program_share(program, desc, static_cast<ingot_program_t>(user));
}

/* Creates the program of `desc` from `other` through the in-memory cache, as a storage does in its builder callback. */
static Program share(const Desc &desc, const Program &other)
{
    ingot_program_t program = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_or_create(&program, desc.get(), share_other, other.get()))
        << ingot_last_error_detail();
    return Program(program);
}

struct Kept {
    explicit Kept(const ProgramText &text)
    {
        const Context context = make_context();
        const Desc desc = describe(context, text);
        id = id_of(desc);
        blob = blob_of(create(desc));
    }
    Bytes id;
    Bytes blob;
};

TEST(IdAlone, LoadsEveryKindOfProgram)
{
    std::vector<ProgramText> texts{device().two_kernels(), device().with_option(3), device().several_sources(),
                                   device().with_header(3)};
    if (device().takes_link_options()) {
        texts.push_back(device().two_kernels());
        texts.back().link_options = device().harmless_option();
    }
    if (device().takes_spec_constants()) {
        texts.push_back(device().specialized());
        texts.back().spec_constants = {{3, 7}};
    }
    for (const ProgramText &text : texts) {
        const Kept kept(text);
        const Context context = make_context();
        const Desc of_id = describe_id(context, kept.id);
        EXPECT_EQ(kept.id, id_of(of_id));
        const Program loaded = load(of_id, kept.blob);
        ASSERT_NE(nullptr, loaded);
        EXPECT_EQ(kept.blob, blob_of(loaded));
        EXPECT_EQ(0u, stats_of(context).builds);
    }
}

TEST(IdAlone, GivesTheProgramOfADescriptorWithoutLoadingAgain)
{
    const Kept kept(device().two_kernels());
    const Context context = make_context();
    const Desc desc = describe(context, device().two_kernels());
    Program other = load(describe_id(context, kept.id), kept.blob);
    const Program shared = share(desc, other);
    ASSERT_NE(nullptr, shared);
    EXPECT_NE(other.get(), shared.get());
    other.reset();
    ASSERT_EQ(INGOT_SUCCESS, ingot_context_clear_cache(context.get(), "no such group"));
    EXPECT_EQ(1u, stats_of(context).loads);
    EXPECT_EQ(0u, stats_of(context).builds);
    EXPECT_EQ(shared, create(desc)) << "it is in the in-memory cache";
    EXPECT_EQ((std::vector<std::string>{"square", "twice"}), kernel_names_of(shared));
    EXPECT_EQ(kept.blob, blob_of(shared));
    const Kernel twice = kernel_of(shared, "twice");
    if (device().executes()) {
        EXPECT_EQ(14, device().run(context.get(), twice.get(), 7));
    }
}

TEST(IdAlone, SharesAmongManyWhileOneIsHeld)
{
    const Kept kept(device().two_kernels());
    const Context context = make_context();
    ProgramText grouped = device().two_kernels();
    grouped.group = "a shape";
    const Desc desc = describe(context, grouped);
    Program first;
    {
        const Program other = load(describe_id(context, kept.id), kept.blob);
        first = share(desc, other);
        ASSERT_EQ(INGOT_SUCCESS, ingot_context_clear_cache(context.get(), nullptr));
    }
    Program second = share(desc, first);
    ASSERT_NE(first.get(), second.get());
    first.reset();
    EXPECT_EQ(1u, stats_of(context).loads);
    EXPECT_EQ(1u, stats_of(context).groups);
    if (device().executes()) {
        EXPECT_EQ(49, device().run(context.get(), kernel_of(second, "square").get(), 7));
    }
}

TEST(IdAlone, ServesEachOfTwoEqualDevices)
{
    if (!device().has_equal_device())
        return;
    const Kept kept(device().two_kernels());
    const Context both = make_context({0, device().equal_device()});
    const Program other = load(describe_id(both, kept.id), kept.blob);
    for (uint32_t number : {0u, 1u}) {
        ProgramText text = device().two_kernels();
        text.devices = {number};
        const Program shared = share(describe(both, text), other);
        ingot_kernel_t kernel = nullptr;
        ASSERT_EQ(INGOT_SUCCESS, ingot_kernel_create(&kernel, shared.get(), number, "twice"))
            << ingot_last_error_detail();
        ingot_kernel_release(kernel);
    }
    EXPECT_EQ(0u, stats_of(both).builds);
}

TEST(IdAlone, IsNotCompiled)
{
    const Kept kept(device().two_kernels());
    const Context context = make_context();
    ingot_program_t program = nullptr;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_program_create(&program, describe_id(context, kept.id).get()));
    EXPECT_STRNE("", ingot_last_error_detail());
    EXPECT_EQ(nullptr, program);
    EXPECT_EQ(0u, stats_of(context).programs);
}

TEST(IdAlone, IsNotSharedWithAnotherProgram)
{
    const Kept kept(device().with_option(3));
    const Context context = make_context();
    const Program other = load(describe_id(context, kept.id), kept.blob);
    const Desc desc = describe(context, device().with_option(4));
    ingot_program_t program = nullptr;
    EXPECT_EQ(INGOT_BLOB_MISMATCH, ingot_program_share(&program, desc.get(), other.get()));
    const Context elsewhere = make_context();
    const Desc foreign = describe(elsewhere, device().with_option(3));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_program_share(&program, foreign.get(), other.get()));
    EXPECT_EQ(nullptr, program);
}

TEST(IdAlone, RefusesEveryTruncationOfAnIdAndIsNoMatchForAnyOther)
{
    const Kept kept(device().two_kernels());
    const Context context = make_context();
    Desc desc;
    for (size_t size = 1; size < kept.id.size(); ++size) {
        const Bytes cut(kept.id.begin(), kept.id.begin() + static_cast<std::ptrdiff_t>(size));
        const ingot_status_t status = try_describe(context, cut, &desc);
        EXPECT_TRUE(status == INGOT_BLOB_TRUNCATED || status == INGOT_BLOB_CORRUPT) << size;
    }
    for (size_t at = 0; at < kept.id.size(); ++at) {
        Bytes damaged = kept.id;
        damaged[at] ^= 0x10;
        Program program;
        if (try_describe(context, damaged, &desc) == INGOT_SUCCESS) {
            EXPECT_EQ(INGOT_BLOB_MISMATCH, try_load(desc, kept.blob, &program)) << at;
        }
    }
    EXPECT_EQ(0u, stats_of(context).programs);
}
