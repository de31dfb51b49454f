/* What sources reach by #include: followed, identified by content, or refused with a reason. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "core/digest.h"
#include "core/include_closure/include_closure.h"
}
#include "support/failing_allocator.h"
#include "support/scratch_directory.h"

namespace
{

using Texts = std::vector<std::pair<std::string, std::string>>; /* name, text */

struct Result {
    ingot_status_t status;
    std::string files;
    std::string reason;
};

Result resolve_with(const ingot_allocator_t *allocator, const Texts &sources, const std::string &options,
                    const Texts &headers = {}, ingot_source_kind_t kind = INGOT_SOURCE_OPENCL_C)
{
    ingot_allocator_t table;
    EXPECT_EQ(INGOT_SUCCESS, alloc_init(&table, allocator));
    std::vector<ingot_source_view_t> source_views;
    std::vector<ingot_source_view_t> header_views;
    for (const auto &[name, text] : sources)
        source_views.push_back({kind, text.size(), text.c_str(), name.c_str()});
    for (const auto &[name, text] : headers)
        header_views.push_back({INGOT_SOURCE_HEADER, text.size(), text.c_str(), name.c_str()});
    include_closure closure;
    include_closure_init(&closure, &table);
    Result result = {};
    result.status = include_closure_resolve(&closure, source_views.data(), source_views.size(), header_views.data(),
                                            header_views.size(), options.c_str());
    if (result.status == INGOT_SUCCESS && closure.reason == nullptr)
        result.files.assign(reinterpret_cast<const char *>(closure.files.bytes), closure.files.size);
    if (closure.reason != nullptr)
        result.reason = closure.reason;
    include_closure_fini(&closure);
    return result;
}

std::string digest(const std::string &text)
{
    std::string bytes(DIGEST_SIZE, 0);
    digest_of(text.size(), text.data(), reinterpret_cast<uint8_t *>(bytes.data()));
    return bytes;
}

std::string read(const std::filesystem::path &path)
{
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

class IncludeClosure : public testing::Test
{
  protected:
    void SetUp() override
    {
        before_ = std::filesystem::current_path();
        std::filesystem::current_path(scratch_.path());
    }
    void TearDown() override { std::filesystem::current_path(before_); }
    void write(const std::string &path, const std::string &text)
    {
        if (path.find('/') != std::string::npos)
            std::filesystem::create_directories(std::filesystem::path(path).parent_path());
        std::ofstream(path, std::ios::binary) << text;
    }
    Result resolve(const std::string &source, const std::string &options = "", const Texts &headers = {},
                   ingot_source_kind_t kind = INGOT_SOURCE_OPENCL_C)
    {
        Result result = resolve_with(nullptr, {{"k.cl", source}}, options, headers, kind);
        EXPECT_EQ(INGOT_SUCCESS, result.status);
        return result;
    }
    /* That the source's files hold all of these contents, in this order, and that no reason was given. */
    void expect_reached(const Result &result, const std::vector<std::string> &contents)
    {
        EXPECT_EQ("", result.reason);
        EXPECT_EQ(contents, reached(result));
    }
    /* The contents written by this test, by their digests in the result. */
    std::vector<std::string> reached(const Result &result)
    {
        std::vector<std::string> contents;
        bytes_reader reader;
        bytes_reader_init(&reader, result.files.size(), reinterpret_cast<const uint8_t *>(result.files.data()));
        size_t size = 0;
        while (bytes_left(&reader) != 0) {
            const uint8_t *entry = bytes_get_framed(&reader, &size);
            if (entry == nullptr || size == DIGEST_SIZE)
                continue; /* the shape */
            const std::string found(reinterpret_cast<const char *>(entry), DIGEST_SIZE);
            contents.push_back("?");
            for (const auto &file : std::filesystem::recursive_directory_iterator(scratch_.path())) {
                const std::string text = file.is_regular_file() ? read(file.path()) : "";
                if (digest(text) == found)
                    contents.back() = text;
            }
        }
        EXPECT_FALSE(reader.failed);
        return contents;
    }
    ScratchDirectory scratch_;
    std::filesystem::path before_;
};

TEST_F(IncludeClosure, IsEmptyWithoutIncludes)
{
    EXPECT_EQ("", resolve("kernel void k() {} // #include \"x.h\"\n/* \n#include \"y.h\"\n*/").files);
}

TEST_F(IncludeClosure, FollowsQuotedIncludesBesideTheIncludingFileFirst)
{
    write("inc/a.h", "#include \"b.h\"\n");
    write("inc/b.h", "int in_inc;");
    write("b.h", "int in_cwd;");
    expect_reached(resolve("#include <a.h>", "-I inc"), {"#include \"b.h\"\n", "int in_inc;"});
}

TEST_F(IncludeClosure, TakesTheFirstDirectoryThatHasTheFile)
{
    write("one/other.h", "");
    write("two/x.h", "2");
    write("three/x.h", "3");
    const auto result = resolve("#include <x.h>", "-Ione -I two -I\"three\"");
    expect_reached(result, {"2"});
    EXPECT_NE(result.files, resolve("#include <x.h>", "-I three -I two").files);
}

TEST_F(IncludeClosure, ReadsEveryWayToWriteADirectory)
{
    write("with space/x.h", "spaced");
    for (const char *options : {"-I\"with space\"", "-I \"with space\"", "\"-Iwith space\"", "-I with\\ space",
                                "-Iwith\\ space", "-I 'with space'", "-DX -I   \"with space\" -cl-mad-enable"})
        expect_reached(resolve("#include \"x.h\"", options), {"spaced"});
}

TEST_F(IncludeClosure, HoldsAllCandidatesThatCompilersMayPrefer)
{
    /* PoCL takes the current directory first, Intel's compiler takes -I first for <x.h>. */
    write("x.h", "current");
    write("inc/x.h", "directory");
    const auto both = resolve("#include <x.h>", "-I inc");
    expect_reached(both, {"current", "directory"});
    write("x.h", "current changed");
    EXPECT_NE(both.files, resolve("#include <x.h>", "-I inc").files);
    write("x.h", "current");
    write("inc/x.h", "directory changed");
    EXPECT_NE(both.files, resolve("#include <x.h>", "-I inc").files);
}

TEST_F(IncludeClosure, PutsEmbeddedHeadersBesideFilesOfThatName)
{
    write("x.h", "file");
    expect_reached(resolve("#include \"x.h\"", "", {{"x.h", "embedded"}}), {"file"});
    std::filesystem::remove("x.h");
    expect_reached(resolve("#include \"x.h\"", "", {{"x.h", "embedded"}}), {});
    expect_reached(resolve("#include <./x.h>", "", {{"x.h", "embedded"}}), {});
    EXPECT_NE("", resolve("#include \"x.h\"", "", {{"y.h", "embedded"}}).reason);
}

TEST_F(IncludeClosure, FollowsWhatEmbeddedHeadersInclude)
{
    write("deep.h", "deep");
    expect_reached(resolve("#include \"s/a.h\"", "", {{"s/a.h", "#include \"b.h\""}, {"s/b.h", "#include <deep.h>"}}),
                   {"deep"});
    EXPECT_EQ(
        "the #include <no.h> in s/b.h line 2 was not found",
        resolve("#include \"s/a.h\"", "", {{"s/a.h", "#include \"b.h\""}, {"s/b.h", "\n#include <no.h>"}}).reason);
}

TEST_F(IncludeClosure, IgnoresAnEmbeddedHeaderThatNothingIncludes)
{
    EXPECT_EQ("", resolve("int x;", "", {{"unused.h", "#include \"nowhere.h\""}}).reason);
}

TEST_F(IncludeClosure, FollowsIncludesUnderFalseConditions)
{
    write("x.h", "x");
    expect_reached(resolve("#if 0\n#include \"x.h\"\n#endif"), {"x"});
}

TEST_F(IncludeClosure, NamesWhatWasNotFound)
{
    EXPECT_EQ("the #include \"no.h\" in k.cl line 3 was not found", resolve("\n\\\n#include \"no.h\"").reason);
    write("a.h", "#include <no.h>");
    EXPECT_EQ("the #include <no.h> in a.h line 1 was not found", resolve("#include \"a.h\"").reason);
}

TEST_F(IncludeClosure, RecordsAConditionalIncludeThatIsNowhere)
{
    const std::string source = "#ifdef METAL\n#include <metal_stdlib>\n#endif\n";
    const auto absent = resolve(source);
    EXPECT_EQ("", absent.reason);
    write("metal_stdlib", "now it is there");
    const auto present = resolve(source);
    EXPECT_EQ("", present.reason);
    EXPECT_NE(absent.files, present.files);
}

TEST_F(IncludeClosure, DoesNotTakeAnIncludeGuardForACondition)
{
    write("g.h", "// text\n#ifndef G_H\n#define G_H\n#include \"no.h\"\n#endif\n");
    EXPECT_EQ("the #include \"no.h\" in g.h line 4 was not found", resolve("#include \"g.h\"").reason);
}

TEST_F(IncludeClosure, SeesDirectivesThroughCommentsAndSplicesAndDigraphs)
{
    write("x.h", "x");
    for (const char *source :
         {"/* a */ # /* b */ include /* c\n */ \"x.h\"", "#inc\\\nlude \"x.h\"", "%:include \"x.h\"",
          "  #\tinclude<x.h>", "#include\"x.h\"// y", "#include \"x.\\\r\nh\"\r\n", "\xef\xbb\xbf#include \"x.h\"",
          "#import \"x.h\"", "char c = '\"'; char d = '\\''; // '\n#include \"x.h\"",
          "#define Q \"/*\"\n#include \"x.h\"\n// */", "#error don't\n#include <x.h>",
          "int i = 0; /\\\n* comment *\\\n/ \n#include \"x.h\""})
        expect_reached(resolve(source), {"x"});
}

TEST_F(IncludeClosure, RefusesWhatCompilersReadDifferently)
{
    write("x.h", "x");
    for (const char *source :
         {"?\?=include \"x.h\"", "// why?\?/\n#include \"x.h\"", "// one\r#include \"x.h\"",
          "// a \\ \n#include \"x.h\"", "int i; \\ \n#include \"x.h\"", "don't /* \n#include \"x.h\"\n */",
          "int i = 1'000;", "x = R\"(\n#include \"x.h\"\n)\";"}) {
        const auto result = resolve(source);
        EXPECT_NE(std::string::npos, result.reason.find("which compilers read differently")) << source;
    }
}

/* Hundreds of thousands of lines joined to one: who looked back over all of it at each joint would take minutes. */
TEST_F(IncludeClosure, ScansALongJoinedLineInOneGo)
{
    write("x.h", "x");
    std::string lines;
    for (int i = 0; i < 400000; ++i)
        lines += "a \\ \n";
    expect_reached(resolve("#define A " + lines + "\n#include \"x.h\""), {"x"});
    EXPECT_NE(std::string::npos, resolve("// " + lines).reason.find("blanks after a backslash"));
    EXPECT_NE(std::string::npos, resolve("//\\\n" + lines).reason.find("blanks after a backslash"));
    EXPECT_EQ("", resolve("//\n" + lines).reason);
}

TEST_F(IncludeClosure, ScansALongLineOfOpenQuotesInOneGo)
{
    write("x.h", "x");
    std::string quotes;
    for (int i = 0; i < 300000; ++i)
        quotes += "\\\"";
    expect_reached(resolve("#error " + quotes + "\n#include \"x.h\""), {"x"});
    expect_reached(resolve("#error '\"" + quotes + "'\"\n#include \"x.h\""), {"x"});
}

TEST_F(IncludeClosure, RefusesWhatIsNotFollowed)
{
    write("x.h", "x");
    for (const char *source : {"#include_next <x.h>", "#embed \"x.h\"", "#define H __has_include",
                               "#if __has_include_next(<x.h>)\n#endif", "asm(\".incbin \\\"x.h\\\"\");",
                               "__asm__(\".include \\\"x.h\\\"\");"})
        EXPECT_NE("", resolve(source).reason) << source;
    for (const char *options : {"-isystem inc", "-imacros x.h", "@file", "-Xclang -include", "-include-pch x"})
        EXPECT_NE("", resolve("int x;", options).reason) << options;
}

TEST_F(IncludeClosure, RefusesTimes)
{
    EXPECT_EQ("k.cl line 2 has __DATE__, which differs from build to build", resolve("\nchar *d = __DATE__;").reason);
    EXPECT_NE("", resolve("#define T __TI\\\nME__").reason);
    EXPECT_NE("", resolve("x = __TIMESTAMP__;").reason);
    EXPECT_NE("", resolve("int x;", "-DNOW=__TIME__").reason);
    EXPECT_NE("", resolve("int x;", "-D \"NOW(a)=a __DATE__\"").reason);
    EXPECT_EQ("", resolve("// __DATE__\n/* __TIME__ */ \"__TIMESTAMP__\" __DATE__X").reason);
    write("x.h", "__DATE__");
    EXPECT_EQ("x.h line 1 has __DATE__, which differs from build to build", resolve("#include \"x.h\"").reason);
}

TEST_F(IncludeClosure, TakesPathsInWhereATextAsksForItsName)
{
    write("one/x.h", "x");
    write("two/x.h", "x");
    EXPECT_EQ(resolve("#include <x.h>", "-I one").files, resolve("#include <x.h>", "-I two").files);
    EXPECT_NE(resolve("#include <x.h>\n__FILE__", "-I one").files, resolve("#include <x.h>\n__FILE__", "-I two").files);
    const auto named = resolve_with(nullptr, {{"a.cl", "__FILE__"}}, "");
    EXPECT_NE(named.files, resolve_with(nullptr, {{"b.cl", "__FILE__"}}, "").files);
}

TEST_F(IncludeClosure, TakesNamesInForAnAssertThatTheCompilerBrings)
{
    const auto with_name = [](const char *name, ingot_source_kind_t kind) {
        return resolve_with(nullptr, {{name, "assert(0);"}}, "", {}, kind).files;
    };
    EXPECT_NE(with_name("a.cu", INGOT_SOURCE_CUDA_CPP), with_name("b.cu", INGOT_SOURCE_CUDA_CPP));
    EXPECT_EQ(with_name("a.cl", INGOT_SOURCE_OPENCL_C), with_name("b.cl", INGOT_SOURCE_OPENCL_C));
}

TEST_F(IncludeClosure, FollowsHasInclude)
{
    const std::string source = "#if defined(__has_include) && __has_include(<x.h>)\n#endif";
    const auto absent = resolve(source);
    write("x.h", "x");
    const auto present = resolve(source);
    expect_reached(present, {"x"});
    EXPECT_EQ("", absent.reason);
    EXPECT_NE(absent.files, present.files);
}

TEST_F(IncludeClosure, FollowsTheIncludeOption)
{
    write("pre.h", "#define P");
    for (const char *options : {"-include pre.h", "-include=pre.h", "--pre-include=pre.h", "-include \"pre.h\""})
        expect_reached(resolve("int x;", options), {"#define P"});
    EXPECT_EQ("the -include \"no.h\" in the options was not found", resolve("int x;", "-include no.h").reason);
}

TEST_F(IncludeClosure, ScansEachFileOnceAroundCycles)
{
    write("a.h", "#include \"b.h\"\n");
    write("b.h", "#include \"a.h\"\n#include \"b.h\"\n");
    expect_reached(resolve("#include \"a.h\"\n#include \"a.h\""),
                   {"#include \"b.h\"\n", "#include \"a.h\"\n#include \"b.h\"\n"});
}

TEST_F(IncludeClosure, TellsGraphsOverEqualContentsApart)
{
    /* x and y mean different files of equal names; swapping the middle's content changes no set of contents. */
    const std::string source = "#include \"p/i.h\"\n#include \"q/i.h\"\n#include \"r/i.h\"\n";
    write("p/i.h", "A");
    write("q/i.h", "B");
    write("r/i.h", "A");
    const auto aba = resolve(source);
    write("r/i.h", "B");
    EXPECT_NE(aba.files, resolve(source).files);
}

TEST_F(IncludeClosure, BoundsTheNumberOfFiles)
{
    std::string all;
    for (int i = 0; i < 10001; ++i) {
        write("f" + std::to_string(i), "");
        all += "#include \"f" + std::to_string(i) + "\"\n";
    }
    EXPECT_EQ("more than 10000 files are included", resolve(all).reason);
}

TEST_F(IncludeClosure, RefusesWhatIsNoFile)
{
    write("inc/x", "");
    EXPECT_EQ("inc has content, which could not be read", resolve("#include \"inc\"").reason);
}

/* ---- computed includes ---- */

TEST_F(IncludeClosure, ExpandsMacros)
{
    write("inc/x.h", "x");
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"#include M2S(P/x.h)", "-D XM2S(x)=#x -D M2S(x)=XM2S(x) -D P=inc"},
        {"#include M2S( P/x.h )", "-D XM2S(x)=#x -D M2S(x)=XM2S(x) -DP=inc"},
        {"#include Q", "-DQ=<inc/x.h>"},
        {"#include Q", "-DQ='\"inc/x.h\"'"},
        {"#include Q", "-DQ=\"inc/x.h\""},
        {"#define S(d, f) <d/f.h>\n#include S(inc, x)", ""},
        {"#define C(a, b) a ## b\n#define T(x) U(x)\n#define U(x) #x\n#include T(C(in, c)/x.h)", ""},
        {"#define V(...) W(__VA_ARGS__)\n#define W(a, b) <a/b.h>\n#include V(inc, x)", ""},
        {"#define A B\n#define B A\n#define inc inc\n#define Z <inc/x.h>\n#include Z", ""},
        {"#include F()\n#define F() <inc/x.h>", ""},
        {"#define A(x) B x\n#define B(y) <y/x.h>\n#include A((inc))", ""},
    };
    for (const auto &[source, options] : cases)
        expect_reached(resolve(source, options), {"x"});
}

TEST_F(IncludeClosure, KeepsSpacesAsCompilersDo)
{
    const std::string options = "-D XM2S(x)=#x -D M2S(x)=XM2S(x) -D P=inc";
    write("inc/x.h", "joined");
    write("inc / x.h", "spaced");
    expect_reached(resolve("#include M2S(P/x.h)", options), {"joined"});
    expect_reached(resolve("#include M2S( P  /  x.h )", options), {"spaced"});
}

TEST_F(IncludeClosure, FollowsEveryDefinition)
{
    write("a.h", "a");
    write("b.h", "b");
    expect_reached(resolve("#ifdef X\n#define H \"a.h\"\n#else\n#define H \"b.h\"\n#endif\n#include H"), {"a", "b"});
    expect_reached(resolve("#define N(x) #x\n#define I(x) N(x)\n#undef a\n#include I(a.h)", "-Da=b"), {"b", "a"});
}

TEST_F(IncludeClosure, TakesDefinitionsFromTextsFoundLater)
{
    write("names.h", "#define FIRST \"first.h\"\n");
    write("first.h", "#define SECOND \"second.h\"\n");
    write("second.h", "second");
    expect_reached(resolve("#include \"names.h\"\n#include FIRST\n#include SECOND\n"),
                   {"#define FIRST \"first.h\"\n", "#define SECOND \"second.h\"\n", "second"});
}

TEST_F(IncludeClosure, RefusesWhatMacrosDoNotResolve)
{
    EXPECT_EQ("the #include NOWHERE in k.cl line 1 was not found", resolve("#include NOWHERE").reason);
    EXPECT_EQ("the #include __HEADER in k.cl line 1 cannot be computed: a compiler may define the macro __HEADER",
              resolve("#include __HEADER").reason);
    EXPECT_NE("", resolve("#define F(x) <x\n#include F(a").reason);
    EXPECT_NE("", resolve("#define S(x) #x\n#define T(x) S(x)\n#include T(/usr/linux/x.h)").reason);
    EXPECT_NE("", resolve("#define F(x...) <x>\n#include F(a.h)").reason);
}

TEST_F(IncludeClosure, EndsWithMacrosThatGrow)
{
    std::string source = "#define M0 a a\n";
    for (int i = 1; i < 40; ++i)
        source += "#define M" + std::to_string(i) + " M" + std::to_string(i - 1) + " M" + std::to_string(i - 1) + "\n";
    EXPECT_NE("", resolve(source + "#include M39\n").reason);
}

TEST_F(IncludeClosure, ReadsCudaLiterals)
{
    write("x.h", "x");
    const std::string source = "auto s = R\"q(\n#include \"no.h\" )\" )q\"; int n = 1'000'0; // '\n#include \"x.h\"\n";
    expect_reached(resolve(source, "", {}, INGOT_SOURCE_CUDA_CPP), {"x"});
    EXPECT_NE("", resolve(source, "-std=c++03", {}, INGOT_SOURCE_CUDA_CPP).reason);
}

TEST_F(IncludeClosure, PassesOverBinaries)
{
    EXPECT_EQ("", resolve("#include \"no.h\"", "", {}, INGOT_SOURCE_SPIRV).reason);
    EXPECT_EQ("", resolve("#include \"no.h\"", "", {}, INGOT_SOURCE_OWN_BINARY).reason);
}

TEST_F(IncludeClosure, FailsCleanlyAtEveryAllocation)
{
    write("inc/x.h", "#include \"y.h\"\n#define a \\\n b\n");
    write("inc/y.h", "y");
    for (const char *source : {"#include S(x.h)\n#define T(x) #x\n#define S(x) T(x)\n#include \"e.h\"",
                               "#include \"no.h\"", "#include __X"}) {
        for (size_t n = 0;; ++n) {
            ASSERT_LT(n, 1000u);
            FailingAllocator allocator(n);
            const Result result = resolve_with(allocator.table(), {{"", source}}, "-Iinc -DX=1", {{"e.h", "int e;"}});
            ASSERT_EQ(0u, allocator.live_count());
            if (result.status == INGOT_SUCCESS)
                break;
            ASSERT_EQ(INGOT_OUT_OF_MEMORY, result.status);
        }
    }
}

TEST_F(IncludeClosure, ResolvesAllOfHashcat)
{
    const std::string root = "/usr/share/hashcat/OpenCL";
    const std::string options =
        "-cl-std=CL1.2 -D KERNEL_STATIC -I " + root + " -D INCLUDE_PATH=" + root +
        " -D XM2S(x)=#x -D M2S(x)=XM2S(x) -D MAX_THREADS_PER_BLOCK=64 -D LOCAL_MEM_TYPE=1 -D VENDOR_ID=64 -w";
    size_t count = 0;
    for (const auto &file : std::filesystem::directory_iterator(root)) {
        const std::string text = read(file.path());
        const auto result = resolve_with(nullptr, {{file.path().filename(), text}}, options);
        ASSERT_EQ(INGOT_SUCCESS, result.status);
        EXPECT_EQ("", result.reason) << file.path();
        const bool includes = text.find("M2S(INCLUDE_PATH/inc_common.cl)") != std::string::npos;
        EXPECT_LE(includes ? 4 * 48u : 0u, result.files.size()) << file.path();
        ++count;
    }
    EXPECT_LT(1200u, count);
}

TEST(IncludeClosureConcerns, MissesNothingThatMatters)
{
    const auto concerns = [](const std::string &text) { return include_closure_concerns(text.size(), text.c_str()); };
    for (const char *text : {"#include", "%:include", "?\?=include", "__DATE__", "__TIME__", "__TIMESTAMP__",
                             "__FILE__", "__DA\\\nTE__", "__BASE_FILE__", "asm(\".incbin\");"})
        EXPECT_TRUE(concerns(text)) << text;
    EXPECT_FALSE(concerns("kernel void k(global int *p) { *p = 1; }"));
    EXPECT_FALSE(concerns(""));
}

TEST(IncludeClosureConcerns, SeesOptionsThatReadFilesOrDefineTimes)
{
    for (const char *options : {"-include x", "--pre-include=x", "@file", "-imacros x", "-DX=__TIME__", "-Xclang -x",
                                "\"-include\" x", "-\"include\" x", "-fmodules", "-\\include x"})
        EXPECT_TRUE(include_closure_options_concern(options)) << options;
    for (const char *options : {"", "-cl-mad-enable -DTILE=16", "-I/opt/include -cl-std=CL1.2 -w -g -Werror", "-"})
        EXPECT_FALSE(include_closure_options_concern(options)) << options;
}

} // namespace
