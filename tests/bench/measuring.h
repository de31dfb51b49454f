/*
 * measuring.h - shared by the benchmarks that measure in separate processes: starts a process, reads its output, and
 * describes the programs that it makes ready.
 */
#ifndef INGOT_TESTS_BENCH_MEASURING_H
#define INGOT_TESTS_BENCH_MEASURING_H

#include "support/child_process.h"

#include <ingot/ingot.h>

#include <cstdint>
#include <string>
#include <vector>

namespace bench
{

/* Ends the process with a sentence if a step failed. */
void require(bool holds, const std::string &what);
void require_ingot(ingot_status_t status, const std::string &what);

struct ProgramFile {
    std::string name;
    std::string path;
    std::string options;
    std::vector<const char *> expressions = {};
};

ingot_program_desc_t describe(ingot_context_t context, ingot_source_kind_t kind, const ProgramFile &file,
                              uint32_t flags);

std::vector<uint8_t> blob_of(ingot_program_t program);

/* The program itself, started again as a measuring process: --child WHAT SET STORE, on a device of with-device. */
class MeasuringProcesses
{
public:
    using Environment = child_process::Child::Environment;
    /* The lines that a process printed, each split at its tabs. */
    using Lines = std::vector<std::vector<std::string>>;

    /* What they print goes to a file in the folder. */
    explicit MeasuringProcesses(const std::string &folder);

    /* True if the device is there; if not, prints that. */
    bool has(const std::string &device) const;
    Lines run(const std::string &device, const std::string &what, const std::string &set, const std::string &store,
              const Environment &environment = {}) const;

private:
    std::string self_;
    std::string output_;
};

} // namespace bench

#endif
