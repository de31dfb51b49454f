/*
 * stale_opencl_test.cpp - tests constructs for which a simple model of how OpenCL compilers find files and read options
 * is wrong. Each test uses two processes and one store, and the second process must not get the first one's program.
 */
#include <filesystem>
#include <iterator>

#include <gtest/gtest.h>

#include "conformance/program_setup.h"
#include "support/opencl_platform.h"

using namespace conformance;

static bool is_pocl()
{
    return OpenclPlatform::get().is_pocl();
}
static bool is_intel()
{
    return OpenclPlatform::get().is_intel();
}

/* Tests of one driver. */
class StaleOnIntel : public testing::Test
{
protected:
    void SetUp() override
    {
        if (!is_intel())
            GTEST_SKIP() << "this is about Intel's driver";
    }
};
class StaleOnPocl : public testing::Test
{
protected:
    void SetUp() override
    {
        if (!is_pocl())
            GTEST_SKIP() << "this is about PoCL";
    }
};

/* True if the driver is known to read the two option strings of each pair below differently. */
static bool is_known_to_differ()
{
    return is_intel() || OpenclPlatform::get().version().find("PoCL 3.") != std::string::npos;
}

const char kKernel[] = "__kernel void NAME(__global int *x) { x[0] = 1; }\n";
const char kInclude[] = "#include \"k.h\"\n__kernel void NAME(__global int *x) { x[0] = 1; }\n";

const std::string kComputed = "#define XS(x) #x\n#define S(x) XS(x)\n#include S(ops/OP.h)\n" + std::string(kKernel);
const std::string kKeySource = "#ifdef KEY\n#define NAME with_key\n#else\n#define NAME without\n#endif\n";

static size_t files_in(const std::string &directory)
{
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(directory), {}));
}

/* Tests two option strings in both orders. Some versions of the compiler read them differently: PoCL 5 and NVIDIA's
 * remove quotes, PoCL 3 does not. */
static void expect_both_told_apart(const ProgramSetup &setup, const std::string &one, const std::string &other)
{
    expect_told_apart(setup, one, other, is_known_to_differ());
}

/* PoCL 3 removes no quotes. Intel's and NVIDIA's compilers keep ' and \. */
TEST(Stale, ByQuotesAroundADirectory)
{
    const ProgramSetup setup{kInclude, "", {{"d1/k.h", named("one")}, {"d2/k.h", named("two")}}};
    if (is_pocl())
        expect_both_told_apart(setup, "-I\"d1\" -Id2", "-Id1 -Id2");
    expect_both_told_apart(setup, "-I'd1' -Id2", "-Id1 -Id2");
    expect_both_told_apart(setup, "-Id\\1 -Id2", "-Id1 -Id2");
}

/* With an empty name, -I takes the next option as its value. White space other than blanks does not separate options.
 */
TEST_F(StaleOnIntel, ByAnEmptyDirectory)
{
    const ProgramSetup setup{"#ifdef X\n#define NAME x\n#else\n#define NAME none\n#endif\n" + std::string(kKernel)};
    expect_both_told_apart(setup, "-I \"\" -DX=1", "-DX=1");
    for (const char *space : {"\n", "\v", "\f", "\r"})
        expect_both_told_apart(setup, std::string("-Id1") + space + "-DX=1", "-DX=1");
}

/* Intel's compiler always searches ./include. */
TEST_F(StaleOnIntel, ByAnEditInADirectoryOfTheCompiler)
{
    (void)expect_seen({"#ifdef __OPENCL_VERSION__\n#include \"config.h\"\n#endif\n" + std::string(kKernel)},
                      "include/config.h");
}

/* The driver's own cache looks for includes in a simpler way than the compiler, so it may return an old binary. */
TEST_F(StaleOnIntel, ByTheDriversOwnCache)
{
    for (const char *line : {"# include \"k.h\"\n", "%:include \"k.h\"\n", "#/**/include \"k.h\"\n",
                             "#import \"k.h\"\n", "#include \"k.h\"\n"}) {
        SCOPED_TRACE(line);
        ProgramSetup setup{std::string(line) + kKernel};
        setup.environment = {{"NEO_CACHE_PERSISTENT", "1"}};
        setup.files = {{"cl_cache/here", ""}};
        EXPECT_EQ(std::string(line).find("import") == std::string::npos, expect_seen(setup, "k.h"));
        const Workplace workplace; /* shows that the driver does write to its cache */
        setup.files.emplace_back("k.h", named("before"));
        EXPECT_EQ("built", workplace.build(setup).origin);
        EXPECT_LT(1u, files_in(workplace.path() + "/cl_cache"));
    }
}

/* The compiler itself reads options from an environment variable. */
TEST_F(StaleOnPocl, ByOptionsOfAVariable)
{
    ProgramSetup setup{"#ifdef __OPENCL_VERSION__\n#include \"k.h\"\n#endif\n" + std::string(kKernel)};
    setup.environment = {{"POCL_EXTRA_BUILD_FLAGS", "-Ideep"}};
    (void)expect_seen(setup, "deep/k.h");
    setup.files = {{"ops/OP.h", named("other")}};
    setup.source = kComputed;
    setup.environment = {{"POCL_EXTRA_BUILD_FLAGS", "-DOP=max_of_two"}};
    (void)expect_seen(setup, "ops/max_of_two.h");
}

/* What the compiler makes with an option that the process has added is not stored under the id that has it not. */
TEST_F(StaleOnPocl, ByOptionsOfAVariableThatTheProcessChanges)
{
    const ProgramSetup unchanged{kKeySource + kKernel};
    ProgramSetup changed = unchanged;
    changed.late_variable = "POCL_EXTRA_BUILD_FLAGS=-DKEY";
    EXPECT_FALSE(expect_not_stale(changed, unchanged));
    const std::string reason = Workplace().build(changed).reason;
    EXPECT_NE(std::string::npos, reason.find("has changed since the context read it")) << reason;
}

/* PoCL defines max as _cl_max. */
TEST_F(StaleOnPocl, ByABuiltInThatIsAMacro)
{
    (void)expect_seen({kComputed, "-DOP=max", {{"ops/max.h", named("other")}}}, "ops/_cl_max.h");
}

TEST_F(StaleOnIntel, ByTheDriversConfiguration)
{
    ProgramSetup without{kKeySource + kKernel};
    ProgramSetup with = without;
    /* If igdrcl.config exists, the driver does not read the environment variables. */
    const std::string device = "SetCommandStreamReceiver = 1\nProductFamilyOverride = tgllp\n";
    without.files = {{"igdrcl.config", device}};
    with.files = {{"igdrcl.config", device + "InjectInternalBuildOptions = -DKEY\n"}};
    EXPECT_TRUE(expect_not_stale(without, with));
    EXPECT_TRUE(expect_not_stale(with, without));
}

/* Builds a program twice, and changes the file at `path` between. A cacheable program must be the compiler's. */
static void expect_current(const Workplace &workplace, const char *path, const ProgramSetup &setup)
{
    for (const char *name : {"before", "after"}) {
        workplace.write(path, named(name));
        const BuildResult built = workplace.build(setup);
        const BuildResult native = workplace.build_natively(setup);
        if (built.is_cacheable()) {
            EXPECT_EQ(native.kernels, built.kernels) << built.log;
        }
    }
}

/* The compiler prefers a file to an embedded header whose name is the file's absolute path. */
TEST_F(StaleOnIntel, ByAHeaderWithAnAbsoluteName)
{
    const Workplace workplace;
    const std::string path = workplace.path() + "/k.h";
    const ProgramSetup setup{"#include \"" + path + "\"\n" + kKernel, "", {}, {{path, named("embedded")}}};
    expect_current(workplace, "k.h", setup);
}

TEST_F(StaleOnIntel, ByAFileBesideAHeaderWithAnAbsoluteName)
{
    const Workplace workplace;
    const std::string path = workplace.path() + "/k.h";
    ProgramSetup setup{
        "#include \"" + path + "\"\n" + kKernel, "-Ic", {{"c/x.h", named("other")}}, {{path, "#include \"x.h\"\n"}}};
    /* In these processes, the leak checker itself crashes in memory that Intel's compiler leaves behind. */
    setup.environment = {{"ASAN_OPTIONS", "detect_leaks=0:new_delete_type_mismatch=0"}};
    expect_current(workplace, "x.h", setup);
}

/* A backslash does not protect the blank after it, so -DOP is an option. */
TEST_F(StaleOnPocl, ByABackslashBeforeABlank)
{
    (void)expect_seen({kComputed, "-DX\\ -DOP=inner", {{"ops/OP.h", named("other")}}}, "ops/inner.h");
}
