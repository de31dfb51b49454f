/*
 * Tests that a policy for seals covers a server: whichever server it is, and however its tier is opened, a blob that a
 * stranger put there does not run, and a producer uploads sealed blobs.
 */
#include "support/environment.h"
#include "support/machine_fixture.h"
#include "support/server_process.h"

using namespace remote_fixture;
using server_process::Nginx;
using server_process::Redis;

namespace
{

constexpr const char *kPolicies[] = {"none", "verify", "require"};
const std::string kSource = "kernel twice x 2 *\n";

/* What a way to open a tier needs. */
struct Settings {
    std::string folder;
    std::string url;
    std::string policy;
    std::string key;

    std::map<std::string, std::string> variables() const
    {
        return {{"INGOT_PERSIST_DIR", folder},
                {"INGOT_PERSIST_REMOTE", url},
                {"INGOT_PERSIST_TRUST", policy},
                {"INGOT_PERSIST_KEYS", key}};
    }
    ingot_persist_trust_policy_t number() const
    {
        return policy == "none"     ? INGOT_PERSIST_TRUST_NONE
               : policy == "verify" ? INGOT_PERSIST_TRUST_VERIFY
                                    : INGOT_PERSIST_TRUST_REQUIRE;
    }
};

HeldStorage open_local(const Settings &settings, bool from_environment)
{
    const Environment variables(from_environment ? settings.variables() : std::map<std::string, std::string>());
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    ingot_persist_trust_t trust = INGOT_PERSIST_TRUST_INIT;
    trust.policy = settings.number();
    trust.key_files = settings.key.c_str();
    info.path = settings.folder.c_str();
    info.trust = from_environment ? nullptr : &trust;
    info.flags = from_environment ? INGOT_PERSIST_FROM_ENVIRONMENT : 0;
    return opened([&](ingot_storage_t *made) { return ingot_persist_open(made, &info); });
}

/* Opens a tier with the environment's settings, or with its URL alone, behind a storage or NULL. */
HeldStorage open_tier(const Settings &settings, bool from_environment, ingot_storage_t local = nullptr)
{
    const Environment variables(from_environment ? settings.variables() : std::map<std::string, std::string>());
    ingot_remote_info_t info = patient();
    info.url = from_environment ? nullptr : settings.url.c_str();
    info.flags = from_environment ? INGOT_REMOTE_FROM_ENVIRONMENT : 0;
    info.local = local;
    return opened([&](ingot_storage_t *made) { return ingot_remote_open(made, &info); });
}

HeldStorage behind(const Settings &settings, bool local_from_environment, bool from_environment)
{
    return open_tier(settings, from_environment, open_local(settings, local_from_environment).get());
}

HeldStorage chained(const Settings &settings, bool from_environment)
{
    const HeldStorage local = open_local(settings, from_environment);
    const HeldStorage tier = open_tier(settings, from_environment);
    EXPECT_EQ(INGOT_SUCCESS, set_setting(tier.get(), &ingot_persist_settings_t::write_through, 1));
    return chain_of({local.get(), tier.get()});
}

struct Way {
    const char *name;
    std::function<HeldStorage(const Settings &settings)> open;
};

const std::vector<Way> &ways()
{
    static const std::vector<Way> all = {
        {"behind a directory", [](const Settings &settings) { return behind(settings, false, false); }},
        {"behind a directory, from the environment",
         [](const Settings &settings) { return behind(settings, true, true); }},
        {"behind a directory of the environment",
         [](const Settings &settings) { return behind(settings, true, false); }},
        {"in a chain", [](const Settings &settings) { return chained(settings, false); }},
        {"in a chain, from the environment", [](const Settings &settings) { return chained(settings, true); }},
        {"behind a chain",
         [](const Settings &settings) {
             return open_tier(settings, false, chain_of({open_local(settings, false).get()}).get());
         }},
        {"alone, from the environment", [](const Settings &settings) { return open_tier(settings, true); }},
    };
    return all;
}

/* Returns true if a request gets the program from the storage, and false if it compiles it. */
bool runs(ingot_storage_t storage)
{
    const Session session;
    const ingot_origin_t origin = origin_of(session.describe(kSource), storage);
    EXPECT_NE(INGOT_ORIGIN_MEMORY, origin);
    return origin == INGOT_ORIGIN_STORAGE;
}

class RemoteTrust : public testing::TestWithParam<const char *>
{
protected:
    RemoteTrust()
    {
        ingot_persist_key_info_t info = INGOT_PERSIST_KEY_INFO_INIT;
        for (const std::string &key : {key_, stranger_})
            EXPECT_EQ(INGOT_SUCCESS, ingot_persist_key_create(key.c_str(), INGOT_PERSIST_KEY_ED25519_SECRET, &info));
        Kept kept;
        const HeldStorage storage = kept.open();
        EXPECT_FALSE(runs(storage.get()));
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(storage.get(), nullptr, nullptr));
        id_ = kept.blobs.begin()->first;
        blob_ = kept.blobs.begin()->second;
    }

    static bool is_redis() { return std::string(GetParam()) == "redis"; }
    void start_server()
    {
        redis_.reset(is_redis() ? new Redis : nullptr);
        nginx_.reset(is_redis() ? nullptr : new Nginx);
    }
    std::string url() const { return is_redis() ? redis_->url() : nginx_->url(); }
    Settings settings(const std::string &policy, bool has_secret = true)
    {
        return {(scratch_.path() / std::to_string(next_++)).string(), url(), policy, has_secret ? key_ : key_ + ".pub"};
    }
    Bytes sealed_by(const std::string &key) const
    {
        Kept kept;
        const HeldStorage storage = kept.open();
        ingot_persist_trust_t trust = INGOT_PERSIST_TRUST_INIT;
        trust.policy = INGOT_PERSIST_TRUST_REQUIRE;
        trust.key_files = key.c_str();
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_set_trust(storage.get(), &trust));
        EXPECT_EQ(INGOT_SUCCESS, storage.put(id_, blob_));
        return kept.blobs[id_];
    }
    void put(const Bytes &bytes) const
    {
        const Tier tier(url());
        EXPECT_EQ(INGOT_SUCCESS, tier.put_sealed(id_, bytes));
        EXPECT_EQ(INGOT_SUCCESS, tier.flush());
    }

    ScratchDirectory scratch_;
    std::unique_ptr<Redis> redis_;
    std::unique_ptr<Nginx> nginx_;
    const std::string key_ = (scratch_.path() / "key").string();
    const std::string stranger_ = (scratch_.path() / "stranger").string();
    Bytes id_, blob_;
    int next_ = 0;
};

} // namespace

TEST_P(RemoteTrust, AForgedBlobOfTheServerNeverRuns)
{
    struct Case {
        const char *name;
        Bytes bytes;
        bool is_accepted[3]; /* in the order of kPolicies */
    };
    const Case cases[] = {
        {"not sealed", blob_, {true, true, false}},
        {"sealed by a stranger", sealed_by(stranger_), {true, false, false}},
        {"sealed", sealed_by(key_), {true, true, true}},
    };
    start_server();
    for (const Case &each : cases) {
        put(each.bytes);
        for (const Way &way : ways())
            for (size_t i = 0; i < 3; ++i)
                for (const bool has_secret : {false, true}) {
                    SCOPED_TRACE(std::string(each.name) + ", " + way.name + ", " + kPolicies[i]);
                    {
                        const HeldStorage storage = way.open(settings(kPolicies[i], has_secret));
                        EXPECT_EQ(each.is_accepted[i], runs(storage.get()));
                    }
                    put(each.bytes); /* the request may have replaced it */
                }
    }
}

TEST_P(RemoteTrust, AProducerUploadsSealedBlobsOrNone)
{
    const Bytes good = sealed_by(key_);
    for (const Way &way : ways())
        for (size_t i = 0; i < 3; ++i)
            for (const bool has_secret : {false, true}) {
                SCOPED_TRACE(std::string(way.name) + ", " + kPolicies[i]);
                start_server();
                {
                    const HeldStorage producer = way.open(settings(kPolicies[i], has_secret));
                    EXPECT_FALSE(runs(producer.get()));
                }
                const Tier tier(url());
                const bool is_sealed = i != 0 && has_secret;
                const HeldStorage reader = behind(settings("require"), false, false);
                EXPECT_EQ(i == 2 && !has_secret ? INGOT_NOT_FOUND : INGOT_SUCCESS, tier.load(id_));
                EXPECT_EQ(is_sealed, runs(reader.get()));
            }
}

INSTANTIATE_TEST_SUITE_P(Servers, RemoteTrust, testing::Values("redis", "nginx"));

TEST(RemoteTrustEnvironment, SaysWhatIsWrong)
{
    ingot_remote_info_t info = INGOT_REMOTE_INFO_INIT;
    ingot_storage_t tier = nullptr;
    info.flags = INGOT_REMOTE_FROM_ENVIRONMENT;
    {
        const Environment variables({{"INGOT_PERSIST_REMOTE", "redis://host"}, {"INGOT_PERSIST_TRUST", "yse"}});
        EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_remote_open(&tier, &info));
        EXPECT_STREQ("INGOT_PERSIST_TRUST: \"yse\" is not none, verify or require", ingot_last_error_detail());
    }
    const Environment variables({{"INGOT_PERSIST_REMOTE", "redis://host"},
                                 {"INGOT_PERSIST_TRUST", "require"},
                                 {"INGOT_PERSIST_KEYS", "/no/such/key"}});
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_remote_open(&tier, &info));
    info.struct_size = offsetof(ingot_remote_info_t, trust);
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_remote_open(&tier, &info)) << "an application that knows no seals";
    EXPECT_EQ(nullptr, tier);
}
