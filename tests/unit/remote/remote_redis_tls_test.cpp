/*
 * Tests encrypted connections to a real Redis: which servers the tier accepts, and which clients the server accepts.
 */
#include <memory>

#include "support/encrypted_redis.h"
#include "support/faulty_server.h"
#include "support/remote_fixture.h"
#include "support/stray_close.h"

using encrypted_redis::Certificates;
using encrypted_redis::EncryptedRedis;
using namespace remote_fixture;

namespace
{

class RemoteRedisTls : public testing::Test
{
protected:
    static void SetUpTestSuite() { files_ = std::make_unique<Certificates>(); }
    static void TearDownTestSuite() { files_.reset(); }
    static std::string known() { return "?ca=" + files_->at("ca.pem"); }
    static std::string pair(const std::string &name)
    {
        return "&cert=" + files_->at(name + ".pem") + "&key=" + files_->at(name + ".key");
    }
    static std::unique_ptr<Certificates> files_;
};

std::unique_ptr<Certificates> RemoteRedisTls::files_;

void expect_refused(const std::string &url, const std::string &reason)
{
    const Tier tier(url);
    ASSERT_EQ(INGOT_SUCCESS, tier.status()) << ingot_last_error_detail();
    EXPECT_EQ(INGOT_IO_ERROR, tier.load(kId));
    EXPECT_NE(std::string::npos, std::string(ingot_last_error_detail()).find(reason)) << ingot_last_error_detail();
    EXPECT_EQ(INGOT_NOT_FOUND, tier.load(kId)) << "it is not asked again at once";
    EXPECT_EQ(1u, tier.stats().failures) << tier.events.all();
}

} // namespace

TEST_F(RemoteRedisTls, ReturnsWhatAnotherProcessStored)
{
    const EncryptedRedis redis(*files_, "server", "no");
    expect_round_trip(redis.url("/2" + known()));
    expect_round_trip(redis.url(known(), "rediss://localhost"));
    expect_blobs_of_all_sizes(redis.url(known()));
    expect_parallel_loads(redis.url(known()));
}

TEST_F(RemoteRedisTls, RefusesServersThatCannotProveTheirName)
{
    const EncryptedRedis redis(*files_, "server", "no");
    expect_refused(redis.url(""), "certificate is not accepted: "); /* the certificate's authority is unknown */
    const EncryptedRedis other(*files_, "other-server", "no");
    expect_refused(other.url(known()), "certificate is not accepted: SSL: no alternative certificate subject name");
    expect_refused(other.url(known(), "rediss://localhost"),
                   "certificate is not accepted: SSL: no alternative certificate subject name");
    /* The certificate is from a known authority, but is one for clients. */
    const EncryptedRedis client(*files_, "client", "no");
    expect_refused(client.url(known()), "certificate is not accepted: ");
}

TEST_F(RemoteRedisTls, ShowsItsCertificate)
{
    const EncryptedRedis redis(*files_, "server", "yes");
    expect_round_trip(redis.url(known() + pair("client")));
    expect_refused(redis.url(known()), "certificate required");
}

TEST_F(RemoteRedisTls, AuthenticatesByAFileAsWell)
{
    const EncryptedRedis redis(*files_, "server", "no");
    redis.ask({"CONFIG", "SET", "requirepass", "hunter2"});
    const std::string secret = files_->at("secret");
    std::ofstream(secret) << "hunter2\n";
    chmod(secret.c_str(), 0600);
    expect_round_trip(redis.url(known() + "&credentials=" + secret));
    expect_refused(redis.url(known()), "NOAUTH");
}

TEST_F(RemoteRedisTls, KeepsItsConnection)
{
    const EncryptedRedis redis(*files_, "server", "no");
    const Tier tier(redis.url(known()));
    EXPECT_EQ(INGOT_NOT_FOUND, tier.load(kId));
    const unsigned count = redis.connection_count();
    for (int i = 0; i < 20; ++i)
        EXPECT_EQ(INGOT_NOT_FOUND, tier.load(kId));
    EXPECT_EQ(count + 1, redis.connection_count()) << "only the one that asks for the count";
}

/* TLS would send a farewell on the application's connection. */
TEST_F(RemoteRedisTls, UsesAndClosesNothingThatGotTheDescriptorOfAConnection)
{
    const EncryptedRedis redis(*files_, "server", "no");
    const std::set<int> before = stray_close::open_descriptors();
    auto tier = std::make_unique<Tier>(redis.url(known()));
    EXPECT_EQ(INGOT_NOT_FOUND, tier->load(kId));
    const std::vector<int> kept = stray_close::opened_since(before);
    ASSERT_FALSE(kept.empty());
    const stray_close::Peers peers(kept);
    EXPECT_EQ(INGOT_NOT_FOUND, tier->load(kId)) << ingot_last_error_detail();
    tier.reset();
    EXPECT_EQ("", peers.damage());
}

TEST_F(RemoteRedisTls, ServersThatDoNotEncryptCostOneLoad)
{
    const server_process::Redis plain;
    const Tier tier("rediss://127.0.0.1:" + std::to_string(plain.port()) + known(), INGOT_REMOTE_INFO_INIT);
    EXPECT_EQ(INGOT_IO_ERROR, tier.load(kId)); /* Redis takes the handshake for a command and waits for its end */
    EXPECT_EQ(INGOT_NOT_FOUND, tier.load(kId));
    EXPECT_EQ(1u, tier.stats().failures);
    const FaultyServer garbage([](FaultyConnection &connection) { connection.send_bytes(std::string(1000, 'x')); });
    expect_refused("rediss://127.0.0.1:" + std::to_string(garbage.port()) + known(), "encrypting the connection: ");
    const FaultyServer closing([](FaultyConnection &) {});
    const Tier closed("rediss://127.0.0.1:" + std::to_string(closing.port()) + known());
    EXPECT_EQ(INGOT_IO_ERROR, closed.load(kId));
    EXPECT_EQ(1u, closed.events.count("closed the encrypted connection")) << closed.events.all();
}

/* Stops the server before the first load of one tier, and between two loads of another one. */
TEST_F(RemoteRedisTls, AStoppedServerCostsOneLoad)
{
    EncryptedRedis redis(*files_, "server", "no");
    ingot_remote_info_t info = INGOT_REMOTE_INFO_INIT;
    info.connect_timeout_ms = 60000;
    info.lost_time_ms = 8000; /* so a load may take two seconds */
    const Tier connected(redis.url(known()), info);
    EXPECT_EQ(INGOT_NOT_FOUND, connected.load(kId)) << ingot_last_error_detail();
    redis.pause();
    const Tier tier(redis.url(known()) + "&layout=folders", info); /* tiers of one URL would share what they know */
    for (const Tier *asked : {&connected, &tier}) {
        EXPECT_EQ(INGOT_IO_ERROR, asked->load(kId));
        EXPECT_EQ(INGOT_NOT_FOUND, asked->load(kId));
        EXPECT_EQ(1u, asked->events.count("timed out")) << asked->events.all();
        EXPECT_LE(asked->stats().lost_ns, UINT64_C(8000000000));
    }
    redis.resume();
}

TEST_F(RemoteRedisTls, RefusesKeysOfOtherCertificates)
{
    const EncryptedRedis redis(*files_, "server", "yes");
    const auto with = [&](const std::string &certificate, const std::string &key) {
        return redis.url(known() + "&cert=" + files_->at(certificate) + "&key=" + files_->at(key));
    };
    files_->make_rsa("rsa");
    expect_refused(with("client.pem", "server.key"), "rivate key");
    expect_refused(with("rsa.pem", "client.key"), "rivate key"); /* the kinds of the keys differ */
    expect_refused(with("client.pem", "rsa.key"), "rivate key");
    expect_round_trip(with("client.pem", "client.key"));
}

TEST_F(RemoteRedisTls, ChecksFilesWhenItIsOpened)
{
    const auto open_with = [](const std::string &rest) { return Tier("rediss://127.0.0.1" + rest).status(); };
    EXPECT_EQ(INGOT_NOT_FOUND, open_with("?ca=" + files_->at("nothing")));
    EXPECT_EQ(ENOENT, ingot_last_error_code());
    EXPECT_EQ(INGOT_NOT_FOUND, open_with("?cert=" + files_->at("nothing") + "&key=" + files_->at("client.key")));
    EXPECT_EQ(INGOT_SUCCESS, open_with(known() + pair("client")));
    chmod(files_->at("client.key").c_str(), 0644);
    EXPECT_EQ(INGOT_UNTRUSTED, open_with(known() + pair("client")));
    chmod(files_->at("client.key").c_str(), 0600);
}

TEST_F(RemoteRedisTls, RefusesFilesOfAnotherKind)
{
    const EncryptedRedis redis(*files_, "server", "yes");
    expect_refused(redis.url("?ca=" + files_->at("client.key") + pair("client")), "");
    const std::string locked = files_->at("locked.key");
    child_process::Child({server_process::find_program("openssl"), "pkey", "-in", files_->at("client.key"), "-aes128",
                          "-passout", "pass:x", "-out", locked},
                         files_->at("log"))
        .wait();
    chmod(locked.c_str(), 0600);
    expect_refused(redis.url(known() + "&cert=" + files_->at("client.pem") + "&key=" + locked), "rivate key");
}
