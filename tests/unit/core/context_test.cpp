/*
 * context_test.cpp - tests making contexts, the environment variables that they read, and their limits.
 */
#include <algorithm>

#include <ingot/private/program.h>

#include "support/empty_backend.h"
#include "support/environment.h"
#include "support/failing_allocator.h"
#include "support/reference_context.h"
#include "support/setuid_child.h"

extern "C" {
#include "util/environment.h"
}

namespace
{

/* Removes Ingot's variables from the environment, because some shells and build scripts set some of them. */
void clear_variables()
{
    std::vector<std::string> names;
    for (char **variable = environ; *variable != nullptr; ++variable)
        if (std::strncmp(*variable, "INGOT_", 6) == 0)
            names.emplace_back(*variable, std::strcspn(*variable, "="));
    for (const std::string &name : names)
        unsetenv(name.c_str());
}

ingot_status_t try_context(const ingot_context_info_t &info = INGOT_CONTEXT_INFO_INIT)
{
    ReferenceDevice device;
    reference_info_t reference{};
    reference.device_count = 1;
    reference.targets = device.targets.data();
    ingot_context_t context = nullptr;
    const ingot_status_t status = reference_context_create(&context, &reference, &info);
    ingot_context_release(context);
    return status;
}

/* Returns the limits of a context that reads the environment. */
ingot_cache_stats_t limits_of_environment(const ingot_context_info_t &info = INGOT_CONTEXT_INFO_INIT)
{
    ReferenceDevice device;
    return stats_of(device.make(info, true));
}

/* Makes a context whose compiler reads options from an environment variable. */
Context context_with_option_variable()
{
    ingot_backend_ops_t ops = empty_backend("variable");
    ops.get_text_rules = [](void *, ingot_text_rules_t *rules) {
        static const char *const variables[] = {"CONTEXT_TEST_OPTIONS", nullptr};
        rules->option_variables = variables;
    };
    static char state;
    ingot_context_t context = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_context_create(&context, &ops, &state, 1, nullptr)) << ingot_last_error_detail();
    return Context(context);
}

std::vector<uint8_t> id_in_directory(const std::filesystem::path &directory)
{
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(directory);
    const Context context = context_with_option_variable();
    const Source source = make_source("int x;", "x.c", INGOT_SOURCE_OWN_TEXT);
    const std::vector<uint8_t> id = id_of(describe_source(context.get(), source.get()));
    std::filesystem::current_path(before);
    return id;
}

} // namespace

/* With the option -g, the compiled code contains the path of the current directory, so the id must depend on that
 * directory. This holds even if the option comes from an environment variable that the compiler reads. */
TEST(Context, ReadsOptionsInACompilersVariable)
{
    const ScratchDirectory one, two;
    EXPECT_EQ(id_in_directory(one.path()), id_in_directory(two.path()));
    const Variable options("CONTEXT_TEST_OPTIONS", "-g");
    EXPECT_NE(id_in_directory(one.path()), id_in_directory(two.path()));
}

TEST(Context, RefusesAnIncompleteBackend)
{
    ingot_context_t context = nullptr;
    ingot_backend_ops_t ops{};
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_context_create(&context, nullptr, nullptr, 1, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_context_create(&context, &ops, nullptr, 1, nullptr)) << "no struct_size";
    ops.struct_size = sizeof(ops);
    ops.name = "Not A Word";
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_context_create(&context, &ops, nullptr, 1, nullptr));
    ops.name = "word";
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_context_create(&context, &ops, nullptr, 1, nullptr));
    EXPECT_TRUE(last_error_has("lacks a required operation"));
    EXPECT_EQ(nullptr, context);
}

TEST(Context, FailsCleanlyAtEveryAllocation)
{
    expect_clean_failures([](const ingot_allocator_t *allocator) {
        ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
        info.allocator = allocator;
        return try_context(info);
    });
}

TEST(Context, RefusesHalfAnAllocator)
{
    FailingAllocator allocator;
    ingot_allocator_t half = *allocator.table();
    half.deallocate = nullptr;
    ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    info.allocator = &half;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, try_context(info));
}

TEST(Context, IsSharedByItsHolders)
{
    ReferenceDevice device;
    Context context = device.make();
    ingot_context_retain(context.get());
    ingot_context_release(context.get());
    EXPECT_EQ(0u, device.counts.states_destroyed);
    context.reset();
    EXPECT_EQ(1u, device.counts.states_destroyed);
}

TEST(Context, ReadsAnOlderAndANewerInfo)
{
    ReferenceDevice device;
    struct {
        ingot_context_info_t info;
        char more[64];
    } newer = {INGOT_CONTEXT_INFO_INIT, "what a later version added"};
    newer.info.struct_size = sizeof(newer);
    EXPECT_NE(nullptr, device.make(newer.info));
    ingot_context_info_t older = INGOT_CONTEXT_INFO_INIT;
    older.struct_size = offsetof(ingot_context_info_t, cache_capacity);
    older.cache_capacity = reinterpret_cast<const ingot_cache_capacity_t *>(1); /* never read */
    EXPECT_EQ(INGOT_SUCCESS, try_context(older));
}

TEST(Environment, SetsTheLimitsAndTheCallWins)
{
    const Variable capacity("INGOT_CACHE_CAPACITY", "12");
    const Variable bytes("INGOT_CACHE_MAX_BYTES", "3M");
    const Variable groups("INGOT_CACHE_GROUPS", "7");
    ReferenceDevice device;
    const Context context = device.make(INGOT_CONTEXT_INFO_INIT, true);
    EXPECT_EQ(12u, stats_of(context).max_programs);
    EXPECT_EQ(3u << 20, stats_of(context).max_bytes);
    EXPECT_EQ(7u, stats_of(context).max_groups);
    ingot_cache_capacity_t given = INGOT_CACHE_CAPACITY_INIT;
    given.max_programs = 5;
    ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    info.cache_capacity = &given;
    EXPECT_EQ(5u, limits_of_environment(info).max_programs);
    EXPECT_EQ(0u, limits_of_environment(info).max_bytes);
    EXPECT_EQ(1024u, stats_of(device.make()).max_programs) << "an ignored environment";
}

TEST(Environment, ZeroIsTheDefault)
{
    const Variable capacity("INGOT_CACHE_CAPACITY", "0");
    EXPECT_EQ(1024u, limits_of_environment().max_programs);
}

TEST(Environment, EachLimitOfTheCacheMayBeUnlimitedOrNone)
{
    const std::pair<const char *, uint64_t> limits[] = {
        {"INGOT_CACHE_CAPACITY", INGOT_UNLIMITED}, {"INGOT_CACHE_MAX_BYTES", 1024}, {"INGOT_CACHE_GROUPS", 1024}};
    for (const auto &[name, programs] : limits) {
        const Variable unlimited(name, "Unlimited");
        const ingot_cache_stats_t capacity = limits_of_environment();
        EXPECT_EQ(programs, capacity.max_programs) << name;
        EXPECT_EQ(0u, capacity.max_bytes + capacity.max_groups + capacity.flags) << "their default is no limit";
    }
    for (const auto &[name, unused] : limits) {
        const Variable none(name, "none");
        EXPECT_EQ(uint32_t(INGOT_CACHE_OFF), limits_of_environment().flags) << name;
    }
}

TEST(CacheCapacity, UnlimitedAndNoneAreTheSameInEachField)
{
    ReferenceDevice device;
    for (uint64_t ingot_cache_capacity_t::*field :
         {&ingot_cache_capacity_t::max_programs, &ingot_cache_capacity_t::max_bytes,
          &ingot_cache_capacity_t::max_groups}) {
        ingot_cache_capacity_t capacity = INGOT_CACHE_CAPACITY_INIT;
        ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
        info.cache_capacity = &capacity;
        capacity.*field = INGOT_UNLIMITED;
        const Context unlimited = device.make(info);
        const Desc desc = ProgramText().make(unlimited);
        EXPECT_EQ(create_program(desc), create_program(desc));
        EXPECT_EQ(1u, stats_of(unlimited).programs);
        capacity.*field = INGOT_NONE;
        const Context none = device.make(info);
        EXPECT_EQ(uint32_t(INGOT_CACHE_OFF), stats_of(none).flags);
        (void)create_program(ProgramText().make(none));
        EXPECT_EQ(0u, stats_of(none).programs) << "nothing is kept";
    }
}

TEST(CacheCapacity, ZeroIsTheDefaultAndAFlagTurnsTheCacheOff)
{
    ReferenceDevice device;
    ingot_cache_capacity_t capacity{};
    capacity.struct_size = sizeof(capacity);
    ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    info.cache_capacity = &capacity;
    const Context context = device.make(info);
    const Desc desc = ProgramText().make(context);
    EXPECT_EQ(1024u, stats_of(context).max_programs);
    EXPECT_EQ(create_program(desc), create_program(desc));
    EXPECT_EQ(1u, stats_of(context).programs) << "it is kept";

    capacity.flags = INGOT_CACHE_OFF;
    const Context off = device.make(info);
    EXPECT_EQ(uint32_t{INGOT_CACHE_OFF}, stats_of(off).flags);
    EXPECT_EQ(0u, stats_of(off).max_programs);
    (void)create_program(ProgramText().make(off));
    EXPECT_EQ(0u, stats_of(off).programs);
    capacity.struct_size = offsetof(ingot_cache_capacity_t, flags); /* like a caller older than this field */
    const Context older = device.make(info);
    EXPECT_EQ(0u, stats_of(older).flags);
    EXPECT_EQ(1024u, stats_of(older).max_programs);
    capacity.struct_size = 0;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, try_context(info));
}

TEST(Flags, ThatAreUnknownAreRefusedByAll)
{
    ReferenceDevice device;
    const Context context = device.make();
    for (uint32_t flag = 1; flag != 0; flag <<= 1) {
        ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
        ingot_cache_capacity_t capacity = INGOT_CACHE_CAPACITY_INIT;
        ProgramText text;
        ingot_program_desc_t desc = nullptr;
        info.flags = flag;
        const bool is_of_context = flag == INGOT_CONTEXT_IGNORE_ENVIRONMENT || flag == INGOT_CONTEXT_NO_HEADER_MEMO;
        EXPECT_EQ(is_of_context ? INGOT_SUCCESS : INGOT_INVALID_ARGUMENTS, try_context(info)) << flag;
        text.flags = flag;
        EXPECT_EQ(flag == INGOT_PROGRAM_NO_MEMORY_CACHE ? INGOT_SUCCESS : INGOT_INVALID_ARGUMENTS,
                  text.try_make(context.get(), &desc))
            << flag;
        ingot_program_desc_release(desc);
        capacity.flags = flag;
        const bool is_known = flag == INGOT_CACHE_OFF || flag == INGOT_CACHE_LRU_GROUPS;
        const ingot_status_t expected = is_known ? INGOT_SUCCESS : INGOT_INVALID_ARGUMENTS;
        info.flags = 0;
        info.cache_capacity = &capacity;
        EXPECT_EQ(expected, try_context(info)) << flag;
    }
}

TEST(Environment, NamesTheVariableThatIsNonsense)
{
    for (const char *nonsense : {"x", "-1", "1.5", "10Q", "10MM", "K", "99999999999999999999", "20000000000G"}) {
        const Variable variable("INGOT_CACHE_MAX_BYTES", nonsense);
        EXPECT_EQ(INGOT_INVALID_ARGUMENTS, try_context()) << nonsense;
        EXPECT_TRUE(last_error_has("INGOT_CACHE_MAX_BYTES")) << ingot_last_error_detail();
    }
    const Variable variable("INGOT_CACHE", "maybe");
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, try_context());
    EXPECT_TRUE(last_error_has("INGOT_CACHE: \"maybe\""));
}

TEST(Environment, ReadsSwitchesAndSuffixesInEitherCase)
{
    for (const char *off : {"0", "off", "OFF", "No", "false"}) {
        const Variable variable("INGOT_CACHE", off);
        EXPECT_EQ(0u, limits_of_environment().max_programs) << off;
    }
    const Variable on("INGOT_CACHE", "Yes");
    const Variable bytes("INGOT_CACHE_MAX_BYTES", "3m");
    EXPECT_EQ(3u << 20, limits_of_environment().max_bytes);
}

TEST(Environment, AValueThatNothingUsesIsNoError)
{
    const Variable bytes("INGOT_CACHE_MAX_BYTES", "nonsense");
    ReferenceDevice device;
    ingot_cache_capacity_t given = INGOT_CACHE_CAPACITY_INIT;
    ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, try_context());
    info.cache_capacity = &given;
    EXPECT_NE(nullptr, device.make(info, true).get());
    const Variable off("INGOT_CACHE", "0");
    EXPECT_NE(nullptr, device.make(INGOT_CONTEXT_INFO_INIT, true).get());
}

TEST(Environment, TellsOfAVariableThatIsNotThereWithTheNearest)
{
    clear_variables();
    const Variable known("INGOT_CACHE_GROUPS", "7");
    const Variable unknown("INGOT_CACHE_CAPASITY", "12");
    const Variable other("INGOT_PERSIST_MAXSIZE", "1G");
    const Variable renamed("INGOT_PERSIST_RECORD", "requests");
    std::vector<std::string> told;
    ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    info.on_event_user = &told;
    info.on_event = [](const ingot_event_t *event, void *user) {
        if (event->kind == INGOT_EVENT_ENVIRONMENT)
            static_cast<std::vector<std::string> *>(user)->push_back(std::string(event->name) + ": " + event->reason);
    };
    ReferenceDevice device;
    (void)device.make(info, false);
    EXPECT_TRUE(told.empty()) << "an ignored environment";
    (void)device.make(info, true);
    std::sort(told.begin(), told.end());
    ASSERT_EQ(3u, told.size());
    EXPECT_NE(std::string::npos, told[0].find("INGOT_CACHE_CAPASITY is not an Ingot variable; the nearest one is "
                                              "INGOT_CACHE_CAPACITY"));
    EXPECT_NE(std::string::npos, told[1].find("INGOT_PERSIST_MAX_SIZE"));
    EXPECT_NE(std::string::npos, told[2].find("INGOT_PERSIST_RECORD has no effect any more: set INGOT_RECORD instead"));
}

TEST(Environment, TheDocumentHasEveryVariable)
{
    std::ifstream file(INGOT_SOURCE_DIR "/doc/environment.md");
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    size_t count = 0;
    for (const char *const *name = environment_names(); *name != nullptr; ++name, ++count)
        EXPECT_NE(std::string::npos, text.find("\n| `" + std::string(*name) + "` |")) << *name;
    size_t rows = 0;
    for (size_t at = 0; (at = text.find("\n| `INGOT_", at)) != std::string::npos; ++at)
        ++rows;
    EXPECT_EQ(count, rows);
}

TEST(Environment, OfASetuidProgramIsNotRead)
{
    if (setuid_child::is_this()) {
        ReferenceDevice device;
        (void)create_program(ProgramText().make(device.make(INGOT_CONTEXT_INFO_INIT, true)));
        setuid_child::end();
    }
    const ScratchDirectory scratch;
    const std::string trace = (scratch.path() / "trace").string();
    if (const char *reason = setuid_child::run(scratch, {{"INGOT_TRACE", trace}}))
        GTEST_SKIP() << reason;
    EXPECT_FALSE(std::filesystem::exists(trace)) << "it wrote where its user said";
}

TEST(Trace, WritesOneLineAnEvent)
{
    clear_variables();
    const std::string path = testing::TempDir() + "ingot_trace_test.txt";
    std::remove(path.c_str());
    {
        const Variable variable("INGOT_TRACE", path.c_str());
        ReferenceDevice device;
        const Context context = device.make(INGOT_CONTEXT_INFO_INIT, true);
        ProgramText text;
        text.group = "a\"b\nc";
        const Desc desc = text.make(context);
        (void)create_program(desc);
        (void)create_program(desc);
    }
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);)
        lines.push_back(line);
    ASSERT_EQ(3u, lines.size());
    EXPECT_EQ(R"({"ingot":"miss","status":"INGOT_NOT_FOUND","us":0.000,"bytes":0,"group":"a\u0022b\u000ac",)"
              R"("name":"test","reason":""})",
              lines[0]);
    EXPECT_EQ(0u, lines[1].find(R"({"ingot":"build","status":"INGOT_SUCCESS","us":)"));
    EXPECT_EQ(0u, lines[2].find(R"({"ingot":"hit","status":"INGOT_SUCCESS","us":)"));
    std::remove(path.c_str());
}

TEST(Source, RefusesWhatIsMalformed)
{
    ingot_source_t source = nullptr;
    ingot_source_info_t info = INGOT_SOURCE_INFO_INIT;
    info.kind = INGOT_SOURCE_OPENCL_C;
    info.bytes = "a\0b";
    info.size = 3;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_source_create(&source, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_source_create(nullptr, &info));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_source_create(&source, &info)) << "a NUL in a text";
    info.size = 0;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_source_create(&source, &info)) << "empty";
    info.kind = INGOT_SOURCE_HEADER;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_source_create(&source, &info)) << "a header without a name";
    info.kind = static_cast<ingot_source_kind_t>(77);
    info.size = 1;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_source_create(&source, &info)) << "an unknown kind";
    EXPECT_EQ(nullptr, source);
}

TEST(Source, FailsCleanlyAtEveryAllocation)
{
    expect_clean_failures([](const ingot_allocator_t *allocator) {
        ingot_source_info_t info = INGOT_SOURCE_INFO_INIT;
        info.kind = INGOT_SOURCE_OPENCL_C;
        info.bytes = "abc";
        info.size = 3;
        info.allocator = allocator;
        ingot_source_t source = nullptr;
        const ingot_status_t status = ingot_source_create(&source, &info);
        ingot_source_release(source);
        return status;
    });
}
