/*
 * program_test.cpp - tests how a backend treats every part of a program's description, and programs that do not build.
 */
#include <atomic>
#include <thread>

#include "conformance/objects.h"

using namespace conformance;

static DeviceUnderTest &device()
{
    return device_under_test();
}

static void expect_computes(int expected, const ProgramText &text, const char *kernel, int x)
{
    const Context context = make_context();
    const Program program = create_program(describe(context, text));
    ASSERT_NE(nullptr, program);
    const Kernel entry = create_kernel(program, kernel);
    if (device().executes()) {
        EXPECT_EQ(expected, device().run(context.get(), entry.get(), x));
    }
}

TEST(Program, ComputesWhatItsSourceSays)
{
    expect_computes(42, device().two_kernels(), "twice", 21);
    expect_computes(49, device().two_kernels(), "square", 7);
}

TEST(Program, IsBuiltWithItsOptions)
{
    expect_computes(13, device().with_option(3), "add", 10);
    expect_computes(14, device().with_option(4), "add", 10);
}

TEST(Program, IsLinkedOfSeveralSources)
{
    expect_computes(15, device().several_sources(), "call", 10);
}

TEST(Program, SeesItsEmbeddedHeaders)
{
    expect_computes(13, device().with_header(3), "add", 10);
    expect_computes(14, device().with_header(4), "add", 10);
}

/* Ingot replaces includes by texts only in a program that is cacheable. Otherwise, and after a failed build, the
 * backend has to find the headers. */
TEST(Program, SeesItsEmbeddedHeadersIfItGetsTheOriginalText)
{
    if (!device().includes_files())
        return;
    for (const int amount : {3, 4}) {
        ProgramText text = device().with_header(amount);
        text.sources[0].bytes = "#define NOT_CACHEABLE __DATE__\n" + text.sources[0].bytes;
        const Desc desc = describe(make_context(), text);
        size_t size = 0;
        const uint8_t *id = nullptr;
        EXPECT_EQ(INGOT_NOT_CACHEABLE, ingot_program_desc_get_cache_blob_id(desc.get(), &size, &id));
        expect_computes(10 + amount, text, "add", 10);
    }
}

TEST(Program, IsLinkedWithItsLinkOptionsOrRefused)
{
    ProgramText text = device().two_kernels();
    text.link_options = device().harmless_option();
    if (device().takes_link_options()) {
        expect_computes(42, text, "twice", 21);
        return;
    }
    const Desc desc = describe(make_context(), text);
    ingot_program_t program = nullptr;
    EXPECT_EQ(INGOT_BUILD_FAILED, ingot_program_get(&program, desc.get(), 0));
    EXPECT_STRNE("", ingot_last_error_detail());
}

TEST(Program, IsBuiltForEachOfItsDevices)
{
    if (!device().has_equal_device())
        return;
    const Context context = make_context({0, device().equal_device()});
    for (const std::vector<uint32_t> &devices : {std::vector<uint32_t>{0}, {1}, {0, 1}}) {
        ProgramText text = device().two_kernels();
        text.devices = devices;
        const Program program = create_program(describe(context, text));
        for (uint32_t index = 0; index < 2; ++index) {
            const bool has = index == devices.front() || index == devices.back();
            ingot_kernel_t kernel = nullptr;
            EXPECT_EQ(has ? INGOT_SUCCESS : INGOT_INVALID_ARGUMENTS,
                      ingot_kernel_create(&kernel, program.get(), index, "twice"))
                << index << ": " << ingot_last_error_detail();
            ingot_kernel_release(kernel);
        }
        EXPECT_LT(0u, blob_of(program).size());
    }
}

TEST(Program, TakesSpecializationConstantsOrSaysThatItDoesNot)
{
    const Context context = make_context();
    if (device().takes_spec_constants()) {
        const Program plain = create_program(describe(context, device().specialized()));
        ProgramText text = device().specialized();
        text.spec_constants = {{3, 7}};
        const Program program = create_program(describe(context, text));
        EXPECT_EQ((std::vector<std::string>{"specialized"}), kernel_names_of(program));
        EXPECT_NE(blob_of(plain), blob_of(program));
        text.spec_constants = {{3, 8}};
        EXPECT_NE(program.get(), create_program(describe(context, text)).get());
        text.spec_constants = {{99, 7}};
        const Desc lacking = describe(context, text);
        ingot_program_t none = nullptr;
        EXPECT_EQ(INGOT_BUILD_FAILED, ingot_program_get(&none, lacking.get(), 0));
        EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "99")) << ingot_last_error_detail();
    } else {
        ProgramText text = device().two_kernels();
        text.spec_constants = {{3, 7}};
        const Desc desc = describe(context, text);
        ingot_program_t none = nullptr;
        EXPECT_NE(INGOT_SUCCESS, ingot_program_get(&none, desc.get(), 0));
        EXPECT_EQ(nullptr, none);
        EXPECT_STRNE("", ingot_last_error_detail());
    }
}

TEST(Program, ListsItsKernelsSorted)
{
    const Program program = create_program(describe(make_context(), device().two_kernels()));
    EXPECT_EQ((std::vector<std::string>{"square", "twice"}), kernel_names_of(program));
}

TEST(Program, HasNoOtherKernels)
{
    const Program program = create_program(describe(make_context(), device().two_kernels()));
    ingot_kernel_t kernel = nullptr;
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_kernel_create(&kernel, program.get(), 0, "thrice"));
    EXPECT_EQ(nullptr, kernel);
}

TEST(Program, FailureTellsTheBuildLogAndLeavesNoEntry)
{
    const Context context = make_context();
    for (const ProgramText &text : {device().failing(), device().not_linking()}) {
        const Desc desc = describe(context, text);
        for (uint64_t attempt = 0; attempt < 2; ++attempt) {
            const uint64_t failures = stats_of(context).build_failures;
            ingot_program_t program = nullptr;
            EXPECT_EQ(INGOT_BUILD_FAILED, ingot_program_get(&program, desc.get(), 0));
            EXPECT_EQ(nullptr, program);
            EXPECT_STRNE("", ingot_last_error_detail());
            EXPECT_EQ(failures + 1, stats_of(context).build_failures); /* it was tried again */
        }
        EXPECT_EQ(0u, stats_of(context).programs);
    }
    ingot_program_t program = nullptr;
    const Desc desc = describe(context, device().failing());
    EXPECT_EQ(INGOT_BUILD_FAILED, ingot_program_get(&program, desc.get(), 0));
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "no_such_name")) << ingot_last_error_detail();
}

/* A backend that keeps the data of one call where another call sees it gives a thread another thread's program. */
TEST(Program, AreBuiltAndLoadedByManyThreadsAtOnce)
{
    constexpr int kThreads = 8;
    const auto amount_of = [](int i) { return device().includes_files() ? i : 3 + i % 2; }; /* others are files */
    const Context built_in = make_context();
    const Context loaded_in = make_context();
    std::vector<Program> built(kThreads);
    std::vector<Program> loaded(kThreads);
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back([&, i] {
            const Desc desc = describe(built_in, device().with_option(amount_of(i)));
            for (++ready; ready < kThreads;)
                std::this_thread::yield();
            built[static_cast<size_t>(i)] = create_program(desc);
            const Bytes blob = blob_of(built[static_cast<size_t>(i)]);
            loaded[static_cast<size_t>(i)] = load(describe(loaded_in, device().with_option(amount_of(i))), blob);
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    for (int i = 0; i < kThreads && device().executes(); ++i) {
        const auto at = static_cast<size_t>(i);
        EXPECT_EQ(10 + amount_of(i), device().run(built_in.get(), create_kernel(built[at], "add").get(), 10));
        EXPECT_EQ(10 + amount_of(i), device().run(loaded_in.get(), create_kernel(loaded[at], "add").get(), 10));
    }
}
