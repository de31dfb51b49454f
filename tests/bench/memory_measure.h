/*
 * memory_measure.h - measures how long short operations take in several threads at once.
 *
 * Subjects take turns within each round, so that a disturbance of the machine affects all of them. Ratios are taken
 * within a round, and medians over the rounds. With several threads, the time of the slowest thread is used.
 */
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "support/not_copied.h"

namespace memory_bench
{

/* An operation that is measured. */
class Subject : NotCopied
{
public:
    explicit Subject(std::string name) : name_(std::move(name)) {}
    virtual ~Subject() = default;
    const std::string &name() const { return name_; }
    /* Called by each thread before its first run, and after its last. */
    virtual void enter() {}
    virtual void leave() {}
    virtual void run(unsigned thread, size_t operations) = 0;

private:
    std::string name_;
};

/* Returns "name", or "name, N keys" if there is more than one. */
std::string name_with_keys(const char *name, size_t keys);

/* Nanoseconds per operation, one value per round. */
using Samples = std::vector<double>;

double median(Samples samples);
/* Returns half of the distance between the quartiles, divided by the median. */
double spread(Samples samples);
/* Returns the median of the rounds' ratios. */
double ratio(const Samples &over, const Samples &under);

struct Effort {
    unsigned rounds;
    double sample_ms; /* for each subject in each round */
};

/* Measures the subjects with `threads` threads. Returns the samples in the order of the subjects. */
std::vector<Samples> measure(const std::vector<Subject *> &subjects, unsigned threads, const Effort &effort);

/* Picks the next of `count` keys for a thread, all equally often, in an order that a processor cannot predict. */
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

/* Prints a sentence and ends the program if a step failed: figures of a failing operation would mean nothing. */
void require(bool holds, const char *what);

} // namespace memory_bench
