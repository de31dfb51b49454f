/*
 * dashboard_test.cpp - lets a real Prometheus scrape what two processes have counted, and answer the queries of
 * doc/grafana-dashboard.json.
 */
#include <ingot/private/metrics.h>

#include "cli/tool.h"
#include "support/forked_child.h"

namespace
{

class CliDashboard : public CliTest
{
protected:
    /* Compiles two programs, loads one of them again, and counts a server and an eviction. */
    int work(const std::string &folder) const
    {
        setenv("INGOT_METRICS_DIR", folder.c_str(), 1);
        ReferenceDevice device;
        const Context context = device.make(INGOT_CONTEXT_INFO_INIT, true);
        const Context other = device.make(INGOT_CONTEXT_INFO_INIT, true);
        const store_fixture::Store store = open_store();
        ProgramText text;
        for (const char *options : {"-DN=1", "-DN=2"}) {
            text.compile_options = options + std::to_string(getpid());
            EXPECT_EQ(INGOT_SUCCESS, request_through(text.make(context), store.get()));
        }
        EXPECT_EQ(INGOT_SUCCESS, request_through(text.make(other), store.get()));
        ingot_metrics_add(INGOT_METRIC_REMOTE_REQUESTS, "redis", "hits", nullptr, 3);
        ingot_metrics_add(INGOT_METRIC_REMOTE_LOST_NS, nullptr, nullptr, nullptr, 5000000);
        ingot_metrics_add(INGOT_METRIC_EVICTED_BYTES, "store", nullptr, nullptr, 4096);
        ingot_metrics_add(INGOT_METRIC_REFUSED, "no_id", nullptr, nullptr, 1);
        return HasFailure() ? 1 : 0;
    }
};

TEST_F(CliDashboard, HasAnAnswerForEachQuery)
{
    const fs::path folder = root().parent_path() / "metrics";
    fs::create_directory(folder);
    for (int i = 0; i < 2; ++i)
        ASSERT_EQ(0, forked_child::run([&] { return work(folder.string()); }));
    const std::string script = "cd " + root().parent_path().string() + " && $INGOT stats --dir $STORE --prune " +
                               "--metrics-dir metrics > ingot.prom && promtool check metrics < ingot.prom && " +
                               CHECK_DASHBOARD + " " + INGOT_SOURCE_DIR + "/doc/grafana-dashboard.json ingot.prom 6";
    EXPECT_TRUE(run_shell(script).is(0, "11 queries answered"));
}

} // namespace
