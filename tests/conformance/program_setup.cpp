/*
 * program_setup.cpp - builds programs in separate processes; see program_setup.h. The test starts itself with
 * `--setup PART FILE`.
 */
#include "conformance/program_setup.h"

#include <iostream>

#include "conformance/objects.h"
#include "support/child_process.h"
#include "support/recorded_requests.h"

namespace conformance
{

namespace fs = std::filesystem;

/* ---- texts to and from a file ---- */

static void put(std::string *out, const std::string &text)
{
    *out += std::to_string(text.size()) + ":" + text;
}

static std::string take(const std::string &bytes, size_t *at)
{
    const size_t colon = bytes.find(':', *at);
    if (colon == std::string::npos)
        return "";
    const size_t size = std::stoul(bytes.substr(*at, colon - *at));
    *at = colon + 1 + size;
    return bytes.substr(colon + 1, size);
}

static std::string packed(const ProgramSetup &setup)
{
    std::string out;
    for (const std::string &text : {setup.source, setup.options, setup.name, setup.late_variable})
        put(&out, text);
    for (const auto &[name, text] : setup.headers) {
        put(&out, name);
        put(&out, text);
    }
    return out;
}

static ProgramSetup unpacked(const std::string &bytes)
{
    ProgramSetup setup;
    size_t at = 0;
    setup.source = take(bytes, &at);
    setup.options = take(bytes, &at);
    setup.name = take(bytes, &at);
    setup.late_variable = take(bytes, &at);
    while (at < bytes.size()) {
        const std::string name = take(bytes, &at);
        setup.headers.emplace_back(name, take(bytes, &at));
    }
    return setup;
}

static std::string packed(const BuildResult &result)
{
    std::string out;
    for (const std::string &text : {result.origin, result.kernels, result.log, result.reason})
        put(&out, text);
    return out;
}

static BuildResult unpacked_result(const std::string &bytes)
{
    BuildResult result;
    size_t at = 0;
    result.origin = take(bytes, &at);
    result.kernels = take(bytes, &at);
    result.log = take(bytes, &at);
    result.reason = take(bytes, &at);
    return result;
}

static std::string text_of(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

static void write_text(const std::string &path, const std::string &text)
{
    std::ofstream(path, std::ios::binary) << text;
}

/* ---- the workplace ---- */

Workplace::Workplace()
{
    static int count = 0;
    path_ = fs::current_path() / ("workplace-" + std::to_string(getpid()) + "-" + std::to_string(count++));
    fs::create_directory(path_);
}

void Workplace::write(const std::string &path, const std::string &content) const
{
    const fs::path whole = fs::path(path_) / path;
    fs::create_directories(whole.parent_path());
    write_text(whole, content);
}

BuildResult Workplace::run(const char *part, const ProgramSetup &setup, const Environment &more) const
{
    static int count = 0;
    const std::string file = path_ + "-" + std::to_string(count++);
    for (const auto &[path, content] : setup.files)
        write(path, content);
    write_text(file, packed(setup));
    child_process::Child::Environment variables(setup.environment.begin(), setup.environment.end());
    variables.insert(more.begin(), more.end());
    const fs::path before = fs::current_path();
    fs::current_path(path_);
    child_process::Child child({"/proc/self/exe", "--setup", part, file}, file + ".out", variables);
    fs::current_path(before);
    EXPECT_EQ(0, child.wait()) << child.output();
    return unpacked_result(text_of(file + ".result"));
}

BuildResult Workplace::build(const ProgramSetup &setup) const
{
    return run("ingot", setup, {{"POCL_CACHE_DIR", path_ + "-cache"}});
}

BuildResult Workplace::build_requests(const ProgramSetup &setup) const
{
    ProgramSetup without_files = setup;
    without_files.files.clear();
    for (const auto &[path, content] : setup.files)
        fs::remove(fs::path(path_) / path);
    /* PoCL has the code for the same text in this cache already, and compiles any other text. */
    return run("requests", without_files, {{"POCL_CACHE_DIR", path_ + "-cache"}});
}

BuildResult Workplace::build_after_requests(const ProgramSetup &setup) const
{
    return run("after-requests", setup, {{"POCL_CACHE_DIR", path_ + "-cache"}});
}

BuildResult Workplace::build_natively(const ProgramSetup &setup) const
{
    static int count = 0;
    const fs::path own_cache = fs::path(path_) / "cl_cache";
    const fs::path aside = path_ + "-aside";
    const bool has_cache = fs::exists(own_cache);
    if (has_cache)
        fs::rename(own_cache, aside);
    const BuildResult result = run("native", setup, {{"POCL_CACHE_DIR", path_ + "-native-" + std::to_string(count++)}});
    if (has_cache) {
        fs::remove_all(own_cache); /* the cache that this build made */
        fs::rename(aside, own_cache);
    }
    return result;
}

/* ---- in the child ---- */

std::string joined(std::vector<std::string> names)
{
    std::string all;
    std::sort(names.begin(), names.end());
    for (const std::string &name : names)
        all += name + " ";
    return all;
}

static Desc describe(const Context &context, const ProgramSetup &setup)
{
    const ingot_source_kind_t kind = device_under_test().two_kernels().sources[0].kind;
    ProgramText text{{{kind, setup.source}}, setup.headers, setup.options};
    text.source_name = setup.name;
    return describe(context, text);
}

/* Builds a program with a store that records requests. */
static BuildResult build_with_store(const Desc &desc, const char *store)
{
    BuildResult result;
    ingot_persist_info_t store_info = INGOT_PERSIST_INFO_INIT;
    store_info.path = store;
    store_info.record_path = "requests";
    ingot_storage_t storage = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_open(&storage, &store_info)) << ingot_last_error_detail();
    ingot_origin_t origin = INGOT_ORIGIN_BUILD;
    ingot_program_t program = nullptr;
    const ingot_status_t status = ingot_persist_program_create(&program, desc.get(), storage, &origin);
    if (status == INGOT_SUCCESS) {
        const Program owned(program);
        size_t size = 0;
        result.origin = origin == INGOT_ORIGIN_STORAGE ? "storage" : "built";
        result.kernels = joined(kernel_names_of(owned));
        result.log = log_of(owned);
        if (ingot_program_get_cache_blob(program, &size, nullptr) != INGOT_SUCCESS)
            result.reason = ingot_last_error_detail();
    } else {
        result.origin = "failed";
        result.log = ingot_last_error_detail();
    }
    const ingot_status_t flushed = ingot_persist_flush(storage, nullptr, nullptr);
    EXPECT_TRUE(flushed == INGOT_SUCCESS || (flushed == INGOT_NOT_CACHEABLE && !result.is_cacheable()))
        << ingot_last_error_detail();
    ingot_storage_release(storage);
    return result;
}

static BuildResult build_requests()
{
    BuildResult result;
    const Context context = make_context();
    const store_fixture::Store store("requests");
    result.origin = "unrecorded";
    recorded_requests::visit(store.get(), [&](const ingot_persist_entry_t &, ingot_kept_request_t &request) {
        ingot_buffer_t bytes = INGOT_BUFFER_INIT;
        ingot_program_desc_t made = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_request_unpack(&request, store.get(), &bytes)) << ingot_last_error_detail();
        EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_create_from_request(&made, context.get(), bytes.size, bytes.bytes,
                                                                        0, nullptr, nullptr))
            << ingot_last_error_detail();
        bytes.release(&bytes);
        result = build_with_store(Desc(made), "store-of-requests");
    });
    return result;
}

static void set_late_variable(const ProgramSetup &setup)
{
    static std::string text; /* becomes part of the environment */
    text = setup.late_variable;
    if (!text.empty())
        putenv(text.data());
}

static BuildResult run_part(const std::string &part, const ProgramSetup &setup)
{
    if (part == "native") {
        set_late_variable(setup);
        return compile_natively(setup);
    }
    if (part == "requests")
        return build_requests();
    const Context context = make_context();
    const Desc desc = describe(context, setup);
    if (!setup.late_variable.empty()) {
        EXPECT_FALSE(id_of(desc).empty());
    }
    set_late_variable(setup);
    return build_with_store(desc, part == "ingot" ? "store" : "store-of-requests");
}

bool run_setup_as_child(int argc, char **argv, int *exit_status)
{
    if (argc != 4 || strcmp(argv[1], "--setup") != 0)
        return false;
    const std::string file = argv[3];
    const ProgramSetup setup = unpacked(text_of(file));
    const BuildResult result = run_part(argv[2], setup);
    write_text(file + ".result", packed(result));
    *exit_status = testing::Test::HasFailure() ? 1 : 0;
    return true;
}

/* ---- expectations ---- */

/* True if the driver keeps its own cache, from which it may take an old program. */
static bool has_drivers_cache(const ProgramSetup &setup)
{
    const auto &settings = setup.environment;
    return std::any_of(settings.begin(), settings.end(), [](const auto &setting) {
        return setting.first == "NEO_CACHE_PERSISTENT" && setting.second == "1";
    });
}

/* Expects that Ingot's program is the one that the compiler makes. A program that is not cacheable may be an old one if
 * the driver has a cache of its own, so it is not compared. */
static void expect_true(const ProgramSetup &setup, const BuildResult &native, const BuildResult &ingot)
{
    if (!ingot.is_cacheable() && ingot.origin != "failed" && has_drivers_cache(setup))
        return;
    EXPECT_EQ(native.kernels, ingot.kernels) << ingot.origin << "\n" << native.log << "\n" << ingot.log;
}

/* Expects that the request makes the recorded program, and that the application then loads it. */
static void expect_from_requests(const Workplace &workplace, const ProgramSetup &setup, const BuildResult &built)
{
    const BuildResult recorded = workplace.build_requests(setup);
    EXPECT_TRUE(!built.is_cacheable() || recorded.origin != "unrecorded");
    if (recorded.origin == "unrecorded" || !built.is_cacheable())
        return;
    EXPECT_EQ("built", recorded.origin) << recorded.log;
    EXPECT_EQ("", recorded.reason);
    EXPECT_EQ(built.kernels, recorded.kernels) << recorded.log;
    EXPECT_EQ("storage", workplace.build_after_requests(setup).origin);
}

/* Returns what the compiler alone makes of a program in a workplace that has only the program's files. Builds equal
 * programs once. */
static BuildResult native_result_of(const Workplace &workplace, const ProgramSetup &setup)
{
    static std::map<std::string, BuildResult> known;
    std::string key = packed(setup);
    for (const auto *pairs : {&setup.files, &setup.environment}) {
        put(&key, "");
        for (const auto &[name, value] : *pairs) {
            put(&key, name);
            put(&key, value);
        }
    }
    const auto found = known.find(key);
    if (found != known.end())
        return found->second;
    return known.emplace(key, workplace.build_natively(setup)).first->second;
}

bool expect_not_stale(const ProgramSetup &first, const ProgramSetup &second, bool must_differ)
{
    const Workplace workplace;
    const BuildResult first_native = native_result_of(workplace, first);
    const BuildResult first_built = workplace.build(first);
    expect_true(first, first_native, first_built);
    const BuildResult second_native =
        first.files == second.files ? native_result_of(workplace, second) : workplace.build_natively(second);
    const BuildResult second_built = workplace.build(second);
    if (must_differ) {
        EXPECT_NE(first_native.kernels, second_native.kernels) << first_native.log << second_native.log;
    }
    expect_true(second, second_native, second_built);
    expect_true(second, second_native, workplace.build(second)); /* loads what the build above stored */
    return first_built.is_cacheable() && second_built.is_cacheable();
}

std::string named(const std::string &name)
{
    return "#undef NAME\n#define NAME " + name + "\n";
}

bool expect_seen(ProgramSetup setup, const std::string &path)
{
    ProgramSetup second = setup;
    setup.files.emplace_back(path, named("before"));
    second.files.emplace_back(path, named("after"));
    return expect_not_stale(setup, second);
}

void expect_told_apart(ProgramSetup setup, const std::string &one, const std::string &other, bool must_differ)
{
    ProgramSetup second = setup;
    setup.options = one;
    second.options = other;
    SCOPED_TRACE(one + " | " + other);
    (void)expect_not_stale(setup, second, must_differ);
    (void)expect_not_stale(second, setup, must_differ);
}

bool expect_like_native(const ProgramSetup &setup)
{
    const Workplace workplace;
    const BuildResult native = workplace.build_natively(setup);
    const BuildResult built = workplace.build(setup);
    const BuildResult again = workplace.build(setup);
    EXPECT_EQ(native.kernels, built.kernels) << built.log << "\n" << native.log;
    EXPECT_EQ(native.kernels, again.kernels) << again.log;
    EXPECT_EQ(native.origin == "failed", built.origin == "failed") << native.log << "\n" << built.log;
    EXPECT_EQ(built.origin == "failed" ? "failed"
              : built.is_cacheable()   ? "storage"
                                       : "built",
              again.origin)
        << built.reason;
    expect_from_requests(workplace, setup, built);
    if (!built.reason.empty())
        std::cout << "not cacheable: " << built.reason << std::endl;
    return built.is_cacheable();
}

} // namespace conformance
