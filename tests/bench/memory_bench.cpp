/*
 * memory_bench.cpp - measures the in-memory cache and compares it with its floor, the minimum work of any cache, and
 * with its peers, other caches: `./scripts/bench memory`.
 *
 * Native programs are empty here, so that only the cache is measured. memory_measure.h explains how time is measured;
 * memory_ingot.h and memory_peers.h say what each subject does in one operation.
 *
 *   bench_memory [--json FILE] [--rounds N]
 */
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "bench/bench_report.h"
#include "bench/memory_ingot.h"
#include "bench/memory_peers.h"

namespace memory_bench
{

namespace
{

using Subjects = std::vector<std::unique_ptr<Subject>>;

constexpr unsigned kMostThreads = 16;

unsigned processors()
{
    cpu_set_t allowed;
    require(sched_getaffinity(0, sizeof(allowed), &allowed) == 0, "the number of processors is unknown");
    return static_cast<unsigned>(CPU_COUNT(&allowed));
}

std::vector<Samples> measure_all(const Subjects &subjects, unsigned threads, const Effort &effort)
{
    std::vector<Subject *> plain;
    for (const auto &subject : subjects)
        plain.push_back(subject.get());
    return measure(plain, threads, effort);
}

void add(Subjects *subjects, std::unique_ptr<Subject> subject)
{
    if (subject != nullptr)
        subjects->push_back(std::move(subject));
}

void print(const Subjects &subjects, const std::vector<Samples> &samples)
{
    for (size_t i = 0; i < subjects.size(); ++i) {
        std::printf("  %-24s %9.1f  +-%.1f%%\n", subjects[i]->name().c_str(), median(samples[i]),
                    100 * spread(samples[i]));
    }
}

class Bench
{
public:
    explicit Bench(unsigned rounds) : rounds_(rounds) {}

    void run(bench::Report *report)
    {
        one_thread(report);
        against_urcu(report);
        scaling(report);
        eviction(report);
        memory(report);
    }

private:
    void one_thread(bench::Report *report)
    {
        enum { kFloor, kHit, kKernel, kContent, kContentKernel, kOnednn, kOnednnContent };
        Subjects subjects;
        subjects.push_back(make_floor());
        subjects.push_back(make_hit(1));
        subjects.push_back(make_fast_kernel(1));
        subjects.push_back(make_content_hit(1));
        subjects.push_back(make_content_kernel(1));
        add(&subjects, make_onednn(1));
        add(&subjects, make_onednn_content(1));
        const std::vector<Samples> samples = measure_all(subjects, 1, {rounds_ * 2, 4});

        std::printf("\nOne thread, one key, ns an operation\n");
        print(subjects, samples);
        report->add("floor_ns", median(samples[kFloor]), "ns");
        report->add("hit_ns", median(samples[kHit]), "ns");
        report->add("fast_kernel_ns", median(samples[kKernel]), "ns");
        report->add("content_hit_ns", median(samples[kContent]), "ns");
        report->add("content_kernel_ns", median(samples[kContentKernel]), "ns");
        report->add("hit_over_floor", ratio(samples[kHit], samples[kFloor]), "ratio", bench::Goal::at_most, 1.8);
        report->add("fast_kernel_over_floor", ratio(samples[kKernel], samples[kFloor]), "ratio", bench::Goal::at_most,
                    2.5);
        if (samples.size() <= kOnednnContent) {
            std::printf("  oneDNN was not built with: its metrics are left out\n");
            return;
        }
        report->add("onednn_over_hit", ratio(samples[kOnednn], samples[kHit]), "ratio", bench::Goal::at_least,
                    processors() <= 2 ? 40 : 25);
        report->add("content_hit_over_onednn", ratio(samples[kContent], samples[kOnednnContent]), "ratio",
                    bench::Goal::at_most, 0.25);
    }

    /* Compares with liburcu. Requests more keys than the processor's first-level cache holds, in random order. */
    void against_urcu(bench::Report *report)
    {
        Subjects subjects;
        subjects.push_back(make_hit(4096));
        add(&subjects, make_urcu(4096));
        const std::vector<Samples> samples = measure_all(subjects, 1, {rounds_ * 2, 4});
        if (subjects.size() < 2)
            return;
        std::printf("\nOne thread, 4,096 keys in random order, ns an operation\n");
        print(subjects, samples);
        report->add("hit_4096_random_ns", median(samples[0]), "ns");
        report->add("urcu_4096_random_ns", median(samples[1]), "ns");
        report->add("hit_4096_random_over_urcu", ratio(samples[0], samples[1]), "ratio", bench::Goal::at_most, 1.2);
    }

    void scaling(bench::Report *report)
    {
        const unsigned most = std::min(processors(), kMostThreads);
        std::vector<unsigned> counts;
        for (unsigned threads = 1; threads <= most; threads *= 2)
            counts.push_back(threads);
        if (counts.back() != most)
            counts.push_back(most);

        std::printf("\nAll threads at once, one key, ns an operation of the slowest thread\n  %-8s", "threads");
        Subjects subjects;
        subjects.push_back(make_floor());
        subjects.push_back(make_hit(1));
        subjects.push_back(make_fast_kernel(1));
        subjects.push_back(make_content_hit(1));
        subjects.push_back(make_content_kernel(1));
        subjects.push_back(make_map(1));
        add(&subjects, make_urcu(1));
        add(&subjects, make_onednn(1));
        for (const auto &subject : subjects)
            std::printf(" %18s", subject->name().c_str());
        std::vector<Samples> alone;
        for (unsigned threads : counts) {
            const std::vector<Samples> samples = measure_all(subjects, threads, {rounds_, 2});
            std::printf("\n  %-8u", threads);
            for (const Samples &own : samples)
                std::printf(" %11.1f +-%3.0f%%", median(own), 100 * spread(own));
            std::fflush(stdout);
            report_threads(report, threads, samples);
            alone = threads == 1 ? samples : alone;
            if (threads == most)
                report_scaling(report, threads, alone, samples);
        }
        std::printf("\n");
    }

    static void report_scaling(bench::Report *report, unsigned threads, const std::vector<Samples> &alone,
                               const std::vector<Samples> &together)
    {
        const std::string suffix = "_" + std::to_string(threads) + "_threads_over_1";
        const auto growth = [&](size_t subject) { return median(together[subject]) / median(alone[subject]); };
        report->add("hot" + suffix, growth(1), "ratio", bench::Goal::at_most, 2);
        report->add("content_hit" + suffix, growth(3), "ratio", bench::Goal::at_most, 2);
        report->add("content_kernel" + suffix, growth(4), "ratio", bench::Goal::at_most, 2);
        report->add("floor" + suffix, growth(0), "ratio"); /* how much slower the machine is with that many threads */
    }

    /* Adds the figures for the plot of hits by number of threads. `samples` has the order of the subjects in scaling(),
     * where oneDNN is the last. */
    static void report_threads(bench::Report *report, unsigned threads, const std::vector<Samples> &samples)
    {
        const std::string suffix = "_" + std::to_string(threads) + "_threads_ns";
        report->add("hit" + suffix, median(samples[1]), "ns");
        report->add("map" + suffix, median(samples[5]), "ns");
#ifdef HAVE_ONEDNN
        report->add("onednn" + suffix, median(samples.back()), "ns");
#endif
    }

    void eviction(bench::Report *report)
    {
        Subjects subjects;
        for (size_t entries : {16, 4096, 65536})
            subjects.push_back(make_eviction(entries));
        const std::vector<Samples> samples = measure_all(subjects, 1, {rounds_, 20});
        std::printf("\nMiss, insertion and eviction, descriptor included, ns an operation\n");
        print(subjects, samples);
        report->add("evict_65536_over_16", ratio(samples[2], samples[0]), "ratio", bench::Goal::at_most, 2);
    }

    void memory(bench::Report *report)
    {
        double most = 0;
        std::printf("\nHost memory an entry that two threads use, program, descriptor and kernel names included, "
                    "bytes\n");
        for (size_t entries : {256, 1024, 4096, 65536}) {
            const double bytes = entry_bytes(entries);
            std::printf("  %-24zu %9.1f\n", entries, bytes);
            most = std::max(most, bytes);
        }
        report->add("entry_overhead_bytes", most, "bytes", bench::Goal::at_most, 640);
    }

    unsigned rounds_;
};

} // namespace

} // namespace memory_bench

int main(int argc, char **argv)
{
    const char *json = nullptr;
    unsigned rounds = 15;

    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--json") == 0)
            json = argv[i + 1];
        else if (strcmp(argv[i], "--rounds") == 0)
            rounds = std::max(1u, static_cast<unsigned>(strtoul(argv[i + 1], nullptr, 10)));
    }
    bench::Report report;
    memory_bench::Bench(rounds).run(&report);
    report.print();
    return json == nullptr || report.write_json(json) ? 0 : 1;
}
