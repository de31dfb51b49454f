/*
 * image_test.cpp - tests images of stores: what `ingot push --image` and `ingot pull --image` write, read and move, and
 * that a pull from a store keeps namespaces as one from an image does.
 */
#include "cli/tool.h"
#include "support/server_process.h"

using store_fixture::bytes_of;

namespace
{

const size_t kSize = 40000;

std::vector<uint8_t> id_of(int number)
{
    return bytes_of("an id with the number " + std::to_string(number));
}

/* An OCI layout of another tool with one of its layers, and one layer of Ingot's. */
const char kForeign[] = R"(
import hashlib, json, sys
def blob(data):
    name = hashlib.sha256(data).hexdigest()
    open(sys.argv[1] + "/blobs/sha256/" + name, "wb").write(data)
    return {"digest": "sha256:" + name, "size": len(data)}
manifest = {"mediaType": "application/vnd.oci.image.manifest.v1+json"}
index = json.load(open(sys.argv[1] + "/index.json"))
ours = json.load(open(sys.argv[1] + "/blobs/sha256/" + index["manifests"][0]["digest"][7:]))["layers"]
tar = {"mediaType": "application/vnd.oci.image.layer.v1.tar", **blob(b"a file of a container")}
short = {"mediaType": ours[0]["mediaType"], **blob(b"\0" * 100)}
image = {"schemaVersion": 2, "config": {**blob(b"{}"), **manifest}, "layers": [tar, short, *ours]}
index["manifests"][0].update(blob(json.dumps(image).encode()))
json.dump(index, open(sys.argv[1] + "/index.json", "w"))
)";

/* Puts a layer with a namespace that leads out of the store between two others. */
const char kEscape[] = R"(
import hashlib, json, sys
index = json.load(open(sys.argv[1] + "/index.json"))
image = json.load(open(sys.argv[1] + "/blobs/sha256/" + index["manifests"][0]["digest"][7:]))
layer = image["layers"][0]
assert image["artifactType"] == "application/vnd.ingot.image.v1", image
assert layer["mediaType"] == "application/vnd.ingot.bundle.v1", image
image["layers"] = [layer, {**layer, "annotations": {"ingot.namespace": "../x"}}, layer]
data = json.dumps(image).encode()
name = hashlib.sha256(data).hexdigest()
open(sys.argv[1] + "/blobs/sha256/" + name, "wb").write(data)
index["manifests"][0].update({"digest": "sha256:" + name, "size": len(data)})
json.dump(index, open(sys.argv[1] + "/index.json", "w"))
)";

class CliImage : public CliTest
{
protected:
    void fill(int first, int end, unsigned version = 0, const char *name_space = nullptr, size_t size = 3000) const
    {
        const store_fixture::Store store = open_store(name_space);
        for (int i = first; i < end; ++i)
            ASSERT_EQ(INGOT_SUCCESS, store.put(id_of(i), random_bytes(uint64_t(i) + 100000u * version, size)));
    }
    std::string path(const std::string &name) const { return (scratch() / name).string(); }
    Result push(const std::vector<std::string> &more) const { return move("push", root().string(), more); }
    Result pull(const std::string &name, const std::vector<std::string> &more) const
    {
        return move("pull", path(name), more);
    }
    /* Returns how many entries a store has: in its root, and in a namespace. */
    std::string counts(const std::string &name, const std::string &name_space) const
    {
        return json_without_store("ls --dir " + path(name),
                                  "sum(not e.get('namespace') for e in j), sum(e.get('namespace') == '" + name_space +
                                      "' for e in j)");
    }

private:
    Result move(const std::string &command, const std::string &store, const std::vector<std::string> &more) const
    {
        std::vector<std::string> words{CLI_PROGRAM, command, "--dir", store};
        words.insert(words.end(), more.begin(), more.end());
        return run_command(words);
    }
};

#if HAS_DOCKER_REGISTRY
/* Debian's registry, which keeps its blobs as files. */
class DockerRegistry : public server_process::Server
{
public:
    DockerRegistry()
        : Server([](uint16_t port, const std::string &folder) {
              std::ofstream(folder + "/config.yml")
                  << "version: 0.1\nlog: {level: info, accesslog: {disabled: true}}\nstorage: {filesystem: "
                  << "{rootdirectory: " << folder << "/registry}}\nhttp: {addr: 127.0.0.1:" << port << "}\n";
              return std::vector<std::string>{server_process::find_program("docker-registry"), "serve",
                                              folder + "/config.yml"};
          })
    {
    }
    std::string data() const { return folder() + "/registry"; }
    std::string reference() const { return "127.0.0.1:" + std::to_string(port()) + "/team/kernels:v1"; }
};
#endif

uintmax_t size_of(const fs::path &folder)
{
    uintmax_t size = 0;
    for (const fs::directory_entry &item : fs::recursive_directory_iterator(folder))
        size += item.is_regular_file() ? item.file_size() : 0;
    return size;
}

} // namespace

TEST_F(CliImage, KeepsNamespaces)
{
    fill(0, 5);
    fill(3, 10, 1, "app");
    EXPECT_TRUE(push({"--layout", path("layout")}).is(0));
    for (std::vector<std::string> source : {std::vector<std::string>{"--layout", path("layout")}, {"--from", root()}}) {
        SCOPED_TRACE(source[0]);
        const std::string other = "other" + source[0], part = "part" + source[0];
        EXPECT_TRUE(pull(other, source).is(0, "12 entries pulled; the store already had 0\n"));
        EXPECT_EQ("5 7", counts(other, "app"));
        EXPECT_TRUE(pull(other, source).is(0, "0 entries pulled; the store already had 12\n")) << "all are there";
        source.insert(source.end(), {"--namespace", "app"});
        EXPECT_TRUE(pull(part, source).is(0, "7 entries pulled; the store already had 0\n"));
        EXPECT_EQ("0 7", counts(part, "app"));
    }
    fs::create_directory(path("empty"));
    EXPECT_TRUE(pull("other", {"--from", path("empty")}).is(3, "is not a store"));
}

TEST_F(CliImage, BringsAnEntryBackThatALayerCovers)
{
    const std::vector<std::string> layout{"--layout", path("layout")};
    fill(0, 10, 0, nullptr, kSize);
    ASSERT_EQ(0, push(layout).code);
    fill(0, 3, 1, nullptr, kSize);
    ASSERT_EQ(0, push(layout).code);
    fill(0, 1, 0, nullptr, kSize);
    EXPECT_TRUE(push(layout).says("10 entries; 1 of them are new"));
    EXPECT_TRUE(pull("other", layout).says("10 entries pulled"));
    const store_fixture::Store other{fs::path(path("other"))};
    for (const unsigned number : {0u, 1u, 9u}) {
        std::vector<uint8_t> blob;
        EXPECT_EQ(INGOT_SUCCESS, other.load(id_of(int(number)), &blob));
        EXPECT_EQ(random_bytes(number + (number == 1 ? 100000u : 0u), kSize), blob) << number;
    }
}

TEST_F(CliImage, RefusesALayerWhoseNamespaceLeadsOutOfTheStore)
{
    fill(0, 5);
    ASSERT_EQ(0, push({"--layout", path("layout")}).code);
    ASSERT_EQ(0, run_command({"/usr/bin/env", "python3", "-c", kEscape, path("layout")}).code);
    EXPECT_TRUE(
        pull("other", {"--layout", path("layout")}).is(4, "5 entries pulled; the store already had 5, 1 failed"));
    EXPECT_FALSE(fs::exists(path("x")));
}

TEST_F(CliImage, KeepsLayersThatAreStillOfUse)
{
    const std::vector<std::string> layout{"--layout", path("layout")};
    fill(0, 100, 0, nullptr, kSize);
    ASSERT_EQ(0, push(layout).code);
    const uintmax_t before = size_of(path("layout"));
    fill(0, 3, 1, nullptr, kSize);
    Result result = push(layout);
    EXPECT_TRUE(result.says("100 entries; 3 of them are new"));
    EXPECT_LT(size_of(path("layout")) - before, 4 * kSize);
    result = pull("other", layout);
    EXPECT_NE(std::string::npos, result.output.find("100 entries pulled; the store already had 3\n"))
        << result.output << "three have been replaced";
    {
        const store_fixture::Store other{fs::path(path("other"))};
        std::vector<uint8_t> blob;
        EXPECT_EQ(INGOT_SUCCESS, other.load(id_of(1), &blob));
        EXPECT_EQ(random_bytes(100001, kSize), blob) << "the replaced entry is the new one";
    }
    ASSERT_EQ(0, run({"evict", "--max-entries", "1"}).code);
    ASSERT_EQ(0, push(layout).code);
    EXPECT_LT(size_of(path("layout")), 4 * kSize) << "layers that are mostly unused have left";
    EXPECT_NE(std::string::npos, pull("few", layout).output.find("1 entries pulled"));
}

TEST_F(CliImage, RefusesAForeignLayoutEntryByEntry)
{
    fill(0, 5);
    ASSERT_EQ(0, push({"--layout", path("layout")}).code);
    ASSERT_EQ(0, run_command({"/usr/bin/env", "python3", "-c", kForeign, path("layout")}).code);
    Result result = pull("other", {"--layout", path("layout")});
    EXPECT_TRUE(result.is(4, "5 entries pulled; the store already had 0, 2 failed"));
    for (const fs::directory_entry &blob : fs::directory_iterator(path("layout") + "/blobs/sha256"))
        if (blob.file_size() > 10000)
            damage(blob.path());
    result = pull("third", {"--layout", path("layout")});
    EXPECT_TRUE(result.is(4, "does not have the digest"));
    fs::remove(path("layout") + "/index.json");
    EXPECT_EQ(4, pull("third", {"--layout", path("layout")}).code);
}

TEST_F(CliImage, KeepsAnEarlierImageThatCannotBeRead)
{
    const std::vector<std::string> layout{"--layout", path("layout")};
    fill(0, 5);
    ASSERT_EQ(0, push(layout).code);
    const auto count_blobs = [&] {
        const fs::directory_iterator blobs(path("layout") + "/blobs/sha256");
        return std::distance(begin(blobs), end(blobs));
    };
    EXPECT_EQ(3, count_blobs());
    fs::resize_file(path("layout") + "/index.json", 5 << 20);
    const Result result = push(layout);
    EXPECT_NE(0, result.code);
    EXPECT_TRUE(result.says("cannot be read"));
    EXPECT_EQ(3, count_blobs());
}

TEST_F(CliImage, SaysHowToGetSkopeo)
{
    fill(0, 1);
    EXPECT_TRUE(tool({"push", "--dir", root().string(), "--image", "127.0.0.1:9/a:b"}, {{"PATH", "/nonexistent"}})
                    .is(4, "install the package skopeo"));
    EXPECT_TRUE(fs::exists(path("store.image") + "/index.json")) << "it can be moved in other ways";
    EXPECT_EQ(2, run({"push", "--image", "a/b:c", "redis://a"}).code);
}

/* The parent process may ignore SIGCHLD. Then nothing is known about the end of a child. */
TEST_F(CliImage, FailsWithSkopeoWhateverItInherits)
{
    fill(0, 1);
    std::ofstream(path("skopeo")) << "#!/bin/sh\nexit 7\n";
    fs::permissions(path("skopeo"), fs::perms::owner_all);
    const std::vector<std::string> push_as_child{"/bin/bash",
                                                 "-c",
                                                 "trap '' CHLD; exec \"$@\"",
                                                 "bash",
                                                 CLI_PROGRAM,
                                                 "push",
                                                 "--dir",
                                                 root().string(),
                                                 "--image",
                                                 "127.0.0.1:9/a:b"};
    EXPECT_TRUE(run_command(push_as_child, {{"PATH", path("") + ":/usr/bin:/bin"}}).is(4, "skopeo did not copy"));
}

#if HAS_DOCKER_REGISTRY
/* What skopeo moves to the registry and back is little more than what is new. INGOT_TEST_TRIALS asks for more
 * than 200 entries, whose size grows with their number. */
TEST_F(CliImage, MovesOnlyWhatIsNew)
{
    const DockerRegistry registry;
    const std::vector<std::string> image{"--image", registry.reference(), "--plain-http"};
    const char *wanted = std::getenv("INGOT_TEST_TRIALS");
    const int count = wanted != nullptr ? std::max(200, std::atoi(wanted)) : 200;
    const size_t size = 200 * static_cast<size_t>(count);
    fill(0, count, 0, nullptr, size);
    Result result = push(image);
    ASSERT_EQ(0, result.code) << result.output;
    result = pull("other", image);
    ASSERT_EQ(0, result.code) << result.output;
    EXPECT_TRUE(result.says(std::to_string(count) + " entries pulled"));
    const uintmax_t registry_before = size_of(registry.data());
    const uintmax_t layout_before = size_of(path("other.image"));

    fill(0, 10, 1, nullptr, size);
    fill(count, count + 1);
    ASSERT_EQ(0, push(image).code);
    const double pushed = static_cast<double>(size_of(registry.data()) - registry_before);
    result = pull("other", image);
    EXPECT_TRUE(result.says("1 entries pulled; the store already had " + std::to_string(count + 10)));
    const double pulled = static_cast<double>(size_of(path("other.image")) - layout_before);
    printf("10 of %d entries changed: %.0f bytes pushed, %.0f pulled\n", count, pushed, pulled);
    EXPECT_LE(pushed, 1.1 * 10 * static_cast<double>(size) + 3000);
    EXPECT_LE(pulled, 1.1 * 10 * static_cast<double>(size) + 3000);
}
#endif
