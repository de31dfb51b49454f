/*
 * builder_test.cpp - tests `ingot build --watch`: that it answers what applications begin, and that a builder that is
 * dead or refuses costs what having none costs.
 */
#include <thread>

#include "cli/builder.h"
#include "support/environment.h"
#include "support/network.h"

namespace
{

TEST_F(CliBuilder, AnswersWhatAnApplicationBegins)
{
    const ingot::cache cache = open(root());
    ingot_pending_t first = begin(cache, source_of(1));
    Result output(0, "");
    std::thread builder([&] { output = build_until_idle(); });
    EXPECT_EQ(INGOT_SUCCESS, ingot_pending_wait(first, kLongMs)) << ingot_last_error_detail();
    ingot_pending_t second = begin(cache, source_of(2)); /* left while the builder waits */
    EXPECT_EQ(INGOT_SUCCESS, ingot_pending_wait(second, kLongMs)) << ingot_last_error_detail();
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, take(first));
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, take(second));
    builder.join();
    EXPECT_TRUE(output.says("2 built, 0 present"));
    EXPECT_EQ(0, tool({"verify", "--dir", root().string()}).code);
}

TEST_F(CliBuilder, LeavesAnErrorToTheApplication)
{
    const ingot::cache cache = open(root());
    ingot_pending_t wrong = begin(cache, "kernel void f( {");
    ingot_pending_t right = begin(cache, source_of(1));
    const Result output = build_until_idle();
    EXPECT_TRUE(output.says(": failed: INGOT_BUILD_FAILED"));
    EXPECT_TRUE(output.says("1 built, 0 present"));
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, take(right));
    take(wrong, INGOT_BUILD_FAILED);
}

/* The builder takes a wish before it does anything for it, so a program that ends its worker does so once. */
TEST_F(CliBuilder, GoesOnAfterAProgramThatCrashesTheCompiler)
{
    const ingot::cache cache = open(root());
    std::string text = "kernel void crash(global int *x) { x[0] = ";
    for (int i = 0; i < 300000; ++i)
        text += "- ";
    ingot_pending_drop(begin(cache, text + "x[1]; }\n"));
    ingot_pending_t right = begin(cache, source_of(1));
    const Result output = build_until_idle();
    EXPECT_TRUE(output.says(": crashed the worker: "));
    EXPECT_TRUE(output.says("1 built, 0 present, 0 compiled elsewhere, 1 crashed the worker"));
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, take(right));
}

/* A variable that PoCL may read makes its compiler another one. */
TEST_F(CliBuilder, LeavesAWishForAnotherDriverToOthers)
{
    const ingot::cache cache = open(root());
    ingot_pending_t pending = begin(cache, source_of(1));
    EXPECT_TRUE(
        build_until_idle({{"POCL_OTHER", "1"}}).says(": failed: this device's driver or compiler is another one"));
    EXPECT_EQ(1u, wish_count());
    EXPECT_TRUE(build_until_idle().says("1 built, 0 present"));
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, take(pending));
}

/* A wish whose request is gone ends with an outcome, and not with a wait. */
TEST_F(CliBuilder, TellsThatARequestIsMissing)
{
    const ingot::cache cache = open(root());
    ingot_pending_t pending = begin(cache, source_of(1));
    ASSERT_EQ(0, tool({"evict", "--all", "--dir", root().string()}).code);
    EXPECT_TRUE(build_until_idle().says(": failed: INGOT_NOT_FOUND: "));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, take(pending));
}

TEST_F(CliBuilder, ThatIsKilledCostsOnlyTime)
{
    const ingot::cache cache = open(root());
    ingot_pending_t pending = begin(cache, source_of(1));
    child_process::Child builder({CLI_PROGRAM, "build", "--watch", "--dir", root().string()},
                                 (scratch() / "builder").string());
    while (wish_count() != 0) /* it is compiling soon */
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    builder.send(SIGKILL);
    builder.wait();
    take(pending);
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, take(begin(cache, source_of(1))));
}

/* The request and the wish of a client without a key do nothing, and the application compiles. */
TEST_F(CliBuilder, AnswersNoUnsealedRequestUnderRequire)
{
    const std::string key = (scratch() / "builder.key").string();
    ASSERT_EQ(0, tool({"key", "--secret", key}).code);
    const ingot::cache cache = open(root());
    ingot_pending_t pending = begin(cache, source_of(1));
    EXPECT_TRUE(
        build_until_idle({{"INGOT_PERSIST_TRUST", "require"}, {"INGOT_PERSIST_KEYS", key}}).says("0 built, 0 present"));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, take(pending));
}

TEST_F(CliBuilder, RefusesServersWithoutWishes)
{
    for (const char *url : {"https://cache.example/", "s3://bucket/"}) {
        EXPECT_TRUE(
            tool({"build", "--watch", "--dir", root().string(), "--remote", url}).is(2, "only a Redis keeps wishes"));
    }
}

/* The options are for the requests of other stores, and would be ignored. */
TEST_F(CliBuilder, RefusesAPolicyByOptions)
{
    for (const std::vector<std::string> &options : {std::vector<std::string>{"--require"}, {"--keys", "builder.key"}}) {
        std::vector<std::string> arguments = {"build", "--watch", "--dir", root().string()};
        arguments.insert(arguments.end(), options.begin(), options.end());
        EXPECT_TRUE(tool(arguments).is(2, "are not for --watch"));
    }
}

#ifdef CLI_HAS_REDIS
TEST_F(CliBuilder, AnswersWishesOfARedis)
{
    const server_process::Redis redis;
    const Variable remote("INGOT_PERSIST_REMOTE", redis.url());
    const ingot::cache cache = open(scratch() / "client", true);
    ingot_pending_t pending = begin(cache, source_of(1));
    EXPECT_TRUE(build_until_idle().says("1 built, 0 present"));
    EXPECT_EQ(INGOT_SUCCESS, ingot_pending_wait(pending, kLongMs)) << ingot_last_error_detail();
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, take(pending));
    EXPECT_EQ("(empty array)\n", redis.ask({"--no-raw", "ZRANGE", "ingot:1:default:wanted", "0", "-1"}));
    redis.ask({"ZADD", "ingot:1:default:wanted", "1", "no wish"});
    EXPECT_TRUE(build_until_idle().says("0 built, 0 present"));
}

/* Three machines and a server: two builders without the application, and a client that may not compile. */
TEST_F(CliBuilder, AFarmServesAClientWithoutACompiler)
{
    const std::string reason = network::why_unavailable();
    if (!reason.empty()) {
        GTEST_SKIP() << reason;
    }
    const network::Network network(3);
    const network::Redis redis(network.server());
    const Variable remote("INGOT_PERSIST_REMOTE", redis.url());
    std::vector<std::unique_ptr<child_process::Child>> builders;
    for (int i = 0; i < 2; ++i) {
        const network::Within machine(network.machine(i));
        const std::string own = (scratch() / ("builder" + std::to_string(i))).string();
        builders.push_back(std::make_unique<child_process::Child>(
            std::vector<std::string>{CLI_PROGRAM, "build", "--watch", "--dir", own, "--jobs", "1"}, own + ".log"));
    }
    std::thread client([&] {
        const network::Within machine(network.machine(2));
        const Variable on_miss("INGOT_ON_MISS", "fail");
        const ingot::cache cache = open(scratch() / "client", true);
        std::vector<ingot_pending_t> pending;
        for (int i = 0; i < 4; ++i)
            pending.push_back(begin(cache, source_of(i)));
        for (ingot_pending_t each : pending) {
            EXPECT_EQ(INGOT_SUCCESS, ingot_pending_wait(each, kLongMs)) << ingot_last_error_detail();
            EXPECT_EQ(INGOT_ORIGIN_STORAGE, take(each));
        }
        for (const auto &builder : builders)
            builder->send(SIGKILL);
        take(begin(cache, source_of(5)), INGOT_NOT_FOUND);
        const std::string detail = ingot_last_error_detail();
        EXPECT_EQ(0u, detail.find("miss: ")) << detail;
        EXPECT_EQ(std::string::npos, detail.find('\n')) << detail;
    });
    client.join();
    size_t answers = 0;
    for (const auto &builder : builders) {
        EXPECT_EQ(128 + SIGKILL, builder->wait());
        const std::string output = builder->output();
        for (size_t at = output.find(": built"); at != std::string::npos; at = output.find(": built", at + 1))
            ++answers;
    }
    EXPECT_EQ(4u, answers) << "each is compiled once: " << builders[0]->output() << builders[1]->output();
}

/* A program that only the builder's store has is uploaded. */
TEST_F(CliBuilder, SharesWhatItHas)
{
    const server_process::Redis redis;
    take(begin(open(root()), source_of(1)));
    const Variable remote("INGOT_PERSIST_REMOTE", redis.url());
    const ingot::cache cache = open(scratch() / "client", true);
    ingot_pending_t pending = begin(cache, source_of(1));
    EXPECT_TRUE(build_until_idle().says("0 built, 1 present"));
    EXPECT_EQ(INGOT_SUCCESS, ingot_pending_wait(pending, kLongMs)) << ingot_last_error_detail();
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, take(pending));
}

TEST_F(CliBuilder, SurvivesADeadRedis)
{
    const std::string url = server_process::closed_url();
    const Result output = build_until_idle({}, {"--remote", url});
    EXPECT_TRUE(output.says("ingot: taking a wish failed: "));
    EXPECT_TRUE(output.says("0 built, 0 present"));
}
#endif

} // namespace
