/*
 * memory_measure.cpp - measures short operations in several threads at once; see memory_measure.h.
 */
#include "bench/memory_measure.h"

#include "bench/sample.h"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace memory_bench
{

namespace
{

using bench::Clock;

void stay_on(unsigned processor)
{
    cpu_set_t allowed;
    cpu_set_t one;
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
        return;
    for (int i = 0; i < CPU_SETSIZE; ++i) {
        if (!CPU_ISSET(i, &allowed) || processor-- != 0)
            continue;
        CPU_ZERO(&one);
        CPU_SET(i, &one);
        pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
        return;
    }
}

/* Threads that live for all rounds, each on its own processor. They run the same subject at the same time. */
class Team
{
public:
    Team(const std::vector<Subject *> &subjects, unsigned count) : subjects_(subjects), elapsed_ns_(count)
    {
        for (unsigned i = 0; i < count; ++i)
            threads_.emplace_back([this, i] { work(i); });
    }
    ~Team()
    {
        subject_ = nullptr;
        start();
        for (std::thread &thread : threads_)
            thread.join();
    }

    /* Runs the subject in all threads. Returns the nanoseconds of the slowest one. */
    double run(Subject *subject, size_t operations)
    {
        subject_ = subject;
        operations_ = operations;
        start();
        std::unique_lock<std::mutex> lock(mutex_); /* sleeps, because the measuring threads need the processors */
        all_done_.wait(lock, [this] { return done_ == threads_.size(); });
        return *std::max_element(elapsed_ns_.begin(), elapsed_ns_.end());
    }

private:
    void start()
    {
        done_ = 0;
        ready_ = 0;
        ++turn_;
    }

    void tell_done()
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (++done_ == elapsed_ns_.size())
            all_done_.notify_one();
    }

    void work(unsigned number)
    {
        stay_on(number);
        for (Subject *subject : subjects_)
            subject->enter();
        for (unsigned turn = 1;; ++turn) {
            while (turn_ != turn)
                sched_yield();
            Subject *const subject = subject_;
            if (subject == nullptr)
                break;
            ++ready_;
            while (ready_ != elapsed_ns_.size()) {
                if (threads_are_more_)
                    sched_yield();
            }
            const Clock::time_point begin = Clock::now();
            subject->run(number, operations_);
            elapsed_ns_[number] = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
            tell_done();
        }
        for (Subject *subject : subjects_)
            subject->leave();
    }

    const std::vector<Subject *> &subjects_;
    const bool threads_are_more_ = std::thread::hardware_concurrency() <= 2;
    std::vector<double> elapsed_ns_;
    std::atomic<Subject *> subject_{nullptr};
    std::atomic<size_t> operations_{0};
    std::atomic<unsigned> turn_{0};
    std::atomic<size_t> ready_{0};
    std::mutex mutex_;
    std::condition_variable all_done_;
    std::atomic<size_t> done_{0};
    std::vector<std::thread> threads_;
};

} // namespace

std::string name_with_keys(const char *name, size_t keys)
{
    return keys == 1 ? name : std::string(name) + ", " + std::to_string(keys) + " keys";
}

double median(Samples samples)
{
    return bench::Sample{std::move(samples)}.median();
}

double spread(Samples samples)
{
    return bench::Sample{std::move(samples)}.spread() / 2;
}

double ratio(const Samples &over, const Samples &under)
{
    return bench::ratios_of({over}, {under}).median();
}

std::vector<Samples> measure(const std::vector<Subject *> &subjects, unsigned threads, const Effort &effort)
{
    std::vector<Samples> samples(subjects.size());
    std::vector<size_t> operations(subjects.size());
    Team team(subjects, threads);

    for (size_t i = 0; i < subjects.size(); ++i) {
        constexpr size_t kFirst = 2000;
        team.run(subjects[i], kFirst); /* first cold, not timed */
        const double ns = team.run(subjects[i], kFirst) / kFirst;
        operations[i] = std::max(kFirst / 10, static_cast<size_t>(effort.sample_ms * 1e6 / ns));
    }
    for (unsigned round = 0; round < effort.rounds; ++round) {
        for (size_t i = 0; i < subjects.size(); ++i)
            samples[i].push_back(team.run(subjects[i], operations[i]) / static_cast<double>(operations[i]));
    }
    return samples;
}

void require(bool holds, const char *what)
{
    if (holds)
        return;
    std::fprintf(stderr, "bench memory: %s\n", what);
    std::exit(1);
}

} // namespace memory_bench
