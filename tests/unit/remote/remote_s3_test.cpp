/*
 * Tests a remote tier on an S3 server, moto, which checks signatures and rights. scripts/s3-server installs it.
 */
#include <sys/stat.h>

#include <memory>
#include <set>

#include "support/remote_fixture.h"
#include "support/server_process.h"

using namespace remote_fixture;

namespace
{

const std::string kInstalled = INGOT_SOURCE_DIR "/build/s3-server";

class Moto : public server_process::Server
{
public:
    Moto()
        : Server([](uint16_t port, const std::string &folder) {
              return std::vector<std::string>{kInstalled + "/bin/python",
                                              INGOT_SOURCE_DIR "/tests/support/s3_server.py", std::to_string(port),
                                              folder};
          })
    {
        if (!server_process::becomes_true([this] { return access((folder() + "/is-ready").c_str(), F_OK) == 0; }))
            throw std::runtime_error("the S3 server has no users");
    }
    std::string url_without_key(const std::string &path = "programs") const
    {
        return "s3://" + path + "?region=eu-central-1&endpoint=http://127.0.0.1:" + std::to_string(port());
    }
    std::string url(const char *user, const std::string &path = "programs") const
    {
        return url_without_key(path) + "&credentials=" + folder() + "/" + user;
    }
    /* Returns a URL with the secret key of a user, but the last character of the key is wrong. */
    std::string url_with_wrong_secret(const char *user) const
    {
        std::string key;
        std::ifstream(folder() + "/" + user) >> key;
        key.back() = key.back() == 'x' ? 'y' : 'x';
        std::ofstream(folder() + "/wrong") << key << "\n";
        chmod((folder() + "/wrong").c_str(), 0600);
        return url("wrong");
    }
};

class RemoteS3 : public testing::Test
{
protected:
    static void SetUpTestSuite()
    {
        if (access((kInstalled + "/packages").c_str(), F_OK) == 0)
            server_ = std::make_unique<Moto>();
    }
    static void TearDownTestSuite() { server_.reset(); }
    void SetUp() override
    {
        if (server_ != nullptr)
            return;
        std::string reason = "scripts/s3-server has not been run";
        std::ifstream note(kInstalled + ".left-out");
        const bool is_left_out = note.is_open();
        if (is_left_out)
            std::getline(note, reason);
        if (INGOT_MUST_RUN && !is_left_out)
            FAIL() << "the S3 server is missing: " << reason;
        GTEST_SKIP() << "no S3 server: " << reason;
    }
    static std::unique_ptr<Moto> server_;
};

std::unique_ptr<Moto> RemoteS3::server_;

void expect_refused(const std::string &url)
{
    const Tier tier(url);
    EXPECT_EQ(INGOT_IO_ERROR, tier.load(kId)) << url;
    EXPECT_EQ(INGOT_NOT_FOUND, tier.load(kId)) << "it is not asked again at once";
    EXPECT_EQ(1u, tier.events.count("rejects the credentials: HTTP status 403")) << tier.events.all();
}

} // namespace

TEST_F(RemoteS3, StoresLoadsMissesAndRemoves)
{
    const std::string url = server_->url("writer", "programs/some/prefix");
    expect_round_trip(url);
    Tier(url).upload();
    EXPECT_EQ(INGOT_NOT_FOUND, Tier(server_->url("writer")).load(kId)) << "another prefix";
}

/* The server lists a hundred objects at a time (s3_server.py). */
TEST_F(RemoteS3, ListsTheObjectsOfANamespace)
{
    const size_t kCount = 103;
    ingot_remote_info_t info = patient();
    info.max_waiting = 200;
    info.name_space = "listed";
    const std::string url = server_->url("writer", "programs/a%20list/of+objects");
    const Tier tier(url, info);
    std::set<Bytes> ids;
    uint64_t known = 0;
    const auto visit = [](void *user, ingot_status_t status, size_t id_size, const uint8_t *id, size_t,
                          const uint8_t *) {
        EXPECT_EQ(INGOT_SUCCESS, status);
        static_cast<std::set<Bytes> *>(user)->insert(Bytes(id, id + id_size));
    };
    const auto visit_all = [&](const Tier &asked) {
        return ingot_remote_for_each(asked.get(), nullptr, visit, &ids, &known);
    };
    EXPECT_EQ(INGOT_SUCCESS, visit_all(tier)) << ingot_last_error_detail();
    EXPECT_TRUE(ids.empty());
    for (size_t i = 0; i < kCount; ++i)
        ASSERT_EQ(INGOT_SUCCESS, tier.put(bytes_of("id " + std::to_string(i)), kBlob));
    ASSERT_EQ(INGOT_SUCCESS, tier.flush());
    Tier(url).upload(); /* in another namespace */
    EXPECT_EQ(INGOT_SUCCESS, visit_all(tier)) << ingot_last_error_detail();
    EXPECT_EQ(kCount, ids.size());
    for (size_t i = 0; i < kCount; i += 10)
        EXPECT_EQ(1u, ids.count(bytes_of("id " + std::to_string(i))));
    EXPECT_EQ(INGOT_IO_ERROR, visit_all(Tier(server_->url("writer", "no-bucket"))));
    EXPECT_NE(std::string::npos, std::string(ingot_last_error_detail()).find("no such bucket"));
    EXPECT_EQ(INGOT_UNIMPLEMENTED, visit_all(Tier(server_->url("writer") + "&layout=flat")));
}

TEST_F(RemoteS3, KeepsBlobsOfAllSizes)
{
    expect_blobs_of_all_sizes(server_->url("writer", "programs/sizes"));
}

TEST_F(RemoteS3, RefusesUsersWithoutARight)
{
    Tier(server_->url("writer")).upload();
    const Tier reader(server_->url("reader"));
    EXPECT_EQ(INGOT_SUCCESS, reader.load(kId));
    EXPECT_EQ(INGOT_NOT_FOUND, reader.load(bytes_of("another id")));
    EXPECT_EQ(INGOT_SUCCESS, reader.put(bytes_of("another id"), kBlob));
    ASSERT_TRUE(server_process::becomes_true([&] { return reader.stats().failed_uploads == 1; }));
    EXPECT_EQ(1u, reader.events.count("uploading to the remote tier failed: the server rejects"));
    EXPECT_EQ(INGOT_NOT_FOUND, Tier(server_->url("reader")).load(bytes_of("another id")));

    const Tier remover(server_->url("reader"));
    EXPECT_EQ(INGOT_SUCCESS, remover.remove(kId));
    ASSERT_TRUE(server_process::becomes_true([&] { return remover.stats().failed_uploads == 1; }));
    EXPECT_EQ(INGOT_SUCCESS, Tier(server_->url("reader")).load(kId));
    expect_refused(server_->url("nobody"));
}

TEST_F(RemoteS3, RefusesWrongKeys)
{
    Tier(server_->url("writer")).upload();
    expect_refused(server_->url_with_wrong_secret("writer"));
    std::ofstream(server_->folder() + "/unknown") << "AKIAIOSFODNN7EXAMPLE:secret\n";
    chmod((server_->folder() + "/unknown").c_str(), 0600);
    expect_refused(server_->url("unknown"));
    expect_refused(server_->url_without_key());
}

TEST_F(RemoteS3, IsChecked)
{
    const std::string writer = server_->url("writer");
    const std::string reader = server_->url("reader");
    ingot_remote_report_t report;
    ingot_remote_info_t info = patient();
    info.url = writer.c_str();
    EXPECT_EQ(INGOT_SUCCESS, ingot_remote_check(&info, &report)) << report.reason;
    info.url = reader.c_str();
    EXPECT_EQ(INGOT_IO_ERROR, ingot_remote_check(&info, &report));
    EXPECT_EQ(INGOT_REMOTE_STEP_WRITE, report.step) << report.reason;
    info.flags = INGOT_REMOTE_READ_ONLY;
    EXPECT_EQ(INGOT_SUCCESS, ingot_remote_check(&info, &report)) << report.reason;
}
