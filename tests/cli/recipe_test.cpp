/*
 * recipe_test.cpp - tests `ingot recipe`, which lists, shows, merges, prunes and extracts recipes, including hostile
 * ones.
 */
#include <algorithm>

#include "cli/recipes.h"
#include "support/forged_recipe.h"
#include "support/recipe_fixture.h"

namespace
{

class CliRecipe : public RecipeTest
{
protected:
    std::string recipe_json(const std::string &arguments, const std::string &expression) const
    {
        return json("recipe " + arguments, expression);
    }
    static std::string text_of(const fs::path &path)
    {
        const auto bytes = store_fixture::read_file(path);
        return {bytes.begin(), bytes.end()};
    }
};

TEST_F(CliRecipe, ListsAndShows)
{
    record(recipe(), {numbered_text(1), {"kernel void with(global int *x) { x[0] = N; }\n", "with.cl", "-DN=7"}});
    const std::string path = recipe().string();
    EXPECT_EQ("['k1.cl', 'with.cl']", recipe_json("list " + path, "sorted(p['name'] for p in j)"));
    const Result list = tool({"recipe", "list", path});
    EXPECT_EQ(0, list.code);
    EXPECT_EQ(0u, list.output.find("KEY ")) << list.output;
    EXPECT_EQ(3, std::count(list.output.begin(), list.output.end(), '\n'));
    EXPECT_EQ("[2, 2, 0, 0]",
              recipe_json("show " + path, "[j[k] for k in ('programs', 'texts', 'damaged_records', 'torn_bytes')]"));
    const std::string key = recipe_json("list " + path, "[p['key'] for p in j if p['name'] == 'with.cl'][0]");
    EXPECT_EQ("['-DN=7', 'opencl_c', 46]",
              recipe_json("show " + path + " " + key.substr(0, 10),
                          "[j[0]['compile_options']] + [j[0]['sources'][0][k] for k in ('kind', 'bytes')]"));
    EXPECT_NE(std::string::npos, tool({"recipe", "show", path, key}).output.find("compile_options: -DN=7\n"));
    EXPECT_EQ(1, tool({"recipe", "show", path, "zz"}).code);
    EXPECT_EQ(1, tool({"recipe", "show", path, ""}).code) << "both begin so";
}

TEST_F(CliRecipe, MergesAndPrunes)
{
    const std::string first = (scratch() / "first").string();
    const std::string second = (scratch() / "second").string();
    const std::string both = (scratch() / "both").string();
    record(first, {numbered_text(1), numbered_text(2)});
    record(second, {numbered_text(2), numbered_text(3)});
    EXPECT_EQ("[3, 0]", recipe_json("merge " + both + " " + first + " " + second, "[j['copied'], j['failed']]"));
    EXPECT_EQ("['k1.cl', 'k2.cl', 'k3.cl']", recipe_json("list " + both, "sorted(p['name'] for p in j)"));
    EXPECT_EQ("3", recipe_json("list " + first + " " + second, "len(j)"));
    const auto size = fs::file_size(both);
    EXPECT_EQ(0, tool({"recipe", "merge", both, first}).code);
    EXPECT_EQ(size, fs::file_size(both)) << "it has them";

    EXPECT_EQ("[2, 1]", recipe_json("prune " + both + " --name K2", "[j['copied'], j['removed']]"));
    EXPECT_EQ("['k1.cl', 'k3.cl']", recipe_json("list " + both, "sorted(p['name'] for p in j)"));
    EXPECT_EQ("2", recipe_json("show " + both, "j['texts']"));
    EXPECT_EQ("2", recipe_json("prune " + both + " --faster 5s", "j['copied']")) << "their times are unknown";
    EXPECT_FALSE(fs::exists(both + ".pruned"));
    EXPECT_EQ(3, tool({"recipe", "merge", both, first + "-none"}).code);
    EXPECT_EQ(3, tool({"recipe", "merge", "/nonexistent/recipe", first}).code);
    store_fixture::write_file(both + ".pruned", {});
    EXPECT_EQ(4, tool({"recipe", "prune", both}).code);
}

/* The files are like those of several machines, which have different ids for the same program. */
TEST_F(CliRecipe, MergeKeepsTheIdsOfAllFiles)
{
    std::vector<std::vector<uint8_t>> ids;
    std::string files;
    for (const char *driver : {"1", "2", "3"}) {
        ReferenceDevice device;
        device.driver_version = driver;
        const Context context = device.make();
        const std::string path = (scratch() / driver).string();
        const recipe_fixture::Writer writer = recipe_fixture::open_writer(path);
        for (const char *source : {"same", driver}) {
            const ProgramText text{{std::string("kernel twice x ") + source + " *\n"}};
            const Desc desc = text.make(context);
            recipe_fixture::add(writer, desc);
            ids.push_back(id_of(desc));
        }
        files += " " + path;
    }
    const fs::path all = scratch() / "all";
    EXPECT_EQ("[4, 0]", recipe_json("merge " + all.string() + files, "[j['copied'], j['failed']]"));
    const recipe_fixture::Recipe recipe = recipe_fixture::open_recipe(all);
    size_t indices[6] = {};
    for (size_t i = 0; i < ids.size(); ++i)
        EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_find_id(recipe.get(), ids[i].size(), ids[i].data(), &indices[i])) << i;
    EXPECT_EQ(indices[0], indices[2]);
    EXPECT_EQ(indices[0], indices[4]);
    EXPECT_EQ("[4, 0]", recipe_json("merge " + all.string() + files, "[j['copied'], j['failed']]"));
    EXPECT_EQ(4u, recipe_fixture::summary_of(recipe_fixture::open_recipe(all)).program_count);
}

/* In the first file, the program's text is damaged or missing, so the program comes from the second file. */
TEST_F(CliRecipe, MergeKeepsTheIdsOfDamagedCopies)
{
    for (const bool is_missing : {false, true}) {
        std::vector<std::vector<uint8_t>> ids;
        std::string files;
        for (const char *driver : {"1", "2"}) {
            ReferenceDevice device;
            device.driver_version = driver;
            const Context context = device.make();
            const std::string path = (scratch() / driver).string();
            fs::remove(path);
            const Desc desc = ProgramText().make(context);
            recipe_fixture::add(recipe_fixture::open_writer(path), desc);
            ids.push_back(id_of(desc));
            files += " " + path;
        }
        const fs::path damaged = scratch() / "1";
        std::vector<uint8_t> bytes = recipe_fixture::read_file(damaged);
        /* offsets of the text's record (after the file's header, 32 bytes) and of its content (after the record's
         * header, 96 bytes) */
        const size_t text = 32, content = text + 96;
        if (is_missing) { /* leave out the text's record */
            size_t size = 0;
            memcpy(&size, bytes.data() + text + 8, 8);
            bytes.erase(bytes.begin() + text, bytes.begin() + static_cast<ptrdiff_t>(content + size));
        } else {
            bytes[content] ^= 1;
        }
        recipe_fixture::write_file(damaged, bytes);
        const fs::path all = scratch() / (is_missing ? "missing" : "corrupt");
        EXPECT_EQ("[1, 0]", recipe_json("merge " + all.string() + files, "[j['copied'], j['failed']]"));
        const recipe_fixture::Recipe recipe = recipe_fixture::open_recipe(all);
        EXPECT_EQ(INGOT_SUCCESS, recipe_fixture::program_of(recipe, 0).status);
        for (const std::vector<uint8_t> &id : ids) {
            size_t index = SIZE_MAX;
            EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_find_id(recipe.get(), id.size(), id.data(), &index)) << is_missing;
            EXPECT_EQ(0u, index);
        }
        const fs::path none = scratch() / "none";
        EXPECT_EQ(1, tool({"recipe", "merge", none.string(), damaged.string()}).code) << "no copy is intact";
        EXPECT_EQ(0u, recipe_fixture::summary_of(recipe_fixture::open_recipe(none)).program_count);
        fs::remove(none);
    }
}

TEST_F(CliRecipe, ExtractsWhatAPersonCanRead)
{
    const RecipeText text = {"#include \"amount.h\"\nkernel void head(global int *x) { x[0] = AMOUNT; }\n",
                             "head.cl",
                             "-DX=1",
                             {{"amount.h", "#define AMOUNT 3\n"}}};
    record(recipe(), {text});
    const fs::path folder = scratch() / "sources";
    const Result result = tool({"recipe", "extract", recipe().string(), folder.string()});
    EXPECT_EQ("1 programs extracted\n", result.output);
    ASSERT_EQ(0, result.code);
    const fs::path program = fs::directory_iterator(folder)->path();
    EXPECT_EQ(text.source, text_of(program / "head.cl"));
    EXPECT_EQ("#define AMOUNT 3\n", text_of(program / "amount.h"));
    const std::string notes = text_of(program / "program.txt");
    EXPECT_NE(std::string::npos, notes.find("compile options: -DX=1\n")) << notes;
    EXPECT_NE(std::string::npos, notes.find("source: head.cl\nheader: amount.h\n")) << notes;
    EXPECT_EQ(4, tool({"recipe", "extract", recipe().string(), folder.string()}).code) << "the folder is there";
    EXPECT_EQ(1, tool({"recipe", "extract", recipe().string(), folder.string(), "zz"}).code);
}

/* The names in a recipe may be anything. The tool must use them neither as paths nor as commands to the terminal. */
TEST_F(CliRecipe, MakesNoPathsOfNames)
{
    const std::string evil = "../../../evil.h";
    const std::string long_name(400, 'n');
    record(recipe(), {{"#include \"" + evil + "\"\n#include \"evil.h\"\n#include \"" + long_name +
                           ".h\"\nkernel void f(global int *x) { x[0] = 1; }\n",
                       "\033[31mred\n.cl",
                       "",
                       {{evil, "/* 1 */\n"},
                        {"evil.h", "/* 2 */\n"},
                        {long_name + ".h", "/* 3 */\n"},
                        {"program.txt", "/* 4 */\n"},
                        {".._.._.._evil.h", "/* 5 */\n"}}}});
    const fs::path folder = scratch() / "a" / "b" / "c";
    fs::create_directories(folder.parent_path());
    const Result result = tool({"recipe", "extract", recipe().string(), folder.string()});
    EXPECT_EQ(0, result.code) << result.output;
    size_t file_count = 0;
    for (const auto &item : fs::recursive_directory_iterator(scratch() / "a")) {
        if (!item.is_regular_file())
            continue;
        ++file_count;
        EXPECT_EQ(folder, item.path().parent_path().parent_path()) << item.path();
        const std::string name = item.path().filename().string();
        EXPECT_EQ(std::string::npos,
                  name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"))
            << name;
        EXPECT_GE(150u, name.size());
    }
    EXPECT_EQ(7u, file_count);
    EXPECT_FALSE(fs::exists(scratch() / "evil.h"));
    for (const char *command : {"list", "show"}) {
        const std::string output = tool({"recipe", command, recipe().string()}).output;
        EXPECT_EQ(std::string::npos, output.find('\033')) << output;
    }
    EXPECT_EQ(std::string::npos, tool({"build", recipe().string(), "--into", root().string()}).output.find('\033'));
}

/* A file of a few kilobytes has a program of 320 MiB of text and a kernel whose name would move the cursor. */
TEST_F(CliRecipe, BoundsABombAndSaysSo)
{
    using namespace forged_recipe;
    const Bytes zeros(RECIPE_MAX_TEXT_BYTES);
    Bytes program = join({field(1, u32(1)), field(2, text("opencl")), source_field(zeros, INGOT_SOURCE_OPENCL_C)});
    for (int i = 0; i < 4; ++i)
        program = join({program, field(5, join({reference(zeros), u32(1), text("h")}))});
    const Key key = key_of(program);
    const Bytes kernel = join({Bytes(key.begin(), key.end()), text("\033[2J")});
    store_fixture::write_file(recipe(), recipe_of({forged_recipe::record(RECIPE_RECORD_TEXT, zeros),
                                                   forged_recipe::record(RECIPE_RECORD_PROGRAM, program),
                                                   forged_recipe::record(RECIPE_RECORD_KERNEL, kernel)}));
    EXPECT_GT(20000u, fs::file_size(recipe()));
    const std::string reason = "the texts of the program have more than 256 MiB";
    EXPECT_EQ(reason, json("recipe list " + recipe().string(), "j[0]['reason']"));
    const Result shown =
        tool({"recipe", "show", recipe().string(), json("recipe list " + recipe().string(), "j[0]['key']")});
    EXPECT_NE(std::string::npos, shown.output.find("[2J")) << shown.output;
    EXPECT_EQ(std::string::npos, shown.output.find('\033')) << shown.output;
    const Result built = tool({"build", recipe().string(), "--into", root().string()});
    EXPECT_NE(std::string::npos, built.output.find(reason)) << built.output;
    EXPECT_NE(std::string::npos, built.output.find("0 built")) << built.output;
    const Result extracted = tool({"recipe", "extract", recipe().string(), (scratch() / "sources").string()});
    EXPECT_EQ(1, extracted.code) << extracted.output;
    EXPECT_NE(std::string::npos, extracted.output.find(reason)) << extracted.output;
    const Result chosen = tool({"recipe", "extract", recipe().string(), (scratch() / "chosen").string(),
                                json("recipe list " + recipe().string(), "j[0]['key']")});
    EXPECT_EQ(1, chosen.code) << chosen.output;
    EXPECT_NE(std::string::npos, chosen.output.find(reason)) << chosen.output;
    EXPECT_NE(std::string::npos, chosen.output.find("0 programs extracted")) << chosen.output;
    EXPECT_TRUE(fs::is_empty(scratch() / "chosen"));
}

/* Five programs share a text of 64 MiB, so each of them is small enough. */
TEST_F(CliRecipe, ExtractsNoMoreThanALimitOfTheWhole)
{
    using namespace forged_recipe;
    const Bytes zeros(RECIPE_MAX_TEXT_BYTES);
    std::vector<Bytes> records{forged_recipe::record(RECIPE_RECORD_TEXT, zeros)};
    for (uint32_t i = 0; i < 5; ++i)
        records.push_back(forged_recipe::record(
            RECIPE_RECORD_PROGRAM,
            join({field(1, u32(1)), field(2, text("opencl")), source_field(zeros, INGOT_SOURCE_OPENCL_C),
                  field(5, join({reference(zeros), u32(1), Bytes(1, uint8_t('a' + i))}))})));
    store_fixture::write_file(recipe(), recipe_of(records));
    const fs::path folder = scratch() / "sources";
    const Result extracted = tool({"recipe", "extract", recipe().string(), folder.string()});
    EXPECT_EQ(4, extracted.code) << extracted.output;
    EXPECT_NE(std::string::npos, extracted.output.find("more than 256 MiB")) << extracted.output;
    EXPECT_TRUE(fs::is_empty(folder));
    const Result chosen = tool({"recipe", "extract", recipe().string(), folder.string(),
                                json("recipe list " + recipe().string(), "j[0]['key']")});
    EXPECT_EQ(0, chosen.code) << chosen.output;
}

/* Programs that are too large, or that could not be recorded, do not end a merge. */
TEST_F(CliRecipe, MergesWhatIsLeftOfABomb)
{
    using namespace forged_recipe;
    const Bytes zeros(RECIPE_MAX_TEXT_BYTES);
    const auto large_of = [&](uint32_t kind) {
        Bytes program =
            join({field(1, u32(kind)), field(2, text("opencl")), source_field(zeros, INGOT_SOURCE_OPENCL_C)});
        for (int i = 0; i < 4; ++i)
            program = join({program, field(5, join({reference(zeros), u32(1), text("h")}))});
        return program;
    };
    const Bytes large = large_of(INGOT_RECIPE_PROGRAM);
    const Bytes unrecorded = join({large_of(INGOT_RECIPE_UNRECORDED), field(14, text("\033[2J"))});
    record(recipe(), {numbered_text(1)});
    const fs::path forged = scratch() / "forged.recipe";
    store_fixture::write_file(forged, recipe_of({forged_recipe::record(RECIPE_RECORD_TEXT, zeros),
                                                 forged_recipe::record(RECIPE_RECORD_PROGRAM, large),
                                                 forged_recipe::record(RECIPE_RECORD_PROGRAM, unrecorded)}));
    const fs::path into = scratch() / "into.recipe";
    const Result merged = tool({"recipe", "merge", into.string(), forged.string(), recipe().string()});
    EXPECT_EQ(1, merged.code) << merged.output;
    EXPECT_NE(std::string::npos, merged.output.find("1 programs copied, 0 removed, 2 could not be copied"))
        << merged.output;
    EXPECT_EQ(std::string::npos, merged.output.find('\033')) << merged.output;
}

/* The tool reads the undamaged part of a recipe and reports the rest, or refuses the file. */
TEST_F(CliRecipe, ReportsDamage)
{
    record(recipe(), {numbered_text(1), numbered_text(2), numbered_text(3)});
    const auto bytes = store_fixture::read_file(recipe());
    for (size_t at = 0; at < bytes.size(); at += bytes.size() / 24) {
        auto changed = bytes;
        changed[at] ^= 0x40;
        store_fixture::write_file(recipe(), changed);
        const Result listed = tool({"recipe", "list", recipe().string()});
        EXPECT_TRUE(listed.code == 0 || listed.code == 3) << at << ": " << listed.output;
        const fs::path folder = scratch() / ("sources" + std::to_string(at));
        fs::create_directory(folder);
        const Result extracted = tool({"recipe", "extract", recipe().string(), folder.string()});
        EXPECT_GE(4, extracted.code) << at << ": " << extracted.output;
        for (const auto &item : fs::recursive_directory_iterator(folder)) {
            const std::string name = item.path().stem().string();
            if (item.path().extension() == ".cl") {
                EXPECT_EQ(numbered_text(std::stoi(name.substr(1))).source, text_of(item.path())) << at;
            }
        }
    }
    store_fixture::write_file(recipe(), {bytes.begin(), bytes.end() - 10});
    const Result torn = tool({"recipe", "list", recipe().string()});
    EXPECT_EQ(0, torn.code) << torn.output;
    EXPECT_NE(std::string::npos, torn.output.find(" unfinished bytes at the end were left out")) << torn.output;
    store_fixture::write_file(recipe(), store_fixture::bytes_of("not a recipe"));
    for (const std::vector<std::string> &command : std::vector<std::vector<std::string>>{
             {"recipe", "list"}, {"recipe", "show"}, {"recipe", "prune"}, {"build"}}) {
        auto arguments = command;
        arguments.push_back(recipe().string());
        EXPECT_EQ(3, tool(arguments).code) << command.back();
    }
}

TEST_F(CliRecipe, KnowsWrongUsage)
{
    for (const std::vector<std::string> &arguments :
         std::vector<std::vector<std::string>>{{"recipe"},
                                               {"recipe", "melt", "x"},
                                               {"recipe", "list"},
                                               {"recipe", "merge", "x"},
                                               {"recipe", "extract", "x"},
                                               {"recipe", "prune", "x", "--faster", "5"}})
        EXPECT_EQ(2, tool(arguments).code) << arguments.back();
}

} // namespace
