/*
 * adopt_test.cpp - tests `ingot run --adopt`. A script in place of Python says which versions are installed, and shell
 * commands in place of tools write files as those do.
 */
#include "cli/tool.h"

#include <ingot/artifact.h>

namespace
{

class CliAdopt : public CliTest
{
protected:
    CliAdopt()
    {
        store_fixture::write_file(layer_, store_fixture::bytes_of("a layer"));
        fs::create_directory(scratch() / "bin");
        write(scratch() / "bin/python3", "#!/bin/sh\n[ -n \"$VERSIONS\" ] && printf %s \"$VERSIONS\"\n");
        fs::permissions(scratch() / "bin/python3", fs::perms::owner_all);
    }

    static void write(const fs::path &path, const std::string &text)
    {
        fs::create_directories(path.parent_path());
        store_fixture::write_file(path, store_fixture::bytes_of(text));
    }
    static std::string read(const fs::path &path)
    {
        if (!fs::exists(path))
            return "(missing)";
        const auto bytes = store_fixture::read_file(path);
        return {bytes.begin(), bytes.end()};
    }

    /* Executes a shell command with a directory of this name in the scratch directory, which is $D. */
    Result adopt(const std::string &kind, const std::string &name, const std::string &command,
                 std::map<std::string, std::string> environment = {}) const
    {
        const std::string directory = (scratch() / name).string();
        environment.emplace("VERSIONS", "tool 1.0");
        environment.emplace("INGOT_LAYER_PATH", layer_.string());
        environment.emplace("INGOT_PERSIST_DIR", root().string());
        environment.emplace("OPENCL_LAYERS", "");
        environment.emplace("PATH", (scratch() / "bin").string() + ":" + getenv("PATH"));
        environment.emplace("D", directory);
        environment.emplace("S", scratch().string());
        return run_command({CLI_PROGRAM, "run", "--adopt", kind + "=" + directory, "--", "/bin/sh", "-ec", command},
                           environment);
    }
    /* Fills a new directory, which the command leaves alone. */
    void fill(const std::string &kind, const std::string &name) const
    {
        const Result result = adopt(kind, name, "true");
        EXPECT_EQ(0, result.code) << result.output;
        EXPECT_EQ("", result.output);
    }
    size_t count_stored() const { return store_fixture::entries_of(root()).size(); }

    const fs::path layer_ = scratch() / "layer.so";
};

const char kMake[] = "mkdir -p $D/one/sub $D/two; echo code >$D/one/a.cubin; echo sub >$D/one/sub/b; echo x >$D/two/c; "
                     "chmod +x $D/two/c; : >$D/two/empty";

TEST_F(CliAdopt, FillsAnotherDirectory)
{
    EXPECT_EQ("", adopt("tilelang", "first", kMake).output);
    EXPECT_EQ(5u, count_stored()) << "four files and the list";
    const char *look = "ls $D/one/sub/b $D/two/empty >/dev/null; cat $D/one/a.cubin >$S/seen";
    EXPECT_EQ("", adopt("tilelang", "second", look).output);
    EXPECT_EQ("code\n", read(scratch() / "seen"));
    EXPECT_EQ("code\n", read(scratch() / "second/one/a.cubin"));
    EXPECT_NE(fs::perms::none, fs::status(scratch() / "second/two/c").permissions() & fs::perms::owner_exec);
    EXPECT_EQ(fs::perms::none, fs::status(scratch() / "second/one/a.cubin").permissions() & fs::perms::owner_exec);
    EXPECT_EQ(5u, count_stored());
}

TEST_F(CliAdopt, AddsWhatLaterCommandsMake)
{
    adopt("tilelang", "first", kMake);
    adopt("tilelang", "second", "mkdir $D/three; echo new >$D/three/d");
    fs::remove_all(scratch() / "first");
    adopt("tilelang", "third", "mkdir $D/four; echo newer >$D/four/e");
    fill("tilelang", "fourth");
    EXPECT_EQ("new\n", read(scratch() / "fourth/three/d"));
    EXPECT_EQ("newer\n", read(scratch() / "fourth/four/e"));
    EXPECT_EQ("code\n", read(scratch() / "fourth/one/a.cubin"));
}

TEST_F(CliAdopt, RepairsDamagedFiles)
{
    adopt("tilelang", "first", kMake);
    for (const char *damaged : {"co", "code and more", ""}) {
        write(scratch() / "first/one/a.cubin", damaged);
        adopt("tilelang", "first", "cat $D/one/a.cubin >$S/seen");
        EXPECT_EQ("code\n", read(scratch() / "seen"));
    }
}

TEST_F(CliAdopt, OtherVersionsAndToolsHaveOtherFiles)
{
    adopt("tilelang", "first", kMake);
    adopt("tilelang", "second", "true", {{"VERSIONS", "tool 2.0"}});
    EXPECT_FALSE(fs::exists(scratch() / "second/one"));
    fill("deepgemm", "third");
    EXPECT_FALSE(fs::exists(scratch() / "third/one"));
}

/* Here, the real Python looks for the tool. */
TEST_F(CliAdopt, KeysSayWhatThePythonOfTheCommandFinds)
{
    const fs::path site = scratch() / "site";
    write(site / "warp_lang-1.2.dist-info/METADATA", "Metadata-Version: 2.1\nName: warp-lang\nVersion: 1.2\n");
    const std::map<std::string, std::string> environment = {{"PATH", getenv("PATH")}, {"PYTHONPATH", site.string()}};
    EXPECT_EQ("", adopt("warp", "first", kMake, environment).output);
    EXPECT_EQ(5u, count_stored());
    EXPECT_EQ("[True, 16, True, True]",
              json("show " + names()[0], "[[f['key.versions'].startswith('warp-lang 1.2, cpython-'), "
                                         "len(f['key.processor']), f['key.device'] != '', f['key.driver'] != ''] "
                                         "for f in [j[0]['id']]][0]"));
    EXPECT_NE("", adopt("taichi", "second", "true", environment).output) << "it is not installed";
}

TEST_F(CliAdopt, LeavesADirectoryAloneIfTheToolIsNotInstalled)
{
    const Result result = adopt("warp", "first", "ls $D >/dev/null 2>&1 && exit 1; exit 7", {{"VERSIONS", ""}});
    EXPECT_EQ(7, result.code);
    EXPECT_NE(std::string::npos, result.output.find("the version of warp-lang is unknown")) << result.output;
    EXPECT_EQ(0u, count_stored());
}

TEST_F(CliAdopt, StoresNothingInAReadOnlyStore)
{
    adopt("tilelang", "first", kMake);
    const std::string more = "cat $D/one/a.cubin >$S/seen; mkdir $D/three; echo new >$D/three/d";
    EXPECT_EQ("", adopt("tilelang", "second", more, {{"INGOT_PERSIST_READ_ONLY", "1"}}).output);
    EXPECT_EQ("code\n", read(scratch() / "seen"));
    EXPECT_EQ(5u, count_stored());
}

TEST_F(CliAdopt, KeepsFilesAlsoIfTheCommandFails)
{
    EXPECT_EQ(3, adopt("tilelang", "first", std::string(kMake) + "; exit 3").code);
    fill("tilelang", "second");
    EXPECT_EQ("code\n", read(scratch() / "second/one/a.cubin"));
}

/* A unit of which the store has lost a file is not filled, because the tool would find a part of it. */
TEST_F(CliAdopt, AUnitIsFilledAsAWholeAndStoredAgain)
{
    adopt("tilelang", "first", "mkdir $D/one $D/two; echo a >$D/one/a; echo b >$D/one/b; echo c >$D/two/c");
    const std::string find = "[e['entry'] for e in j if e['source_name'] == 'one/b'][0]";
    fs::remove_all(root() / json("ls", find));
    fill("tilelang", "second");
    EXPECT_FALSE(fs::exists(scratch() / "second/one"));
    EXPECT_EQ("c\n", read(scratch() / "second/two/c"));
    adopt("tilelang", "third", "mkdir $D/one; echo a >$D/one/a; echo b >$D/one/b");
    fill("tilelang", "fourth");
    EXPECT_EQ("b\n", read(scratch() / "fourth/one/b"));
}

TEST_F(CliAdopt, AnEntryThatIsDamagedIsNotWritten)
{
    adopt("tilelang", "first", "mkdir $D/one; echo a >$D/one/a");
    damage(root() / json("ls", "[e['entry'] for e in j if e['source_name'] == 'one/a'][0]") / "kernel.bin");
    const Result result = adopt("tilelang", "second", "[ ! -e $D/one ]; mkdir $D/one; echo a >$D/one/a");
    EXPECT_EQ(0, result.code) << result.output;
    fill("tilelang", "third");
    EXPECT_EQ("a\n", read(scratch() / "third/one/a"));
}

TEST_F(CliAdopt, RelocatesTheFilesThatTheTableNames)
{
    adopt("triton", "first", "mkdir $D/k; echo \"$D/k/a $D/k/b\" >$D/k/__grp__k.json; echo $D >$D/k/a; : >$D/k/x.lock");
    fill("triton", "a longer name");
    const std::string there = (scratch() / "a longer name").string();
    EXPECT_EQ(there + "/k/a " + there + "/k/b\n", read(scratch() / "a longer name/k/__grp__k.json"));
    EXPECT_EQ((scratch() / "first").string() + "\n", read(scratch() / "a longer name/k/a"));
    EXPECT_FALSE(fs::exists(scratch() / "a longer name/k/x.lock"));
}

TEST_F(CliAdopt, FollowsNoLinks)
{
    write(scratch() / "outside/secret", "secret");
    adopt("tilelang", "first",
          "mkdir $D/one; ln -s $S/outside/secret $D/one/link; ln -s $S/outside $D/out; echo a >$D/one/a");
    EXPECT_EQ(2u, count_stored());
    fs::create_directories(scratch() / "second");
    fs::create_symlink(scratch() / "outside", scratch() / "second/one");
    const Result result = adopt("tilelang", "second", "true");
    EXPECT_NE(std::string::npos, result.output.find("was not written"));
    EXPECT_FALSE(fs::exists(scratch() / "outside/a"));
}

/* A listing, as somebody who may write to the store could make it. */
TEST_F(CliAdopt, AListingCannotNameFilesOutside)
{
    adopt("tilelang", "first", "mkdir $D/one; echo a >$D/one/a");
    const std::string entry = json("ls", "[e['entry'] for e in j if e['source_name'] == 'one/a'][0]");
    const auto field = [&](const std::string &name) { return json("show " + entry, "j[0]['id']['key." + name + "']"); };
    const std::map<std::string, std::string> values = {{"device", field("device")},
                                                       {"driver", field("driver")},
                                                       {"processor", ""},
                                                       {"tool", "tilelang"},
                                                       {"versions", "tool 1.0"}};
    const auto id_of = [&](const std::string &path) {
        std::vector<ingot_artifact_field_t> fields = {{"path", path.size(), path.data()}};
        for (const auto &[name, value] : values)
            fields.push_back({name.c_str(), value.size(), value.data()});
        const ingot_artifact_key_t key = {sizeof(key), "adopted", fields.size(), fields.data()};
        std::vector<uint8_t> id(4096);
        size_t size = id.size();
        EXPECT_EQ(INGOT_SUCCESS, ingot_artifact_key_get_id(&key, &size, id.data()));
        id.resize(size);
        return id;
    };
    const auto put = [&](const std::string &path, const std::string &bytes) {
        const std::vector<uint8_t> id = id_of(path);
        ingot_buffer_t blob = INGOT_BUFFER_INIT;
        EXPECT_EQ(INGOT_SUCCESS, ingot_artifact_pack(id.size(), id.data(), nullptr, bytes.size(), bytes.data(), &blob));
        EXPECT_EQ(INGOT_SUCCESS, open_store().put(id, {blob.bytes, blob.bytes + blob.size}));
        blob.release(&blob);
    };
    const std::vector<uint8_t> listing = id_of("");
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    ingot_buffer_t value = INGOT_BUFFER_INIT;
    ASSERT_EQ(INGOT_SUCCESS, ingot_storage_load(open_store().get(), listing.size(), listing.data(), &blob));
    ASSERT_EQ(INGOT_SUCCESS, ingot_artifact_unpack(listing.size(), listing.data(), &blob, &value));
    const std::string digest(reinterpret_cast<const char *>(value.bytes), 32);
    value.release(&value);
    std::string text = "garbage\n" + digest + " - \n";
    for (const std::string path : {"../outside", "one/../../outside", "/absolute", "one/./b", ".", "one//c", "one/a"}) {
        put(path, "a\n");
        text.append(digest).append(" - ").append(path).append("\n");
    }
    put("", text);
    adopt("tilelang", "second", "true");
    EXPECT_FALSE(fs::exists(scratch() / "outside"));
    EXPECT_FALSE(fs::exists("/absolute"));
    EXPECT_FALSE(fs::exists(scratch() / "second/one/b"));
    EXPECT_FALSE(fs::exists(scratch() / "second/one/c"));
    put("", digest + " - ../outside\n" + digest + " - one/a\n");
    adopt("tilelang", "third", "true");
    EXPECT_FALSE(fs::exists(scratch() / "outside"));
    EXPECT_EQ("a\n", read(scratch() / "third/one/a"));
}

TEST_F(CliAdopt, RefusesOtherWords)
{
    for (const char *word : {"warp", "warp=", "=x", "unknown=x"}) {
        const Result result = run_command({CLI_PROGRAM, "run", "--adopt", word, "--", "true"});
        EXPECT_EQ(125, result.code) << word;
        EXPECT_NE(std::string::npos, result.output.find("warp, taichi, tilelang")) << result.output;
    }
}

TEST_F(CliAdopt, SealsItsFiles)
{
    const std::string file = (scratch() / "key").string();
    ASSERT_EQ(0, run_command({CLI_PROGRAM, "key", "create", "--pair", file}).code);
    const std::map<std::string, std::string> sealed = {{"INGOT_PERSIST_TRUST", "require"},
                                                       {"INGOT_PERSIST_KEYS", file}};
    adopt("tilelang", "unsealed", kMake);
    adopt("tilelang", "first", "[ ! -e $D/one ]; mkdir $D/one; echo sealed >$D/one/a.cubin", sealed);
    EXPECT_EQ("sealed\n", read(scratch() / "first/one/a.cubin")) << "an unsealed file was used";
    adopt("tilelang", "second", "true", sealed);
    EXPECT_EQ("sealed\n", read(scratch() / "second/one/a.cubin"));
    EXPECT_FALSE(fs::exists(scratch() / "second/two"));
}

TEST_F(CliAdopt, AServerWithoutSealsIsNotUsed)
{
    if (CLI_HAS_REMOTE) {
        const Result result = adopt("tilelang", "first", kMake, {{"INGOT_PERSIST_REMOTE", "redis://127.0.0.1:1"}});
        EXPECT_EQ(0, result.code);
        EXPECT_NE(std::string::npos, result.output.find("INGOT_PERSIST_TRUST=require")) << result.output;
        EXPECT_EQ(0u, count_stored());
    }
}

/* ---- ninja, which compares times ---- */

const char kNinja[] = "mkdir -p $D/ext; cd $D/ext; "
                      "printf 'rule join\\n command = cat $in %s/header > $out && echo \"$out: $in %s/header\" > "
                      "$out.d && echo ran >> %s/ran\\n depfile = $out.d\\n deps = gcc\\nbuild out: join %s/source\\n' "
                      "$S $S $S $S > new; cmp -s new build.ninja || cp new build.ninja; rm new; ninja >/dev/null; "
                      "cp out $S/seen";

TEST_F(CliAdopt, WhatNinjaBuiltIsUsedIfAllInputsAreEqual)
{
    const auto build = [&](const std::string &name) {
        fs::remove(scratch() / "ran");
        const Result result = adopt("torch_extensions", name, kNinja);
        EXPECT_EQ(0, result.code) << result.output;
        return read(scratch() / "ran") == "ran\n" ? "built " + read(scratch() / "seen") : read(scratch() / "seen");
    };
    const auto age = [&](const char *name) {
        fs::last_write_time(scratch() / name, fs::file_time_type::clock::now() - std::chrono::hours(1000));
    };
    write(scratch() / "source", "source,");
    write(scratch() / "header", "header");
    age("source");
    age("header");
    EXPECT_EQ("built source,header", build("first"));
    EXPECT_EQ("source,header", build("first"));
    EXPECT_EQ("source,header", build("second"));
    write(scratch() / "header", "header"); /* newer, but equal */
    EXPECT_EQ("source,header", build("third"));
    write(scratch() / "header", "HEADER"); /* different, but old */
    age("header");
    EXPECT_EQ("built source,HEADER", build("fourth"));
    EXPECT_EQ("source,HEADER", build("fifth"));
}

} // namespace
