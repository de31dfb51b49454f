/*
 * build_test.cpp - tests `ingot build`: that the application compiles nothing afterwards, the limits of workers, and
 * Ctrl-C.
 */
#include <cstring>
#include <regex>
#include <set>

#include "cli/requests.h"
#include "hermetic/compilers.h"
#include "support/server_process.h"

namespace
{

/* Returns a blob of one device without its build time and its checksum, which differ between two compilations of the
 * same program (see doc/blob-format.md). Without bitcode, only the code of the device's binary remains, and no size. */
std::vector<uint8_t> timeless_blob(std::vector<uint8_t> blob, bool without_bitcode = false)
{
    constexpr size_t total_at = 16, time_at = 56, size_at = 160, checksum_size = 16;
    const auto number_at = [&](size_t at) {
        uint64_t number = 0;
        std::memcpy(&number, &blob[at], sizeof(number));
        return static_cast<size_t>(number);
    };
    EXPECT_LT(size_at + 8 + checksum_size, blob.size());
    blob.resize(blob.size() - checksum_size);
    std::memset(&blob[time_at], 0, 8);
    if (without_bitcode) {
        const std::string binary(blob.end() - static_cast<std::ptrdiff_t>(number_at(size_at)), blob.end());
        const std::string code = hermetic::code_of_binary(binary);
        blob.resize(blob.size() - binary.size());
        blob.insert(blob.end(), code.begin(), code.end());
        std::memset(&blob[total_at], 0, 8);
        std::memset(&blob[size_at], 0, 8);
    }
    return blob;
}

class CliBuild : public RequestTest
{
protected:
    /* Requests a program as an application does. */
    static ingot_origin_t request(const OpenclText &text, ingot_storage_t storage, std::vector<uint8_t> *blob = nullptr)
    {
        const Context context = make_opencl_context();
        ingot_program_t program = nullptr;
        ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_program_create(&program, text.make(context).get(), storage, &origin))
            << ingot_last_error_detail();
        const std::vector<uint8_t> bytes = blob_of(Program(program));
        if (blob != nullptr)
            *blob = bytes;
        return origin;
    }
    void expect_sound_store() const { EXPECT_TRUE(tool({"verify", "--dir", root().string()}).is(0)); }
};

TEST_F(CliBuild, BuildsSoThatTheApplicationCompilesNothing)
{
    const std::vector<OpenclText> texts = application_texts();
    record(requests(), texts);
    EXPECT_EQ(3, build({"--check"}).code) << "there is no store";
    EXPECT_TRUE(build().begins(0, "3 built, 0 present ("));
    const store_fixture::Store own(scratch() / "own");
    const store_fixture::Store store = open_store();
    for (const OpenclText &text : texts) {
        std::vector<uint8_t> built;
        std::vector<uint8_t> compiled;
        EXPECT_EQ(INGOT_ORIGIN_STORAGE, request(text, store.get(), &built)) << text.name;
        EXPECT_EQ(INGOT_ORIGIN_BUILD, request(text, own.get())) << text.name;
        EXPECT_EQ(INGOT_ORIGIN_STORAGE, request(text, own.get(), &compiled)) << text.name;
        /* The application links a program with headers. PoCL then encodes equal bitcode in another way. */
        const bool has_other_bitcode = !text.headers.empty() && OpenclPlatform::get().is_pocl();
        EXPECT_EQ(timeless_blob(compiled, has_other_bitcode), timeless_blob(built, has_other_bitcode)) << text.name;
    }
    const std::vector<std::string> own_names = names_below(scratch() / "own");
    const std::vector<std::string> built_names = names();
    EXPECT_EQ(std::set<std::string>(own_names.begin(), own_names.end()),
              std::set<std::string>(built_names.begin(), built_names.end()));
    expect_sound_store();
    EXPECT_EQ("[0, 3, 3, 0, False]",
              build_json("", "[j[k] for k in ('built', 'present', 'jobs', 'failed', 'interrupted')]"));
}

TEST_F(CliBuild, ChecksThatTheApplicationWouldCompileNothing)
{
    record(requests(), {numbered_text(1)});
    ASSERT_EQ(0, build().code);
    EXPECT_TRUE(build({"--check"}).is(0, "1 present ("));
    record(requests(), {numbered_text(2)});
    EXPECT_TRUE(build({"--check"}).is(1, "would be compiled: INGOT_NOT_FOUND: "));
    EXPECT_EQ("[1, 1, 0]", build_json("--check", "[j['present'], j['would_compile'], j['built']]"));
    EXPECT_EQ(1u, names().size());
    damage(root() / names()[0] / "kernel.bin");
    EXPECT_TRUE(build({"--check"}).is(1, "2 would be compiled"));
}

TEST_F(CliBuild, BuildsForEveryDeviceOnce)
{
    for (const char *name : {"POCL_DEVICES", "CreateMultipleRootDevices"})
        unsetenv(name);
    setenv("POCL_DEVICES", "pthread pthread", 1);
    setenv("CreateMultipleRootDevices", "2", 1);
    record(requests(), {numbered_text(1), numbered_text(2)});
    EXPECT_EQ("[2, 2, 4, 2]", build_json("--jobs 1", "[j['built'], j['present'], j['jobs'], len(j['devices'])]"));
}

TEST_F(CliBuild, SelectsDevicesByText)
{
    record(requests(), {numbered_text(1)});
    EXPECT_TRUE(build({"--device", "no such device"}).is(4, "there are:\n  opencl: "));
    EXPECT_TRUE(names().empty());
    EXPECT_EQ("[1, 1]", build_json("--device nothing --device OPENCL:", "[j['built'], len(j['devices'])]"));
}

TEST_F(CliBuild, StoresInTheNamespaceInWhichItWasRecorded)
{
    record(requests(), {numbered_text(1)}, "app");
    record(requests(), {numbered_text(1), numbered_text(2)});
    EXPECT_TRUE(build().begins("3 built, 0 present ("));
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, request(numbered_text(1), open_store("app").get()));
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, request(numbered_text(2), open_store().get()));
    EXPECT_EQ(0, build({"--namespace", "other"}).code);
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, request(numbered_text(1), open_store("other").get()));
}

TEST_F(CliBuild, AnswersTheRequestsOfABundle)
{
    const std::string bundle = (scratch() / "requests.bundle").string();
    record(requests(), {numbered_text(1)}, "app");
    ASSERT_EQ(0, tool({"bundle", "--dir", requests().string(), bundle}).code);
    EXPECT_TRUE(tool({"build", bundle, requests().string(), "--into", root().string()}).begins("1 built, 0 present ("));
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, request(numbered_text(1), open_store("app").get()));
    ASSERT_EQ(0, tool({"bundle", "--dir", root().string(), bundle}).code);
    EXPECT_TRUE(tool({"build", requests().string(), "--check", "--dir", bundle}).is(0, "1 present ("))
        << "a bundle has no namespaces";
}

/* On PoCL, an assembler reads files, which no id covers. What root builds from requests must not contain what only
 * root may read. */
TEST_F(CliBuild, PutsNoFileThatAnAssemblerReadsIntoAStore)
{
    const std::string secret = "only the user who builds may read this";
    const fs::path bundle = scratch() / "app.bundle";
    const std::string file = (scratch() / "secret").string();
    std::ofstream(file) << secret;
    fs::permissions(file, fs::perms::owner_read);
    const std::string before = "(\".pushsection .read, \\\"a\\\"\\n";
    const std::string behind = " \\\"" + file + "\\\"\\n.popsection\\n\"); x[0] = 1; }\n";
    const std::string kernel = "kernel void k(global int *x) { ";
    record(requests(),
           {numbered_text(1),
            {kernel + "__asm__" + before + ".incbin" + behind, "word.cl"},
            {kernel + "__asm__" + before + ".\\151ncbin" + behind, "escape.cl"},
            {"#define S_(x) #x\n#define S(x) S_(x)\n" + kernel + "__asm__" + before + ".\" S(I) \"" + behind,
             "macro.cl", "-DI=incbin"},
            {kernel + "Q" + before + ".\\151ncbin" + behind, "option.cl", "-DQ=__asm__"}});
    const Result result = build();
    ASSERT_EQ(0, tool({"bundle", "--dir", root().string(), bundle.string()}).code);
    const std::vector<uint8_t> bytes = store_fixture::read_file(bundle);
    EXPECT_FALSE(bytes.empty()) << result.output;
    EXPECT_EQ(bytes.end(), std::search(bytes.begin(), bytes.end(), secret.begin(), secret.end())) << result.output;
    if (OpenclPlatform::get().is_pocl()) {
        EXPECT_TRUE(result.is(1, "1 built, 0 present, 2 failed ("));
    }
}

/* The keys are only for checking the seals of requests, so the public key is enough. */
TEST_F(CliBuild, RequiresSealsOfRequests)
{
    const std::string ci = (scratch() / "ci.key").string();
    const std::string other = (scratch() / "other.key").string();
    record(requests(), {numbered_text(1)});
    ASSERT_EQ(0, tool({"key", "--pair", ci}).code);
    ASSERT_EQ(0, tool({"key", "--pair", other}).code);
    const std::vector<std::string> required = {"--require", "--keys", ci + ".pub"};
    Result result = build(required);
    EXPECT_TRUE(result.is(1, ": INGOT_UNTRUSTED: a blob without a seal"));
    EXPECT_TRUE(result.says("0 built, 0 present, 1 refused ("));
    ASSERT_EQ(0, tool({"sign", "--keys", ci, "--dir", requests().string()}).code);
    result = build({"--require", "--keys", other + ".pub"});
    EXPECT_TRUE(result.says("0 built, 0 present, 1 refused ("));
    EXPECT_EQ(1, build({"--keys", other + ".pub"}).code) << "a wrong seal is not as good as none";
    result = build(required);
    EXPECT_TRUE(result.begins(0, "1 built, "));
    record(requests(), {numbered_text(2)});
    result = build(required);
    EXPECT_TRUE(result.is(1, "0 built, 1 present, 1 refused ("));
    EXPECT_EQ(0, build().code) << "without a policy";
    EXPECT_EQ(2, tool({"build", "--stale", "--require", "--keys", ci}).code);
}

/* A request that is stored under the id of another one does nothing. */
TEST_F(CliBuild, LeavesOutForgedRequests)
{
    std::vector<std::pair<std::vector<uint8_t>, std::vector<uint8_t>>> kept;
    record(requests(), {numbered_text(1), numbered_text(2)});
    {
        const store_fixture::Store store(requests());
        recorded_requests::visit(store.get(), [&](const ingot_persist_entry_t &entry, ingot_kept_request_t &) {
            ingot_buffer_t blob = INGOT_BUFFER_INIT;
            ASSERT_EQ(INGOT_SUCCESS, ingot_persist_load_entry(store.get(), &entry, 0, &blob));
            kept.push_back({{entry.id, entry.id + entry.id_size}, {blob.bytes, blob.bytes + blob.size}});
            blob.release(&blob);
        });
        ASSERT_EQ(2u, kept.size());
        ASSERT_EQ(INGOT_SUCCESS, ingot_storage_store(store.get(), kept[0].first.size(), kept[0].first.data(),
                                                     kept[1].second.size(), kept[1].second.data()));
    }
    EXPECT_TRUE(build().is(1, "1 built, 0 present, 1 refused ("));
}

TEST_F(CliBuild, AppliesThePolicyOfTheEnvironmentToRequests)
{
    const std::string key = (scratch() / "ci.key").string();
    record(requests(), {numbered_text(1)});
    ASSERT_EQ(0, tool({"key", "--secret", key}).code);
    auto environment = one_device();
    environment.emplace("INGOT_PERSIST_TRUST", "require");
    environment.emplace("INGOT_PERSIST_KEYS", key);
    const std::vector<std::string> command = {CLI_PROGRAM, "build", requests().string(), "--into", root().string()};
    EXPECT_EQ(1, run_command(command, environment).code);
    ASSERT_EQ(0, tool({"sign", "--keys", key, "--dir", requests().string()}).code);
    EXPECT_EQ(0, run_command(command, environment).code);
    EXPECT_EQ(0, tool({"verify", "--require", "--keys", key, "--dir", root().string()}).code);
}

/* Returns a text in which each macro expands to twice the previous one, so that a few lines expand to more than any
 * compiler can read. */
std::string endless_text(const std::string &smallest, const std::string &before, const std::string &after)
{
    std::string text = "#define A0 " + smallest + "\n";
    for (int i = 1; i < 60; ++i) {
        const std::string last = "A" + std::to_string(i - 1);
        text += "#define A" + std::to_string(i) + " " + last + " " + last + "\n";
    }
    return text + before + "A59 " + after + "\n";
}

std::string crashing_text()
{
    std::string text = "kernel void crash(global int *x) { x[0] = ";
    for (int i = 0; i < 300000; ++i)
        text += "- ";
    return text + "x[1]; }\n";
}

TEST_F(CliBuild, GoesOnAfterAProgramThatCrashesTheCompiler)
{
    record(requests(), {{crashing_text(), "crash.cl"}, numbered_text(1), numbered_text(2)});
    const Result result = build({"--jobs", "1"});
    EXPECT_TRUE(result.is(1, " crash.cl for opencl: "));
    EXPECT_TRUE(result.says(": crashed the worker: "));
    EXPECT_TRUE(result.says("2 built, 0 present, 1 crashed the worker ("));
    expect_sound_store();
}

/* The parent process may ignore SIGCHLD, as the application of a builder. */
TEST_F(CliBuild, SeesACrashWhateverItInherits)
{
    record(requests(), {{crashing_text(), "crash.cl"}});
    EXPECT_TRUE(run_command({"/bin/sh", "-c", "trap '' CHLD; exec \"$@\"", "sh", CLI_PROGRAM, "build",
                             requests().string(), "--into", root().string()})
                    .is(1, ": crashed the worker: "));
}

TEST_F(CliBuild, GivesUpAProgramThatCompilesForEver)
{
    record(requests(), {{endless_text("", "kernel void hang(global int *x) { ", " }"), "hang.cl"}});
    const Result result = build({"--time", "3s", "--memory", "64G"});
    EXPECT_TRUE(result.is(1, "hang.cl for opencl: "));
    EXPECT_TRUE(result.says("ran out of time: took longer than 3.0 s (--time)\n"));
    EXPECT_TRUE(result.says("0 built, 0 present, 1 ran out of time ("));
    record(requests(), {numbered_text(1)});
    EXPECT_EQ("1", build_json("--time 3s", "j['timed_out']"));
    expect_sound_store();
}

TEST_F(CliBuild, GivesUpAProgramThatTakesAllMemory)
{
    record(requests(),
           {{endless_text("1,", "constant int a[] = {", "1};\nkernel void eat(global int *x) { x[0] = a[x[1]]; }"),
             "eat.cl"},
            numbered_text(1)});
    const Result result = build({"--memory", "500M"});
    EXPECT_TRUE(result.is(1, "ran out of memory: took more than 500.0 MiB of memory (--memory)"));
    EXPECT_TRUE(result.says("1 built, 0 present, 1 ran out of memory ("));
    expect_sound_store();
}

TEST_F(CliBuild, TellsWhatDoesNotCompile)
{
    record(requests(), {{"kernel void wrong( {\n", "wrong.cl"}, numbered_text(1)});
    EXPECT_EQ("[1, 1, 'failed', 'wrong.cl', True]",
              build_json("", "[j['built'], j['failed']] + [j['problems'][0][k] for k in ('outcome', 'name')] + "
                             "['INGOT_BUILD_FAILED' in j['problems'][0]['message']]"));
}

TEST_F(CliBuild, ShowsARequest)
{
    record(requests(), {numbered_text(1)}, "app");
    const std::string at = " --dir " + requests().string();
    const std::string name = json_without_store("ls --kind request" + at, "j[0]['entry']");
    const std::string text = json_without_store("show " + name + at, "j[0]['blob']['request']['source[0].text']");
    EXPECT_NE(std::string::npos, text.find("kernel void k1")) << text;
    EXPECT_EQ("app", json_without_store("show " + name + at, "j[0]['blob']['request']['namespace']"));
    const Result result = run_shell("$INGOT show " + name + at);
    EXPECT_TRUE(result.is(0, "source[0].text: "));
    EXPECT_EQ(std::string::npos, result.output.find("kernel void k1")) << result.output;
}

class CliBuildStops : public CliBuild, public ::testing::WithParamInterface<int>
{
};

TEST_P(CliBuildStops, AndContinuesWhenItIsRunAgain)
{
    enum { PROGRAMS = 16 };
    std::vector<OpenclText> texts;
    for (int i = 0; i < PROGRAMS; ++i)
        texts.push_back(numbered_text(i));
    record(requests(), texts);
    const Result stopped = tool_with_signal({"build", requests().string(), "--into", root().string(), "--jobs", "2"},
                                            GetParam(), "", 2, one_device());
    EXPECT_TRUE(stopped.is(128 + GetParam()));
    EXPECT_EQ(GetParam() == SIGINT, stopped.output.find("interrupted: ") == 0);
    expect_sound_store();
    const size_t before = store_fixture::entries_of(root()).size();
    EXPECT_LE(2u, before);
    EXPECT_GT(size_t{PROGRAMS}, before);
    EXPECT_EQ("[True, 16, 16]",
              build_json("", "[j['present'] >= " + std::to_string(before) + ", j['present'] + j['built'], j['jobs']]"));
}

INSTANTIATE_TEST_SUITE_P(BySignal, CliBuildStops, ::testing::Values(SIGINT, SIGKILL));

/* The store accepts only large blobs. */
TEST_F(CliBuild, TellsThatAProgramWasNotStored)
{
    record(requests(), {numbered_text(1)});
    const Result result = run_command({CLI_PROGRAM, "build", requests().string()},
                                      {{"INGOT_PERSIST_DIR", root().string()}, {"INGOT_PERSIST_MIN_BLOB", "1G"}});
    EXPECT_TRUE(result.is(1, "1 not stored ("));
    EXPECT_TRUE(result.says(": not stored: INGOT_NO_SPACE: "));
}

TEST_F(CliBuild, ShowsATerminalHowMuchRemains)
{
    std::vector<OpenclText> texts;
    for (int i = 0; i < 8; ++i)
        texts.push_back(numbered_text(i));
    record(requests(), texts);
    const Result result = run_shell("python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' $INGOT build --jobs 1 " +
                                    requests().string() + " --into $STORE");
    EXPECT_TRUE(std::regex_search(result.output, std::regex("building: [1-7] of 8 requests, about "))) << result.output;
}

TEST_F(CliBuild, TakesAnEmptyDirectoryButNoneWithSomethingElse)
{
    record(requests(), {numbered_text(1)});
    fs::create_directories(root() / "letters");
    EXPECT_TRUE(build().is(3, "is not a store"));
    EXPECT_EQ(1, std::distance(fs::directory_iterator(root()), fs::directory_iterator()));
    fs::remove(root() / "letters");
    EXPECT_TRUE(build().begins(0, "1 built, 0 present ("));
}

TEST_F(CliBuild, KnowsWrongUsage)
{
    record(requests(), {numbered_text(1)});
    const std::string path = requests().string();
    for (const std::vector<std::string> &arguments :
         std::vector<std::vector<std::string>>{{"build"},
                                               {"build", path, "--jobs", "none"},
                                               {"build", path, "--jobs", "5000"},
                                               {"build", path, "--time", "12"},
                                               {"build", path, "--time", "none"},
                                               {"build", path, "--memory", "much"}})
        EXPECT_EQ(2, tool(arguments).code) << arguments.back();
    EXPECT_EQ(3, tool({"build", path + ".none", "--into", root().string()}).code);
    EXPECT_EQ(3, tool({"build", path, "--into", "/nonexistent/store"}).code);
    EXPECT_FALSE(fs::exists(root()));
}

#if CLI_HAS_REMOTE
TEST_F(CliBuild, AnswersTheRequestsOfAnImage)
{
    const std::string layout = (scratch() / "layout").string();
    record(requests(), {numbered_text(1)}, "app");
    ASSERT_EQ(0, tool({"push", "--dir", requests().string(), "--layout", layout}).code);
    const Result result = tool({"build", layout, "--into", root().string()});
    EXPECT_EQ(0u, result.output.find("1 built, 0 present (")) << result.output;
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, request(numbered_text(1), open_store("app").get()));
    EXPECT_EQ(2, tool({"build", layout, "--into", root().string(), "--require"}).code);
    EXPECT_TRUE(tool({"build", layout, "--into", root().string(), "--check"}).is(2, "--check pulls nothing from "));
}
#endif

#ifdef CLI_HAS_REDIS
TEST_F(CliBuild, AnswersTheRequestsOfAServer)
{
    const server_process::Redis redis;
    record(requests(), {numbered_text(1), numbered_text(2)});
    ASSERT_EQ(0, tool({"push", "--dir", requests().string(), redis.url()}).code);
    const Result result = tool({"build", redis.url(), "--into", root().string()});
    EXPECT_EQ(0, result.code) << result.output;
    EXPECT_EQ(0u, result.output.find("2 built, 0 present (")) << result.output;
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, request(numbered_text(2), open_store().get()));
}

TEST_F(CliBuild, PullsWhatRequestsNeedHere)
{
    const server_process::Redis redis;
    record(requests(), {numbered_text(1), numbered_text(2), numbered_text(3)});
    ASSERT_EQ(0, build().code);
    ASSERT_EQ(0, tool({"push", "--dir", root().string(), redis.url()}).code);
    const auto pull = [&](const std::string &store) {
        return tool({"pull", "--for", requests().string(), "--dir", (scratch() / store).string(), redis.url()});
    };
    const Result pulled = pull("other");
    EXPECT_TRUE(pulled.begins(0, "3 pulled, 0 present ("));
    {
        const store_fixture::Store other(scratch() / "other");
        for (int i = 1; i <= 3; ++i)
            EXPECT_EQ(INGOT_ORIGIN_STORAGE, request(numbered_text(i), other.get()));
    }
    EXPECT_EQ(0u, pull("other").output.find("0 pulled, 3 present ("));
    auto keeping = one_device();
    keeping["INGOT_PERSIST_REQUESTS"] = "1"; /* says what `build` does */
    EXPECT_TRUE(run_command({CLI_PROGRAM, "pull", "--for", requests().string(), "--dir", (scratch() / "other").string(),
                             redis.url()},
                            keeping)
                    .begins(0, "0 pulled, 3 present ("));
    EXPECT_EQ(3u, store_fixture::entries_of(scratch() / "other").size()) << "it keeps no requests";

    record(requests(), {numbered_text(4)});
    const Result lacking = pull("third");
    EXPECT_TRUE(lacking.is(1, "k4.cl"));
    EXPECT_TRUE(lacking.says("3 pulled, 0 present, 1 missing on the server ("));
    auto environment = one_device();
    environment["INGOT_PERSIST_REMOTE"] = redis.url();
    EXPECT_TRUE(
        run_command({CLI_PROGRAM, "build", requests().string(), "--into", (scratch() / "fourth").string()}, environment)
            .begins(0, "1 built, 3 pulled, 0 present ("));
    EXPECT_EQ(1, tool({"pull", "--for", requests().string(), "--dir", (scratch() / "none").string(),
                       server_process::closed_url()})
                     .code);
}
#endif

} // namespace
