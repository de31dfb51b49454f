/*
 * settings_test.cpp - tests that an environment variable that changes the machine code also changes the id.
 *
 * A program is compiled in one process without a variable, and in another with it. The test finds most names of
 * variables in the driver's library, so it also tries the variables of a new driver. The test starts itself with
 * `--settings FILE`.
 */
#include <cctype>
#include <cstring>
#include <iostream>
#include <set>

#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "hermetic/compilers.h"
#include "support/child_process.h"
#include "support/opencl_platform.h"
#include "support/scratch_directory.h"

namespace
{

using namespace hermetic;
using Variables = child_process::Child::Environment;

/* Has a loop, a barrier and local memory, for which many settings change the code. */
const char kSource[] = "kernel void sum(global const float *in, global float *out, local float *part)\n"
                       "{\n"
                       "    float all = 0;\n"
                       "    part[get_local_id(0)] = sin(in[get_global_id(0)]) / 3;\n"
                       "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                       "    for (size_t i = 0; i < get_local_size(0); ++i)\n"
                       "        all += part[i] * in[i];\n"
                       "#ifdef KEY\n"
                       "    all *= 2;\n"
                       "#endif\n"
                       "    out[get_global_id(0)] = all;\n"
                       "}\n";

struct Made {
    bool is_there = false; /* false: no device, a crash, or a program that is not cacheable */
    std::string id;
    std::string code;
};

int make_as_child(const std::string &path)
{
    const std::unique_ptr<Compiler> compiler = make_opencl_compiler("");
    const Program program{kSource, ""};
    const Description description = compiler->describe(program);
    const Build build = compiler->build(program, Want::code);
    std::ofstream file(path, std::ios::binary);
    file << description.id.size() << ' ' << description.id << (build.is_built ? build.code : "not built");
    return file.good() && description.is_cacheable ? 0 : 1;
}

Made make_in_child(const ScratchDirectory &scratch, Variables variables)
{
    static int count = 0;
    const std::string name = (scratch.path() / std::to_string(count++)).string();
    Made made;
    std::filesystem::create_directory(name);
    std::filesystem::create_directory(name + "/cache");
    variables.emplace("POCL_CACHE_DIR", name + "/cache");
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(name); /* where drivers write files */
    child_process::Child child({"/proc/self/exe", "--settings", name + "/made"}, name + "/out", variables);
    made.is_there = child.wait() == 0;
    std::filesystem::current_path(before);
    std::ifstream file(name + "/made", std::ios::binary);
    size_t size = 0;
    file >> size;
    file.get();
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    made.id = bytes.substr(0, std::min(size, bytes.size()));
    made.code = bytes.substr(made.id.size());
    return made;
}

/* Compiles with environment variables set, and collects those that change the code. */
class Trial
{
public:
    Trial() : without_(make_in_child(scratch_, {}))
    {
        EXPECT_TRUE(without_.is_there);
        EXPECT_NE("not built", without_.code);
        const Made again = make_in_child(scratch_, {});
        EXPECT_EQ(without_.id, again.id);
        EXPECT_EQ(without_.code, again.code) << "cannot be compared";
    }

    void compile_with(const std::string &name, const std::string &value)
    {
        const std::string setting = name + "=" + value;
        const Made with = make_in_child(scratch_, {{name, value}});
        if (!with.is_there) {
            unusable_ += " " + setting;
            return;
        }
        ++compiled_;
        if (with.code == without_.code)
            return;
        EXPECT_TRUE(without_.id != with.id) << setting << " changes the code and not the id";
        changing_.insert(name);
    }

    void report() const
    {
        std::cout << compiled_ << " settings compiled; these change the code:";
        for (const std::string &name : changing_)
            std::cout << ' ' << name;
        std::cout << "; without a result:" << unusable_ << std::endl;
    }

    size_t compiled() const { return compiled_; }
    const std::set<std::string> &changing() const { return changing_; }

private:
    ScratchDirectory scratch_;
    Made without_;
    size_t compiled_ = 0;
    std::set<std::string> changing_;
    std::string unusable_;
};

/* Returns the bytes of the driver's library, and for PoCL also of the libraries of its devices. */
std::string driver_bytes()
{
    const auto *dispatch = *reinterpret_cast<cl_icd_dispatch *const *>(OpenclPlatform::get().id());
    Dl_info info{};
    EXPECT_NE(0, dladdr(reinterpret_cast<void *>(dispatch->clBuildProgram), &info));
    std::vector<std::filesystem::path> paths = {info.dli_fname};
    const std::filesystem::path parts = paths[0].parent_path() / "pocl";
    if (OpenclPlatform::get().is_pocl() && std::filesystem::is_directory(parts))
        for (const auto &file : std::filesystem::directory_iterator(parts))
            paths.push_back(file.path());
    std::string bytes;
    for (const std::filesystem::path &path : paths) {
        std::ifstream file(path, std::ios::binary);
        bytes.append(std::istreambuf_iterator<char>(file), {});
    }
    return bytes;
}

/* Returns the strings in the driver that begin with one of `beginnings` and look like the name of a variable. */
std::set<std::string> names_in_driver(const std::vector<std::string> &beginnings)
{
    std::set<std::string> names;
    const std::string bytes = driver_bytes();
    for (const std::string &beginning : beginnings) {
        for (size_t at = 0; (at = bytes.find('\0' + beginning, at)) != std::string::npos; ++at) {
            const std::string name = &bytes[at + 1];
            const bool is_name =
                std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
            if (is_name && name.size() > beginning.size())
                names.insert(name);
        }
    }
    return names;
}

/* Returns the values to try for a variable: 1, unless others are listed here. */
std::vector<std::string> values_of(const std::string &name)
{
    static const std::map<std::string, std::vector<std::string>> known = {
        {"POCL_DEVICES", {"basic"}},
        {"POCL_EXTRA_BUILD_FLAGS", {"-cl-opt-disable"}},
        {"POCL_LLVM_CPU_NAME", {"x86-64"}},
        {"POCL_MAX_WORK_GROUP_SIZE", {"16"}},
        {"POCL_WORK_GROUP_METHOD", {"loops", "loopvec", "cbs", "workitemrepl"}},
    };
    const auto found = known.find(name);
    return found == known.end() ? std::vector<std::string>{"1"} : found->second;
}

} // namespace

TEST(Settings, ThatChangePoclsCodeChangeTheId)
{
    if (!OpenclPlatform::get().is_pocl())
        GTEST_SKIP() << "this is about PoCL";
    const std::set<std::string> names = names_in_driver({"POCL_"});
    Trial trial;
    for (const std::string &name : names)
        if (name != "POCL_CACHE_DIR") /* each process has its own */
            for (const std::string &value : values_of(name))
                trial.compile_with(name, value);
    trial.report();
    EXPECT_LE(15u, trial.compiled());
    EXPECT_EQ(1u, trial.changing().count("POCL_WORK_GROUP_METHOD"));
    EXPECT_EQ(1u, trial.changing().count("POCL_EXTRA_BUILD_FLAGS"));
}

TEST(Settings, ThatAreLeftOutOfIntelsIdsChangeNoCode)
{
    if (!OpenclPlatform::get().is_intel())
        GTEST_SKIP() << "this is about Intel's driver";
    Trial trial;
    for (const std::string &name : names_in_driver({"AUBDump", "Dump", "Log", "Print"}))
        trial.compile_with(name, "1");
    trial.compile_with("CreateMultipleRootDevices", "2");
    trial.report();
    EXPECT_LE(30u, trial.compiled());
    EXPECT_TRUE(trial.changing().empty());
}

TEST(Settings, ThatChangeIntelsCodeChangeTheId)
{
    if (!OpenclPlatform::get().is_intel())
        GTEST_SKIP() << "this is about Intel's driver";
    const std::vector<std::pair<const char *, const char *>> settings = {
        {"DisableStatelessToStatefulOptimization", "1"},
        {"EnableStatelessToStatefulBufferOffsetOpt", "0"},
        {"InjectInternalBuildOptions", "-DKEY"},
        {"OverrideRevision", "1"},
        {"UseBindlessMode", "1"},
        {"ProductFamilyOverride", "skl"},
        {"NEO_ProductFamilyOverride", "skl"},
        {"IGC_EnableGVN", "0"},
        {"IGC_DisableLoopUnroll", "1"},
        {"IGC_ForceOCLSIMDWidth", "8"},
        {"IGC_VISAOptions", "-nocompaction"},
    };
    Trial trial;
    for (const auto &[name, value] : settings)
        trial.compile_with(name, value);
    trial.report();
    EXPECT_EQ(1u, trial.changing().count("InjectInternalBuildOptions"));
    EXPECT_EQ(1u, trial.changing().count("DisableStatelessToStatefulOptimization"));
    EXPECT_EQ(1u, trial.changing().count("IGC_ForceOCLSIMDWidth"));
}

int main(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    if (argc == 3 && strcmp(argv[1], "--settings") == 0)
        return make_as_child(argv[2]);
    return RUN_ALL_TESTS();
}
