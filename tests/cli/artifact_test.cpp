/*
 * artifact_test.cpp - tests what the tool's commands do with artifacts.
 */
#include "cli/tool.h"

#include <ingot/private/artifact.h>

namespace
{

using Fields = std::vector<std::pair<std::string, std::string>>;
using Parts = std::vector<std::pair<std::string, std::string>>;

class CliArtifact : public CliTest
{
protected:
    void SetUp() override
    {
        ProgramText text;
        text.sources = {"kernel twice x 2 *\n"};
        add_program("alpha", "1.0", text);
        add("triton", {{"source", "add"}, {"target", "cuda:80"}}, "add_kernel",
            {{"add.cubin", "code"}, {"add.json", "{}"}, {"sub/add.ptx", "ptx"}});
        add("jax", {{"hlo", std::string(1000, 'h')}}, "jit_f", {{"", "executable"}});
    }

    static std::vector<uint8_t> id_of(const std::string &kind, const Fields &fields)
    {
        std::vector<ingot_artifact_field_t> list;
        for (const auto &[name, value] : fields)
            list.push_back({name.c_str(), value.size(), value.data()});
        ingot_artifact_key_t key = INGOT_ARTIFACT_KEY_INIT;
        key.kind = kind.c_str();
        key.field_count = list.size();
        key.fields = list.data();
        size_t size = 0;
        EXPECT_EQ(INGOT_SUCCESS, ingot_artifact_key_get_id(&key, &size, nullptr));
        std::vector<uint8_t> id(size);
        EXPECT_EQ(INGOT_SUCCESS, ingot_artifact_key_get_id(&key, &size, id.data()));
        return id;
    }

    std::vector<uint8_t> add(const std::string &kind, const Fields &fields, const std::string &label,
                             const Parts &parts) const
    {
        const std::vector<uint8_t> id = id_of(kind, fields);
        std::vector<ingot_artifact_part_t> list;
        std::string bytes;
        for (const auto &[name, value] : parts) {
            list.push_back({name.c_str(), value.size()});
            bytes += value;
        }
        ingot_artifact_info_t info = INGOT_ARTIFACT_INFO_INIT;
        info.label = label.c_str();
        info.make_time_ms = 1500;
        info.made_at_unix_ms = 1700000000000;
        info.part_count = list.size();
        info.parts = list.data();
        ingot_buffer_t blob = INGOT_BUFFER_INIT;
        EXPECT_EQ(INGOT_SUCCESS, ingot_artifact_pack(id.size(), id.data(), &info, bytes.size(), bytes.data(), &blob));
        const store_fixture::Store store = open_store();
        EXPECT_EQ(INGOT_SUCCESS, ingot_storage_store(store.get(), id.size(), id.data(), blob.size, blob.bytes));
        blob.release(&blob);
        return id;
    }

    std::string name_of(const std::string &kind) const { return json("ls --kind " + kind, "j[0][\"entry\"]"); }
};

TEST_F(CliArtifact, AreListedByKind)
{
    const Result result = run({"ls"});
    EXPECT_TRUE(result.is(0));
    for (const char *text : {"triton", "add_kernel", "1.5 s", "jax", "jit_f", "reference"})
        EXPECT_NE(std::string::npos, result.output.find(text)) << text << "\n" << result.output;
    EXPECT_EQ("['jax', 'program', 'triton']", json("ls", "sorted(e[\"kind\"] for e in j)"));
    EXPECT_EQ("['add_kernel']", json("ls --kind triton", "[e[\"source_name\"] for e in j]"));
    EXPECT_EQ("[1500000000]", json("ls --kind triton", "[e[\"build_time_ns\"] for e in j]"));
    EXPECT_EQ("['program']", json("ls --kind program", "[e[\"kind\"] for e in j]"));
    EXPECT_EQ("['program']", json("ls --kind result", "[e[\"kind\"] for e in j]"));
    EXPECT_EQ(json("ls", "len(j) - 1"), json("ls --kind artifact", "len(j)"));
    EXPECT_EQ("0", json("ls --kind tri", "len(j)"));
    EXPECT_EQ("['cuda:80']", json("ls --kind triton", "[e[\"device\"] for e in j]"));
    EXPECT_EQ("['triton']", json("ls --device CUDA", "[e[\"kind\"] for e in j]"));
    EXPECT_EQ("['triton']", json("ls --source cuda:80", "[e[\"kind\"] for e in j]"));
    EXPECT_EQ("['jax']", json("ls --source jit_f", "[e[\"kind\"] for e in j]"));
}

TEST_F(CliArtifact, AreShownWithFieldsAndParts)
{
    const std::string name = name_of("triton");
    const Result result = run({"show", name});
    EXPECT_TRUE(result.is(0));
    for (const char *text : {"artifact: triton", "key.target: cuda:80", "key.source: add", "label        add_kernel",
                             "make time    1.5 s", "made         2023-11-14", "add.cubin, 4 B", "sub/add.ptx, 3 B"})
        EXPECT_NE(std::string::npos, result.output.find(text)) << text << "\n" << result.output;
    EXPECT_EQ("cuda:80", json("show " + name, "j[0][\"id\"][\"key.target\"]"));
    EXPECT_EQ("['add.cubin', 'add.json', 'sub/add.ptx']",
              json("show " + name, "[p[\"name\"] for p in j[0][\"blob\"][\"parts\"]]"));
    EXPECT_NE(std::string::npos, run({"show", name_of("jax")}).output.find("(unnamed), 10 B"));
}

TEST_F(CliArtifact, AreExplainedByTheFieldThatDiffers)
{
    const fs::path file = scratch() / "wanted";
    store_fixture::write_file(file, id_of("triton", {{"source", "add"}, {"target", "cuda:90"}}));
    const Result result = run({"explain", file.string()});
    EXPECT_TRUE(result.is(1, "nearest is " + name_of("triton")));
    EXPECT_TRUE(result.says("key.target\n"));
    EXPECT_EQ(std::string::npos, result.output.find("key.source")) << result.output;
    EXPECT_EQ("[{'field': 'key.target', 'expected': 'cuda:90', 'found': 'cuda:80'}]",
              json("explain " + file.string(), "j[\"differences\"]").substr(0, 200));
    store_fixture::write_file(file, id_of("triton", {{"source", "add"}, {"target", "cuda:80"}}));
    EXPECT_EQ(0, run({"explain", file.string()}).code);
    /* the nearest is of the same kind, although all its fields differ */
    store_fixture::write_file(file, id_of("jax", {{"other", "x"}, {"target", "cuda:80"}}));
    EXPECT_EQ(name_of("jax"), json("explain " + file.string(), "j[\"nearest\"]"));
}

TEST_F(CliArtifact, AreExplainedByTheMetadataBesideThemInsteadOfAHash)
{
    const auto add_kernel = [this](const char *key, const char *metadata, const char *source) {
        add("triton", {{"key", key}, {"group", "mul.json"}}, "mul.json",
            {{"mul.cubin", key}, {"mul.json", metadata}, {"mul.source", source}});
    };
    add_kernel("HASH1", R"({"hash": "1", "num_warps": 4, "target": {"arch": 90}, "old": 1})", "#loc = 1\n  %c = 64\n");
    add_kernel("HASH2", R"({"hash": "2", "num_warps": 8, "target": {"arch": 90}, "new": 2})", "#loc = 2\n  %c = 128\n");
    EXPECT_EQ("[('mul.json: num_warps', '8', '4'), ('mul.json: new', '2', None), "
              "('mul.source', '%c = 128', '%c = 64'), ('mul.json: old', None, '1')]",
              json("explain --last 1",
                   "[(d[\"field\"], d.get(\"expected\"), d.get(\"found\")) for d in j[0][\"differences\"]]"));
    EXPECT_TRUE(run({"explain", "--last", "1"}).says("mul.json: num_warps\n  wanted:  8\n  stored:  4\n"));
}

TEST_F(CliArtifact, AreSummedUpByKind)
{
    EXPECT_EQ("[('jax', 1), ('program', 1), ('triton', 1)]",
              json("stats", "sorted((k[\"name\"], k[\"entries\"]) for k in j[\"by_kind\"])"));
    EXPECT_EQ("['reference']", json("stats", "[k[\"name\"] for k in j[\"by_backend\"]]"));
    EXPECT_EQ("['alpha']", json("stats", "[k[\"name\"] for k in j[\"by_device\"]]"));
    EXPECT_TRUE(run({"stats"}).says("KIND"));
}

/* Others stay. */
TEST_F(CliArtifact, AreEvictedByKind)
{
    add("triton", {{"source", "mul"}}, "mul_kernel", {{"", "code"}});
    add("triton", {{"source", "sub"}}, "sub_kernel", {{"", "code"}});
    EXPECT_EQ(2, run({"evict", "--kind", "triton"}).code) << "no limit";
    EXPECT_EQ(2, run({"evict", "--kind", "triton", "--max-entries", "1"}).code);
    EXPECT_EQ("0", json("evict --kind triton --max-age 1h", "j[\"removed_entries\"]"));
    EXPECT_EQ("1", json("evict --kind program --all", "j[\"removed_entries\"]"));
    EXPECT_EQ("3", json("evict --kind triton --max-age none", "j[\"removed_entries\"]"));
    EXPECT_EQ("['jax']", json("ls", "[e[\"kind\"] for e in j]"));
    EXPECT_EQ("True", json("stats", "j[\"recorded_bytes\"] == j[\"bytes\"]"));
}

/* A key is told from the other keys of one label by its fields. */
TEST_F(CliArtifact, ShowWhatDiffersBetweenThoseOfOneName)
{
    for (const char *warps : {"4", "8"})
        add("triton", {{"source", "mul"}, {"num_warps", warps}}, "mul_kernel", {{"", "code"}});
    const std::string list = run({"ls", "--kind", "triton"}).output;
    EXPECT_NE(std::string::npos, list.find("  num_warps=4  ")) << list;
    EXPECT_NE(std::string::npos, list.find("  num_warps=8  ")) << list;
    EXPECT_EQ(std::string::npos, list.find("source=mul")) << list;
    const Result result = run({"explain", "--last", "1"});
    EXPECT_TRUE(result.is(0, " mul_kernel, stored "));
    EXPECT_TRUE(result.says("key.num_warps\n  wanted:  8\n  stored:  4\n"));
}

TEST_F(CliArtifact, AreReadPartByPart)
{
    const std::string name = name_of("triton");
    EXPECT_EQ("code", run({"show", "--part", "add.cubin", name}).output);
    EXPECT_EQ("ptx", run({"show", "--part=sub/add.ptx", "add_kernel"}).output);
    EXPECT_EQ("executable", run({"show", "--part", "", name_of("jax")}).output);
    EXPECT_TRUE(run({"show", "--part", "add", name}).is(1, "has no part of this name"));
    EXPECT_EQ(1, run({"show", "--part", "", "no-such-entry"}).code);
    EXPECT_TRUE(run({"show", "--part", "", name_of("program")}).is(1, "artifact's magic number"));
    EXPECT_EQ(2, run({"show", "--part", "x", name, name}).code);
    EXPECT_EQ(4, run_shell("$INGOT show --dir $STORE --part add.cubin add_kernel >/dev/full").code);
}

TEST_F(CliArtifact, CommandNoTerminal)
{
    add("evil", {}, "evil\x1b[2J", {{"evil\x1b[2J\n", "4"}});
    EXPECT_EQ(std::string::npos, run({"show", name_of("evil")}).output.find('\x1b'));
    EXPECT_EQ(std::string::npos, run({"ls"}).output.find('\x1b'));
}

} // namespace
