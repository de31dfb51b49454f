/*
 * build_link_test.cpp - tests `ingot build` of linked programs: records an application that links its program (with
 * `ingot run --record`), builds from the recipe, and expects that the application then compiles nothing.
 */
#include <algorithm>
#include <fstream>

#include "cli/tool.h"
#include "support/forged_recipe.h"
#include "support/opencl_driver_copy.h"

namespace
{

class CliBuildLink : public CliTest
{
protected:
    /* Runs the application under the tool, with a store. Returns the tool's counts. */
    std::string run_application(std::vector<std::string> options, const fs::path &store,
                                const std::vector<std::string> &arguments = {},
                                const std::map<std::string, std::string> &environment = {}) const
    {
        options.insert(options.begin(),
                       {CLI_PROGRAM, "run", "--stats", "--namespace", "app", "--store", store.string()});
        options.insert(options.end(), {"--", LINK_APPLICATION});
        options.insert(options.end(), arguments.begin(), arguments.end());
        const Result result = run_command(options, environment);
        EXPECT_EQ(0, result.code) << result.output;
        EXPECT_NE(std::string::npos, result.output.find("1 kernels\n")) << result.output;
        return result.output;
    }
    Result tool(std::vector<std::string> arguments) const
    {
        arguments.insert(arguments.begin(), CLI_PROGRAM);
        return run_command(arguments, {{"POCL_DEVICES", "pthread"}, {"CreateMultipleRootDevices", "1"}});
    }
    Result build(std::vector<std::string> options) const
    {
        options.insert(options.begin(), {"build", recipe()});
        return tool(options);
    }
    Result build_into(const fs::path &store) const { return build({"--into", store.string(), "--namespace", "app"}); }
    static void expect_warm(const std::string &output)
    {
        EXPECT_NE(std::string::npos, output.find("compiled        0\n")) << output;
        EXPECT_NE(std::string::npos, output.find("passed through  0, ")) << output;
    }
    /* Writes the files that the application includes. */
    void write_folder(const std::string &more = "5") const
    {
        fs::create_directories(fs::path(folder()) / "deep");
        std::ofstream(fs::path(folder()) / "outer.h") << "#include \"deep/inner.h\"\n#define MORE (INNER + AMOUNT)\n";
        std::ofstream(fs::path(folder()) / "deep" / "inner.h")
            << "#include \"amount.h\"\n#define INNER " << more << "\n";
    }
    /* Returns the kernels that the application requested from its linked program. */
    std::string kernels_of_link(const std::string &path) const
    {
        const std::string key = json("recipe list " + path, "[p['key'] for p in j if p['kind'] == 'link'][0]");
        return json("recipe show " + path + " " + key, "j[0]['kernels']");
    }
    std::string folder() const { return (scratch() / "included").string(); }
    std::string recipe() const { return (scratch() / "app.recipe").string(); }
};

TEST_F(CliBuildLink, BuildsWhatTheApplicationLinks)
{
    const std::string recorded = run_application({"--record", recipe()}, scratch() / "first");
    EXPECT_EQ(std::string::npos, recorded.find("compiled        0")) << recorded;
    EXPECT_EQ("['add']", kernels_of_link(recipe()));
    const Result built = build_into(root());
    EXPECT_EQ(0, built.code) << built.output;
    EXPECT_EQ(0u, built.output.find("1 built, 0 present (")) << built.output;
    expect_warm(run_application({}, root()));
    const Result again = build_into(root());
    EXPECT_EQ(0u, again.output.find("0 built, 1 present (")) << again.output;

    const Result without = build({"--into", (scratch() / "other").string()});
    EXPECT_EQ(1, without.code) << without.output;
    EXPECT_NE(std::string::npos, without.output.find("linked programs need the OpenCL layer")) << without.output;
}

/* When `ingot build` runs, the included files no longer exist. */
TEST_F(CliBuildLink, BuildsObjectsThatIncludeFiles)
{
    write_folder();
    run_application({"--record", recipe()}, scratch() / "first", {folder()});
    fs::remove_all(folder());
    EXPECT_EQ("['link', 'object', 'object'] ['INGOT_SUCCESS']",
              json("recipe list " + recipe(), "sorted(p['kind'] for p in j), sorted({p['status'] for p in j})"));
    const Result built = build_into(root());
    EXPECT_EQ(0, built.code) << built.output;
    EXPECT_EQ(0u, built.output.find("1 built, 0 present (")) << built.output;
    write_folder();
    expect_warm(run_application({}, root(), {folder()}));
    EXPECT_EQ(0u, build_into(root()).output.find("0 built, 1 present ("));
}

TEST_F(CliBuildLink, RecordsObjectsWhoseFilesAreGoneBeforeTheLink)
{
    write_folder();
    run_application({"--record", recipe()}, scratch() / "first", {folder(), "empty"});
    ASSERT_FALSE(fs::exists(fs::path(folder()) / "outer.h"));
    EXPECT_EQ(0u, build_into(root()).output.find("1 built, 0 present ("));
    for (int i = 0; i < 2; ++i) { /* a warm process must record the same */
        write_folder();
        expect_warm(run_application({"--record", recipe()}, root(), {folder(), "empty"}));
        EXPECT_EQ("3", json("recipe list " + recipe(), "len(j)"));
    }
}

/* The files may have changed when `ingot build` runs, and when the application runs again. */
TEST_F(CliBuildLink, BuildsWhatWasRecordedIfTheFilesChanged)
{
    write_folder("5");
    run_application({"--record", recipe()}, scratch() / "first", {folder()});
    write_folder("6");
    EXPECT_EQ(0u, build_into(root()).output.find("1 built, 0 present ("));
    const std::string changed = run_application({"--record", recipe()}, root(), {folder()});
    EXPECT_EQ(std::string::npos, changed.find("compiled        0\n")) << changed;
    EXPECT_EQ("5", json("recipe list " + recipe(), "len(j)"));
    const fs::path other = scratch() / "other";
    EXPECT_EQ(0u, build_into(other).output.find("2 built, 0 present ("));
    for (const char *more : {"5", "6"}) {
        write_folder(more);
        expect_warm(run_application({}, other, {folder()}));
    }
}

TEST_F(CliBuildLink, ShowsExtractsAndCopiesObjectsWithFiles)
{
    write_folder();
    run_application({"--record", recipe()}, scratch() / "first", {folder()});
    const std::string key = json("recipe list " + recipe(), "max(j, key=lambda p: p['text_bytes'])['key']");
    EXPECT_EQ("object ['outer.h', 'inner.h'] ['amount.h']",
              json("recipe show " + recipe() + " " + key,
                   "j[0]['kind'], [f['name'] for f in j[0]['files']], [h['name'] for h in j[0]['headers']]"));
    const fs::path sources = scratch() / "sources";
    const Result extracted = tool({"recipe", "extract", recipe(), sources.string(), key});
    EXPECT_EQ("1 programs extracted\n", extracted.output);
    const fs::path program = fs::directory_iterator(sources)->path();
    for (const char *name : {"outer.h", "inner.h", "amount.h"})
        EXPECT_TRUE(fs::exists(program / name)) << name;
    const std::string merged = (scratch() / "merged").string();
    EXPECT_EQ(0, tool({"recipe", "merge", merged, recipe()}).code);
    EXPECT_EQ(0, tool({"recipe", "prune", merged, "--name", "no-such-name"}).code);
    fs::remove_all(folder());
    const Result built = tool({"build", merged, "--into", root().string(), "--namespace", "app"});
    EXPECT_EQ(0u, built.output.find("1 built, 0 present (")) << built.output;
    write_folder();
    expect_warm(run_application({}, root(), {folder()}));
}

/* Whatever a recipe says, its objects are compiled only from files that it contains. */
TEST_F(CliBuildLink, ReadsNoFilesForObjects)
{
    using namespace forged_recipe;
    const fs::path secret = fs::current_path() / "secret.h";
    const Bytes opencl = field(2, text("opencl"));
    std::ofstream(secret) << "#define SECRET 1\n";
    const auto expect_not_built = [&](const std::string &code, const Bytes &options, const Bytes &includes,
                                      const Bytes &link_options) {
        const Bytes source = text(code + "kernel void f(global int *x) { x[0] = SECRET; }\n");
        const Bytes object = join({field(1, u32(2)), opencl, source_field(source, INGOT_SOURCE_OPENCL_C), options,
                                   includes, field(13, u32(1))});
        const Key key = key_of(object);
        const Bytes link = join({field(1, u32(3)), opencl, link_options, field(12, Bytes(key.begin(), key.end())),
                                 link_options.empty() ? Bytes() : field(13, u32(1))});
        recipe_fixture::write_file(recipe(),
                                   recipe_of({record(RECIPE_RECORD_TEXT, source), record(RECIPE_RECORD_PROGRAM, object),
                                              record(RECIPE_RECORD_PROGRAM, link)}));
        const Result built = build_into(root());
        EXPECT_EQ(1, built.code) << built.output;
        EXPECT_NE(std::string::npos, built.output.find("0 built, 0 present")) << built.output;
        EXPECT_EQ(std::string::npos, built.output.find("crashed")) << built.output;
    };
    const Bytes directory = field(6, text("-I" + secret.parent_path().string()));
    for (const std::string &name : {std::string("secret.h"), secret.string()}) {
        const std::string include = "#include \"" + name + "\"\n";
        for (const Bytes &options : {Bytes(), directory}) {
            for (const Bytes &includes : {Bytes(), field(11, u32(0)), field(11, u32(1)), field(11, u32(3))})
                expect_not_built(include, options, includes, {});
        }
    }
    expect_not_built("", field(6, text("-include " + secret.string())), {}, {});
    expect_not_built("", field(6, text("-DSECRET=2")), {}, field(7, text("-I" + secret.parent_path().string())));
    fs::remove(secret);
}

/* For an upgraded driver, the tool rebuilds the linked program of an unmodified application, and its objects. */
TEST_F(CliBuildLink, RebuildsWhatTheApplicationLinksAfterAnUpgrade)
{
    const std::map<std::string, std::string> keeping = {{"INGOT_PERSIST_RECIPES", "1"}};
    const std::string cold = run_application({}, root(), {}, keeping);
    EXPECT_EQ(std::string::npos, cold.find("compiled        0")) << cold;
    auto upgraded = upgraded_opencl_driver(scratch() / "driver", 1);
    upgraded.insert({{"POCL_DEVICES", "pthread"}, {"CreateMultipleRootDevices", "1"}});
    const std::vector<std::string> stale = {CLI_PROGRAM, "build", "--stale", "--into", root().string()};
    const Result rebuilt = run_command(stale, upgraded);
    EXPECT_EQ(0, rebuilt.code) << rebuilt.output;
    EXPECT_EQ(0u, rebuilt.output.find("1 rebuilt, 0 up to date (")) << rebuilt.output;
    const uint64_t recipe_bytes = fs::file_size(root() / "app" / "programs.recipe");
    upgraded.insert(keeping.begin(), keeping.end());
    const std::string warm = run_application({}, root(), {}, upgraded);
    EXPECT_NE(std::string::npos, warm.find("compiled        0\n")) << warm;
    EXPECT_NE(std::string::npos, warm.find("passed through  0, ")) << warm;
    EXPECT_EQ(recipe_bytes, fs::file_size(root() / "app" / "programs.recipe")) << "the rebuild noted the new ids";
    const Result again = run_command(stale, upgraded);
    EXPECT_EQ(0u, again.output.find("0 rebuilt, 1 up to date (")) << again.output;
}

} // namespace
