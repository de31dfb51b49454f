/*
 * memory_measure.h - the time of short operations, by several threads at once.
 *
 * Subjects take turns within each round, so that a disturbance of the machine affects all of them; ratios are taken
 * within a round, and medians over the rounds. For several threads the slowest one counts.
 */
#ifndef INGOT_TESTS_BENCH_MEMORY_MEASURE_H
#define INGOT_TESTS_BENCH_MEMORY_MEASURE_H

#include <cstddef>
#include <string>
#include <vector>

namespace memory_bench
{

/* One operation, done over and over. */
class Subject
{
public:
    explicit Subject(std::string name) : name_(std::move(name)) {}
    Subject(const Subject &) = delete;
    Subject &operator=(const Subject &) = delete;
    virtual ~Subject() = default;
    const std::string &name() const { return name_; }
    /* By each thread before its first and after its last run. */
    virtual void enter() {}
    virtual void leave() {}
    virtual void run(unsigned thread, size_t operations) = 0;

private:
    std::string name_;
};

/* "name", or "name, N keys" for more than one. */
std::string name_with_keys(const char *name, size_t keys);

/* Nanoseconds an operation, one figure a round. */
using Samples = std::vector<double>;

double median(Samples samples);
/* Half of the distance between the quartiles, as a part of the median. */
double spread(Samples samples);
/* Median of the ratios of each round. */
double ratio(const Samples &over, const Samples &under);

struct Effort {
    unsigned rounds;
    double sample_ms; /* of each subject in each round */
};

/* One Samples a subject, in their order. */
std::vector<Samples> measure(const std::vector<Subject *> &subjects, unsigned threads, const Effort &effort);

/* Which of `count` things a thread asks for next: all equally often, in no order that a processor could foresee. */
class Picker
{
public:
    Picker(unsigned thread, size_t count) : state_(thread * 7919u + 1), count_(count) {}
    size_t next()
    {
        if (count_ == 1)
            return 0;
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<size_t>((state_ >> 33) * count_ >> 31);
    }

private:
    unsigned long long state_;
    unsigned long long count_;
};

/* Ends the program with a sentence; a benchmark of something that fails measures nothing. */
void require(bool holds, const char *what);

} // namespace memory_bench

#endif
