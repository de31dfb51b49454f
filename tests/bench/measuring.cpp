/*
 * measuring.cpp - starts measuring processes, and describes the programs that they make ready.
 */
#include "bench/measuring.h"

#include "bench/sample.h"

#include <sstream>

namespace bench
{

const std::string with_device = INGOT_SOURCE_DIR "/scripts/with-device";

void require(bool holds, const std::string &what)
{
    if (holds)
        return;
    std::fprintf(stderr, "bench: %s\n", what.c_str());
    std::exit(1);
}

void require_ingot(ingot_status_t status, const std::string &what)
{
    require(status == INGOT_SUCCESS, what + ": " + ingot_status_name(status) + ": " + ingot_last_error_detail());
}

std::string text_of(const std::string &path)
{
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

ingot_program_desc_t describe(ingot_context_t context, ingot_source_kind_t kind, const ProgramFile &file,
                              uint32_t flags)
{
    const std::string text = text_of(file.path);
    require(!text.empty(), "cannot read " + file.path);
    ingot_source_info_t source_info = INGOT_SOURCE_INFO_INIT;
    source_info.kind = kind;
    source_info.bytes = text.data();
    source_info.size = text.size();
    source_info.name = file.name.c_str();
    ingot_source_t source = nullptr;
    require_ingot(ingot_source_create(&source, &source_info), file.name);
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    info.sources = &source;
    info.source_count = 1;
    info.compile_options = file.options.c_str();
    info.name_expressions = file.expressions.data();
    info.name_expression_count = file.expressions.size();
    info.flags = flags;
    ingot_program_desc_t desc = nullptr;
    require_ingot(ingot_program_desc_create(&desc, context, &info), file.name);
    ingot_source_release(source);
    return desc;
}

std::vector<uint8_t> blob_of(ingot_program_t program)
{
    size_t size = 0;
    require_ingot(ingot_program_get_cache_blob(program, &size, nullptr), "blob");
    std::vector<uint8_t> blob(size);
    require_ingot(ingot_program_get_cache_blob(program, &size, blob.data()), "blob");
    return blob;
}

namespace
{

struct Pipe {
    Pipe()
    {
        int ends[2];
        require(pipe(ends) == 0, "pipe");
        reading = ends[0];
        writing = ends[1];
    }
    int reading, writing;
};

} // namespace

void Together::start() const
{
    char byte = 0;
    require(write(ready_, &byte, 1) == 1 && read(gate_, &byte, 1) == 0, "the gate failed");
}

void Together::finish(const Tally &tally) const
{
    require(write(results_, &tally, sizeof(tally)) == sizeof(tally), "a process could not tell its result");
}

double run_together(unsigned processes, const std::function<void(const Together &)> &work, Tally *sum)
{
    const Pipe ready, gate, results;
    std::vector<pid_t> children;
    for (unsigned i = 0; i < processes; ++i) {
        const pid_t child = fork();
        require(child >= 0, "fork");
        if (child == 0) {
            close(gate.writing);
            work(Together(i, ready.writing, gate.reading, results.writing));
            _exit(0); /* the exit handlers of a driver would take time while other processes are measured */
        }
        children.push_back(child);
    }
    close(ready.writing); /* so that a read ends even if a child died */
    close(results.writing);
    for (unsigned i = 0; i < processes; ++i) {
        char byte;
        require(read(ready.reading, &byte, 1) == 1, "a process did not start");
    }
    const Clock::time_point start = Clock::now();
    close(gate.reading);
    close(gate.writing);
    for (unsigned i = 0; i < processes; ++i) {
        Tally result;
        require(read(results.reading, &result, sizeof(result)) == sizeof(result), "a process ended early");
        sum->builds += result.builds;
        sum->processor_ms = std::max(sum->processor_ms, result.processor_ms);
    }
    const double ms = microseconds_since(start) / 1000;
    for (const pid_t child : children) {
        int status = 0;
        require(waitpid(child, &status, 0) == child && status == 0, "a process failed");
    }
    close(ready.reading);
    close(results.reading);
    return ms;
}

MeasuringProcesses::MeasuringProcesses(const std::string &folder)
    : self_(std::filesystem::canonical("/proc/self/exe").string()), output_(folder + "/output")
{
}

bool MeasuringProcesses::has(const std::string &device) const
{
    child_process::Child child({with_device, "--check", device}, output_);
    if (child.wait() == 0) {
        std::printf("%s: %s", device.c_str(), child.output().c_str());
        return true;
    }
    std::printf("%s: nothing is measured, for there is %s", device.c_str(), child.output().c_str());
    return false;
}

MeasuringProcesses::Lines MeasuringProcesses::run(const std::string &device, const std::string &what,
                                                  const std::string &set, const std::string &store,
                                                  const Environment &environment) const
{
    child_process::Child child({with_device, device, self_, "--child", what, set, store}, output_, environment);
    require(child.wait() == 0, "the " + what + " process of " + set + " on " + device + " failed:\n" + child.output());
    Lines lines;
    std::istringstream output(child.output());
    for (std::string line; std::getline(output, line);) {
        std::istringstream stream(line);
        std::vector<std::string> fields;
        for (std::string field; std::getline(stream, field, '\t');)
            fields.push_back(field);
        if (fields.size() > 1) /* a driver may print other lines, without tabs */
            lines.push_back(fields);
    }
    return lines;
}

} // namespace bench
