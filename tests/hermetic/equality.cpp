/*
 * equality.cpp - builds programs hermetically (with each include replaced by its text) and natively, and compares their
 * machine code and build logs.
 *
 * Each program of a set is built twice: directly by its compiler, and through Ingot. It counts as "broken" if its
 * compiler rejects it; as "native", with the reason, if Ingot passes it to the compiler as the application wrote it;
 * and otherwise as "equal". In all three cases both builds must be equal, except for names of files in build logs. A
 * difference is a failure, unless two native builds differ too. The line FAILURE contains the arguments that reproduce
 * the difference. CONTRIBUTING.md has the commands.
 */
#include <algorithm>

#include "hermetic/arguments.h"
#include "hermetic/child_items.h"
#include "hermetic/project.h"
#include "hermetic/random.h"
#include "support/scratch_directory.h"

namespace
{

using namespace hermetic;

/* ---- the sets that are not generated ---- */

std::vector<Project> list_digits()
{
    const std::string folder = INGOT_SOURCE_DIR "/examples/digits/kernels";
    const struct {
        const char *file, *options;
    } programs[] = {{"normalize.cl", "-DGROUP=64 -DMAX_PIXEL=16"},
                    {"conv.cl", "-DIN_CHANNELS=1 -DOUT_CHANNELS=8 -DFUSE_RELU"},
                    {"conv.cl", "-DIN_CHANNELS=8 -DOUT_CHANNELS=16 -DFUSE_RELU"},
                    {"pool.cl", "-DGROUP=64 -DCHANNELS=16"},
                    {"dense.cl", "-DTILE=8 -DINPUTS=256 -DOUTPUTS=32 -DFUSE_RELU"},
                    {"dense.cl", "-DTILE=8 -DINPUTS=32 -DOUTPUTS=10"},
                    {"softmax.cl", "-DGROUP=64 -DCLASSES=10"},
                    {"argmax.cl", "-DGROUP=64 -DCLASSES=10"}};
    std::vector<Project> list;
    for (const auto &program : programs)
        list.push_back({"digits " + std::string(program.file) + " " + program.options,
                        {},
                        read_file(folder + "/" + program.file),
                        "-cl-std=CL1.2 -I " + folder + " " + program.options});
    return list;
}

/* The options are those that hashcat 6.2 uses for an unsalted hash and a mask. VENDOR_ID is 8 for Intel and 64 for
 * PoCL. */
std::vector<Project> list_hashcat(bool is_cpu)
{
    const std::string folder = "/usr/share/hashcat/OpenCL";
    const std::string options =
        "-cl-std=CL1.2 -w -D KERNEL_STATIC -I " + folder + " -D INCLUDE_PATH=" + folder +
        " -D XM2S(x)=#x -D M2S(x)=XM2S(x) -D LOCAL_MEM_TYPE=1 -D VECT_SIZE=1 -D CUDA_ARCH=0 -D HAS_VPERM=0" +
        " -D VENDOR_ID=" + (is_cpu ? "64" : "8") + " -D DEVICE_TYPE=" + (is_cpu ? "2" : "4") +
        " -D DGST_R0=0 -D DGST_R1=3 -D DGST_R2=2 -D DGST_R3=1 -D DGST_ELEM=4 -D KERN_TYPE=0" +
        " -D ATTACK_EXEC=11 -D ATTACK_KERN=3 -D ATTACK_MODE=3";
    std::vector<Project> list;
    for (const auto &entry : std::filesystem::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (entry.path().extension() != ".cl" || name.compare(0, 4, "inc_") == 0)
            continue;
        list.push_back({"hashcat " + name, {}, read_file(entry.path().string()), options});
    }
    std::sort(list.begin(), list.end(), [](const Project &a, const Project &b) { return a.label < b.label; });
    return list;
}

/* ---- the comparison ---- */

struct Counts {
    size_t equal = 0;
    size_t native = 0;
    size_t broken = 0;
    size_t with_log = 0;
    size_t compiler_crashes = 0; /* in the native build, before Ingot is called */
    size_t unsteady = 0;         /* programs of which two native builds differ */
    size_t failures = 0;
    std::map<std::string, size_t> reasons;
};

/* True if the logs are equal. If a program does not build, Ingot's log may be cut off, and must then equal the
 * beginning of the native log. */
bool are_equal_logs(const std::string &native, std::string other)
{
    static const std::string mark = "[...]";
    const std::string wanted = log_without_names(native);
    const size_t cut = other.rfind(mark);
    if (cut == std::string::npos || cut + mark.size() + 1 < other.size())
        return wanted == log_without_names(other);
    other.resize(other.rfind('\n', cut) + 1); /* the last line is incomplete */
    const std::string beginning = log_without_names(other);
    return wanted.compare(0, beginning.size(), beginning) == 0;
}

/* Returns "" if the builds are equal, and otherwise a description of the difference. */
std::string difference_of(const Build &native, const Build &other)
{
    if (native.is_built != other.is_built)
        return std::string("built natively: ") + (native.is_built ? "yes" : "no") +
               ", through Ingot: " + (other.is_built ? "yes" : "no");
    if (native.kernels != other.kernels)
        return "kernels: " + native.kernels + " and " + other.kernels;
    if (native.code != other.code)
        return "code of " + std::to_string(native.code.size()) + " and " + std::to_string(other.code.size()) + " bytes";
    if (!are_equal_logs(native.log, other.log))
        return "build logs:\n" + log_without_names(native.log) + "----\n" + log_without_names(other.log);
    return "";
}

/* True if a second native build equals the first. If it does not, a difference from Ingot's build proves nothing. */
bool is_steady(Compiler *compiler, const Program &program, const Build &first)
{
    return difference_of(first, compiler->build(program, Want::code)).empty();
}

/* Writes the project to a new folder and calls work() with that as the current directory. */
template <typename Do> void in_folder(const Project &project, Do work)
{
    const ScratchDirectory scratch;
    Project written = project;
    write_project(&written, scratch.path().string());
    std::filesystem::current_path(scratch.path());
    work(Program{written.source, written.options});
    std::filesystem::current_path("/");
}

void compare(Compiler *compiler, const Program &program, ItemWriter *writer)
{
    writer->phase("native");
    const Build native = compiler->build(program, Want::code);
    writer->phase("ingot");
    const IngotBuild other = compiler->build_with_ingot(program, Want::code);
    const std::string difference = difference_of(native, other.build);
    if (!difference.empty()) {
        writer->phase("again");
        writer->say(is_steady(compiler, program, native) ? "difference" : "unsteady", difference);
    }
    writer->say("kind", !native.is_built ? "broken" : other.is_native ? "native" : "equal");
    if (other.is_native)
        writer->say("reason", other.reason);
    if (!native.log.empty())
        writer->say("log", native.log);
}

/* Returns a reason without names and numbers, which differ from program to program. */
std::string kind_of_reason(const std::string &reason)
{
    std::string kind;
    bool in_quotes = false;
    for (const char c : reason) {
        if (c == '"' || c == '<' || c == '>') {
            kind += in_quotes ? "" : "NAME";
            in_quotes = !in_quotes;
        } else if (!in_quotes && !(c >= '0' && c <= '9')) {
            kind += c;
        }
    }
    const size_t in = kind.find(" in ");
    const size_t line = kind.find(" line ");
    if (in != std::string::npos && line != std::string::npos && in < line)
        kind = kind.substr(0, in) + " in FILE" + kind.substr(line);
    else if (line != std::string::npos)
        kind = "FILE" + kind.substr(line);
    return kind;
}

class Run
{
public:
    explicit Run(const Arguments &arguments) : arguments_(arguments), deadline_(deadline_of(arguments)) {}

    void run_set(const std::string &set)
    {
        Counts counts;
        const bool is_generated = set == "generated";
        is_cuda_ = arguments_.text("device") != "opencl";
        if (!is_generated)
            programs_ = list(set);
        const size_t most = arguments_.number(is_generated ? "count" : "most");
        size_t first = arguments_.number("first");
        size_t end = first + most;
        if (!is_generated) {
            first = std::min(first, programs_.size());
            end = most == 0 ? programs_.size() : std::min(first + most, programs_.size());
        }
        done_ = 0;
        const size_t count = work_in_children(
            {first, end, 400, deadline_}, [&](size_t index, ItemWriter &writer) { work(set, index, &writer); },
            [&](size_t index, const Findings &findings) { take(set, index, findings, &counts); });
        print(set, end - first, count, counts);
        failures_ += counts.failures;
    }

    size_t failures() const { return failures_; }

private:
    std::vector<Project> list(const std::string &set) const
    {
        const std::string platform = arguments_.text("device") != "opencl" ? "" : std::getenv("INGOT_TEST_DEVICE");
        std::vector<Project> found = set == "digits"    ? list_digits()
                                     : set == "hashcat" ? list_hashcat(platform == "pocl")
                                                        : std::vector<Project>();
        if (found.empty())
            throw std::runtime_error("no programs in the set " + set);
        if (set == "hashcat") {
            Random random(arguments_.number("seed"), 0);
            for (size_t i = found.size(); i > 1; --i)
                std::swap(found[i - 1], found[random.below(i)]);
        }
        return found;
    }

    Project project_of(const std::string &set, size_t index) const
    {
        Project project =
            set == "generated" ? generate_project(arguments_.number("seed"), index, is_cuda_) : programs_[index];
        if (arguments_.text("device") == "hiprtc") /* which does not look beside the source */
            project.options += " -I.";
        return project;
    }

    void work(const std::string &set, size_t index, ItemWriter *writer)
    {
        static const std::unique_ptr<Compiler> compiler = make_compiler(arguments_); /* one per child */
        writer->say("platform", compiler->name());
        const Project project = project_of(set, index);
        in_folder(project, [&](const Program &program) { compare(compiler.get(), program, writer); });
    }

    void take(const std::string &set, size_t index, const Findings &findings, Counts *counts)
    {
        const auto has = [&](const char *key) { return findings.count(key) != 0; };
        platform_ = has("platform") ? findings.at("platform") : platform_;
        const bool is_compilers = has("crash") && has("phase") && findings.at("phase") == "native";
        if (is_compilers)
            ++counts->compiler_crashes;
        else if (has("crash") || has("problem") || has("difference"))
            report(set, index, findings, counts);
        else if (has("unsteady"))
            note_unsteady(index, findings, counts);
        else if (findings.at("kind") == "equal")
            ++counts->equal;
        else
            ++(findings.at("kind") == "native" ? counts->native : counts->broken);
        if (has("reason") && has("kind") && findings.at("kind") == "native")
            ++counts->reasons[kind_of_reason(findings.at("reason"))];
        counts->with_log += has("log");
        if (++done_ % 100 == 0)
            std::fprintf(stderr, "%s: %zu done, %zu equal, %zu native, %zu broken, %zu failures\n", set.c_str(), done_,
                         counts->equal, counts->native, counts->broken, counts->failures);
    }

    void note_unsteady(size_t index, const Findings &findings, Counts *counts) const
    {
        ++counts->unsteady;
        std::printf("program %zu differs from build to build, natively too: %s\n", index,
                    findings.at("unsteady").c_str());
    }

    void report(const std::string &set, size_t index, const Findings &findings, Counts *counts)
    {
        ++counts->failures;
        const Project project = project_of(set, index);
        std::printf("FAILURE: %s, --device %s --set %s --seed %s --first %zu --%s 1\n", project.label.c_str(),
                    arguments_.text("device").c_str(), set.c_str(), arguments_.text("seed").c_str(), index,
                    set == "generated" ? "count" : "most");
        for (const auto &[key, value] : findings)
            std::printf("%s: %s\n", key.c_str(), value.substr(0, 3000).c_str());
        if (set == "generated")
            std::printf("%s\n", describe_project(project).c_str());
        (void)std::fflush(stdout);
    }

    void print(const std::string &set, size_t wanted, size_t done, const Counts &counts) const
    {
        std::printf("%s, set %s, seed %s: %zu of %zu programs: %zu equal, %zu native, %zu broken either way, "
                    "%zu with a build log; %zu ended the compiler, %zu differ natively too; %zu failures\n",
                    platform_.c_str(), set.c_str(), arguments_.text("seed").c_str(), done, wanted, counts.equal,
                    counts.native, counts.broken, counts.with_log, counts.compiler_crashes, counts.unsteady,
                    counts.failures);
        for (const auto &[reason, count] : counts.reasons)
            std::printf("    native: %zu: %s\n", count, reason.c_str());
        (void)std::fflush(stdout);
    }

    const Arguments &arguments_;
    std::time_t deadline_;
    std::vector<Project> programs_; /* the set's programs, unless it is generated */
    std::string platform_ = "no platform";
    bool is_cuda_ = false;
    size_t done_ = 0;
    size_t failures_ = 0;
};

} // namespace

int main(int argc, char **argv)
{
    return run_with_arguments(
        argc, argv, "equality", {{"set", "generated"}, {"most", "0"}}, [](const Arguments &arguments) {
            Run run(arguments);
            std::string sets = arguments.text("set") + ",";
            for (size_t comma; (comma = sets.find(',')) != std::string::npos; sets.erase(0, comma + 1))
                run.run_set(sets.substr(0, comma));
            return run.failures() == 0;
        });
}
