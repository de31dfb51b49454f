/*
 * Tests a remote tier on a real nginx: objects and their paths, credentials, TLS, and the signatures of S3.
 */
#include <dlfcn.h>
#include <sched.h>
#include <sys/mount.h>

#include "support/faulty_server.h"
#include "support/forked_child.h"
#include "support/remote_fixture.h"
#include "support/stray_close.h"

using namespace remote_fixture;
using server_process::Nginx;

/* Replaces a function of libcurl, so that a test can make it fail as if memory had run out. */
static std::atomic<bool> has_no_memory{false};
extern "C" void *curl_multi_init(void);
extern "C" void *curl_multi_init(void)
{
    using Function = void *(*)();
    static const Function original = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "curl_multi_init"));
    return has_no_memory ? nullptr : original();
}

namespace
{

class RemoteHttp : public testing::Test
{
protected:
    std::string at(const char *name) const { return scratch_.path() / name; }
    std::string write(const char *name, const std::string &text) const
    {
        std::ofstream(at(name)) << text << "\n";
        chmod(at(name).c_str(), 0600);
        return at(name);
    }
    static int run(const std::vector<std::string> &arguments, const std::string &output)
    {
        return child_process::Child(arguments, output).wait();
    }
    /* Makes a key and a certificate of 127.0.0.1 that it signs itself. */
    void make_certificate(const char *key, const char *certificate) const
    {
        ASSERT_EQ(
            0, run({server_process::find_program("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", std::string("/CN=") + certificate,
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", at(key), "-out", at(certificate)},
                   at("log")));
    }
    ScratchDirectory scratch_;
};

} // namespace

TEST_F(RemoteHttp, ReturnsWhatAnotherProcessStored)
{
    const Nginx nginx;
    expect_round_trip(nginx.url("/cache/"));
    EXPECT_EQ(0u, nginx.files().size());
    Tier(nginx.url("/cache")).upload();
    EXPECT_EQ(INGOT_SUCCESS, Tier(nginx.url("/cache/")).load(kId));
    ASSERT_EQ(1u, nginx.files().size());
    EXPECT_EQ(0u, nginx.files()[0].rfind("cache/ingot-1/default/", 0)) << nginx.files()[0];
    EXPECT_EQ(std::string("cache/ingot-1/default/").size() + 3 + 64, nginx.files()[0].size());
}

TEST_F(RemoteHttp, HasFlatPathsForBuildCaches)
{
    const Nginx nginx;
    expect_round_trip(nginx.url("/ac?layout=flat"));
    Tier(nginx.url("/ac?layout=flat")).upload();
    ASSERT_EQ(1u, nginx.files().size());
    EXPECT_EQ(3u + 64, nginx.files()[0].size()) << nginx.files()[0];
}

TEST_F(RemoteHttp, KeepsBlobsOfAllSizes)
{
    const Nginx nginx;
    expect_blobs_of_all_sizes(nginx.url());
}

TEST_F(RemoteHttp, ThreadsLoadInParallelOnConnectionsThatAreKept)
{
    const Nginx nginx;
    expect_parallel_loads(nginx.url());
}

TEST_F(RemoteHttp, KeepsItsConnectionAlive)
{
    const FaultyServer server(answering("HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\nNot found"));
    const Tier tier(server.url("http"));
    for (int i = 0; i < 10; ++i)
        EXPECT_EQ(INGOT_NOT_FOUND, tier.load(bytes_of("id " + std::to_string(i))));
    EXPECT_EQ(10u, tier.stats().misses);
    EXPECT_EQ(1u, server.connection_count());
}

/* An application closes all descriptors that it did not open, and opens files and connections of its own. */
TEST_F(RemoteHttp, UsesAndClosesNothingThatGotTheDescriptorOfAConnection)
{
    make_certificate("key.pem", "cert.pem");
    const Nginx plain;
    const Nginx encrypted("ssl_certificate " + at("cert.pem") + "; ssl_certificate_key " + at("key.pem") + ";", " ssl");
    for (const std::string &url : {plain.url(), encrypted.url("?ca=" + at("cert.pem"), "https")}) {
        const std::set<int> before = stray_close::open_descriptors();
        auto tier = std::make_unique<Tier>(url);
        tier->upload();
        const auto replace_all = [&](const std::function<void()> &then) {
            EXPECT_EQ(INGOT_SUCCESS, tier->load(kId)) << ingot_last_error_detail();
            const std::vector<int> kept = stray_close::opened_since(before);
            ASSERT_FALSE(kept.empty());
            stray_close::Peers peers(kept);
            then();
            EXPECT_EQ("", peers.damage()) << url;
        };
        replace_all([&] { EXPECT_EQ(INGOT_SUCCESS, tier->load(kId)) << ingot_last_error_detail(); });
        replace_all([&] { tier.reset(); });
    }
}

/* libcurl asks S3 whether it may send a large object. If the server does not answer, the object must be sent before the
 * upload times out. */
TEST_F(RemoteHttp, UploadsToServersThatDoNotSayContinue)
{
    static constexpr size_t size = (size_t{1} << 20) + 4096; /* libcurl asks for more than 1 MiB */
    const FaultyServer server([](FaultyConnection &connection) {
        std::string all;
        for (std::string some = "x"; all.size() < size && !some.empty(); all += some)
            some = connection.read_some();
        connection.send_bytes("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        connection.wait_for_end();
    });
    ingot_remote_info_t info = patient();
    info.stall_timeout_ms = 800;
    const Tier tier("s3://bucket?region=eu-central-1&endpoint=http://127.0.0.1:" + std::to_string(server.port()) +
                        "&credentials=" + write("secret", "user:hunter2"),
                    info);
    ASSERT_EQ(INGOT_SUCCESS, tier.status()) << ingot_last_error_detail();
    tier.upload(kId, random_bytes(1, size));
    EXPECT_EQ("", tier.events.all());
    EXPECT_EQ(1u, tier.stats().uploads);
}

TEST_F(RemoteHttp, AuthenticatesByAFile)
{
    const std::string hash = at("hash");
    ASSERT_EQ(0, run({server_process::find_program("openssl"), "passwd", "-apr1", "hunter2"}, hash));
    std::string line;
    std::ifstream file(hash);
    std::getline(file, line);
    const std::string users = write("users", "user:" + line);
    chmod(users.c_str(), 0644);
    const Nginx nginx("auth_basic x; auth_basic_user_file " + users + ";");
    const std::string secret = write("secret", "user:hunter2");
    expect_round_trip(nginx.url("?credentials=" + secret));
    const std::string password = write("password", "hunter2");
    expect_round_trip("http://user@127.0.0.1:" + std::to_string(nginx.port()) + "?credentials=" + password);
    Tier(nginx.url("?credentials=" + secret)).upload();
    const std::string wrong = write("wrong", "user:other");
    for (const std::string &url : {nginx.url(), nginx.url("?credentials=" + wrong)}) {
        const Tier tier(url);
        EXPECT_EQ(INGOT_IO_ERROR, tier.load(kId));
        EXPECT_EQ(INGOT_NOT_FOUND, tier.load(kId));
        EXPECT_EQ(1u, tier.events.count("rejects the credentials"));
    }
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, Tier(nginx.url("?credentials=" + password)).status()) << "no user";
}

TEST_F(RemoteHttp, SendsATokenFromAFile)
{
    const Nginx nginx("if ($http_authorization != \"Bearer sesame\") { return 401; }");
    expect_round_trip(nginx.url("?auth=bearer&credentials=" + write("token", "sesame")));
    EXPECT_EQ(INGOT_IO_ERROR, Tier(nginx.url("?auth=bearer&credentials=" + write("other", "x"))).load(kId));
}

/* nginx is not an S3 server and cannot verify signatures. It checks that requests have a date and an Authorization
 * header of the right form. */
TEST_F(RemoteHttp, SignsRequestsOfS3)
{
    const Nginx nginx("if ($http_authorization !~ \"^AWS4-HMAC-SHA256 Credential=KEY/[0-9]+/eu-central-1/s3/\") "
                      "{ return 403; } "
                      "if ($http_x_amz_date = \"\") { return 403; }");
    const std::string secret = write("secret", "KEY:SECRET");
    const std::string url = "s3://bucket/prefix?region=eu-central-1&endpoint=" + nginx.url() + "&credentials=" + secret;
    expect_round_trip(url);
    Tier(url).upload();
    ASSERT_EQ(1u, nginx.files().size());
    EXPECT_EQ(0u, nginx.files()[0].rfind("bucket/prefix/ingot-1/default/", 0)) << nginx.files()[0];
    EXPECT_EQ(INGOT_IO_ERROR,
              Tier("s3://bucket?region=us-east-1&endpoint=" + nginx.url() + "&credentials=" + secret).load(kId));
}

TEST_F(RemoteHttp, VerifiesServersAndShowsItsCertificate)
{
    make_certificate("key.pem", "cert.pem");
    chmod(at("key.pem").c_str(), 0600);
    const Nginx nginx("ssl_certificate " + at("cert.pem") + "; ssl_certificate_key " + at("key.pem") +
                          "; ssl_client_certificate " + at("cert.pem") +
                          "; ssl_verify_client optional; if ($ssl_client_verify != SUCCESS) { return 403; }",
                      " ssl");
    const std::string known = "?ca=" + at("cert.pem");
    const std::string shown = known + "&cert=" + at("cert.pem") + "&key=" + at("key.pem");
    expect_round_trip(nginx.url(shown, "https"));
    EXPECT_EQ(INGOT_IO_ERROR, Tier(nginx.url(known, "https")).load(kId)) << "no certificate is shown";
    const Tier unknown(nginx.url("", "https"));
    EXPECT_EQ(INGOT_IO_ERROR, unknown.load(kId)) << "the server's authority is unknown";
    EXPECT_EQ(1u, unknown.events.count("certificate is not accepted")) << unknown.events.all();
    chmod(at("key.pem").c_str(), 0644);
    EXPECT_EQ(INGOT_UNTRUSTED, Tier(nginx.url(shown, "https")).status());
}

/* The file of ca= replaces the authorities that the system trusts. In a namespace of mounts, the child's system trusts
 * the server's. */
TEST_F(RemoteHttp, TrustsNobodyButTheGivenAuthorities)
{
    constexpr int kNoMount = 97;
    make_certificate("key.pem", "server.pem");
    make_certificate("other_key.pem", "other.pem");
    const std::string system = at("system");
    std::filesystem::create_directory(system);
    std::filesystem::copy_file(at("server.pem"), system + "/server.pem");
    ASSERT_EQ(0, run({server_process::find_program("openssl"), "rehash", system}, at("log")));
    std::filesystem::copy_file(at("other.pem"), system + "/ca-certificates.crt");
    const Nginx nginx("ssl_certificate " + at("server.pem") + "; ssl_certificate_key " + at("key.pem") + ";", " ssl");
    const int result = forked_child::run([&]() -> int {
        if ((unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ||
            mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            mount(system.c_str(), "/etc/ssl/certs", nullptr, MS_BIND, nullptr) != 0)
            return kNoMount;
        if (Tier(nginx.url("", "https")).load(kId) != INGOT_NOT_FOUND)
            return 1; /* the system trusts the server */
        if (Tier(nginx.url("?ca=" + at("server.pem"), "https")).load(kId) != INGOT_NOT_FOUND)
            return 2;
        return Tier(nginx.url("?ca=" + at("other.pem"), "https")).load(kId) == INGOT_IO_ERROR ? 0 : 3;
    });
    if (result == kNoMount)
        GTEST_SKIP() << "this machine allows no mounts";
    EXPECT_EQ(0, result);
}

TEST_F(RemoteHttp, SaysThatItHasNoMemory)
{
    has_no_memory = true;
    const Tier tier("http://127.0.0.1:1");
    EXPECT_EQ(INGOT_OUT_OF_MEMORY, tier.load(kId));
    EXPECT_NE(std::string::npos, std::string(ingot_last_error_detail()).find("no memory for a connection"));
    has_no_memory = false;
}

TEST_F(RemoteHttp, DoesNotFollowRedirects)
{
    const Nginx other;
    Tier(other.url()).upload();
    const Nginx nginx("return 302 " + other.url() + "$request_uri;");
    const Tier tier(nginx.url());
    EXPECT_EQ(INGOT_IO_ERROR, tier.load(kId));
    EXPECT_NE(std::string::npos, std::string(ingot_last_error_detail()).find("redirects"));
}

/* S3 says in XML what is wrong: a clock, a key, an account, a token, a bucket. */
TEST_F(RemoteHttp, SaysWhatS3Says)
{
    const struct {
        const char *status;
        const char *code;
        const char *message;
    } answers[] = {
        {"403 Forbidden", "RequestTimeTooSkewed",
         "The difference between the request time and the server's is too large."},
        {"403 Forbidden", "SignatureDoesNotMatch", "The request signature does not match."},
        {"403 Forbidden", "InvalidAccessKeyId", "The Access Key Id does not exist."},
        {"400 Bad Request", "ExpiredToken", "The provided token has expired."},
        {"404 Not Found", "NoSuchBucket", "The specified bucket does not exist"},
    };
    const std::string key = write("key", "AKIAIOSFODNN7EXAMPLE:secret");
    for (const auto &answer : answers) {
        const std::string page = std::string("<?xml version=\"1.0\"?><Error><Code>") + answer.code +
                                 "</Code><Message>" + answer.message + "</Message></Error>";
        const std::string text = std::string("HTTP/1.1 ") + answer.status + "\r\nContent-Type: application/xml\r\n" +
                                 "Content-Length: " + std::to_string(page.size()) + "\r\n\r\n";
        const FaultyServer server([&](FaultyConnection &connection) {
            for (std::string words; !(words = connection.read_some()).empty();)
                if (!connection.send_bytes(words.find("HEAD ") == 0 ? "HTTP/1.1 403 Forbidden\r\n\r\n" : text + page))
                    return;
        });
        const std::string url = "s3://programs?region=us-east-1&credentials=" + key +
                                "&endpoint=http://127.0.0.1:" + std::to_string(server.port());
        const std::string said = std::string(answer.code) + ": " + answer.message;
        const Tier tier(url);
        EXPECT_EQ(INGOT_IO_ERROR, tier.load(kId)) << answer.code;
        EXPECT_NE(std::string::npos, std::string(ingot_last_error_detail()).find(said)) << ingot_last_error_detail();
        EXPECT_EQ(1u, tier.stats().pauses) << answer.code;
        ingot_remote_info_t info = patient();
        ingot_remote_report_t report;
        info.url = url.c_str();
        EXPECT_EQ(INGOT_IO_ERROR, ingot_remote_check(&info, &report));
        EXPECT_NE(std::string::npos, std::string(report.reason).find(said)) << report.reason;
    }
}
