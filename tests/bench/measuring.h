/*
 * measuring.h - starts the processes in which benchmarks measure, reads their output, and describes the programs that
 * they make ready.
 */
#pragma once

#include "support/child_process.h"

#include <ingot/ingot.h>

#include <cstdint>
#include <functional>

namespace bench
{

/* Prints a sentence and ends the process if a step failed. */
void require(bool holds, const std::string &what);
void require_ingot(ingot_status_t status, const std::string &what);

/* Returns the bytes of a file. */
std::string text_of(const std::string &path);

struct ProgramFile {
    std::string name;
    std::string path;
    std::string options;
    std::vector<const char *> expressions = {};
};

ingot_program_desc_t describe(ingot_context_t context, ingot_source_kind_t kind, const ProgramFile &file,
                              uint32_t flags);

std::vector<uint8_t> blob_of(ingot_program_t program);

/* The result that a process of run_together sends to its parent; small enough that a write to a pipe is atomic. */
struct Tally {
    unsigned builds = 0;
    double processor_ms = 0;
};

/* The ends of pipes by which a process of run_together tells its parent when it is prepared, and its result. */
class Together
{
public:
    Together(unsigned number, int ready, int gate, int results)
        : number_(number), ready_(ready), gate_(gate), results_(results)
    {
    }

    /* Counts the processes from 0. */
    unsigned number() const { return number_; }

    /* Returns when all processes have called this. */
    void start() const;
    void finish(const Tally &tally) const;

private:
    unsigned number_;
    int ready_, gate_, results_;
};

/* Forks processes that each do `work`, which prepares, calls start, does what is measured, and calls finish. Returns
 * the milliseconds from the start until the last process has finished, and adds their results to `sum`, which gets the
 * largest processor time. The caller must not have used a driver before. */
double run_together(unsigned processes, const std::function<void(const Together &)> &work, Tally *sum);

/* Starts this program again as a measuring process, with the arguments --child WHAT SET STORE, under
 * scripts/with-device. */
class MeasuringProcesses
{
public:
    using Environment = child_process::Child::Environment;
    /* The lines that a process printed, each split at its tabs. */
    using Lines = std::vector<std::vector<std::string>>;

    /* The processes print to a file in the folder. */
    explicit MeasuringProcesses(const std::string &folder);

    /* Returns true if the device is available, and prints its name or why it is missing. */
    bool has(const std::string &device) const;
    Lines run(const std::string &device, const std::string &what, const std::string &set, const std::string &store,
              const Environment &environment = {}) const;

private:
    std::string self_;
    std::string output_;
};

} // namespace bench
