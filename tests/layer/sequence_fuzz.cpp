/*
 * sequence_fuzz.cpp - runs random sequences of program calls three times: on the bare driver, through the layer with a
 * store that is empty at first (cold), and through the layer with the store that the cold run left (warm). Each run
 * writes a transcript, and all transcripts must be equal except for what `by_design` and `Expected` list.
 *
 * usage: sequence_fuzz --layer PATH [--first N] [--count N] [--seed S] [--chunk N] [--fresh N] [--most N] [--files 1]
 * [--lie 1]
 *   --layer none  compares the bare driver with itself
 *   --chunk       how many sequences a process runs
 *   --fresh       how many sequences make up a period; each period begins with an empty store
 *   --most        how many differences to print per period
 *   --files 1     lets included files change after builds; see sequence_files.cpp
 *   --lie 1       writes a wrong line to one transcript; the exit status shows whether it was found
 * After a crash, a new process continues with the next sequence. scripts/with-device chooses the driver.
 */
#include "layer/sequence.h"
#include "support/child_process.h"
#include "support/opencl_platform.h"
#include "support/scratch_directory.h"

#include <fstream>
#include <regex>
#include <set>

namespace
{

using namespace layer;
using Environment = child_process::Child::Environment;

/* ---- comparing two transcripts, sequence by sequence. Only what doc/layer.md lists as differences may differ: the
 * lines of `by_design`, and the answers that `Expected` knows ---- */

/* The lines of one sequence. */
struct Block {
    size_t index = 0;
    std::vector<std::string> lines;
    bool is_ended = true; /* false: the process ended during the sequence */
};

/* The lines that begin and end a sequence in a transcript. */
const char *const end_line = "end";
std::string begin_of(size_t index)
{
    return "sequence " + std::to_string(index);
}

/* Reads a transcript, one sequence at a time. */
class Blocks
{
public:
    explicit Blocks(const std::string &path) : file_(path) {}
    /* Returns false at the end of the transcript. */
    bool next(Block *block);

private:
    std::ifstream file_;
    std::string ahead_;
};

struct Found {
    size_t index;     /* the number of the sequence */
    std::string text; /* describes the difference */
};

struct Comparison {
    size_t sequences = 0;
    size_t lines = 0;
    size_t crashes = 0; /* sequences in which the bare driver crashed; they are not compared */
    std::vector<Found> differences;
};

struct Difference {
    const char *begin; /* how the line begins */
    const char *end;
    const char *reason;
};

const Difference by_design[] = {
    {"  bytes of its binaries:", "", "a binary of a cached program need not be byte for byte that of a compiled one"},
    {"  references of C", "", "the layer holds references of its own to a context that has programs"},
};

bool begins_with(const std::string &line, const std::string &text)
{
    return line.compare(0, text.size(), text) == 0;
}

bool ends_with(const std::string &line, const std::string &text)
{
    return line.size() >= text.size() && line.compare(line.size() - text.size(), text.size(), text) == 0;
}

bool is_by_design(const std::string &line)
{
    for (const Difference &difference : by_design)
        if (begins_with(line, difference.begin) && ends_with(line, difference.end))
            return true;
    return false;
}

/* Removes messages about other programs from a log. When PoCL reports that a program does not link, it adds what LLVM
 * said about all programs for which PoCL has generated code since its last such report. With the layer, PoCL generates
 * code for fewer programs, so these messages differ. */
std::string without_messages_of_others(const std::string &line)
{
    static const std::regex messages("ignoring (?:debug info with an invalid version \\(\\d+\\)|invalid debug info) in "
                                     "(/[^ ]*?program\\.bc)?"
                                     "|(<unknown>|\\(temporary\\)):\\d+:\\d+: [^<]*?"
                                     "(?=<unknown>|\\(temporary\\)|ignoring |Device )");
    /* Intel's compiler names a source by a number that it counts up at each build of the process. */
    static const std::regex includers("\\d+(?=:\\d+:\\d+: (?:fatal error|error|warning|note))|from \\d+(?=:)");
    static const std::regex sizes("size \\d+( wrote \\d+)?");
    const bool is_failed_link = line.find(failed_link) != std::string::npos;
    if (!is_failed_link && !std::regex_search(line, includers))
        return line;
    const std::string own = is_failed_link ? std::regex_replace(line, messages, "") : line;
    return std::regex_replace(std::regex_replace(own, includers, "N"), sizes, "size N");
}

bool has(const std::string &line, const std::string &text)
{
    return line.find(text) != std::string::npos;
}

/* What the calls so far mean for the answers of a loaded program. */
class Expected
{
public:
    /* Notes a call. */
    void see(const std::string &line)
    {
        static const std::regex making("  (P\\d+) = clCreateProgramWithBinary of .*");
        static const std::regex building("  clBuildProgram (P\\d+) .*");
        static const std::regex odd("\"( |\\\\x)| \":|  |-cl-denorms-are-zero");
        std::smatch match;
        files_changed_ = files_changed_ || begins_with(line, "  change ");
        if (std::regex_match(line, match, making)) {
            rewritten_.insert(match[1]);
            of_binaries_.insert(match[1]);
        }
        if (std::regex_match(line, match, building) && std::regex_search(match[0].first + 2, line.end(), odd))
            rewritten_.insert(match[1]);
    }

    /* True if a program that Ingot loaded may answer otherwise than the bare driver's program. */
    bool may_differ(const std::string &line, const std::string &other) const
    {
        const std::string object = line.substr(2, line.find(' ', 2) - 2);
        if (has(line, " CL_PROGRAM_BUILD_LOG") && !has(line, "error: ")) /* the header as the directive spells it */
            return lacks_folders(line, other);
        if (has(line, " CL_PROGRAM_BUILD_OPTIONS")) /* without -I, and as the application gave them */
            return rewritten_.count(object) != 0;
        if (has(line, " CL_KERNEL_ATTRIBUTES") || has(line, " CL_KERNEL_ARG_")) /* missing */
            return files_changed_ && is_nothing(other);
        return fails_to_link_a_binary(line) && fails_to_link_a_binary(other); /* the binary lacks intermediate code */
    }

private:
    bool fails_to_link_a_binary(const std::string &line) const
    {
        static const std::regex linking("  P\\d+ = clLinkProgram .*: -\\d+");
        static const std::regex programs("P\\d+");
        bool has_binary = false;
        for (std::sregex_iterator at(line.begin() + 2, line.end(), programs), end; at != end; ++at)
            has_binary = has_binary || of_binaries_.count(at->str()) != 0;
        return has_binary && std::regex_match(line, linking);
    }
    /* True if the other log lacks the folders of sequence_files.cpp, and nothing else. An answer without the text has
     * only a size, or none. */
    static bool lacks_folders(const std::string &line, const std::string &other)
    {
        static const std::regex folders("inc_[ab]/(?=t\\.h:)");
        static const std::regex sizes("size (\\d+)( wrote \\d+)?");
        const std::string left = std::regex_replace(line, folders, "");
        const std::string own = without_messages_of_others(left);
        const std::string others = without_messages_of_others(other);
        std::smatch size, other_size;
        if (std::regex_replace(own, sizes, "") != std::regex_replace(others, sizes, ""))
            return false;
        if (!std::regex_search(own, size, sizes) || !std::regex_search(others, other_size, sizes))
            return own == others;
        const long less = std::stol(size[1]) - std::stol(other_size[1]);
        const long removed = static_cast<long>(line.size() - left.size());
        const bool asked = size[1] != "12345"; /* what sequence_queries.cpp sets the size to before it asks */
        return removed != 0 ? less == removed || !asked : less >= 0 && less % 6 == 0;
    }
    static bool is_nothing(const std::string &line)
    {
        static const std::regex nothing(".*: (-19 size \\d+( wrote 0)?|0 size \\d+( wrote [01])?)( \"(\\\\x00)?\")?");
        return std::regex_match(line, nothing);
    }

    std::set<std::string> rewritten_;
    std::set<std::string> of_binaries_;
    bool files_changed_ = false;
};

std::vector<std::string> compared_lines(const Block &block)
{
    std::vector<std::string> result;
    for (const std::string &line : block.lines)
        if (!is_by_design(line))
            result.push_back(line);
    return result;
}

std::string line_at(const std::vector<std::string> &lines, size_t at)
{
    return at < lines.size() ? lines[at] : "  (nothing more)";
}

/* Returns "" if the blocks are equal. If not, returns their common lines and both versions of the first line that
 * differs. */
std::string difference_of(const Block &bare, const Block &other, const std::string &name)
{
    const std::vector<std::string> expected = compared_lines(bare);
    const std::vector<std::string> found = compared_lines(other);
    std::string text = begin_of(bare.index) + "\n";
    Expected answers;
    size_t at = 0;
    for (; at < expected.size() && at < found.size(); ++at) {
        answers.see(expected[at]);
        if (without_messages_of_others(expected[at]) != without_messages_of_others(found[at]) &&
            !answers.may_differ(expected[at], found[at]))
            break;
        text += expected[at] + "\n";
    }
    if (at == expected.size() && at == found.size())
        return "";
    return text + "bare: " + line_at(expected, at) + "\n" + name + ": " + line_at(found, at) + "\n";
}

bool Blocks::next(Block *block)
{
    *block = {0, {}, false};
    if (ahead_.empty() && !std::getline(file_, ahead_))
        return false;
    if (ahead_.compare(0, 9, "sequence ") == 0)
        block->index = std::stoull(ahead_.substr(9));
    while (std::getline(file_, ahead_) && ahead_.compare(0, 9, "sequence ") != 0) {
        block->is_ended = block->is_ended || ahead_ == end_line;
        block->lines.push_back(ahead_);
    }
    if (!file_)
        ahead_.clear();
    return true;
}

/* Stops when it has found `most` differences. */
Comparison compare(const std::string &bare_path, const std::string &other_path, const std::string &other_name,
                   size_t most)
{
    Comparison result;
    Blocks bares(bare_path);
    Blocks others(other_path);
    Block bare;
    Block other;
    while (result.differences.size() < most && bares.next(&bare)) {
        if (!others.next(&other) || other.index != bare.index) {
            result.differences.push_back({bare.index, other_name + " has no " + begin_of(bare.index) + "\n"});
            return result;
        }
        ++result.sequences;
        result.lines += bare.lines.size();
        result.crashes += bare.is_ended ? 0 : 1;
        const std::string text = bare.is_ended ? difference_of(bare, other, other_name) : "";
        if (!text.empty())
            result.differences.push_back({bare.index, text});
    }
    return result;
}

/* ---- the runs ---- */

constexpr unsigned kSecondsPerSequence = 120;

using Arguments = std::map<std::string, std::string>;

Arguments arguments_of(int count, char **words)
{
    Arguments arguments = {{"layer", ""},     {"first", "0"}, {"count", "200"},   {"seed", "1"}, {"chunk", "250"},
                           {"fresh", "2000"}, {"lie", ""},    {"transcript", ""}, {"most", "1"}, {"files", ""}};
    for (int i = 1; i < count; i += 2) {
        const std::string name = words[i];
        if (name.compare(0, 2, "--") != 0 || arguments.count(name.substr(2)) == 0 || i + 1 == count)
            throw std::runtime_error("unknown argument, or one without its value: " + name);
        arguments[name.substr(2)] = words[i + 1];
    }
    return arguments;
}

size_t number_of(const Arguments &arguments, const char *name)
{
    return std::stoull(arguments.at(name));
}

std::vector<std::vector<unsigned char>> modules()
{
    std::vector<std::vector<unsigned char>> result;
    for (const char *name : {"add_3.spv", "two_kernels.spv"}) {
        std::ifstream file(std::string(SPIRV_DIR) + "/" + name, std::ios::binary);
        if (file)
            result.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return result;
}

Context make_context(const std::vector<cl_device_id> &devices)
{
    cl_int error = CL_SUCCESS;
    const cl_context handle =
        clCreateContext(nullptr, static_cast<cl_uint>(devices.size()), devices.data(), nullptr, nullptr, &error);
    if (handle == nullptr)
        throw std::runtime_error("clCreateContext: " + std::to_string(error));
    return {handle, "", devices, nullptr};
}

Setup make_setup(bool has_files)
{
    setenv("POCL_DEVICES", "pthread basic", 0);
    Setup setup = {OpenclPlatform::get().devices(), modules(), {}, has_files};
    for (const cl_device_id device : setup.devices)
        for (int i = 0; i < 2; ++i)
            setup.contexts.push_back(make_context({device}));
    setup.contexts.push_back(make_context(setup.devices));
    return setup;
}

/* Runs sequences in the working directory and writes their transcript; called in a separate process. */
void write_transcript(const Arguments &arguments)
{
    const Setup setup = make_setup(!arguments.at("files").empty());
    const size_t first = number_of(arguments, "first");
    const size_t end = first + number_of(arguments, "count");
    Transcript transcript(arguments.at("transcript"));
    for (size_t index = first; index < end; ++index) {
        (void)alarm(kSecondsPerSequence);
        transcript.line(begin_of(index));
        Sequence(setup, &transcript, Random(number_of(arguments, "seed"), index)).run();
        if (arguments.at("lie") == std::to_string(index))
            transcript.line("  a lie");
        transcript.line(end_line);
    }
}

/* Three runs of the same sequences. */
class Runs
{
public:
    explicit Runs(const Arguments &arguments)
        : arguments_(arguments), self_(std::filesystem::canonical("/proc/self/exe"))
    {
        const std::string &layer = arguments_.at("layer");
        if (layer.empty())
            throw std::runtime_error("--layer: a path, or none");
        if (layer != "none")
            layer_ = std::filesystem::canonical(layer).string();
        (void)unsetenv("OPENCL_LAYERS");
        std::filesystem::create_directory(path("work"));
        std::filesystem::current_path(path("work"));
    }
    ~Runs() { std::filesystem::current_path("/"); }

    bool run()
    {
        const size_t first = number_of(arguments_, "first");
        const size_t end = first + number_of(arguments_, "count");
        const size_t fresh = number_of(arguments_, "fresh");
        bool is_equal = true;
        for (size_t at = first; at < end && is_equal; at += fresh)
            is_equal = period(at, std::min(at + fresh, end));
        std::printf("%zu sequences with %zu results each way; the bare driver crashed in %zu\n", total_.sequences,
                    total_.lines, total_.crashes);
        for (const char *kind : {"cold", "warm"})
            std::printf("  %s: %ld programs hit, %ld built, %ld passed through, %ld failed\n", kind,
                        stats_[kind]["hits"], stats_[kind]["builds"], stats_[kind]["passed"], stats_[kind]["failed"]);
        if (!is_lie() && !layer_.empty() && is_equal && stats_["warm"]["hits"] == 0) {
            std::puts("FAILURE: nothing was hit, so nothing was tested");
            return false;
        }
        return is_equal != is_lie();
    }

private:
    bool is_lie() const { return !arguments_.at("lie").empty(); }
    std::string path(const std::string &name) const { return (scratch_.path() / name).string(); }

    /* Runs the sequences of one period in all three ways, and compares the transcripts. */
    bool period(size_t first, size_t end)
    {
        std::filesystem::remove_all(path("store"));
        for (const char *kind : {"bare", "cold", "warm"})
            run_range(kind, first, end);
        const Comparison cold = compare(path("bare"), path("cold"), "cold", number_of(arguments_, "most"));
        const Comparison warm = compare(path("bare"), path("warm"), "warm", number_of(arguments_, "most"));
        total_.sequences += warm.sequences;
        total_.lines += warm.lines;
        total_.crashes += warm.crashes;
        report(cold, first);
        report(warm, first);
        std::fprintf(stderr, "%zu sequences\n", total_.sequences);
        return cold.differences.empty() && warm.differences.empty();
    }

    void report(const Comparison &comparison, size_t first) const
    {
        for (const Found &found : comparison.differences)
            std::printf("DIFFERENCE: --seed %s%s --first %zu --count 1; with what was stored before, --first %zu "
                        "--count %zu\n%s",
                        arguments_.at("seed").c_str(), arguments_.at("files").empty() ? "" : " --files 1", found.index,
                        first, found.index - first + 1, found.text.c_str());
    }

    void run_range(const std::string &kind, size_t first, size_t end)
    {
        std::filesystem::remove(path(kind));
        while (first < end) {
            const size_t count = std::min(number_of(arguments_, "chunk"), end - first);
            const int status = run_child(kind, first, count);
            first = status == 0 ? first + count : go_on_behind(kind, first, status);
        }
    }

    int run_child(const std::string &kind, size_t first, size_t count)
    {
        const std::string lie = is_lie() && kind == "warm" ? std::to_string(number_of(arguments_, "first")) : "";
        Environment environment = {{"POCL_CACHE_DIR", path(kind == "bare" ? "pocl-1" : "pocl-2")}};
        if (kind != "bare" && !layer_.empty()) {
            environment["OPENCL_LAYERS"] = layer_;
            environment["INGOT_PERSIST_DIR"] = path("store");
            environment["INGOT_PERSIST_STORE_MODE"] = "now";
            environment["INGOT_LAYER_STATS"] = path("stats");
        }
        for (const char *folder : {"pocl-1", "pocl-2"})
            std::filesystem::create_directories(path(folder));
        std::filesystem::remove(path("stats"));
        child_process::Child child({self_, "--transcript", path(kind), "--first", std::to_string(first), "--count",
                                    std::to_string(count), "--seed", arguments_.at("seed"), "--lie", lie, "--files",
                                    arguments_.at("files")},
                                   path("output"), environment);
        const int status = child.wait();
        if (status != 0 && !std::filesystem::exists(path(kind)))
            throw std::runtime_error("a process wrote nothing: " + child.output());
        add_stats(kind);
        return status;
    }

    /* Reports how a process ended. Returns the number of the sequence with which a new process continues. */
    size_t go_on_behind(const std::string &kind, size_t first, int status)
    {
        Blocks blocks(path(kind));
        Block block;
        size_t last = first;
        bool is_ended = false;
        while (blocks.next(&block)) {
            last = block.index;
            is_ended = block.is_ended;
        }
        if (last < first)
            throw std::runtime_error("a process ended with status " + std::to_string(status) + " before it began");
        Transcript(path(kind)).line("  the process ended with status " + std::to_string(status));
        std::fprintf(stderr, "%s: a process ended with status %d %s sequence %zu\n", kind.c_str(), status,
                     is_ended ? "after" : "in", last);
        return last + 1;
    }

    void add_stats(const std::string &kind)
    {
        std::ifstream file(path("stats"));
        for (std::string line; std::getline(file, line);) {
            const size_t equals = line.find('=');
            if (equals != std::string::npos)
                stats_[kind][line.substr(0, equals)] += std::atol(line.c_str() + equals + 1);
        }
    }

    const Arguments arguments_;
    const std::string self_;
    std::string layer_; /* empty: none */
    ScratchDirectory scratch_;
    Comparison total_;
    std::map<std::string, std::map<std::string, long>> stats_;
};

} // namespace

int main(int argc, char **argv)
{
    try {
        const Arguments arguments = arguments_of(argc, argv);
        if (arguments.at("transcript").empty())
            return Runs(arguments).run() ? EXIT_SUCCESS : EXIT_FAILURE;
        write_transcript(arguments);
        return EXIT_SUCCESS;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "sequence_fuzz: %s\n", error.what());
        return EXIT_FAILURE;
    }
}
