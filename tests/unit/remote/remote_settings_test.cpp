/*
 * Tests the checks of URLs, of files with credentials, and of the fields of ingot_remote_info_t.
 */
#include "support/remote_fixture.h"
#include "support/setuid_child.h"

extern "C" {
#include "remote/settings/settings.h"
ingot_status_t tier_read_environment(ingot_remote_info_t *info, ingot_persist_trust_t *trust);
}

using namespace remote_fixture;

namespace
{

class RemoteSettings : public testing::Test
{
protected:
    std::string write(const std::string &text, mode_t mode = 0600)
    {
        const std::string path = scratch_.path() / "secret";
        unlink(path.c_str());
        std::ofstream(path, std::ios::binary) << text;
        chmod(path.c_str(), mode);
        return path;
    }
    ScratchDirectory scratch_;
    char secret_[SECRET_CAPACITY];
};

ingot_status_t parse(const std::string &text)
{
    url parsed;
    return url_parse(&parsed, text.c_str());
}

ingot_status_t open_with(const std::string &url, const std::function<void(ingot_remote_info_t *)> &change = nullptr)
{
    ingot_remote_info_t info = INGOT_REMOTE_INFO_INIT;
    ingot_storage_t storage = nullptr;
    info.url = url.c_str();
    if (change)
        change(&info);
    const ingot_status_t status = ingot_remote_open(&storage, &info);
    ingot_storage_release(storage);
    return status;
}

} // namespace

TEST_F(RemoteSettings, ReadsThePartsOfAUrl)
{
    url parsed;
    ASSERT_EQ(INGOT_SUCCESS, url_parse(&parsed, "redis://cache@example.org:7000/3?credentials=/etc/my%20secret"));
    EXPECT_EQ(URL_REDIS, parsed.scheme);
    EXPECT_STREQ("cache", parsed.user);
    EXPECT_STREQ("example.org", parsed.host);
    EXPECT_STREQ("7000", parsed.port);
    EXPECT_STREQ("3", parsed.path);
    EXPECT_STREQ("/etc/my secret", parsed.credentials);
    EXPECT_EQ(URL_AUTH_PASSWORD, parsed.auth);

    ASSERT_EQ(INGOT_SUCCESS, url_parse(&parsed, "redis://[::1]"));
    EXPECT_STREQ("[::1]", parsed.host);
    EXPECT_STREQ("", parsed.port);
    EXPECT_EQ(URL_AUTH_NONE, parsed.auth);

    ASSERT_EQ(INGOT_SUCCESS, url_parse(&parsed, "rediss://[::1]:7000/3?ca=/c&cert=/d&key=/k"));
    EXPECT_EQ(URL_REDIS_TLS, parsed.scheme);
    EXPECT_STREQ("[::1]", parsed.host);
    EXPECT_STREQ("7000", parsed.port);
    EXPECT_STREQ("3", parsed.path);
    EXPECT_STREQ("/c", parsed.ca);
    EXPECT_STREQ("/d", parsed.certificate);
    EXPECT_STREQ("/k", parsed.key);

    ASSERT_EQ(INGOT_SUCCESS, url_parse(&parsed, "redis+unix:///run/redis.sock"));
    EXPECT_STREQ("/run/redis.sock", parsed.path);
}

TEST_F(RemoteSettings, ReadsUrlsOfHttpAndS3)
{
    url parsed;
    ASSERT_EQ(
        INGOT_SUCCESS,
        url_parse(&parsed, "https://example.org/a/b/?auth=bearer&credentials=/t&ca=/c&cert=/d&key=/k&layout=flat"));
    EXPECT_EQ(URL_HTTPS, parsed.scheme);
    EXPECT_STREQ("a/b", parsed.path);
    EXPECT_EQ(URL_AUTH_BEARER, parsed.auth);
    EXPECT_STREQ("/c", parsed.ca);
    EXPECT_STREQ("/d", parsed.certificate);
    EXPECT_STREQ("/k", parsed.key);
    EXPECT_TRUE(parsed.is_flat);
    ASSERT_EQ(INGOT_SUCCESS, url_parse(&parsed, "s3://bucket/some/prefix?region=eu-central-1&credentials=/s"));
    EXPECT_STREQ("bucket", parsed.host);
    EXPECT_EQ(URL_AUTH_S3, parsed.auth);
    ASSERT_EQ(INGOT_SUCCESS, url_parse(&parsed, "http://[::1]:8080/x"));
    EXPECT_STREQ("[::1]", parsed.host);
    for (const char *text : {"s3://bucket", "https://h?cert=/c", "https://h?key=/k", "http://h?endpoint=http://x",
                             "http://h/a b", "http://h/#x", "http://h?auth=s3&credentials=/s", "http://h?auth=bearer"})
        EXPECT_EQ(INGOT_INVALID_ARGUMENTS, parse(text)) << text;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, open_with("s3://b?region=eu&endpoint=ftp://x"));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, open_with("s3://b?region=eu/x"));
}

TEST_F(RemoteSettings, RefusesPasswordsInUrlsAndDoesNotRepeatThem)
{
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, parse("redis://user:hunter2@host/"));
    EXPECT_EQ(std::string::npos, std::string(ingot_last_error_detail()).find("hunter2"));
    EXPECT_NE(std::string::npos, std::string(ingot_last_error_detail()).find("credentials"));
}

TEST_F(RemoteSettings, RefusesMalformedUrls)
{
    for (const char *text : {"",
                             "host",
                             "ftp://host/",
                             "redis://",
                             "redis:///3",
                             "redis://host:port",
                             "redis://host:",
                             "redis://host/x",
                             "redis://host?",
                             "redis://host?credentials",
                             "redis://host?credentials=",
                             "redis://host?=x",
                             "redis://host?colour=blue",
                             "redis://host?credentials=%2",
                             "redis://host?credentials=%00",
                             "redis://host?auth=bearer&credentials=/x",
                             "redis://host?auth=magic",
                             "redis://host?ca=/c",
                             "redis://host?cert=/c&key=/k",
                             "redis+unix:///run/redis.sock?ca=/c",
                             "rediss://host?key=/k",
                             "rediss://host/x",
                             "rediss://host?auth=bearer&credentials=/x",
                             "redis+unix://host/x",
                             "redis://host:123456",
                             "redis://u%zz@host"})
        EXPECT_EQ(INGOT_INVALID_ARGUMENTS, parse(text)) << text;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, parse("redis://" + std::string(300, 'h')));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, parse("redis://h?credentials=" + std::string(3000, 'x')));
}

TEST_F(RemoteSettings, ReadsTheFirstLineOfASecret)
{
    EXPECT_EQ(INGOT_SUCCESS, secret_file_read("it", write("hunter2\nmore\n").c_str(), secret_));
    EXPECT_STREQ("hunter2", secret_);
    EXPECT_EQ(INGOT_SUCCESS, secret_file_read("it", write("hunter3").c_str(), secret_));
    EXPECT_STREQ("hunter3", secret_);
    EXPECT_EQ(INGOT_SUCCESS, secret_file_read("it", write("hunter4\r\n").c_str(), secret_));
    EXPECT_STREQ("hunter4", secret_);
}

TEST_F(RemoteSettings, RefusesSecretsThatOthersCanChangeOrAllCanRead)
{
    for (const mode_t mode : {0604, 0644, 0602, 0620, 0660, 0666, 0422, 0222}) {
        EXPECT_EQ(INGOT_UNTRUSTED, secret_file_read("it", write("hunter2", mode).c_str(), secret_)) << mode;
        EXPECT_NE(std::string::npos, std::string(ingot_last_error_detail()).find("chmod 600"));
        EXPECT_EQ(INGOT_UNTRUSTED, secret_file_check("it", write("hunter2", mode).c_str()));
    }
    EXPECT_EQ(INGOT_SUCCESS, secret_file_check("it", write("hunter2", 0400).c_str()));
    if (geteuid() == 0) {
        const std::string path = write("hunter2");
        ASSERT_EQ(0, chown(path.c_str(), 12345, 12345));
        EXPECT_EQ(INGOT_UNTRUSTED, secret_file_read("it", path.c_str(), secret_));
    }
    EXPECT_EQ(INGOT_UNTRUSTED, secret_file_read("it", scratch_.path().c_str(), secret_));
}

/* Orchestrators mount secrets like this. */
TEST_F(RemoteSettings, TakesSecretsThatAGroupCanRead)
{
    for (const mode_t mode : {0440, 0640, 0444}) {
        const std::string path = write("hunter2", mode);
        EXPECT_EQ(INGOT_SUCCESS, secret_file_read("it", path.c_str(), secret_)) << mode;
        EXPECT_EQ(INGOT_SUCCESS, secret_file_check("it", path.c_str())) << mode;
    }
}

TEST_F(RemoteSettings, RefusesSecretsThatAreNotText)
{
    EXPECT_EQ(INGOT_NOT_FOUND, secret_file_read("it", (scratch_.path() / "none").c_str(), secret_));
    EXPECT_EQ(ENOENT, ingot_last_error_code());
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, secret_file_read("it", write("").c_str(), secret_));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, secret_file_read("it", write("\nx").c_str(), secret_));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, secret_file_read("it", write(std::string("a\0b", 3)).c_str(), secret_));
    for (const char *text : {"token\rX-Other: header", "token\r\r\n", "tab\tular", "esc\x1b", "del\x7f"})
        EXPECT_EQ(INGOT_INVALID_ARGUMENTS, secret_file_read("it", write(text).c_str(), secret_)) << text;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, secret_file_read("it", write(std::string(5000, 'x')).c_str(), secret_));
    EXPECT_EQ(INGOT_SUCCESS, secret_file_read("it", write(std::string(4095, 'x')).c_str(), secret_));
}

TEST_F(RemoteSettings, ChecksTheInfo)
{
    ingot_storage_t storage = nullptr;
    ingot_remote_info_t info = INGOT_REMOTE_INFO_INIT;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_remote_open(&storage, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_remote_open(nullptr, &info));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_remote_open(&storage, &info)) << "no URL";
    const std::string url = "redis://127.0.0.1:1";
    EXPECT_EQ(INGOT_SUCCESS, open_with(url));
    for (const char *name : {"", ".", "..", "a/b", "a b", "a:b", "\xc3\xa4"})
        EXPECT_EQ(INGOT_INVALID_ARGUMENTS, open_with(url, [&](auto *i) { i->name_space = name; })) << name;
    const std::string longest(64, 'n');
    EXPECT_EQ(INGOT_SUCCESS, open_with(url, [&](auto *i) { i->name_space = longest.c_str(); }));
    const std::string longer(65, 'n');
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, open_with(url, [&](auto *i) { i->name_space = longer.c_str(); }));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, open_with(url, [](auto *i) { i->flags = 0x80; }));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, open_with(url, [](auto *i) { i->max_blob_bytes = uint64_t{2} << 30; }));
    EXPECT_EQ(INGOT_SUCCESS, open_with(url, [](auto *i) { i->struct_size = 16; })) << "an older, shorter info";
    EXPECT_EQ(INGOT_NOT_FOUND, open_with(url + "?credentials=/nowhere/secret"));
    EXPECT_EQ(INGOT_UNTRUSTED, open_with(url + "?credentials=" + write("hunter2", 0644)));
}

/* INGOT_NONE is for times and amounts that may be none. */
TEST_F(RemoteSettings, TakesTheSpecialValuesOfLimits)
{
    const std::string url = "redis://127.0.0.1:1";
    for (uint64_t ingot_remote_info_t::*field :
         {&ingot_remote_info_t::max_waiting_bytes, &ingot_remote_info_t::max_waiting,
          &ingot_remote_info_t::lost_time_ms, &ingot_remote_info_t::exit_time_ms}) {
        for (const uint64_t value : {INGOT_UNLIMITED, INGOT_NONE})
            EXPECT_EQ(INGOT_SUCCESS, open_with(url, [&](auto *i) { i->*field = value; }));
    }
    for (uint64_t ingot_remote_info_t::*field :
         {&ingot_remote_info_t::time_to_live_ms, &ingot_remote_info_t::max_blob_bytes,
          &ingot_remote_info_t::connect_timeout_ms, &ingot_remote_info_t::stall_timeout_ms,
          &ingot_remote_info_t::slow_ms, &ingot_remote_info_t::retry_ms, &ingot_remote_info_t::longest_retry_ms,
          &ingot_remote_info_t::lease_time_ms}) {
        EXPECT_EQ(INGOT_SUCCESS, open_with(url, [&](auto *i) { i->*field = INGOT_UNLIMITED; }));
        EXPECT_EQ(INGOT_INVALID_ARGUMENTS, open_with(url, [&](auto *i) { i->*field = INGOT_NONE; }));
    }
}

TEST_F(RemoteSettings, RefusesPathsOfSocketsThatAreTooLong)
{
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, open_with("redis+unix:///" + std::string(200, 's')));
    const std::string detail = ingot_last_error_detail();
    EXPECT_NE(std::string::npos, detail.find("has 201 bytes, and the system allows 107")) << detail;
    EXPECT_EQ(INGOT_SUCCESS, open_with("redis+unix:///" + std::string(106, 's')));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, open_with("redis+unix:///" + std::string(107, 's')));
}

TEST_F(RemoteSettings, OtherStoragesAreNotRemoteTiers)
{
    ingot_storage_t storage = nullptr;
    ingot_remote_stats_t stats = {};
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_open_file(&storage, (scratch_.path() / "file").c_str(), nullptr));
    EXPECT_EQ(INGOT_UNIMPLEMENTED, ingot_remote_get_stats(storage, &stats));
    EXPECT_EQ(INGOT_UNIMPLEMENTED, ingot_remote_flush(storage, 0));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_remote_flush(nullptr, 0));
    ingot_storage_release(storage);
}

TEST_F(RemoteSettings, ReadsTheEnvironment)
{
    ingot_persist_trust_t trust = INGOT_PERSIST_TRUST_INIT;
    ingot_remote_info_t info = INGOT_REMOTE_INFO_INIT;
    const auto read = [&](ingot_remote_info_t defaults) {
        info = defaults;
        info.flags |= INGOT_REMOTE_FROM_ENVIRONMENT;
        return tier_read_environment(&info, &trust);
    };
    const ingot_remote_info_t nothing = INGOT_REMOTE_INFO_INIT;
    const uint32_t flag = INGOT_REMOTE_FROM_ENVIRONMENT;
    const auto set = [](const char *name, const char *value) { setenv(name, value, 1); };
    for (const char *name : {"INGOT_PERSIST_REMOTE", "INGOT_PERSIST_REMOTE_MODE", "INGOT_PERSIST_REMOTE_MAX_AGE_DAYS",
                             "INGOT_PERSIST_REMOTE_LEASES", "INGOT_PERSIST_NAMESPACE"})
        unsetenv(name);
    ingot_storage_t local = nullptr;
    ingot_storage_t storage = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_open_file(&local, (scratch_.path() / "file").c_str(), nullptr));
    set("INGOT_PERSIST_REMOTE", "");
    info.flags = flag;
    EXPECT_EQ(INGOT_SUCCESS, ingot_remote_open(&storage, &info));
    EXPECT_EQ(nullptr, storage) << "no server is named";
    info.local = local;
    EXPECT_EQ(INGOT_SUCCESS, ingot_remote_open(&storage, &info));
    EXPECT_EQ(local, storage);
    ingot_storage_release(local);
    ingot_storage_release(storage);

    set("INGOT_PERSIST_REMOTE", "redis://cache.example");
    EXPECT_EQ(INGOT_SUCCESS, read(nothing));
    EXPECT_STREQ("redis://cache.example", info.url);
    EXPECT_EQ(nullptr, info.name_space);
    EXPECT_EQ(flag, info.flags);
    set("INGOT_PERSIST_NAMESPACE", "team");
    set("INGOT_PERSIST_REMOTE_MODE", "Read");
    set("INGOT_PERSIST_REMOTE_MAX_AGE_DAYS", "2");
    EXPECT_EQ(INGOT_SUCCESS, read(nothing));
    EXPECT_STREQ("team", info.name_space);
    EXPECT_EQ(flag | INGOT_REMOTE_READ_ONLY, info.flags);
    EXPECT_EQ(2u * 86400 * 1000, info.time_to_live_ms);
    ingot_remote_info_t own = INGOT_REMOTE_INFO_INIT;
    own.url = "redis://own.example";
    own.name_space = "own";
    own.time_to_live_ms = 1000;
    own.flags = INGOT_REMOTE_READ_ONLY;
    set("INGOT_PERSIST_REMOTE_MODE", "read-write");
    set("INGOT_PERSIST_REMOTE_LEASES", "off");
    EXPECT_EQ(INGOT_SUCCESS, read(own));
    EXPECT_STREQ("redis://own.example", info.url) << "the application's fields count";
    EXPECT_STREQ("own", info.name_space);
    EXPECT_EQ(1000u, info.time_to_live_ms);
    EXPECT_EQ(flag | INGOT_REMOTE_READ_ONLY | INGOT_REMOTE_NO_LEASES, info.flags);
    own.flags = 0;
    EXPECT_EQ(INGOT_SUCCESS, tier_read_environment(&own, &trust));
    EXPECT_EQ(0u, own.flags) << "nothing is read without the flag";
    set("INGOT_PERSIST_REMOTE_LEASES", "on");
    set("INGOT_PERSIST_REMOTE_MAX_AGE_DAYS", "unlimited");
    EXPECT_EQ(INGOT_SUCCESS, read(nothing));
    EXPECT_EQ(INGOT_UNLIMITED, info.time_to_live_ms);
    EXPECT_EQ(flag, info.flags);
    for (const char *name :
         {"INGOT_PERSIST_REMOTE_MODE", "INGOT_PERSIST_REMOTE_MAX_AGE_DAYS", "INGOT_PERSIST_REMOTE_LEASES"}) {
        set(name, "perhaps");
        EXPECT_EQ(INGOT_INVALID_ARGUMENTS, read(nothing));
        EXPECT_EQ(0u, std::string(ingot_last_error_detail()).find(std::string(name) + ": \"perhaps\" is not"));
        unsetenv(name);
    }
}

TEST_F(RemoteSettings, OfASetuidProgramAreNotItsUsers)
{
    if (setuid_child::is_this()) {
        ingot_remote_info_t info = INGOT_REMOTE_INFO_INIT;
        ingot_storage_t storage = nullptr;
        info.flags = INGOT_REMOTE_FROM_ENVIRONMENT;
        EXPECT_NE(nullptr, getenv("INGOT_PERSIST_REMOTE"));
        EXPECT_EQ(INGOT_SUCCESS, ingot_remote_open(&storage, &info));
        EXPECT_EQ(nullptr, storage);
        setuid_child::end();
    }
    const char *reason = setuid_child::run(scratch_, {{"INGOT_PERSIST_REMOTE", "redis://cache.example"}});
    if (reason != nullptr)
        GTEST_SKIP() << reason;
}
