/*
 * Tests how environment variables change an ingot_persist_info_t.
 */
#include "support/environment.h"
#include "support/setuid_child.h"
#include "support/store_fixture.h"

extern "C" {
#include "persist/storage/storage.h"
}

using namespace store_fixture;
using PersistEnvironment = StoreTest;

namespace
{

using Variables = std::map<std::string, std::string>;

/* What the environment says, copied. */
struct Outcome {
    ingot_status_t status;
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT; /* without the texts */
    ingot_persist_trust_policy_t policy = INGOT_PERSIST_TRUST_NONE;
    std::string path, name_space, key_files, record_path;
    std::string detail;
};

const char *look_up(const char *name, void *user)
{
    const auto &all = *static_cast<const Variables *>(user);
    const auto found = all.find(name);
    return found == all.end() ? nullptr : found->second.c_str();
}

std::string text_of(const char *text)
{
    return text != nullptr ? text : "";
}

ingot_status_t take_settings(ingot_persist_info_t *info, void *user)
{
    Outcome &outcome = *static_cast<Outcome *>(user);
    outcome.path = info->path;
    outcome.name_space = text_of(info->name_space);
    outcome.record_path = text_of(info->record_path);
    outcome.policy = info->trust->policy;
    outcome.key_files = text_of(info->trust->key_files);
    outcome.info = *info;
    outcome.info.path = outcome.info.name_space = outcome.info.record_path = nullptr;
    outcome.info.trust = nullptr;
    return INGOT_BUSY; /* nothing is opened */
}

Outcome read(Variables variables, ingot_persist_info_t defaults = INGOT_PERSIST_INFO_INIT)
{
    Outcome outcome;
    ingot_storage_t storage = nullptr;
    defaults.adjust = take_settings;
    defaults.adjust_user = &outcome;
    outcome.status = persist_environment_open(&storage, &defaults, look_up, &variables);
    EXPECT_EQ(nullptr, storage);
    outcome.status = outcome.status == INGOT_BUSY ? INGOT_SUCCESS : outcome.status;
    outcome.detail = outcome.status == INGOT_SUCCESS ? "" : ingot_last_error_detail();
    outcome.info.adjust = nullptr;
    return outcome;
}

/* A value with the flag that reads the environment. */
ingot_persist_info_t from_environment()
{
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    info.flags = INGOT_PERSIST_FROM_ENVIRONMENT;
    return info;
}

HeldStorage open_from_environment(const ingot_persist_info_t &defaults = from_environment())
{
    return opened([&](ingot_storage_t *made) { return ingot_persist_open(made, &defaults); });
}

/* Reads variables, and a variable for the path. */
Outcome read_in_d(Variables variables, const ingot_persist_info_t &defaults = INGOT_PERSIST_INFO_INIT)
{
    variables["INGOT_PERSIST_DIR"] = "d";
    return read(variables, defaults);
}

} // namespace

TEST_F(PersistEnvironment, TellsOfAWrongValueOnce)
{
    const Variables variables = {{"INGOT_PERSIST_DIR", "d"}, {"INGOT_PERSIST_READ_ONLY", "enabled"}};
    testing::internal::CaptureStderr();
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(INGOT_INVALID_ARGUMENTS, read(variables).status);
    EXPECT_EQ("ingot: INGOT_PERSIST_READ_ONLY: \"enabled\" is not 0, 1, off, on, no, yes, false or true\n",
              testing::internal::GetCapturedStderr());
}

/* A typing error must not make a strict start compile. */
TEST_F(PersistEnvironment, AWrongAnswerToAMissIsFail)
{
    testing::internal::CaptureStderr();
    for (const char *word : {"strict", "1", "fial"}) {
        const Outcome outcome = read_in_d({{"INGOT_ON_MISS", word}});
        EXPECT_EQ(INGOT_SUCCESS, outcome.status);
        EXPECT_EQ(INGOT_PERSIST_ON_MISS_FAIL, outcome.info.on_miss);
    }
    EXPECT_EQ("ingot: INGOT_ON_MISS: \"strict\" is not compile, report, fail or later\n",
              testing::internal::GetCapturedStderr());
}

TEST_F(PersistEnvironment, FindsTheRootInOrder)
{
    Variables all = {{"INGOT_PERSIST_DIR", "here"}, {"XDG_CACHE_HOME", "/xdg"}, {"HOME", "/home/me"}};
    EXPECT_EQ("here", read(all).path);
    EXPECT_EQ(0u, read(all).info.flags);
    all["INGOT_PERSIST_DIR"] = "";
    EXPECT_EQ("/xdg/ingot", read(all).path);
    EXPECT_EQ(static_cast<uint32_t>(INGOT_PERSIST_MAKE_PARENTS), read(all).info.flags);
    all["XDG_CACHE_HOME"] = "relative";
    EXPECT_EQ("/home/me/.cache/ingot", read(all).path);
    all.erase("HOME");
    EXPECT_EQ(INGOT_NOT_FOUND, read(all).status);
    EXPECT_EQ(INGOT_NOT_FOUND, read({}).status);
}

TEST_F(PersistEnvironment, ReadsEveryVariableInEitherCaseAndWithUnits)
{
    using Info = ingot_persist_info_t;
    const auto expect = [](const char *name, std::initializer_list<const char *> texts, auto Info::*field,
                           uint64_t value) {
        for (const char *text : texts) {
            const Outcome outcome = read_in_d({{name, text}});
            EXPECT_EQ(INGOT_SUCCESS, outcome.status) << name << "=" << text << ": " << outcome.detail;
            EXPECT_EQ(value, static_cast<uint64_t>(outcome.info.*field)) << name << "=" << text;
        }
    };
    expect("INGOT_PERSIST", {"1", "on", "ON", "Yes", "true"}, &Info::flags, 0);
    expect("INGOT_PERSIST_MAX_SIZE", {"7", "7b"}, &Info::max_bytes, 7);
    expect("INGOT_PERSIST_MAX_SIZE", {"2k", "2KiB"}, &Info::max_bytes, 2048);
    expect("INGOT_PERSIST_MAX_SIZE", {"2M", "2mib"}, &Info::max_bytes, 2ull << 20);
    expect("INGOT_PERSIST_MAX_SIZE", {"2G", "2GIB"}, &Info::max_bytes, 2ull << 30);
    expect("INGOT_PERSIST_MAX_SIZE", {"2T", "2TiB"}, &Info::max_bytes, 2ull << 40);
    expect("INGOT_PERSIST_MAX_ENTRIES", {"2k"}, &Info::max_entries, 2048);
    expect("INGOT_PERSIST_MAX_AGE_DAYS", {"2", "2d", "48H", "2880m"}, &Info::max_age_ms, 172800000);
    expect("INGOT_PERSIST_MIN_BLOB", {"4k"}, &Info::min_blob_bytes, 4096);
    expect("INGOT_PERSIST_MAX_BLOB", {"2G"}, &Info::max_blob_bytes, 2ull << 30);
    expect("INGOT_PERSIST_EVICTION", {"lru", "LRU"}, &Info::eviction, INGOT_PERSIST_EVICT_LRU);
    expect("INGOT_PERSIST_READ_ONLY", {"1", "on", "ON", "Yes", "true"}, &Info::flags, INGOT_PERSIST_READ_ONLY);
    expect("INGOT_PERSIST_REQUESTS", {"on"}, &Info::flags, INGOT_PERSIST_KEEP_REQUESTS);
    expect("INGOT_PERSIST_STORE_MODE", {"Flush"}, &Info::store_mode, INGOT_PERSIST_STORE_ON_FLUSH);
    expect("INGOT_PERSIST_LOCK_TIMEOUT", {"1m"}, &Info::lock_timeout_ms, 60000);
    expect("INGOT_PERSIST_BUILD_WAIT", {"90s"}, &Info::build_wait_ms, 90000);
    expect("INGOT_BUILD_JOBS", {"3"}, &Info::build_jobs, 3);
    expect("INGOT_ON_MISS", {"compile"}, &Info::on_miss, INGOT_PERSIST_ON_MISS_COMPILE);
    expect("INGOT_ON_MISS", {"Report"}, &Info::on_miss, INGOT_PERSIST_ON_MISS_REPORT);
    expect("INGOT_ON_MISS", {"fail"}, &Info::on_miss, INGOT_PERSIST_ON_MISS_FAIL);
    const Outcome texts = read_in_d({{"INGOT_PERSIST_NAMESPACE", "app-1"}, {"INGOT_RECORD", "/requests"}});
    EXPECT_EQ("app-1", texts.name_space);
    EXPECT_EQ("/requests", texts.record_path);
    const Outcome none = read_in_d({});
    EXPECT_EQ("", none.name_space + none.record_path);
    EXPECT_EQ(0u, none.info.flags);
}

TEST_F(PersistEnvironment, ZeroTurnsPersistenceOff)
{
    for (const char *off : {"0", "OFF"})
        EXPECT_EQ(INGOT_NOT_FOUND, read_in_d({{"INGOT_PERSIST", off}}).status);
    EXPECT_EQ(0u, read_in_d({}).info.max_bytes);
}

/* In variables and in fields alike, 0 is the default, and two values mean no limit, and nothing. */
TEST_F(PersistEnvironment, EachLimitAndTimeHasTheSameThreeSpecialValues)
{
    const std::map<std::string, uint64_t ingot_persist_info_t::*> limits = {
        {"INGOT_PERSIST_MAX_SIZE", &ingot_persist_info_t::max_bytes},
        {"INGOT_PERSIST_MAX_ENTRIES", &ingot_persist_info_t::max_entries},
        {"INGOT_PERSIST_MAX_AGE_DAYS", &ingot_persist_info_t::max_age_ms},
        {"INGOT_PERSIST_MIN_BLOB", &ingot_persist_info_t::min_blob_bytes},
        {"INGOT_PERSIST_MAX_BLOB", &ingot_persist_info_t::max_blob_bytes},
        {"INGOT_PERSIST_LOCK_TIMEOUT", &ingot_persist_info_t::lock_timeout_ms},
        {"INGOT_PERSIST_BUILD_WAIT", &ingot_persist_info_t::build_wait_ms},
        {"INGOT_BUILD_JOBS", &ingot_persist_info_t::build_jobs}};
    for (const auto &[name, field] : limits) {
        ingot_persist_info_t defaults = INGOT_PERSIST_INFO_INIT;
        for (const uint64_t by_default : {uint64_t{0}, uint64_t{77}}) {
            defaults.*field = by_default;
            EXPECT_EQ(by_default, read_in_d({{name, "0"}}, defaults).info.*field) << name;
            EXPECT_EQ(INGOT_UNLIMITED, read_in_d({{name, "unlimited"}}, defaults).info.*field);
            EXPECT_EQ(INGOT_NONE, read_in_d({{name, "NONE"}}, defaults).info.*field) << name;
        }
        for (const char *text : {"18446744073709551614", "18446744073709551615", "limited", "nothing"})
            EXPECT_EQ(INGOT_INVALID_ARGUMENTS, read_in_d({{name, text}}).status) << name << "=" << text;
    }
}

TEST_F(PersistEnvironment, AStoreTakesTheSpecialValuesOfEachField)
{
    ingot_persist_info_t info = info_at(root_);
    for (const uint64_t value : {uint64_t{0}, INGOT_UNLIMITED, INGOT_NONE}) {
        info.max_bytes = info.max_entries = info.max_age_ms = value;
        info.min_blob_bytes = value == INGOT_UNLIMITED ? 0 : value;
        info.lock_timeout_ms = info.build_wait_ms = value;
        info.build_jobs = value == INGOT_NONE ? 0 : value;
        info.flags = INGOT_PERSIST_KEEP_REQUESTS;
        const Store store(info);
        ASSERT_EQ(INGOT_SUCCESS, store.status()) << ingot_last_error_detail();
        const ingot_persist_settings_t settings = settings_of(store);
        EXPECT_EQ(value != 0 ? value : uint64_t{1} << 30, settings.max_bytes);
        EXPECT_EQ(value != 0 ? value : INGOT_UNLIMITED, settings.max_entries);
        EXPECT_EQ(value != 0 ? value : INGOT_UNLIMITED, settings.max_age_ms);
        EXPECT_EQ(value == INGOT_NONE ? INGOT_NO_SPACE : INGOT_SUCCESS,
                  store.put(bytes_of("id"), bytes_of("blob " + std::to_string(value))));
        EXPECT_EQ(value == INGOT_NONE ? INGOT_NOT_FOUND : INGOT_SUCCESS, store.load(bytes_of("id")));
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_set_settings(store.get(), &settings)) << "they mean the same again";
    }
    info = INGOT_PERSIST_INFO_INIT;
    info.path = root_.c_str();
    info.max_blob_bytes = INGOT_NONE;
    EXPECT_EQ(INGOT_NO_SPACE, Store(info).put(bytes_of("id"), bytes_of("blob")));
    info.max_blob_bytes = INGOT_UNLIMITED;
    EXPECT_EQ(INGOT_SUCCESS, Store(info).put(bytes_of("id"), bytes_of("blob")));
    info.build_jobs = INGOT_NONE;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, Store(info).status());
}

TEST_F(PersistEnvironment, NonsenseIsAnErrorThatNamesTheVariable)
{
    const std::vector<std::pair<std::string, std::vector<std::string>>> nonsense = {
        {"INGOT_PERSIST", {"maybe", "2", " 1", "01"}},
        {"INGOT_PERSIST_MAX_SIZE",
         {"M", "-1", "1.5G", "5X", "5MB", " 5", "5 ", "99999999999999999999", "17179869184G"}},
        {"INGOT_PERSIST_MAX_AGE_DAYS", {"1w", "x", "213503982335"}},
        {"INGOT_PERSIST_MIN_BLOB", {"small"}},
        {"INGOT_PERSIST_MAX_BLOB", {"1e6"}},
        {"INGOT_PERSIST_EVICTION", {"mru", "none"}},
        {"INGOT_PERSIST_READ_ONLY", {"2"}},
        {"INGOT_PERSIST_NAMESPACE", {"a/b", "lock"}},
        {"INGOT_PERSIST_REQUESTS", {"some"}},
        {"INGOT_PERSIST_MAX_ENTRIES", {"many"}},
        {"INGOT_PERSIST_STORE_MODE", {"later"}},
        {"INGOT_PERSIST_LOCK_TIMEOUT", {"soon", "5 s", "1y", "s", "-1"}},
        {"INGOT_PERSIST_TRUST", {"yes", "required", "1"}},
        {"INGOT_PERSIST_BUILD_WAIT", {"never", "1.5s"}},
        {"INGOT_BUILD_JOBS", {"all", "-1"}}};
    for (const auto &[name, values] : nonsense)
        for (const std::string &value : values) {
            const Outcome outcome = read_in_d({{name, value}});
            EXPECT_EQ(INGOT_INVALID_ARGUMENTS, outcome.status) << name << "=" << value;
            EXPECT_NE(std::string::npos, outcome.detail.find(name + ": \"" + value)) << outcome.detail;
        }
}

TEST_F(PersistEnvironment, TurnsWaitingForBuildsOffAndOn)
{
    Variables variables = {{"INGOT_PERSIST_DIR", "d"}};
    ingot_persist_info_t defaults = INGOT_PERSIST_INFO_INIT;
    defaults.flags = INGOT_PERSIST_NO_BUILD_WAIT;
    EXPECT_EQ(static_cast<uint32_t>(INGOT_PERSIST_NO_BUILD_WAIT), read(variables, defaults).info.flags);
    variables["INGOT_PERSIST_BUILD_WAIT"] = "0"; /* as if unset */
    EXPECT_EQ(static_cast<uint32_t>(INGOT_PERSIST_NO_BUILD_WAIT), read(variables, defaults).info.flags);
    variables["INGOT_PERSIST_BUILD_WAIT"] = "2s";
    EXPECT_EQ(0u, read(variables, defaults).info.flags);
    EXPECT_EQ(2000u, read(variables, defaults).info.build_wait_ms);
}

TEST_F(PersistEnvironment, AValueThatNothingUsesIsNoError)
{
    EXPECT_EQ(INGOT_NOT_FOUND, read_in_d({{"INGOT_PERSIST", "0"}, {"INGOT_PERSIST_MAX_SIZE", "x"}}).status);
    const Outcome outcome = read({{"INGOT_PERSIST_DIR", "d"},
                                  {"INGOT_PERSIST_READ_ONLY", "1"},
                                  {"INGOT_PERSIST_MAX_SIZE", "x"},
                                  {"INGOT_PERSIST_REQUESTS", "x"},
                                  {"INGOT_PERSIST_STORE_MODE", "x"}});
    EXPECT_EQ(INGOT_SUCCESS, outcome.status) << outcome.detail;
}

TEST_F(PersistEnvironment, APathThatNoDirectoryCanHaveIsRefused)
{
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, read({{"XDG_CACHE_HOME", "/" + std::string(100000, 'x')}}).status);
    const std::string cache = "/" + std::string(4000, 'x');
    EXPECT_EQ(cache + "/ingot", read({{"XDG_CACHE_HOME", cache}}).path);
}

TEST_F(PersistEnvironment, MakesWhatIsMissingAboveTheRoot)
{
    const std::string home = (scratch_.path() / "no" / "home").string();
    const std::string path = home + "/.cache/ingot";
    ingot_persist_info_t info = info_at(path);
    EXPECT_EQ(INGOT_NOT_FOUND, Store(info).status());
    info.flags = INGOT_PERSIST_MAKE_PARENTS;
    ASSERT_EQ(INGOT_SUCCESS, Store(info).status());
    struct stat made;
    ASSERT_EQ(0, stat(home.c_str(), &made));
    EXPECT_EQ(0700u, made.st_mode & 0777u);
}

TEST_F(PersistEnvironment, OpensTheStoreThatTheProcessNames)
{
    const Variable directory("INGOT_PERSIST_DIR", root_);
    ASSERT_EQ(0, unsetenv("INGOT_PERSIST"));
    ingot_persist_info_t defaults = from_environment();
    defaults.path = "/somewhere/else"; /* not used */
    defaults.name_space = "app";
    for (const bool has_defaults : {false, true}) {
        const HeldStorage storage = has_defaults ? open_from_environment(defaults) : open_from_environment();
        EXPECT_EQ(INGOT_SUCCESS, storage.put(bytes_of("id"), bytes_of("blob")));
        EXPECT_EQ(has_defaults, fs::exists(root_ / "app"));
    }
    ingot_storage_t storage = nullptr;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_open(nullptr, &defaults));
    ingot_persist_trust_t trust = {};
    defaults.trust = &trust;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_open(&storage, &defaults)) << "no struct_size";
    defaults.struct_size = 0;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_open(&storage, &defaults));
    const Variable off("INGOT_PERSIST", "0");
    defaults = from_environment();
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_persist_open(&storage, &defaults));
    EXPECT_EQ(nullptr, storage);
}

TEST_F(PersistEnvironment, TheApplicationAdjustsWhatWasRead)
{
    const Environment variables({{"INGOT_PERSIST_DIR", root_}, {"INGOT_PERSIST_MAX_SIZE", "5M"}});
    struct Seen {
        std::string path;
        uint64_t max_bytes;
        ingot_status_t answer;
    } seen = {"", 0, INGOT_BUSY};
    ingot_persist_info_t defaults = from_environment();
    defaults.adjust = [](ingot_persist_info_t *info, void *user) {
        auto &noted = *static_cast<Seen *>(user);
        noted.path = info->path;
        noted.max_bytes = info->max_bytes;
        info->max_bytes = uint64_t{1} << 20;
        return noted.answer;
    };
    defaults.adjust_user = &seen;
    ingot_storage_t storage = nullptr;
    EXPECT_EQ(INGOT_BUSY, ingot_persist_open(&storage, &defaults));
    EXPECT_EQ(nullptr, storage);
    EXPECT_FALSE(fs::exists(root_));
    EXPECT_EQ(root_, seen.path);
    EXPECT_EQ(uint64_t{5} << 20, seen.max_bytes);
    seen.answer = INGOT_SUCCESS;
    EXPECT_EQ(uint64_t{1} << 20, settings_of(open_from_environment(defaults)).max_bytes);
}

TEST_F(PersistEnvironment, ReadsThePolicyAndTheKeyFiles)
{
    Variables variables = {{"INGOT_PERSIST_DIR", "d"}, {"INGOT_PERSIST_KEYS", "/a:/b"}};
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, read(variables).status) << "keys that nothing uses";
    EXPECT_NE(std::string::npos, read(variables).detail.find("INGOT_PERSIST_TRUST"));
    variables["INGOT_PERSIST_TRUST"] = "none";
    EXPECT_EQ(INGOT_SUCCESS, read(variables).status);
    variables["INGOT_PERSIST_TRUST"] = "VERIFY";
    EXPECT_EQ(INGOT_PERSIST_TRUST_VERIFY, read(variables).policy);
    variables["INGOT_PERSIST_TRUST"] = "require";
    EXPECT_EQ(INGOT_PERSIST_TRUST_REQUIRE, read(variables).policy);
    EXPECT_EQ("/a:/b", read(variables).key_files);
}

/* If an unknown policy were ignored, an application that was compiled with older headers would run without the policy
 * that its user wants. */
TEST_F(PersistEnvironment, APolicyThatTheApplicationDoesNotKnowIsApplied)
{
    const std::string missing = scratch_.path() / "missing";
    ingot_storage_t storage = nullptr;
    ingot_persist_info_t defaults = from_environment();
    defaults.struct_size = offsetof(ingot_persist_info_t, trust);
    const Variable directory("INGOT_PERSIST_DIR", root_);
    {
        const Environment policy({{"INGOT_PERSIST_TRUST", "require"}, {"INGOT_PERSIST_KEYS", missing}});
        EXPECT_EQ(INGOT_NOT_FOUND, ingot_persist_open(&storage, &defaults)) << "no key file";
    }
    (void)open_from_environment(defaults);
}

TEST_F(PersistEnvironment, OfASetuidProgramIsNotRead)
{
    const char *const names[] = {"INGOT_PERSIST_DIR", "INGOT_RECORD", "XDG_CACHE_HOME", "HOME"};
    ingot_storage_t storage = nullptr;
    if (setuid_child::is_this()) {
        for (const char *name : names)
            EXPECT_NE(nullptr, getenv(name));
        const ingot_persist_info_t defaults = from_environment();
        EXPECT_EQ(INGOT_NOT_FOUND, ingot_persist_open(&storage, &defaults));
        EXPECT_EQ(nullptr, storage);
        setuid_child::end();
    }
    child_process::Child::Environment variables;
    for (const char *name : names)
        variables[name] = (scratch_.path() / name).string();
    if (const char *reason = setuid_child::run(scratch_, variables))
        GTEST_SKIP() << reason;
    for (const char *name : names)
        EXPECT_FALSE(fs::exists(scratch_.path() / name)) << name;
    const Environment here(variables); /* in this process, which has no extra rights, they take effect */
    (void)open_from_environment();
    EXPECT_TRUE(fs::exists(variables["INGOT_PERSIST_DIR"]));
    EXPECT_TRUE(fs::exists(variables["INGOT_RECORD"]));
}
