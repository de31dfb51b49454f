/*
 * program_test.cpp - tests programs and kernels through the public interface, with the reference backend.
 */
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <functional>
#include <thread>
#include <utility>

#include <ingot/private/descriptor.h>

#include "support/failing_allocator.h"
#include "support/reference_context.h"

namespace
{

struct Recorder {
    std::vector<std::pair<ingot_event_kind_t, ingot_status_t>> events;
    std::vector<std::string> reasons;

    ingot_context_info_t info()
    {
        ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
        info.on_event = [](const ingot_event_t *event, void *user) {
            auto *self = static_cast<Recorder *>(user);
            self->events.emplace_back(event->kind, event->status);
            self->reasons.emplace_back(event->reason);
        };
        info.on_event_user = this;
        return info;
    }
};

std::string text_of(ingot_status_t (*get)(const_ingot_program_t, size_t *, char *), const Program &program)
{
    size_t size = 0;
    EXPECT_EQ(INGOT_SUCCESS, get(program.get(), &size, nullptr));
    std::string text(size, '\0');
    EXPECT_EQ(INGOT_SUCCESS, get(program.get(), &size, text.data()));
    return text;
}

} // namespace

TEST(Program, BuildsOnceAndComputes)
{
    ReferenceDevice device;
    const Context context = device.make();
    const Desc desc = ProgramText().make(context);
    const Program first = create_program(desc);
    const Program second = create_program(desc);
    const Program third = create_program(ProgramText().make(context)); /* an equal descriptor */
    EXPECT_EQ(first, second);
    EXPECT_EQ(first, third);
    EXPECT_EQ(1u, device.counts.builds);
    EXPECT_EQ(42, run(create_kernel(first, "twice"), 21));
    EXPECT_EQ(49, run(create_kernel(first, "square"), 7));
    EXPECT_EQ(std::string("square\0twice\0", 13), text_of(ingot_program_get_kernel_names, first)) << "sorted";
    EXPECT_EQ("compiled for alpha\n" + std::string(1, '\0'), text_of(ingot_program_get_build_log, first));
    const auto stats = stats_of(context);
    EXPECT_EQ(2u, stats.hits);
    EXPECT_EQ(1u, stats.misses);
    EXPECT_EQ(1u, stats.builds);
    EXPECT_EQ(1u, stats.programs);
}

TEST(Program, UsesOptionsHeadersAndConstants)
{
    ReferenceDevice device;
    const Context context = device.make();
    ProgramText text;
    text.sources = {"#include \"lib.h\"\nkernel f x FACTOR * $3 +\n", "kernel g x\n"};
    text.headers = {{"lib.h", "kernel h x 1 +\n"}};
    text.compile_options = "-DFACTOR=10";
    text.constants = {{3, 5}};
    const Program program = create_program(text.make(context));
    EXPECT_EQ(25, run(create_kernel(program, "f"), 2));
    EXPECT_EQ(2, run(create_kernel(program, "g"), 2));
    EXPECT_EQ(3, run(create_kernel(program, "h"), 2));
}

TEST(Program, TellsWhyABuildFailedAndTriesAnew)
{
    ReferenceDevice device;
    Recorder recorder;
    const Context context = device.make(recorder.info());
    ProgramText text;
    text.sources = {"kernel f x nonsense\n"};
    const Desc desc = text.make(context);
    ingot_program_t program = nullptr;
    for (uint64_t attempt = 1; attempt <= 2; ++attempt) {
        EXPECT_EQ(INGOT_BUILD_FAILED, ingot_program_get(&program, desc.get(), 0));
        EXPECT_NE(std::string::npos, std::string(ingot_last_error_detail()).find("unknown word nonsense"));
        EXPECT_EQ(nullptr, program);
        EXPECT_EQ(attempt, device.counts.builds);
    }
    EXPECT_EQ(0u, stats_of(context).programs);
    EXPECT_EQ(2u, stats_of(context).build_failures);
    ASSERT_EQ(4u, recorder.events.size());
    EXPECT_EQ(std::make_pair(INGOT_EVENT_BUILD, INGOT_BUILD_FAILED), recorder.events[1]);
    EXPECT_NE(std::string::npos, recorder.reasons[1].find("nonsense"));
}

TEST(Program, LookupNeverBuilds)
{
    ReferenceDevice device;
    const Context context = device.make();
    const Desc desc = ProgramText().make(context);
    ingot_program_t found = nullptr;
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_program_get(&found, desc.get(), INGOT_PROGRAM_GET_IN_MEMORY));
    EXPECT_EQ(0u, device.counts.builds);
    const Program program = create_program(desc);
    ASSERT_EQ(INGOT_SUCCESS, ingot_program_get(&found, desc.get(), INGOT_PROGRAM_GET_IN_MEMORY));
    EXPECT_EQ(program.get(), found);
    ingot_program_release(found);
}

TEST(Program, OutlivesItsContextAndEviction)
{
    ReferenceDevice device;
    Context context = device.make();
    Program program = create_program(ProgramText().make(context));
    Kernel kernel = create_kernel(program, "twice");
    EXPECT_EQ(INGOT_SUCCESS, ingot_context_clear_cache(context.get(), nullptr));
    EXPECT_EQ(0u, stats_of(context).programs);
    context.reset();
    EXPECT_EQ(0u, device.counts.states_destroyed);
    program.reset();
    EXPECT_EQ(8, run(kernel, 4)) << "a kernel holds its program";
    kernel.reset();
    EXPECT_EQ(0, device.counts.live_programs);
    EXPECT_EQ(0, device.counts.live_kernels);
    EXPECT_EQ(1u, device.counts.states_destroyed);
}

TEST(Program, IsForgottenAloneAndOnceAndLivesOnWhereItIsHeld)
{
    ReferenceDevice device;
    const Context context = device.make();
    ProgramText text;
    const Desc desc = text.make(context);
    text.compile_options = "-DN=1";
    const Desc other = text.make(context);
    const Program first = create_program(desc);
    const Program kept = create_program(other);
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_forget(first.get()));
    EXPECT_EQ(1u, stats_of(context).programs);
    const Program second = create_program(desc);
    EXPECT_NE(first.get(), second.get());
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_program_forget(first.get()));
    EXPECT_EQ(second.get(), create_program(desc).get());
    EXPECT_EQ(kept.get(), create_program(other).get());
    EXPECT_EQ(10, run(create_kernel(first, "twice"), 5));
    EXPECT_EQ(3u, device.counts.builds);
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_program_forget(nullptr));
}

TEST(Program, KnowsWhetherItIsFromABlob)
{
    ReferenceDevice device;
    device.targets = {"alpha", "alpha"};
    const Context context = device.make();
    const Desc desc = ProgramText().make(context);
    Program program = create_program(desc);
    EXPECT_FALSE(is_from_cache_blob(program.get())) << "the second device loads what the first compiled";
    const std::vector<uint8_t> blob = blob_of(program);
    ASSERT_EQ(INGOT_SUCCESS, ingot_program_forget(program.get()));
    ingot_program_t loaded = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_program_create_from_cache_blob(&loaded, desc.get(), blob.size(), blob.data()));
    program.reset(loaded);
    EXPECT_TRUE(is_from_cache_blob(loaded));
}

TEST(Program, IsNotKeptWhenTheCacheIsOffOrTheFlagSaysSo)
{
    ReferenceDevice device;
    ingot_cache_capacity_t capacity = INGOT_CACHE_CAPACITY_INIT;
    capacity.flags = INGOT_CACHE_OFF;
    ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    info.cache_capacity = &capacity;
    const Context off = device.make(info);
    const Desc desc = ProgramText().make(off);
    EXPECT_EQ(10, run(create_kernel(create_program(desc), "twice"), 5));
    EXPECT_NE(nullptr, create_program(desc));
    EXPECT_EQ(2u, device.counts.builds);
    EXPECT_EQ(0, device.counts.live_programs);

    const Context on = device.make();
    ProgramText text;
    text.flags = INGOT_PROGRAM_NO_MEMORY_CACHE;
    const Desc uncached = text.make(on);
    EXPECT_NE(nullptr, create_program(uncached));
    EXPECT_NE(nullptr, create_program(uncached));
    EXPECT_EQ(4u, device.counts.builds);
    EXPECT_EQ(0u, stats_of(on).programs);
}

TEST(Program, TellsOfEvents)
{
    ReferenceDevice device;
    Recorder recorder;
    const Context context = device.make(recorder.info());
    const Desc desc = ProgramText().make(context);
    const Program program = create_program(desc);
    (void)create_program(desc);
    (void)blob_of(program);
    ingot_context_clear_cache(context.get(), nullptr);
    const std::vector<std::pair<ingot_event_kind_t, ingot_status_t>> expected{{INGOT_EVENT_MISS, INGOT_NOT_FOUND},
                                                                              {INGOT_EVENT_BUILD, INGOT_SUCCESS},
                                                                              {INGOT_EVENT_HIT, INGOT_SUCCESS},
                                                                              {INGOT_EVENT_TAKE_BLOB, INGOT_SUCCESS},
                                                                              {INGOT_EVENT_EVICT, INGOT_SUCCESS}};
    EXPECT_EQ(expected, recorder.events);
    EXPECT_EQ("clear", recorder.reasons.back());
}

TEST(Program, SharesOneCompilationAmongEqualDevices)
{
    ReferenceDevice device;
    device.targets = {"alpha", "beta", "alpha"};
    const Context context = device.make();
    const Program program = create_program(ProgramText().make(context));
    EXPECT_EQ(2u, device.counts.builds);
    for (uint32_t i = 0; i < 3; ++i)
        EXPECT_EQ(12, run(create_kernel(program, "twice", i), 6));
    ReferenceDevice two;
    two.targets = {"alpha", "beta"};
    const Context other = two.make();
    EXPECT_EQ(blob_of(create_program(ProgramText().make(other))).size(), blob_of(program).size())
        << "equal devices share a section";
    EXPECT_EQ(1, device.counts.live_programs);
}

TEST(Program, IsForTheDevicesOfItsDescriptorOnly)
{
    ReferenceDevice device;
    device.targets = {"alpha", "beta"};
    const Context context = device.make();
    ProgramText text;
    text.devices = {1};
    const Program program = create_program(text.make(context));
    EXPECT_EQ(2, run(create_kernel(program, "twice", 1), 1));
    ingot_kernel_t kernel = nullptr;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_kernel_create(&kernel, program.get(), 0, "twice"));
    text.devices = {0};
    EXPECT_NE(program, create_program(text.make(context)));
}

TEST(Program, HasNoBlobWhenAnIncludedFileChangedBeforeItWasCompiled)
{
    const std::string path = testing::TempDir() + "ingot_changing.h";
    const auto write = [&](const char *content) { std::ofstream(path) << content; };
    ReferenceDevice device;
    const Context context = device.make();
    ProgramText text;
    text.sources = {"#include \"ingot_changing.h\"\nkernel f x\n"};
    text.compile_options = "-I" + testing::TempDir();
    write("kernel first x\n");
    const Desc early = text.make(context);
    write("kernel second x\n");
    const Program unvouched = create_program(early);
    size_t size = 0;
    EXPECT_EQ(INGOT_NOT_CACHEABLE, ingot_program_get_cache_blob(unvouched.get(), &size, nullptr));
    EXPECT_NE(std::string::npos, std::string(ingot_last_error_detail()).find("changed since"));
    EXPECT_NE(nullptr, create_kernel(unvouched, "second"));
    write("kernel first x\n");
    /* A request with an equal descriptor does not get the program that is not cacheable. */
    const Program other = create_program(text.make(context));
    EXPECT_NE(nullptr, create_kernel(other, "first"));
    write("kernel second x\n");
    const Desc late = text.make(context);
    EXPECT_FALSE(blob_of(create_program(late)).empty());
    EXPECT_NE(id_of(early), id_of(late));
    std::remove(path.c_str());
}

/* The compiler gets the text that was read for the id, so the id still describes the program. */
TEST(Program, HasTheBlobOfItsIdWhenAnIncludedFileChangesWhileItIsCompiled)
{
    static std::string path;
    path = testing::TempDir() + "ingot_changing_later.h";
    std::ofstream(path) << "kernel first x\n";
    ReferenceDevice device;
    device.hook = [](void *, const char *operation) {
        if (std::string(operation) == "build")
            std::ofstream(path) << "kernel second x\n";
        return INGOT_SUCCESS;
    };
    ProgramText text;
    text.sources = {"#include \"ingot_changing_later.h\"\nkernel f x\n"};
    text.compile_options = "-I" + testing::TempDir();
    const Context context = device.make();
    const Program program = create_program(text.make(context));
    EXPECT_FALSE(blob_of(program).empty());
    EXPECT_NE(nullptr, create_kernel(program, "first"));
    std::remove(path.c_str());
}

/* An unknown option may make the compiler read files, so a program with such an option is not cacheable. */
TEST(Program, ThatIsBuiltNativelyTellsWhyAndIsNotCacheable)
{
    const std::string path = testing::TempDir() + "ingot_native.h";
    std::ofstream(path) << "kernel first x\n";
    ReferenceDevice device;
    Recorder recorder;
    ProgramText text;
    text.sources = {"#include \"ingot_native.h\"\nkernel f x\n"};
    text.compile_options = "-I" + testing::TempDir() + " --unknown-option";
    const Context context = device.make(recorder.info());
    const Program program = create_program(text.make(context));
    EXPECT_NE(nullptr, create_kernel(program, "first"));
    EXPECT_EQ(1u, device.counts.builds);
    size_t size = 0;
    EXPECT_EQ(INGOT_NOT_CACHEABLE, ingot_program_get_cache_blob(program.get(), &size, nullptr));
    const auto event = std::make_pair(INGOT_EVENT_NATIVE_BUILD, INGOT_NOT_CACHEABLE);
    const auto at = std::find(recorder.events.begin(), recorder.events.end(), event);
    ASSERT_NE(recorder.events.end(), at);
    const std::string reason = recorder.reasons[static_cast<size_t>(at - recorder.events.begin())];
    EXPECT_NE(std::string::npos, reason.find("--unknown-option")) << reason;
    const char *told = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_native_reason(program.get(), &told));
    EXPECT_EQ(reason, told != nullptr ? told : "none");
    std::remove(path.c_str());
}

/* A driver that fails for a moment is no reason to compile a program natively from then on. */
TEST(Program, IsCacheableAgainAfterTheDriverFailed)
{
    static int failures;
    failures = 2; /* of the build with resolved includes, and of the native one */
    const std::string path = testing::TempDir() + "ingot_failing.h";
    std::ofstream(path) << "kernel first x\n";
    ReferenceDevice device;
    device.hook = [](void *, const char *operation) {
        return std::string(operation) == "build" && failures-- > 0 ? INGOT_BACKEND_ERROR : INGOT_SUCCESS;
    };
    ProgramText text;
    text.sources = {"#include \"ingot_failing.h\"\nkernel f x\n"};
    text.compile_options = "-I" + testing::TempDir();
    const Context context = device.make();
    const Desc desc = text.make(context);
    ingot_program_t none = nullptr;
    EXPECT_EQ(INGOT_BACKEND_ERROR, ingot_program_get(&none, desc.get(), 0));
    EXPECT_FALSE(blob_of(create_program(desc)).empty());
    std::remove(path.c_str());
}

/* Looking a program up is a request like any other, so the program also belongs to that descriptor's group. */
TEST(Program, BelongsToTheGroupOfADescriptorThatFoundIt)
{
    ReferenceDevice device;
    const Context context = device.make();
    for (const char *group : {"b", ""}) {
        ProgramText text;
        text.group = "a";
        const Desc first = text.make(context);
        (void)create_program(first);
        text.group = group;
        const Desc second = text.make(context);
        ingot_program_t found = nullptr;
        ASSERT_EQ(INGOT_SUCCESS, ingot_program_get(&found, second.get(), INGOT_PROGRAM_GET_IN_MEMORY));
        ingot_program_release(found);
        (void)create_program(second);
        ASSERT_EQ(INGOT_SUCCESS, ingot_context_clear_cache(context.get(), "a"));
        EXPECT_EQ(INGOT_SUCCESS, ingot_program_get(&found, second.get(), INGOT_PROGRAM_GET_IN_MEMORY))
            << "\"" << group << "\"";
        ingot_program_release(found);
        ASSERT_EQ(INGOT_SUCCESS, ingot_context_clear_cache(context.get(), nullptr));
    }
}

TEST(Program, IsTrimmedFromMemoryLeastRecentlyUsedFirst)
{
    ReferenceDevice device;
    Recorder recorder;
    const Context context = device.make(recorder.info());
    std::vector<Desc> descs;
    for (int i = 0; i < 10; ++i) {
        ProgramText text;
        text.compile_options = "-DN=" + std::to_string(i);
        descs.push_back(text.make(context));
        (void)create_program(descs.back());
    }
    (void)create_program(descs[0]);
    ingot_cache_capacity_t to = INGOT_CACHE_CAPACITY_INIT;
    to.max_programs = 4;
    ASSERT_EQ(INGOT_SUCCESS, ingot_context_trim_cache(context.get(), &to));
    EXPECT_EQ(4u, stats_of(context).programs);
    EXPECT_EQ(6u, stats_of(context).evictions_count);
    EXPECT_EQ("max_programs", recorder.reasons.back());
    for (const int kept : {0, 7, 8, 9}) {
        ingot_program_t program = nullptr;
        EXPECT_EQ(INGOT_SUCCESS,
                  ingot_program_get(&program, descs[static_cast<size_t>(kept)].get(), INGOT_PROGRAM_GET_IN_MEMORY))
            << kept;
        ingot_program_release(program);
    }
    (void)create_program(descs[1]);
    EXPECT_EQ(5u, stats_of(context).programs) << "the limit is what it was";
    to.max_bytes = 1;
    ASSERT_EQ(INGOT_SUCCESS, ingot_context_trim_cache(context.get(), &to));
    EXPECT_EQ(0u, stats_of(context).programs);
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_context_trim_cache(context.get(), nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_context_trim_cache(nullptr, &to));
}

TEST(ProgramDesc, RefusesWhatIsMalformed)
{
    ReferenceDevice device;
    const Context context = device.make();
    ingot_program_desc_t desc = nullptr;
    ProgramText text;
    text.sources = {};
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, text.try_make(context.get(), &desc));
    text = {};
    text.devices = {1};
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, text.try_make(context.get(), &desc));
    text.devices = {0, 0};
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, text.try_make(context.get(), &desc));
    text = {};
    text.constants = {{1, 2}, {1, 3}};
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, text.try_make(context.get(), &desc));
    EXPECT_NE(std::string::npos, std::string(ingot_last_error_detail()).find("constant 1 is given twice"));
    text = {};
    text.headers = {{"a.h", ""}, {"a.h", ""}};
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, text.try_make(context.get(), &desc));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ProgramText().try_make(nullptr, &desc));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_program_desc_create(&desc, context.get(), nullptr));
    const Source binary = make_source("x", "x", INGOT_SOURCE_SPIRV);
    ingot_source_t source = binary.get();
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    info.sources = &source;
    info.source_count = 1;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_program_desc_create(&desc, context.get(), &info)) << "not this backend's";
    info.struct_size = 0;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_program_desc_create(&desc, context.get(), &info));
    EXPECT_EQ(nullptr, desc);
}

TEST(Handles, AreCheckedForNull)
{
    size_t size = 0;
    ingot_program_t program = nullptr;
    ingot_kernel_t kernel = nullptr;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_program_get(&program, nullptr, 0));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_program_get(nullptr, nullptr, 0));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_program_get(&program, nullptr, INGOT_PROGRAM_GET_IN_MEMORY));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_program_get_cache_blob(nullptr, &size, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_program_create_from_cache_blob(&program, nullptr, 0, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_kernel_get(&kernel, nullptr, 0, "a"));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_kernel_create(&kernel, nullptr, 0, "a"));
    ingot_program_retain(nullptr);
    ingot_context_retain(nullptr);
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_kernel_lock(nullptr));
    ingot_program_release(nullptr);
    ingot_kernel_release(nullptr);
    ingot_source_release(nullptr);
    ingot_context_release(nullptr);
    ingot_program_desc_release(nullptr);
    EXPECT_EQ(0u, ingot_context_get_device_count(nullptr));
}

TEST(Kernel, IsSharedAndComparesItsName)
{
    ReferenceDevice device;
    const Context context = device.make();
    const Desc desc = ProgramText().make(context);
    const Program program = create_program(desc);
    const Kernel first = create_kernel(program, "twice");
    ingot_kernel_t got = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_kernel_get(&got, desc.get(), 0, "twice"));
    EXPECT_EQ(first.get(), got);
    ingot_kernel_release(got);
    EXPECT_EQ(1, device.counts.live_kernels);
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_kernel_get(&got, desc.get(), 0, "twic"));
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_kernel_get(&got, desc.get(), 0, "twicee"));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_kernel_get(&got, desc.get(), 1, "twice"));
}

TEST(Kernel, IsTheOneAskedForWhateverTheDescriptorRemembers)
{
    ReferenceDevice device;
    device.targets = {"alpha", "beta"};
    const Context context = device.make();
    ProgramText text;
    text.sources = {""};
    for (int i = 0; i < 100; ++i)
        text.sources[0] += "kernel k" + std::to_string(i) + " x " + std::to_string(i) + " +\n";
    const Desc desc = text.make(context);
    for (int round = 0; round < 2; ++round) {
        for (int i = 99; i >= 0; --i) {
            for (uint32_t target = 0; target < 2; ++target) {
                ingot_kernel_t kernel = nullptr;
                const std::string name = "k" + std::to_string(i);
                ASSERT_EQ(INGOT_SUCCESS, ingot_kernel_get(&kernel, desc.get(), target, name.c_str()));
                const Kernel held(kernel);
                EXPECT_EQ(1000 + i, run(held, 1000));
                EXPECT_EQ(held, create_kernel(create_program(desc), name.c_str(), target));
            }
        }
        EXPECT_EQ(200, device.counts.live_kernels);
        EXPECT_EQ(INGOT_SUCCESS, ingot_context_clear_cache(context.get(), nullptr));
        EXPECT_EQ(0, device.counts.live_kernels) << "what the descriptor remembers holds nothing";
    }
}

TEST(Kernel, LeavesBothMapsWithItsProgram)
{
    ReferenceDevice device;
    ingot_cache_capacity_t capacity = INGOT_CACHE_CAPACITY_INIT;
    capacity.max_programs = 1;
    ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    info.cache_capacity = &capacity;
    const Context context = device.make(info);
    const Desc desc = ProgramText().make(context);
    ingot_kernel_t got = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_kernel_get(&got, desc.get(), 0, "twice"));
    Kernel held(got);
    ASSERT_EQ(INGOT_SUCCESS, ingot_kernel_get(&got, desc.get(), 0, "square"));
    ingot_kernel_release(got);
    ProgramText other;
    other.compile_options = "-DOTHER=1";
    (void)create_program(other.make(context)); /* evicts the first program */
    EXPECT_EQ(2, device.counts.live_kernels) << "a held kernel keeps its program, and that its kernels";
    ASSERT_EQ(INGOT_SUCCESS, ingot_kernel_get(&got, desc.get(), 0, "twice"));
    EXPECT_NE(held.get(), got) << "built anew, not found by the descriptor";
    ingot_kernel_release(got);
    EXPECT_EQ(3u, device.counts.builds);
    EXPECT_EQ(10, run(held, 5));
    held.reset();
    EXPECT_EQ(1, device.counts.live_kernels);
    ASSERT_EQ(INGOT_SUCCESS, ingot_context_clear_cache(context.get(), nullptr));
    EXPECT_EQ(0, device.counts.live_kernels);
    EXPECT_EQ(0, device.counts.live_programs);
}

TEST(Kernel, ClonesAreTheirOwn)
{
    ReferenceDevice device;
    Context context = device.make();
    Kernel kernel = create_kernel(create_program(ProgramText().make(context)), "twice");
    ingot_kernel_t clone = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_kernel_clone(&clone, kernel.get()));
    EXPECT_NE(kernel.get(), clone);
    EXPECT_EQ(2, device.counts.live_kernels);
    kernel.reset();
    context.reset();
    Kernel held(clone);
    ingot_kernel_retain(clone);
    ingot_kernel_release(clone);
    EXPECT_EQ(6, run(held, 3)) << "a clone holds its program";
    held.reset();
    EXPECT_EQ(0, device.counts.live_kernels);
    EXPECT_EQ(1u, device.counts.states_destroyed);
}

TEST(Kernel, LockExcludesOthers)
{
    ReferenceDevice device;
    const Context context = device.make();
    const Kernel kernel = create_kernel(create_program(ProgramText().make(context)), "twice");
    int inside = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int round = 0; round < 1000; ++round) {
                ingot_kernel_lock(kernel.get());
                EXPECT_EQ(1, ++inside);
                --inside;
                ingot_kernel_unlock(kernel.get());
            }
        });
    }
    for (auto &thread : threads)
        thread.join();
}

namespace
{

/* A hook that is called for each native kernel that is made. It counts the kernels, makes each of them slow, so that
 * threads make them at once, and fails the first `failures` of them. */
struct KernelMakings {
    int failures = 0;
    std::atomic<int> made{0};
    std::function<void()> meanwhile;

    static ingot_status_t hook(void *user, const char *operation)
    {
        auto *self = static_cast<KernelMakings *>(user);
        if (std::string(operation) != "create_kernel")
            return INGOT_SUCCESS;
        const int number = self->made++;
        for (int i = 0; i < 1000; ++i)
            sched_yield();
        if (self->meanwhile)
            std::exchange(self->meanwhile, nullptr)();
        return number < self->failures ? INGOT_BACKEND_ERROR : INGOT_SUCCESS;
    }
};

} // namespace

TEST(Kernel, RequestedByManyThreadsIsTheSameForAll)
{
    constexpr size_t kThreads = 16;
    KernelMakings makings;
    makings.failures = 2;
    ReferenceDevice device;
    device.hook = KernelMakings::hook;
    device.hook_user = &makings;
    const Context context = device.make();
    const Program program = create_program(ProgramText().make(context));
    std::vector<std::thread> threads;
    ingot_kernel_t kernels[kThreads] = {};
    std::atomic<size_t> ready{0};
    std::atomic<int> failed{0};

    for (auto &kernel : kernels) {
        threads.emplace_back([&] {
            ++ready;
            while (ready < kThreads)
                sched_yield();
            const ingot_status_t status = ingot_kernel_create(&kernel, program.get(), 0, "square");
            failed += status == INGOT_BACKEND_ERROR;
        });
    }
    for (auto &thread : threads)
        thread.join();
    EXPECT_EQ(2, failed) << "a failure is for the thread that had it";
    EXPECT_LE(3, makings.made);
    EXPECT_EQ(1, device.counts.live_kernels);
    ingot_kernel_t known = nullptr;
    for (ingot_kernel_t kernel : kernels) {
        known = known != nullptr ? known : kernel;
        EXPECT_TRUE(kernel == nullptr || kernel == known);
        ingot_kernel_release(kernel);
    }
}

TEST(Kernel, RequestedWhileItsThreadMakesItIsMadeTwiceAndOneStays)
{
    KernelMakings makings;
    ReferenceDevice device;
    device.hook = KernelMakings::hook;
    device.hook_user = &makings;
    const Context context = device.make();
    const Program program = create_program(ProgramText().make(context));
    Kernel inner;
    makings.meanwhile = [&] { inner = create_kernel(program, "square"); };
    const Kernel outer = create_kernel(program, "square");
    EXPECT_EQ(outer, inner);
    EXPECT_EQ(2, makings.made);
    EXPECT_EQ(1, device.counts.live_kernels);
}

/* A descriptor remembers a kernel. The program of that kernel may be gone by the time another thread looks at what the
 * descriptor remembers. */
TEST(Kernel, IsOfAProgramThatIsThereWhileProgramsComeAndGo)
{
    constexpr int kThreads = 4;
    constexpr int kLives = 100;
    ReferenceDevice device;
    {
        const Context context = device.make();
        const Desc desc = ProgramText().make(context);
        std::vector<std::thread> threads;
        std::atomic<bool> stop{false};
        std::atomic<uint64_t> got{0};
        for (int i = 0; i < kThreads; ++i) {
            threads.emplace_back([&, i] {
                while (!stop) {
                    ingot_kernel_t kernel = nullptr;
                    ASSERT_EQ(INGOT_SUCCESS, ingot_kernel_get(&kernel, desc.get(), 0, i % 2 == 0 ? "twice" : "square"));
                    EXPECT_EQ(i % 2 == 0 ? 14 : 49, run(Kernel(kernel), 7));
                    ++got;
                }
            });
        }
        for (int life = 0; life < kLives; ++life) {
            for (const uint64_t before = got; got < before + kThreads;)
                sched_yield();
            EXPECT_EQ(INGOT_SUCCESS, ingot_context_clear_cache(context.get(), nullptr));
        }
        stop = true;
        for (auto &thread : threads)
            thread.join();
    }
    EXPECT_EQ(0, device.counts.live_kernels);
    EXPECT_EQ(0, device.counts.live_programs);
}

/* Threads keep making descriptors of one source, and hold some of them after the application has released the source
 * and the context. */
TEST(ProgramDesc, KeepsSourceAndContextWhateverThreadsHoldThem)
{
    constexpr int kThreads = 4;
    for (int round = 0; round < 20; ++round) {
        FailingAllocator allocator;
        ReferenceDevice device;
        ingot_context_info_t context_info = INGOT_CONTEXT_INFO_INIT;
        context_info.allocator = allocator.table();
        Context context = device.make(context_info);
        ingot_source_info_t source_info = INGOT_SOURCE_INFO_INIT;
        const std::string text = "kernel twice x 2 *\n";
        source_info.kind = REFERENCE_SOURCE_KIND;
        source_info.bytes = text.data();
        source_info.size = text.size();
        source_info.allocator = allocator.table();
        ingot_source_t source = nullptr;
        ASSERT_EQ(INGOT_SUCCESS, ingot_source_create(&source, &source_info));
        std::vector<std::thread> threads;
        std::atomic<int> done{0};
        std::atomic<bool> is_released{false};
        for (int i = 0; i < kThreads; ++i) {
            threads.emplace_back([&, i] {
                ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
                std::vector<Desc> kept;
                info.sources = &source;
                info.source_count = 1;
                for (int j = 0; j < 100 + i; ++j) {
                    ingot_program_desc_t desc = nullptr;
                    EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_create(&desc, context.get(), &info));
                    kept.emplace_back(desc);
                    if (j % 3 != 0)
                        kept.pop_back();
                }
                const Program program = create_program(kept.back());
                for (++done; !is_released;)
                    kept.resize(kept.size() > 2 ? kept.size() - 1 : 2);
                EXPECT_EQ(8, run(create_kernel(program, "twice"), 4));
            });
        }
        while (done < kThreads)
            sched_yield();
        ingot_source_release(source);
        context.reset();
        EXPECT_EQ(0u, device.counts.states_destroyed);
        is_released = true;
        for (auto &thread : threads)
            thread.join();
        EXPECT_EQ(1u, device.counts.states_destroyed);
        EXPECT_EQ(0u, allocator.live_count());
    }
}

namespace
{

/* A descriptor whose source and context the application has released, with its allocator. */
struct Orphan {
    Orphan()
    {
        ingot_context_info_t context_info = INGOT_CONTEXT_INFO_INIT;
        context_info.allocator = allocator.table();
        const Context context = device.make(context_info);
        const std::string text = "kernel twice x 2 *\n";
        ingot_source_info_t source_info = INGOT_SOURCE_INFO_INIT;
        source_info.kind = REFERENCE_SOURCE_KIND;
        source_info.bytes = text.data();
        source_info.size = text.size();
        source_info.allocator = allocator.table();
        ingot_source_t made = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_source_create(&made, &source_info));
        const Source source(made);
        desc = describe(context.get(), made);
    }
    static Desc describe(ingot_context_t context, ingot_source_t source)
    {
        ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
        ingot_program_desc_t made = nullptr;
        info.sources = &source;
        info.source_count = 1;
        EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_create(&made, context, &info)) << ingot_last_error_detail();
        return Desc(made);
    }
    ingot_context_t context() const { return ingot_program_desc_get_context(desc.get()); }
    ingot_source_t source() const
    {
        ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
        EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_get_info(desc.get(), &info));
        return info.sources[0];
    }

    FailingAllocator allocator;
    ReferenceDevice device;
    Desc desc;
};

/* Drops references to a descriptor's source and context while threads make further descriptors, so many that the
 * source's references are spread over the threads, or take and drop references. */
void release_while_used(const Desc &desc, ingot_context_t context, ingot_source_t source)
{
    std::atomic<int> begun{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] {
            for (int j = 0; j < 200; ++j) {
                ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
                EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_get_info(desc.get(), &info));
                if (i % 2 == 0) {
                    (void)Orphan::describe(context, info.sources[0]);
                } else {
                    ingot_source_retain(info.sources[0]);
                    ingot_context_retain(context);
                    ingot_source_release(info.sources[0]);
                    ingot_context_release(context);
                }
                begun += i % 2 == 0 && j == 50;
            }
        });
    }
    while (begun < 2)
        std::this_thread::yield();
    ingot_source_release(source);
    ingot_context_release(context);
    for (auto &thread : threads)
        thread.join();
}

} // namespace

TEST(ProgramDesc, LetsOthersHoldWhatTheApplicationHasReleased)
{
    for (const bool is_desc_first : {true, false}) {
        Orphan orphan;
        for (int i = 0; i < 2; ++i) { /* taking and dropping references does not drop the descriptor's */
            ingot_source_retain(orphan.source());
            ingot_source_release(orphan.source());
            ingot_context_retain(orphan.context());
            ingot_context_release(orphan.context());
        }
        EXPECT_EQ(0u, orphan.device.counts.states_destroyed);
        EXPECT_EQ(4, run(create_kernel(create_program(orphan.desc), "twice"), 2));
        ingot_source_retain(orphan.source());
        ingot_context_retain(orphan.context());
        Source source(orphan.source());
        Context context(orphan.context());
        if (is_desc_first) {
            orphan.desc.reset();
            EXPECT_EQ(0u, orphan.device.counts.states_destroyed);
            orphan.desc = Orphan::describe(context.get(), source.get());
        }
        source.reset();
        context.reset();
        EXPECT_EQ(0u, orphan.device.counts.states_destroyed);
        EXPECT_EQ(6, run(create_kernel(create_program(orphan.desc), "twice"), 3));
        orphan.desc.reset();
        EXPECT_EQ(1u, orphan.device.counts.states_destroyed);
        EXPECT_EQ(0u, orphan.allocator.live_count());
    }
}

TEST(ProgramDesc, SharesAReleasedSourceWithManyOthers)
{
    Orphan orphan;
    std::vector<Desc> descs;
    for (int i = 0; i < 200; ++i) /* so many that the references of a source that is held are spread over threads */
        descs.push_back(Orphan::describe(orphan.context(), orphan.source()));
    orphan.desc.reset();
    descs.clear();
    EXPECT_EQ(1u, orphan.device.counts.states_destroyed);
    EXPECT_EQ(0u, orphan.allocator.live_count());
}

/* Some threads make descriptors, and others take and drop references, while the application releases its own. */
TEST(ProgramDesc, LetsThreadsHoldWhatTheApplicationReleases)
{
    for (int round = 0; round < 50; ++round) {
        Orphan orphan;
        ingot_source_retain(orphan.source());
        ingot_context_retain(orphan.context());
        release_while_used(orphan.desc, orphan.context(), orphan.source());
        EXPECT_EQ(0u, orphan.device.counts.states_destroyed);
        orphan.desc.reset();
        ASSERT_EQ(1u, orphan.device.counts.states_destroyed);
        ASSERT_EQ(0u, orphan.allocator.live_count());
    }
    for (int round = 0; round < 50; ++round) { /* here, the application's references are the first ones */
        FailingAllocator allocator;
        ReferenceDevice device;
        ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
        info.allocator = allocator.table();
        Context context = device.make(info);
        Source source = make_source("kernel twice x 2 *\n");
        Desc desc = Orphan::describe(context.get(), source.get());
        release_while_used(desc, context.release(), source.release());
        EXPECT_EQ(0u, device.counts.states_destroyed);
        desc.reset();
        ASSERT_EQ(1u, device.counts.states_destroyed);
        ASSERT_EQ(0u, allocator.live_count());
    }
}

TEST(Allocation, EveryFailureIsCleanInTheWholeLifeOfAProgram)
{
    for (size_t n = 0;; ++n) {
        FailingAllocator allocator(n);
        ReferenceDevice device;
        bool whole = true;
        {
            ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
            info.allocator = allocator.table();
            info.flags = INGOT_CONTEXT_IGNORE_ENVIRONMENT;
            reference_info_t reference{};
            reference.device_count = 1;
            reference.targets = device.targets.data();
            reference.counts = &device.counts;
            ingot_context_t context = nullptr;
            ingot_program_desc_t desc = nullptr;
            ingot_program_t program = nullptr;
            ingot_program_t loaded = nullptr;
            ingot_kernel_t kernel = nullptr;
            size_t size = 0;
            std::vector<uint8_t> blob;
            const auto step = [&](ingot_status_t status) {
                EXPECT_TRUE(status == INGOT_SUCCESS || status == INGOT_OUT_OF_MEMORY)
                    << "allocation " << n << ": " << ingot_status_name(status) << " " << ingot_last_error_detail();
                whole = whole && status == INGOT_SUCCESS;
                return whole;
            };
            if (step(reference_context_create(&context, &reference, &info)) &&
                step(ProgramText().try_make(context, &desc)) && step(ingot_program_get(&program, desc, 0)) &&
                step(ingot_kernel_create(&kernel, program, 0, "twice")) &&
                step(ingot_program_get_cache_blob(program, &size, nullptr))) {
                blob.resize(size);
                if (step(ingot_program_get_cache_blob(program, &size, blob.data())))
                    step(ingot_program_load(&loaded, desc, blob.size(), blob.data()));
            }
            ingot_kernel_release(kernel);
            ingot_program_release(loaded);
            ingot_program_release(program);
            ingot_program_desc_release(desc);
            ingot_context_release(context);
        }
        ASSERT_EQ(0u, allocator.live_count()) << "allocation " << n;
        ASSERT_EQ(0u, allocator.live_bytes()) << "allocation " << n;
        ASSERT_EQ(0, device.counts.live_programs) << "allocation " << n;
        ASSERT_EQ(0, device.counts.live_kernels) << "allocation " << n;
        if (!allocator.failed())
            return;
    }
}

TEST(OutOfMemory, OfTheDriverEmptiesTheCacheAndSucceeds)
{
    static int failures;
    failures = 0;
    ReferenceDevice device;
    device.hook = [](void *, const char *operation) {
        return std::string(operation) == "build" && failures-- == 1 ? INGOT_OUT_OF_MEMORY : INGOT_SUCCESS;
    };
    const Context context = device.make();
    const Program first = create_program(ProgramText().make(context));
    failures = 1;
    ProgramText other;
    other.compile_options = "-DA=1";
    const Program second = create_program(other.make(context));
    EXPECT_NE(nullptr, second);
    EXPECT_EQ(1u, stats_of(context).programs);
    EXPECT_EQ(1u, stats_of(context).evictions_memory);
}

namespace
{

/* A hook that fails each try of one operation with INGOT_OUT_OF_MEMORY, and counts the tries. */
struct Shortage {
    std::string operation;
    std::atomic<int> tries{0};

    static ingot_status_t hook(void *user, const char *operation)
    {
        auto *self = static_cast<Shortage *>(user);
        if (self->operation != operation)
            return INGOT_SUCCESS;
        ++self->tries;
        return INGOT_OUT_OF_MEMORY;
    }
    void set_up(ReferenceDevice &device)
    {
        device.hook = hook;
        device.hook_user = this;
    }
};

} // namespace

TEST(OutOfMemory, ThatLastsIsTriedOnceMoreWhateverIsTried)
{
    ReferenceDevice device;
    Shortage shortage;
    shortage.set_up(device);
    const Context context = device.make();
    const Desc desc = ProgramText().make(context);
    ingot_program_t none = nullptr;

    shortage.operation = "build";
    EXPECT_EQ(INGOT_OUT_OF_MEMORY, ingot_program_get(&none, desc.get(), 0));
    EXPECT_STREQ("the hook failed build", ingot_last_error_detail());
    EXPECT_EQ(2, shortage.tries.exchange(0));
    EXPECT_EQ(INGOT_OUT_OF_MEMORY, ingot_program_build(&none, desc.get()));
    EXPECT_EQ(2, shortage.tries.exchange(0));
    EXPECT_EQ(INGOT_OUT_OF_MEMORY, ingot_program_get(&none, desc.get(), 0)) << "a budget for each request";
    EXPECT_EQ(2, shortage.tries.exchange(0));

    shortage.operation = "create_kernel";
    const Program program = create_program(desc);
    ingot_kernel_t kernel = nullptr;
    EXPECT_EQ(INGOT_OUT_OF_MEMORY, ingot_kernel_create(&kernel, program.get(), 0, "twice"));
    EXPECT_EQ(2, shortage.tries.exchange(0));

    const std::vector<uint8_t> blob = blob_of(program);
    ASSERT_EQ(INGOT_SUCCESS, ingot_context_clear_cache(context.get(), nullptr));
    shortage.operation = "load";
    EXPECT_EQ(INGOT_OUT_OF_MEMORY, ingot_program_create_from_cache_blob(&none, desc.get(), blob.size(), blob.data()));
    EXPECT_EQ(2, shortage.tries.exchange(0));
}

/* A builder requests another program, and memory runs out in the inner request. The two requests together try once
 * more, not once each. */
TEST(OutOfMemory, ThatLastsIsTriedOnceMoreInANestedRequestToo)
{
    ReferenceDevice device;
    Shortage shortage;
    shortage.set_up(device);
    shortage.operation = "build";
    const Context context = device.make();
    ProgramText other;
    other.compile_options = "-DA=1";
    const Desc inner = other.make(context);
    const Desc outer = ProgramText().make(context);
    const ingot_program_builder_t build = [](ingot_program_t *program, const_ingot_program_desc_t, void *user) {
        return ingot_program_get(program, static_cast<const_ingot_program_desc_t>(user), 0);
    };
    ingot_program_t none = nullptr;
    EXPECT_EQ(INGOT_OUT_OF_MEMORY, ingot_program_get_or_create(&none, outer.get(), build, inner.get()));
    EXPECT_EQ(2, shortage.tries);
}

TEST(OutOfMemory, ThatLastsIsToldToAllWhoWait)
{
    ReferenceDevice device;
    Shortage shortage;
    shortage.set_up(device);
    shortage.operation = "build";
    const Context context = device.make();
    const Desc desc = ProgramText().make(context);
    const auto wait_for_others = [](ingot_program_t *program, const_ingot_program_desc_t wanted, void *user) {
        while (stats_of(*static_cast<const Context *>(user)).waits < 7)
            std::this_thread::yield();
        return ingot_program_build(program, wanted);
    };
    std::vector<std::thread> threads;
    std::atomic<int> told{0};
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
            ingot_program_t none = nullptr;
            told += ingot_program_get_or_create(&none, desc.get(), wait_for_others, const_cast<Context *>(&context)) ==
                    INGOT_OUT_OF_MEMORY;
            EXPECT_STREQ("the hook failed build", ingot_last_error_detail());
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(8, told);
    EXPECT_EQ(2, shortage.tries);
}

TEST(Program, ThatIsNotKeptIsBuiltOnceForAllWhoAskAtTheSameTime)
{
    ReferenceDevice device;
    const Context context = device.make();
    ProgramText text;
    text.flags = INGOT_PROGRAM_NO_MEMORY_CACHE;
    const Desc desc = text.make(context);
    const ingot_program_builder_t build = [](ingot_program_t *program, const_ingot_program_desc_t wanted, void *user) {
        while (stats_of(*static_cast<const Context *>(user)).waits < 7)
            std::this_thread::yield();
        return ingot_program_build(program, wanted);
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
            ingot_program_t program = nullptr;
            EXPECT_EQ(INGOT_SUCCESS,
                      ingot_program_get_or_create(&program, desc.get(), build, const_cast<Context *>(&context)));
            EXPECT_EQ(10, run(create_kernel(Program(program), "twice"), 5));
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(1u, device.counts.builds);
    EXPECT_EQ(1u, stats_of(context).misses);
    EXPECT_EQ(0u, stats_of(context).programs);
    EXPECT_EQ(0, device.counts.live_programs);
    text.flags = 0;
    (void)create_program(text.make(context)); /* kept in memory, but requests with the flag do not use it */
    EXPECT_NE(nullptr, create_program(desc));
    EXPECT_EQ(3u, device.counts.builds);
}

TEST(Groups, ProgramOfTwoDescriptorsGroupsGoesWithTheLastOfThem)
{
    ReferenceDevice device;
    const Context context = device.make();
    ProgramText text;
    text.group = "3x224x224";
    const Desc first = text.make(context);
    text.group = "3x299x299";
    const Desc second = text.make(context);
    EXPECT_EQ(create_program(first), create_program(second));
    EXPECT_EQ(2u, stats_of(context).groups);
    ASSERT_EQ(INGOT_SUCCESS, ingot_context_clear_cache(context.get(), "3x224x224"));
    EXPECT_EQ(1u, stats_of(context).programs);
    EXPECT_EQ(1u, stats_of(context).groups);
    EXPECT_EQ(1u, device.counts.builds);
    (void)create_program(first); /* found through the descriptor's memo, and added to its group again */
    EXPECT_EQ(2u, stats_of(context).groups);
    ASSERT_EQ(INGOT_SUCCESS, ingot_context_clear_cache(context.get(), "3x299x299"));
    ASSERT_EQ(INGOT_SUCCESS, ingot_context_clear_cache(context.get(), "3x224x224"));
    EXPECT_EQ(0u, stats_of(context).programs);
    EXPECT_EQ(1u, device.counts.builds);
}

TEST(Groups, LeastRecentlyUsedGoesFirstWhereTheFlagSaysSo)
{
    for (const bool wanted : {false, true}) {
        ReferenceDevice device;
        ingot_cache_capacity_t capacity = INGOT_CACHE_CAPACITY_INIT;
        capacity.max_groups = 2;
        capacity.flags = wanted ? INGOT_CACHE_LRU_GROUPS : 0;
        ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
        info.cache_capacity = &capacity;
        const Context context = device.make(info);
        std::vector<Desc> descs;
        for (const char *group : {"a", "b", "c"}) {
            ProgramText text;
            text.compile_options = std::string("-DN=1") + std::to_string(descs.size());
            text.group = group;
            descs.push_back(text.make(context));
        }
        (void)create_program(descs[0]);
        (void)create_program(descs[1]);
        (void)create_program(descs[0]);
        (void)create_program(descs[2]);
        ingot_program_t program = nullptr;
        EXPECT_EQ(wanted ? INGOT_SUCCESS : INGOT_NOT_FOUND,
                  ingot_program_get(&program, descs[0].get(), INGOT_PROGRAM_GET_IN_MEMORY));
        ingot_program_release(program);
        ingot_cache_stats_t now = INGOT_CACHE_STATS_INIT;
        ASSERT_EQ(INGOT_SUCCESS, ingot_context_get_cache_stats(context.get(), &now));
        EXPECT_EQ(capacity.flags, now.flags);
    }
}

/* ---- callbacks that call Ingot ---- */

TEST(Program, KeepsAFailuresDetailWhenTheCallbackCallsIngot)
{
    struct Caller {
        const_ingot_program_desc_t other = nullptr;
        std::string reason;
    } caller;
    ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    info.on_event = [](const ingot_event_t *event, void *user) {
        auto *self = static_cast<Caller *>(user);
        ingot_program_t none = nullptr;
        if (event->kind != INGOT_EVENT_BUILD)
            return;
        EXPECT_EQ(INGOT_NOT_FOUND, ingot_program_get(&none, self->other, INGOT_PROGRAM_GET_IN_MEMORY));
        self->reason = event->reason;
    };
    info.on_event_user = &caller;
    ReferenceDevice device;
    const Context context = device.make(info);
    ProgramText text;
    text.sources = {"kernel f x nonsense\n"};
    const Desc desc = text.make(context);
    const Desc other = ProgramText().make(context);
    caller.other = other.get();
    ingot_program_t program = nullptr;
    EXPECT_EQ(INGOT_BUILD_FAILED, ingot_program_get(&program, desc.get(), 0));
    EXPECT_NE(std::string::npos, caller.reason.find("unknown word nonsense")) << caller.reason;
    EXPECT_NE(std::string::npos, std::string(ingot_last_error_detail()).find("unknown word nonsense"))
        << ingot_last_error_detail();
}

TEST(Program, OfAnotherContextIsNoneThatABuilderMayGive)
{
    ReferenceDevice device;
    const Context context = device.make();
    const Context elsewhere = device.make();
    const Desc desc = ProgramText().make(context);
    const Desc twin = ProgramText().make(elsewhere);
    const auto give_twin = [](ingot_program_t *program, const_ingot_program_desc_t, void *user) {
        return ingot_program_get(program, static_cast<const_ingot_program_desc_t>(user), 0);
    };
    ingot_program_t program = nullptr;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_program_get_or_create(&program, desc.get(), give_twin, twin.get()));
    EXPECT_EQ(nullptr, program);
    ingot_program_release(program);
}

TEST(Program, KeptOutOfMemoryCountsAsAMissEachTime)
{
    ReferenceDevice device;
    const Context context = device.make();
    ProgramText text;
    text.flags = INGOT_PROGRAM_NO_MEMORY_CACHE;
    const Desc desc = text.make(context);
    create_program(desc);
    create_program(desc);
    EXPECT_EQ(2u, stats_of(context).misses);
    EXPECT_EQ(2u, stats_of(context).builds);
}
TEST(Program, SaysWhatItNeedsWhenABufferIsTooSmall)
{
    ReferenceDevice device;
    const Context context = device.make();
    const Program program = create_program(ProgramText().make(context));
    ingot_program_t none = nullptr;
    char text[2] = "?";
    size_t size = 1;
    EXPECT_EQ(INGOT_NOT_FOUND,
              ingot_program_get(&none, ProgramText{{"kernel g x\n"}}.make(context).get(), INGOT_PROGRAM_GET_IN_MEMORY));
    const std::string before = ingot_last_error_detail();
    EXPECT_EQ(INGOT_BUFFER_TOO_SMALL, ingot_program_get_build_log(program.get(), &size, text));
    EXPECT_NE(before, ingot_last_error_detail());
    EXPECT_NE(std::string::npos, std::string(ingot_last_error_detail()).find(std::to_string(size)));
}

TEST(Program, IsCompiledForEqualDevicesThatGiveNoBinary)
{
    struct Hook {
        const char *failing;
    } hook{"get_binary"};
    ReferenceDevice device;
    device.targets = {"alpha", "alpha"};
    device.hook = [](void *user, const char *operation) {
        return std::string(operation) == static_cast<Hook *>(user)->failing ? INGOT_UNIMPLEMENTED : INGOT_SUCCESS;
    };
    device.hook_user = &hook;
    const Context context = device.make();
    const Program program = create_program(ProgramText().make(context));
    ASSERT_NE(nullptr, program);
    EXPECT_EQ(42, run(create_kernel(program, "twice", 1), 21));
}

TEST(Program, IsCompiledForDevicesThatDoNotTellWhatTheyAre)
{
    ReferenceDevice device;
    device.targets = {"alpha", "alpha"};
    device.hook = [](void *, const char *operation) {
        return std::string(operation) == "identify" ? INGOT_BACKEND_ERROR : INGOT_SUCCESS;
    };
    const Context context = device.make();
    const Program program = create_program(ProgramText().make(context));
    ASSERT_NE(nullptr, program);
    EXPECT_EQ(42, run(create_kernel(program, "twice", 1), 21));
}

TEST(ProgramDesc, RefusesNameExpressionsThatItCannotKeep)
{
    ReferenceDevice device;
    const Context without = device.make();
    device.name_expressions = true;
    const Context with = device.make();
    ProgramText program;
    ingot_program_desc_t desc = nullptr;
    program.name_expressions = {"twice"};
    EXPECT_EQ(INGOT_UNIMPLEMENTED, program.try_make(without.get(), &desc));
    EXPECT_STREQ("the backend reference does not support name expressions", ingot_last_error_detail());
    for (const std::vector<const char *> &bad :
         {std::vector<const char *>{"twice", "twice"}, {"twice", nullptr}, {""}}) {
        program.name_expressions = bad;
        EXPECT_EQ(INGOT_INVALID_ARGUMENTS, program.try_make(with.get(), &desc)) << ingot_last_error_detail();
    }
    EXPECT_EQ(nullptr, desc);
}

TEST(ProgramDesc, OfOtherNameExpressionsIsAnotherProgram)
{
    ReferenceDevice device;
    device.name_expressions = true;
    const Context context = device.make();
    ProgramText program;
    const Program none = create_program(program.make(context));
    program.name_expressions = {"a", "b"};
    const Program both = create_program(program.make(context));
    program.name_expressions = {"b", "a"};
    const Program same = create_program(program.make(context));
    EXPECT_NE(none.get(), both.get());
    EXPECT_EQ(both.get(), same.get());
}

TEST(ProgramDesc, OfACallerWhoseInfoEndsBeforeNameExpressionsHasNone)
{
    ReferenceDevice device;
    const Context context = device.make();
    const Source source = make_source("kernel twice x 2 *\n");
    const char *expression = "twice";
    ingot_source_t handle = source.get();
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    info.sources = &handle;
    info.source_count = 1;
    info.name_expressions = &expression;
    info.name_expression_count = 1;
    info.struct_size = offsetof(ingot_program_info_t, name_expressions);
    ingot_program_desc_t desc = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_create(&desc, context.get(), &info)) << ingot_last_error_detail();
    ingot_program_desc_release(desc);
}
