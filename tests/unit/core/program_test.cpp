/*
 * program_test.cpp - tests programs and kernels through the public interface, with the reference backend.
 */
#include <algorithm>
#include <fstream>

#include <ingot/private/descriptor.h>
#include <ingot/private/program.h>

#include "support/failing_allocator.h"
#include "support/reference_context.h"
#include "support/scratch_directory.h"
#include "support/threads.h"

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

ProgramText with_options(const std::string &options)
{
    ProgramText text;
    text.compile_options = options;
    return text;
}

ProgramText in_group(const char *group)
{
    ProgramText text;
    text.group = group;
    return text;
}

ProgramText not_kept()
{
    ProgramText text;
    text.flags = INGOT_PROGRAM_NO_MEMORY_CACHE;
    return text;
}

void clear(const Context &context, const char *group = nullptr)
{
    EXPECT_EQ(INGOT_SUCCESS, ingot_context_clear_cache(context.get(), group));
}

/* A test with a context of one device, unless it makes others. */
class ProgramTest : public testing::Test
{
protected:
    ReferenceDevice device;
    Context context = device.make();
};
using ProgramDescTest = ProgramTest;
using KernelTest = ProgramTest;
using GroupTest = ProgramTest;

/* A test of programs that include a file. */
class IncludingProgram : public ProgramTest
{
protected:
    void write(const std::string &content) const { std::ofstream(scratch_.path() / "some.h") << content; }
    ProgramText text(const std::string &more_options = "") const
    {
        ProgramText text = with_options("-I" + scratch_.path().string() + more_options);
        text.sources = {"#include \"some.h\"\nkernel f x\n"};
        return text;
    }

private:
    const ScratchDirectory scratch_;
};

} // namespace

TEST_F(ProgramTest, BuildsOnceAndComputes)
{
    const Desc desc = ProgramText().make(context);
    EXPECT_EQ(INGOT_NOT_FOUND, look_up(desc));
    EXPECT_EQ(0u, device.counts.builds) << "a look-up never builds";
    const Program first = create_program(desc);
    EXPECT_EQ(first, create_program(desc));
    EXPECT_EQ(first, create_program(ProgramText().make(context))) << "an equal descriptor";
    EXPECT_EQ(1u, device.counts.builds);
    ingot_program_t found = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_program_get(&found, desc.get(), INGOT_PROGRAM_GET_IN_MEMORY));
    EXPECT_EQ(first, Program(found));
    EXPECT_EQ(42, run(create_kernel(first, "twice"), 21));
    EXPECT_EQ(49, run(create_kernel(first, "square"), 7));
    EXPECT_EQ((std::vector<std::string>{"square", "twice"}), kernel_names_of(first)) << "sorted";
    EXPECT_EQ(2u, facts_of(first).kernel_count);
    EXPECT_EQ(std::string("square\0twice\0", 13),
              std::string(facts_of(first).kernel_names, facts_of(first).kernel_names_size));
    EXPECT_EQ("compiled for alpha\n", log_of(first));
    const auto stats = stats_of(context);
    EXPECT_EQ(3u, stats.hits);
    EXPECT_EQ(1u, stats.misses);
    EXPECT_EQ(1u, stats.builds);
    EXPECT_EQ(1u, stats.programs);
}

TEST_F(ProgramTest, IsForgottenAloneAndOnceAndLivesOnWhereItIsHeld)
{
    const Desc desc = ProgramText().make(context);
    const Desc other = with_options("-DN=1").make(context);
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

TEST_F(ProgramTest, KnowsWhetherItIsFromABlob)
{
    device.targets = {"alpha", "alpha"};
    context = device.make();
    const Desc desc = ProgramText().make(context);
    Program program = create_program(desc);
    EXPECT_FALSE(is_from_cache_blob(program.get())) << "the second device loads what the first compiled";
    const std::vector<uint8_t> blob = blob_of(program);
    Program same;
    EXPECT_EQ(INGOT_SUCCESS, load_program(desc, Bytes(16, 0), &same)) << "what is in memory needs no blob";
    EXPECT_EQ(program, same);
    same.reset();
    ASSERT_EQ(INGOT_SUCCESS, ingot_program_forget(program.get()));
    ASSERT_EQ(INGOT_SUCCESS, load_program(desc, blob, &program));
    EXPECT_TRUE(is_from_cache_blob(program.get()));
}

TEST_F(ProgramTest, TellsOfEvents)
{
    Recorder recorder;
    context = device.make(recorder.info());
    const Desc desc = ProgramText().make(context);
    const Program program = create_program(desc);
    (void)create_program(desc);
    (void)blob_of(program);
    clear(context);
    const std::vector<std::pair<ingot_event_kind_t, ingot_status_t>> expected{{INGOT_EVENT_MISS, INGOT_NOT_FOUND},
                                                                              {INGOT_EVENT_BUILD, INGOT_SUCCESS},
                                                                              {INGOT_EVENT_HIT, INGOT_SUCCESS},
                                                                              {INGOT_EVENT_TAKE_BLOB, INGOT_SUCCESS},
                                                                              {INGOT_EVENT_EVICT, INGOT_SUCCESS}};
    EXPECT_EQ(expected, recorder.events);
    EXPECT_EQ("clear", recorder.reasons.back());
}

TEST_F(IncludingProgram, HasNoBlobWhenTheFileChangedBeforeItWasCompiled)
{
    write("kernel first x\n");
    const Desc early = text().make(context);
    write("kernel second x\n");
    const Program unvouched = create_program(early);
    EXPECT_EQ(INGOT_NOT_CACHEABLE, has_blob(unvouched));
    EXPECT_TRUE(last_error_has("changed since"));
    EXPECT_NE(nullptr, create_kernel(unvouched, "second"));
    write("kernel first x\n");
    /* A request with an equal descriptor does not get the program that is not cacheable. */
    EXPECT_NE(nullptr, create_kernel(create_program(text().make(context)), "first"));
    write("kernel second x\n");
    const Desc late = text().make(context);
    EXPECT_FALSE(blob_of(create_program(late)).empty());
    EXPECT_NE(id_of(early), id_of(late));
}

/* The compiler gets the text that was read for the id, so the id still describes the program. */
TEST_F(IncludingProgram, HasTheBlobOfItsIdWhenTheFileChangesWhileItIsCompiled)
{
    write("kernel first x\n");
    device.before = [&](const std::string &operation) {
        if (operation == "build")
            write("kernel second x\n");
        return INGOT_SUCCESS;
    };
    const Program program = create_program(text().make(context));
    EXPECT_FALSE(blob_of(program).empty());
    EXPECT_NE(nullptr, create_kernel(program, "first"));
}

/* An unknown option may make the compiler read files, so a program with such an option is not cacheable. */
TEST_F(IncludingProgram, ThatIsBuiltNativelyTellsWhyAndIsNotCacheable)
{
    write("kernel first x\n");
    Recorder recorder;
    context = device.make(recorder.info());
    const Program program = create_program(text(" --unknown-option").make(context));
    EXPECT_NE(nullptr, create_kernel(program, "first"));
    EXPECT_EQ(1u, device.counts.builds);
    EXPECT_EQ(INGOT_NOT_CACHEABLE, has_blob(program));
    const auto event = std::make_pair(INGOT_EVENT_NATIVE_BUILD, INGOT_NOT_CACHEABLE);
    const auto at = std::find(recorder.events.begin(), recorder.events.end(), event);
    ASSERT_NE(recorder.events.end(), at);
    const std::string reason = recorder.reasons[static_cast<size_t>(at - recorder.events.begin())];
    EXPECT_NE(std::string::npos, reason.find("--unknown-option")) << reason;
    EXPECT_EQ(INGOT_NOT_CACHEABLE, has_blob(program));
    EXPECT_EQ(reason, ingot_last_error_detail());
}

/* A driver that fails for a moment is no reason to compile a program natively from then on. */
TEST_F(IncludingProgram, IsCacheableAgainAfterTheDriverFailed)
{
    int failures = 2; /* of the build with resolved includes, and of the native one */
    write("kernel first x\n");
    device.before = [&](const std::string &operation) {
        return operation == "build" && failures-- > 0 ? INGOT_BACKEND_ERROR : INGOT_SUCCESS;
    };
    const Desc desc = text().make(context);
    EXPECT_EQ(INGOT_BACKEND_ERROR, request(desc));
    EXPECT_FALSE(blob_of(create_program(desc)).empty());
}

TEST_F(ProgramDescTest, RefusesWhatIsMalformed)
{
    ingot_program_desc_t desc = nullptr;
    ProgramText none, absent, twice, constant, header;
    none.sources = {};
    absent.devices = {1};
    twice.devices = {0, 0};
    header.headers = {{"a.h", ""}, {"a.h", ""}};
    constant.constants = {{1, 2}, {1, 3}};
    for (const ProgramText &text : {none, absent, twice, header, constant})
        EXPECT_EQ(INGOT_INVALID_ARGUMENTS, text.try_make(context.get(), &desc));
    EXPECT_TRUE(last_error_has("constant 1 is given twice"));
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
    for (const ingot_status_t status : {ingot_program_get(&program, nullptr, 0), ingot_program_get(nullptr, nullptr, 0),
                                        ingot_program_get(&program, nullptr, INGOT_PROGRAM_GET_IN_MEMORY),
                                        ingot_program_get_cache_blob(nullptr, &size, nullptr),
                                        ingot_program_create_from_cache_blob(&program, nullptr, 0, nullptr),
                                        ingot_kernel_get(&kernel, nullptr, 0, "a"),
                                        ingot_kernel_create(&kernel, nullptr, 0, "a"), ingot_kernel_lock(nullptr)})
        EXPECT_EQ(INGOT_INVALID_ARGUMENTS, status);
    ingot_program_retain(nullptr);
    ingot_context_retain(nullptr);
    ingot_program_release(nullptr);
    ingot_kernel_release(nullptr);
    ingot_source_release(nullptr);
    ingot_context_release(nullptr);
    ingot_program_desc_release(nullptr);
}

TEST_F(KernelTest, IsSharedAndComparesItsName)
{
    const Desc desc = ProgramText().make(context);
    const Kernel first = create_kernel(create_program(desc), "twice");
    EXPECT_EQ(first, get_kernel(desc, "twice"));
    EXPECT_EQ(1, device.counts.live_kernels);
    ingot_kernel_t got = nullptr;
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_kernel_get(&got, desc.get(), 0, "twic"));
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_kernel_get(&got, desc.get(), 0, "twicee"));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_kernel_get(&got, desc.get(), 1, "twice"));
}

/* The longest name that a descriptor remembers, and a longer one. */
TEST_F(KernelTest, IsSharedIfItsNameIsLong)
{
    for (const size_t length : {24, 25}) {
        const std::string name(length, 'n');
        ProgramText text;
        text.sources = {"kernel " + name + " x 2 *\n"};
        const Desc desc = text.make(context);
        const Kernel first = get_kernel(desc, name.c_str());
        EXPECT_EQ(first, get_kernel(desc, name.c_str()));
        ingot_kernel_t got = nullptr;
        EXPECT_EQ(INGOT_NOT_FOUND, ingot_kernel_get(&got, desc.get(), 0, name.substr(1).c_str()));
        EXPECT_EQ(INGOT_NOT_FOUND, ingot_kernel_get(&got, desc.get(), 0, (name + 'n').c_str()));
    }
}

TEST_F(KernelTest, IsTheOneAskedForWhateverTheDescriptorRemembers)
{
    device.targets = {"alpha", "beta"};
    context = device.make();
    ProgramText text{{""}};
    for (int i = 0; i < 100; ++i)
        text.sources[0] += "kernel k" + std::to_string(i) + " x " + std::to_string(i) + " +\n";
    const Desc desc = text.make(context);
    for (int round = 0; round < 2; ++round) {
        for (int i = 99; i >= 0; --i) {
            for (uint32_t target = 0; target < 2; ++target) {
                const std::string name = "k" + std::to_string(i);
                const Kernel held = get_kernel(desc, name.c_str(), target);
                EXPECT_EQ(1000 + i, run(held, 1000));
                EXPECT_EQ(held, create_kernel(create_program(desc), name.c_str(), target));
            }
        }
        EXPECT_EQ(200, device.counts.live_kernels);
        clear(context);
        EXPECT_EQ(0, device.counts.live_kernels) << "what the descriptor remembers holds nothing";
    }
}

TEST_F(KernelTest, LeavesBothMapsWithItsProgram)
{
    ingot_cache_capacity_t capacity = INGOT_CACHE_CAPACITY_INIT;
    capacity.max_programs = 1;
    context = device.make_limited(capacity);
    const Desc desc = ProgramText().make(context);
    Kernel held = get_kernel(desc, "twice");
    (void)get_kernel(desc, "square");
    (void)create_program(with_options("-DOTHER=1").make(context)); /* evicts the first program */
    EXPECT_EQ(2, device.counts.live_kernels) << "a held kernel keeps its program, and that its kernels";
    EXPECT_NE(held, get_kernel(desc, "twice")) << "built anew, not found by the descriptor";
    EXPECT_EQ(3u, device.counts.builds);
    EXPECT_EQ(10, run(held, 5));
    held.reset();
    EXPECT_EQ(1, device.counts.live_kernels);
    clear(context);
    EXPECT_EQ(0, device.counts.live_kernels);
    EXPECT_EQ(0, device.counts.live_programs);
}

namespace
{

/* Counts the native kernels that are made, makes each of them slow, so that threads make them at once, and fails the
 * first `failures` of them. */
class KernelMaking : public ProgramTest
{
protected:
    KernelMaking()
    {
        device.before = [this](const std::string &operation) {
            if (operation != "create_kernel")
                return INGOT_SUCCESS;
            const int number = made++;
            for (int i = 0; i < 1000; ++i)
                std::this_thread::yield();
            if (meanwhile)
                std::exchange(meanwhile, nullptr)();
            return number < failures ? INGOT_BACKEND_ERROR : INGOT_SUCCESS;
        };
    }

    int failures = 0;
    std::atomic<int> made{0};
    std::function<void()> meanwhile;
    const Program program = create_program(ProgramText().make(context));
};

} // namespace

TEST_F(KernelMaking, ByManyThreadsGivesAllTheSame)
{
    constexpr size_t kThreads = 16;
    failures = 2;
    ingot_kernel_t kernels[kThreads] = {};
    std::atomic<size_t> ready{0};
    std::atomic<int> failed{0};
    in_threads(kThreads, [&](size_t i) {
        ++ready;
        wait_until([&] { return ready == kThreads; });
        failed += ingot_kernel_create(&kernels[i], program.get(), 0, "square") == INGOT_BACKEND_ERROR;
    });
    EXPECT_EQ(2, failed) << "a failure is for the thread that had it";
    EXPECT_LE(3, made);
    EXPECT_EQ(1, device.counts.live_kernels);
    ingot_kernel_t known = nullptr;
    for (ingot_kernel_t kernel : kernels) {
        known = known != nullptr ? known : kernel;
        EXPECT_TRUE(kernel == nullptr || kernel == known);
        ingot_kernel_release(kernel);
    }
}

TEST_F(KernelMaking, WithinItselfMakesTwoAndOneStays)
{
    Kernel inner;
    meanwhile = [&] { inner = create_kernel(program, "square"); };
    const Kernel outer = create_kernel(program, "square");
    EXPECT_EQ(outer, inner);
    EXPECT_EQ(2, made);
    EXPECT_EQ(1, device.counts.live_kernels);
}

/* A descriptor remembers a kernel. The program of that kernel may be gone by the time another thread looks at what the
 * descriptor remembers. */
TEST_F(KernelTest, IsOfAProgramThatIsThereWhileProgramsComeAndGo)
{
    constexpr size_t kThreads = 4;
    const Desc desc = ProgramText().make(context);
    std::atomic<bool> stop{false};
    std::atomic<uint64_t> got{0};
    Threads threads;
    for (size_t i = 0; i < kThreads; ++i) {
        threads.start([&, i] {
            for (; !stop; ++got)
                EXPECT_EQ(i % 2 == 0 ? 14 : 49, run(get_kernel(desc, i % 2 == 0 ? "twice" : "square"), 7));
        });
    }
    for (int life = 0; life < 100; ++life) {
        wait_until([&, before = got.load()] { return got >= before + kThreads; });
        clear(context);
    }
    stop = true;
    threads.join();
    clear(context);
    EXPECT_EQ(0, device.counts.live_kernels);
    EXPECT_EQ(0, device.counts.live_programs);
}

namespace
{

Source make_source_with(const ingot_allocator_t *allocator)
{
    const std::string text = "kernel twice x 2 *\n";
    ingot_source_info_t info = INGOT_SOURCE_INFO_INIT;
    info.kind = REFERENCE_SOURCE_KIND;
    info.bytes = text.data();
    info.size = text.size();
    info.allocator = allocator;
    ingot_source_t source = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_source_create(&source, &info));
    return Source(source);
}

ingot_source_t source_of(const Desc &desc)
{
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_get_info(desc.get(), &info));
    return info.sources[0];
}

/* A descriptor whose source and context the application has released, with its allocator. */
struct Orphan {
    Orphan()
    {
        desc = describe_source(device.make_with(allocator.table()).get(), make_source_with(allocator.table()).get());
    }
    ingot_context_t context() const { return ingot_program_desc_get_context(desc.get()); }
    ingot_source_t source() const { return source_of(desc); }
    /* Expects that nothing is left, now that the last reference has been dropped. */
    void expect_gone() const
    {
        EXPECT_EQ(1u, device.counts.states_destroyed);
        EXPECT_EQ(0u, allocator.live_count());
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
    Threads threads;
    for (int i = 0; i < 4; ++i) {
        threads.start([&, i] {
            for (int j = 0; j < 200; ++j) {
                const ingot_source_t used = source_of(desc);
                if (i % 2 == 0) {
                    (void)describe_source(context, used);
                } else {
                    ingot_source_retain(used);
                    ingot_context_retain(context);
                    ingot_source_release(used);
                    ingot_context_release(context);
                }
                begun += i % 2 == 0 && j == 50;
            }
        });
    }
    wait_until([&] { return begun == 2; });
    ingot_source_release(source);
    ingot_context_release(context);
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
            orphan.desc = describe_source(context.get(), source.get());
        }
        source.reset();
        context.reset();
        EXPECT_EQ(0u, orphan.device.counts.states_destroyed);
        EXPECT_EQ(6, run(create_kernel(create_program(orphan.desc), "twice"), 3));
        orphan.desc.reset();
        orphan.expect_gone();
    }
}

/* Some threads make descriptors, and others take and drop references, while the application releases its own. */
TEST(ProgramDesc, LetsThreadsHoldWhatTheApplicationReleases)
{
    for (int round = 0; round < 50 && !HasFailure(); ++round) {
        Orphan orphan;
        ingot_source_retain(orphan.source());
        ingot_context_retain(orphan.context());
        release_while_used(orphan.desc, orphan.context(), orphan.source());
        EXPECT_EQ(0u, orphan.device.counts.states_destroyed);
        orphan.desc.reset();
        orphan.expect_gone();
    }
    for (int round = 0; round < 50 && !HasFailure(); ++round) { /* the application's references are the first ones */
        FailingAllocator allocator;
        ReferenceDevice device;
        Context context = device.make_with(allocator.table());
        Source source = make_source("kernel twice x 2 *\n");
        Desc desc = describe_source(context.get(), source.get());
        release_while_used(desc, context.release(), source.release());
        EXPECT_EQ(0u, device.counts.states_destroyed);
        desc.reset();
        EXPECT_EQ(1u, device.counts.states_destroyed);
        EXPECT_EQ(0u, allocator.live_count());
    }
}

TEST(Allocation, EveryFailureIsCleanInTheWholeLifeOfAProgram)
{
    expect_clean_failures([](const ingot_allocator_t *allocator) {
        ReferenceDevice device;
        ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
        info.allocator = allocator;
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
        ingot_status_t status = INGOT_SUCCESS;
        const auto step = [&](ingot_status_t result) { return (status = result) == INGOT_SUCCESS; };
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
        EXPECT_EQ(0, device.counts.live_programs);
        EXPECT_EQ(0, device.counts.live_kernels);
        return status;
    });
}

namespace
{

/* Tries of an operation that always fails with INGOT_OUT_OF_MEMORY, or only once. */
class OutOfMemory : public ProgramTest
{
protected:
    OutOfMemory()
    {
        device.before = [this](const std::string &operation) {
            if (operation != failing)
                return INGOT_SUCCESS;
            return ++tries == 1 || lasts ? INGOT_OUT_OF_MEMORY : INGOT_SUCCESS;
        };
    }
    /* Eight threads request a program. The one that makes it does so once the others wait. */
    void request_together(const Desc &desc, const std::function<void(ingot_status_t, Program)> &tell)
    {
        const auto build = [](ingot_program_t *program, const_ingot_program_desc_t wanted, void *user) {
            wait_until([&] { return stats_of(*static_cast<const Context *>(user)).waits >= 7; });
            return ingot_program_build(program, wanted);
        };
        in_threads(8, [&](size_t) {
            ingot_program_t program = nullptr;
            const ingot_status_t status = ingot_program_get_or_create(&program, desc.get(), build, &context);
            tell(status, Program(program));
        });
    }

    std::string failing;
    bool lasts = true;
    std::atomic<int> tries{0};
};

} // namespace

TEST_F(OutOfMemory, OfTheDriverEmptiesTheCacheAndSucceeds)
{
    lasts = false;
    const Program first = create_program(ProgramText().make(context));
    failing = "build";
    EXPECT_NE(nullptr, create_program(with_options("-DA=1").make(context)));
    EXPECT_EQ(2, tries);
    EXPECT_EQ(1u, stats_of(context).programs);
    EXPECT_EQ(1u, stats_of(context).evictions_memory);
}

TEST_F(OutOfMemory, ThatLastsIsTriedOnceMoreWhateverIsTried)
{
    const Desc desc = ProgramText().make(context);
    ingot_program_t none = nullptr;
    failing = "build";
    EXPECT_EQ(INGOT_OUT_OF_MEMORY, request(desc));
    EXPECT_STREQ("the hook failed build", ingot_last_error_detail());
    EXPECT_EQ(2, tries.exchange(0));
    EXPECT_EQ(INGOT_OUT_OF_MEMORY, ingot_program_build(&none, desc.get()));
    EXPECT_EQ(2, tries.exchange(0));
    EXPECT_EQ(INGOT_OUT_OF_MEMORY, request(desc)) << "a budget for each request";
    EXPECT_EQ(2, tries.exchange(0));

    failing = "create_kernel";
    const Program program = create_program(desc);
    ingot_kernel_t kernel = nullptr;
    EXPECT_EQ(INGOT_OUT_OF_MEMORY, ingot_kernel_create(&kernel, program.get(), 0, "twice"));
    EXPECT_EQ(2, tries.exchange(0));

    const std::vector<uint8_t> blob = blob_of(program);
    clear(context);
    failing = "load";
    EXPECT_EQ(INGOT_OUT_OF_MEMORY, load_program(desc, blob));
    EXPECT_EQ(2, tries);
}

/* A builder requests another program, and memory runs out in the inner request. The two requests together try once
 * more, not once each. */
TEST_F(OutOfMemory, ThatLastsIsTriedOnceMoreInANestedRequestToo)
{
    failing = "build";
    const Desc inner = with_options("-DA=1").make(context);
    const Desc outer = ProgramText().make(context);
    const ingot_program_builder_t build = [](ingot_program_t *program, const_ingot_program_desc_t, void *user) {
        return ingot_program_get(program, static_cast<const_ingot_program_desc_t>(user), 0);
    };
    ingot_program_t none = nullptr;
    EXPECT_EQ(INGOT_OUT_OF_MEMORY, ingot_program_get_or_create(&none, outer.get(), build, inner.get()));
    EXPECT_EQ(2, tries);
}

TEST_F(OutOfMemory, ThatLastsIsToldToAllWhoWait)
{
    failing = "build";
    std::atomic<int> told{0};
    request_together(ProgramText().make(context), [&](ingot_status_t status, const Program &) {
        told += status == INGOT_OUT_OF_MEMORY;
        EXPECT_STREQ("the hook failed build", ingot_last_error_detail());
    });
    EXPECT_EQ(8, told);
    EXPECT_EQ(2, tries);
}

TEST_F(OutOfMemory, IsNoneWhereAProgramThatIsNotKeptIsBuiltOnceForAllWhoAskAtTheSameTime)
{
    const Desc desc = not_kept().make(context);
    request_together(desc, [](ingot_status_t status, const Program &program) {
        EXPECT_EQ(INGOT_SUCCESS, status);
        EXPECT_EQ(10, run(create_kernel(program, "twice"), 5));
    });
    EXPECT_EQ(1u, device.counts.builds);
    EXPECT_EQ(1u, stats_of(context).misses);
    EXPECT_EQ(0u, stats_of(context).programs);
    EXPECT_EQ(0, device.counts.live_programs);
    (void)create_program(ProgramText().make(context)); /* kept, but requests with the flag do not use it */
    EXPECT_NE(nullptr, create_program(desc));
    EXPECT_EQ(3u, device.counts.builds);
}

TEST_F(GroupTest, ProgramOfTwoDescriptorsGroupsGoesWithTheLastOfThem)
{
    const Desc first = in_group("3x224x224").make(context);
    EXPECT_EQ(create_program(first), create_program(in_group("3x299x299").make(context)));
    EXPECT_EQ(2u, stats_of(context).groups);
    clear(context, "3x224x224");
    EXPECT_EQ(1u, stats_of(context).programs);
    EXPECT_EQ(1u, stats_of(context).groups);
    EXPECT_EQ(1u, device.counts.builds);
    (void)create_program(first); /* found through the descriptor's memo, and added to its group again */
    EXPECT_EQ(2u, stats_of(context).groups);
    clear(context, "3x299x299");
    clear(context, "3x224x224");
    EXPECT_EQ(0u, stats_of(context).programs);
    EXPECT_EQ(1u, device.counts.builds);
}

TEST_F(GroupTest, LeastRecentlyUsedGoesFirstWhereTheFlagSaysSo)
{
    for (const bool wanted : {false, true}) {
        ingot_cache_capacity_t capacity = INGOT_CACHE_CAPACITY_INIT;
        capacity.max_groups = 2;
        capacity.flags = wanted ? INGOT_CACHE_LRU_GROUPS : 0;
        context = device.make_limited(capacity);
        std::vector<Desc> descs;
        for (const char *group : {"a", "b", "c"}) {
            ProgramText text = with_options("-DN=1" + std::to_string(descs.size()));
            text.group = group;
            descs.push_back(text.make(context));
        }
        for (const size_t requested : {0, 1, 0, 2})
            (void)create_program(descs[requested]);
        EXPECT_EQ(wanted ? INGOT_SUCCESS : INGOT_NOT_FOUND, look_up(descs[0]));
        EXPECT_EQ(capacity.flags, stats_of(context).flags);
    }
}

/* ---- callbacks that call Ingot ---- */

TEST_F(ProgramTest, KeepsAFailuresDetailWhenTheCallbackCallsIngot)
{
    struct Caller {
        Desc other;
        std::string reason;
    } caller;
    ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    info.on_event = [](const ingot_event_t *event, void *user) {
        auto *self = static_cast<Caller *>(user);
        if (event->kind != INGOT_EVENT_BUILD)
            return;
        EXPECT_EQ(INGOT_NOT_FOUND, look_up(self->other));
        self->reason = event->reason;
    };
    info.on_event_user = &caller;
    context = device.make(info);
    const Desc desc = ProgramText{{"kernel f x nonsense\n"}}.make(context);
    caller.other = ProgramText().make(context);
    EXPECT_EQ(INGOT_BUILD_FAILED, request(desc));
    EXPECT_NE(std::string::npos, caller.reason.find("unknown word nonsense")) << caller.reason;
    EXPECT_TRUE(last_error_has("unknown word nonsense")) << ingot_last_error_detail();
}

TEST_F(ProgramTest, OfAnotherContextIsNoneThatABuilderMayGive)
{
    const Context elsewhere = device.make();
    const Desc desc = ProgramText().make(context);
    const Desc twin = ProgramText().make(elsewhere);
    const auto give_twin = [](ingot_program_t *program, const_ingot_program_desc_t, void *user) {
        return ingot_program_get(program, static_cast<const_ingot_program_desc_t>(user), 0);
    };
    ingot_program_t program = nullptr;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_program_get_or_create(&program, desc.get(), give_twin, twin.get()));
    EXPECT_EQ(nullptr, program);
}

TEST_F(ProgramTest, IsCompiledForEqualDevicesThatGiveNoBinaryOrDoNotTellWhatTheyAre)
{
    device.targets = {"alpha", "alpha"};
    const std::pair<const char *, ingot_status_t> failures[] = {{"get_binary", INGOT_UNIMPLEMENTED},
                                                                {"identify", INGOT_BACKEND_ERROR}};
    for (const auto &[operation, status] : failures) {
        device.fail(operation, status);
        context = device.make();
        const Program program = create_program(ProgramText().make(context));
        ASSERT_NE(nullptr, program) << operation;
        EXPECT_EQ(42, run(create_kernel(program, "twice", 1), 21)) << operation;
    }
}

TEST_F(ProgramDescTest, RefusesNameExpressionsThatItCannotKeep)
{
    device.name_expressions = true;
    const Context with = device.make();
    ProgramText program;
    ingot_program_desc_t desc = nullptr;
    program.name_expressions = {"twice"};
    EXPECT_EQ(INGOT_UNIMPLEMENTED, program.try_make(context.get(), &desc));
    EXPECT_STREQ("the backend reference does not support name expressions", ingot_last_error_detail());
    for (const std::vector<const char *> &bad :
         {std::vector<const char *>{"twice", "twice"}, {"twice", nullptr}, {""}}) {
        program.name_expressions = bad;
        EXPECT_EQ(INGOT_INVALID_ARGUMENTS, program.try_make(with.get(), &desc)) << ingot_last_error_detail();
    }
    EXPECT_EQ(nullptr, desc);
}

TEST_F(ProgramDescTest, OfOtherNameExpressionsIsAnotherProgram)
{
    device.name_expressions = true;
    context = device.make();
    ProgramText program;
    const Program none = create_program(program.make(context));
    program.name_expressions = {"a", "b"};
    const Program both = create_program(program.make(context));
    program.name_expressions = {"b", "a"};
    EXPECT_NE(none, both);
    EXPECT_EQ(both, create_program(program.make(context)));
}

TEST_F(ProgramDescTest, OfACallerWhoseInfoEndsBeforeNameExpressionsHasNone)
{
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
