/* Tests which files the sources include: they are found by the compiler's rules and identified by content. An include
 * that cannot be replaced is left as a gap. */
#include "unit/core/hermetic_fixture.h"

#include "support/failing_allocator.h"

using namespace hermetic_fixture;

namespace
{

using Hermetic = HermeticTest;

TEST_F(Hermetic, IsEmptyWithoutIncludes)
{
    const std::string source = "kernel void k() {} // #include \"x.h\"\n/* \n#include \"y.h\"\n*/";
    const Result result = resolve(source);
    EXPECT_EQ("", result.digests);
    EXPECT_EQ(Strings{source}, result.texts);
}

TEST_F(Hermetic, FollowsQuotedIncludesBesideTheIncludingFileFirst)
{
    write("inc/a.h", "#include \"b.h\"\n");
    write("inc/b.h", "int in_inc;");
    write("b.h", "int in_cwd;");
    expect_reached(resolve("#include <a.h>", "-I inc"), {"#include \"b.h\"\n", "int in_inc;"});
}

TEST_F(Hermetic, TakesTheFirstDirectoryThatHasTheFile)
{
    write("one/other.h", "");
    write("two/x.h", "int two;");
    write("three/x.h", "int three;");
    const auto result = resolve("#include <x.h>", "-Ione -I two -Ithree");
    expect_reached(result, {"int two;"});
    EXPECT_NE(result.digests, resolve("#include <x.h>", "-I three -I two").digests);
}

TEST_F(Hermetic, ReadsDirectoriesAsTheCompilerDoes)
{
    write("with space/x.h", "spaced");
    for (const char *options : {"-I\"with space\"", "-I \"with space\"", "\"-Iwith space\"", "-I with\\ space",
                                "-Iwith\\ space", "-I 'with space'", "-DX -I   \"with space\" -cl-mad-enable"})
        expect_reached(resolve(nvrtc_rules(), "#include <x.h>", options), {"spaced"});
    for (const char *options : {"-I\"with space\"", "-I \"with space\""})
        expect_reached(resolve(intel_rules(), "#include <x.h>", options), {"spaced"});
    for (const char *options : {"-I\"with space\"", "-I with\\ space", "-I 'with space'"})
        expect_gap("the #include <x.h> in k.cl line 1 was not found", resolve(pocl_rules(), "#include <x.h>", options));
}

TEST_F(Hermetic, LooksInTheCurrentDirectoryWhenTheCompilerDoes)
{
    write("x.h", "current");
    write("inc/x.h", "directory");
    expect_reached(resolve(pocl_rules(), "#include <x.h>", "-I inc"), {"current"});
    expect_reached(resolve(intel_rules(), "#include <x.h>", "-I inc"), {"directory"});
    expect_reached(resolve(intel_rules(), "#include \"x.h\"", "-I inc"), {"current"});
    expect_gap("the #include <x.h> in k.cl line 1 may mean more than one text", resolve("#include <x.h>", "-I inc"));
    expect_reached(resolve("#include \"x.h\"", "-I inc"), {"current"});
    std::filesystem::remove("inc/x.h");
    expect_reached(resolve("#include <x.h>", "-I inc"), {"current"});
    expect_reached(resolve(intel_rules(), "#include <x.h>", "-I inc"), {"current"});
    expect_gap("the #include <x.h> in k.cl line 1 was not found", resolve(nvrtc_rules(), "#include <x.h>", "-I inc"));
}

/* Intel's compiler always searches ./include, after all other directories, even if -I names it first. */
TEST_F(Hermetic, LooksLastInADirectoryThatTheCompilerSearchesByItself)
{
    static const char *const late[] = {"include", nullptr};
    ingot_text_rules_t rules = intel_rules();
    rules.late_directories = late;
    write("include/x.h", "late");
    expect_reached(resolve(rules, "#include <x.h>", "-I include -I other"), {"late"});
    write("other/x.h", "other");
    expect_reached(resolve(rules, "#include <x.h>", "-I include -I other"), {"other"});
    expect_reached(resolve(intel_rules(), "#include <x.h>", "-I include -I other"), {"late"});
    expect_gap("the #include <x.h> in k.cl line 1 may mean more than one text",
               resolve("#include <x.h>", "-I include -I other"));
}

TEST_F(Hermetic, LooksBesideTheSourcesNameWhereTheCompilerDoes)
{
    write("x.h", "current");
    write("src/x.h", "beside");
    const auto named = [this](const ingot_text_rules_t &rules) {
        return resolve(Input{{{"src/k.cu", "#include \"x.h\""}}, "", {}, INGOT_SOURCE_CUDA_CPP, rules});
    };
    expect_reached(named(nvrtc_rules()), {"beside"});
    expect_reached(named(pocl_rules()), {"current"});
    EXPECT_EQ("the #include \"x.h\" in src/k.cu line 1 may mean more than one text", named(careful_rules()).gap);
}

TEST_F(Hermetic, LeavesAGapWhereAHeaderAndAFileHaveTheName)
{
    const Texts embedded = {{"x.h", "embedded"}};
    write("x.h", "file");
    expect_gap("the #include \"x.h\" in k.cl line 1 may mean more than one text",
               resolve("#include \"x.h\"", "", embedded));
    std::filesystem::remove("x.h");
    expect_reached(resolve("#include \"x.h\"", "", embedded), {}, embedded); /* the id has it as a header */
    expect_reached(resolve("#include <./x.h>", "", embedded), {}, embedded); /* the id has it as a header */
    expect_gap("the #include \"x.h\" in k.cl line 1 was not found",
               resolve("#include \"x.h\"", "", {{"y.h", "embedded"}}));
    expect_gap("the #include \"x.h\" in k.cl line 1 may mean more than one text",
               resolve("#include \"x.h\"", "", {{"x.h", "one"}, {"./x.h", "two"}}));
}

/* NVRTC prefers an embedded header to a file beside the including one, but only if the #include has exactly the
 * header's name. */
TEST_F(Hermetic, LeavesAGapWhereAHeaderMayBePreferredToAFileBeside)
{
    write("d/a.h", "#include \"b.h\"\n");
    write("d/b.h", "int file;\n");
    const std::string gap = "the #include \"b.h\" in d/a.h line 1 may mean more than one text";
    for (const ingot_text_rules_t &rules : {nvrtc_rules(), pocl_rules(), intel_rules(), careful_rules()}) {
        const auto with_header = [&](const char *name) {
            return resolve(rules, "#include <a.h>\n", "-Id", {{name, "int header;\n"}});
        };
        expect_gap(gap, with_header("b.h"));
        expect_gap(gap, with_header("d/b.h"));
        EXPECT_EQ("", with_header("q/b.h").gap);
    }
    std::filesystem::remove("d/b.h");
    for (const ingot_text_rules_t &rules : {nvrtc_rules(), pocl_rules(), intel_rules(), careful_rules()}) {
        EXPECT_EQ("", resolve(rules, "#include <a.h>\n", "-Id", {{"b.h", "int header;\n"}}).gap);
        expect_gap(gap, resolve(rules, "#include <a.h>\n", "-Id", {{"d/b.h", "int header;\n"}}));
    }
    EXPECT_NE("",
              resolve(nvrtc_rules(), "#include \"s/b.h\"\n", "", {{"s/b.h", "#include \"c.h\"\n"}, {"s/c.h", ""}}).gap);
    EXPECT_NE("", resolve(nvrtc_rules(), "#include <./b.h>\n", "", {{"b.h", ""}}).gap);
}

TEST_F(Hermetic, FollowsWhatEmbeddedHeadersInclude)
{
    const Texts headers = {{"s/a.h", "#include \"b.h\""}, {"s/b.h", "#include <deep.h>"}};
    write("deep.h", "deep");
    expect_reached(resolve("#include \"s/a.h\"", "", headers), {"deep"}, headers);
    expect_gap("the #include <no.h> in s/b.h line 2 was not found",
               resolve("#include \"s/a.h\"", "", {{"s/a.h", "#include \"b.h\""}, {"s/b.h", "\n#include <no.h>"}}));
}

TEST_F(Hermetic, IgnoresAnEmbeddedHeaderThatNothingIncludes)
{
    const Result result = resolve("int x;", "", {{"unused.h", "#include \"nowhere.h\" __DATE__"}});
    EXPECT_EQ("", result.reason);
    EXPECT_EQ("", result.gap);
}

TEST_F(Hermetic, DoesNotLookForHeadersOfCompilersAndSystems)
{
    write("opencl-c.h", "mine");
    expect_gap("the #include \"opencl-c.h\" in k.cl line 1 names a file that only the compiler can find",
               resolve("#include \"opencl-c.h\""));
    expect_gap("the #include <stdint.h> in k.cl line 1 was not found", resolve("#include <stdint.h>"));
}

TEST_F(Hermetic, FollowsIncludesUnderFalseConditions)
{
    write("x.h", "x");
    expect_reached(resolve("#if 0\n#include \"x.h\"\n#endif"), {"x"});
}

TEST_F(Hermetic, NamesTheFirstGap)
{
    expect_gap("the #include \"no.h\" in k.cl line 3 was not found", resolve("\n\\\n#include \"no.h\""));
    write("a.h", "#include <no.h>");
    expect_gap("the #include <no.h> in ./a.h line 1 was not found", resolve("#include \"a.h\"\n#include <n.h>"));
    write("g.h", "// text\n#ifndef G_H\n#define G_H\n#include \"no.h\"\n#endif\n");
    expect_gap("the #include \"no.h\" in ./g.h line 4 was not found", resolve("#include \"g.h\""));
}

TEST_F(Hermetic, TellsAGapFromAFileThatIsThereNow)
{
    const std::string source = "#ifdef METAL\n#include <metal_stdlib>\n#endif\n";
    const auto absent = resolve(source);
    expect_gap("the #include <metal_stdlib> in k.cl line 2 was not found", absent);
    write("metal_stdlib", "now it is there");
    const auto present = resolve(source);
    expect_reached(present, {"now it is there"});
    EXPECT_NE(absent.digests, present.digests);
}

TEST_F(Hermetic, SeesDirectivesThroughCommentsAndSplicesAndDigraphs)
{
    write("x.h", "int x;");
    for (const char *source :
         {"/* a */ # /* b */ include /* c\n */ \"x.h\"", "#inc\\\nlude \"x.h\"", "%:include \"x.h\"",
          "  #\tinclude<x.h>", "#include\"x.h\"// y", "#include \"x.\\\r\nh\"\r\n", "\xef\xbb\xbf#include \"x.h\"",
          "char c = '\"'; char d = '\\''; // '\n#include \"x.h\"", "#define Q \"/*\"\n#include \"x.h\"\n// */",
          "#error don't\n#include <x.h>", "int i = 0; /\\\n* comment *\\\n/ \n#include \"x.h\""})
        expect_reached(resolve(source), {"int x;"});
}

TEST_F(Hermetic, RefusesWhatCompilersReadDifferently)
{
    write("x.h", "x");
    for (const char *source :
         {"?\?=include \"x.h\"", "// why?\?/\n#include \"x.h\"", "// one\r#include \"x.h\"",
          "// a \\ \n#include \"x.h\"", "int i; \\ \n#include \"x.h\"", "don't /* \n#include \"x.h\"\n */",
          "int i = 1'000;", "x = R\"(\n#include \"x.h\"\n)\";"}) {
        const auto result = resolve(source);
        EXPECT_TRUE(has(result.reason, "which compilers read differently")) << source;
        EXPECT_EQ("", result.digests);
    }
}

/* Joins hundreds of thousands of lines. Looking back over the whole line at each join would take minutes. */
TEST_F(Hermetic, ScansALongJoinedLineInOneGo)
{
    write("x.h", "x");
    std::string lines;
    for (int i = 0; i < 400000; ++i)
        lines += "a \\ \n";
    expect_reached(resolve("#define A " + lines + "\n#include \"x.h\""), {"x"});
    EXPECT_TRUE(has(resolve("// " + lines + "a\n").reason, "blanks after a backslash"));
    EXPECT_TRUE(has(resolve("//\\\n" + lines + "a\n").reason, "blanks after a backslash"));
    EXPECT_EQ("k.cl line 400001 has a backslash at its end, which compilers read differently",
              resolve("//\n" + lines).reason);
}

TEST_F(Hermetic, ScansALongLineOfOpenQuotesInOneGo)
{
    write("x.h", "x");
    std::string quotes;
    for (int i = 0; i < 300000; ++i)
        quotes += "\\\"";
    expect_reached(resolve("#error " + quotes + "\n#include \"x.h\""), {"x"});
    expect_reached(resolve("#error '\"" + quotes + "'\"\n#include \"x.h\""), {"x"});
}

TEST_F(Hermetic, LeavesAGapForDirectivesThatAreNotFollowed)
{
    write("x.h", "x");
    for (const char *source : {"#include_next <x.h>", "#import \"x.h\"", "#embed \"x.h\"", "#include_anything x",
                               "#include \"x.h\" y", "#line 7\n#include \"x.h\"", "# 7 \"y\"\n#include \"x.h\""}) {
        const Result result = resolve(source);
        EXPECT_EQ("", result.reason) << source;
        EXPECT_NE("", result.gap) << source;
        EXPECT_TRUE(has(result.texts[0], "#error Ingot could not")) << source;
    }
    expect_gap("the #import in k.cl line 1 is not followed", resolve("#import \"x.h\""));
}

/* Some compilers take these for directives, because they allow a comment before one, or non-ASCII blanks. */
TEST_F(Hermetic, RefusesWhatMayBeADirective)
{
    write("x.h", "x");
    for (const char *source :
         {"int t[] = { /* a\n b */ #include \"x.h\"\n", "int a; /**/ #include \"x.h\"\n", "\xc2\xa0#include \"x.h\"\n",
          "#\xc2\xa0include \"x.h\"\n", "\xe3\x80\x80#include \"x.h\"\n", "#\xe3\x80\x80include \"x.h\"\n",
          "int a; #include \"x.h\"\n", "int a; #/*b*/include \"x.h\"\n", "\xc2\xa0%:import \"x.h\"\n",
          "#\xc2\xa0"
          "embed \"x.h\"\n"})
        EXPECT_TRUE(has(resolve(source).reason, "what may be an include directive, which was not replaced") ||
                    has(resolve(source).reason, "a name with characters other than ASCII"))
            << source;
    EXPECT_NE("", resolve("import <x.h>;\n", "", {}, INGOT_SOURCE_CUDA_CPP).reason);
    /* what the search for directives learned about raw strings does not hold for the search for imports */
    EXPECT_NE("", resolve("const char *s = R\"(/*)\";\nimport <x.h>;\n/* # include */\n#define NOTR\n"
                          "const char *u = NOTR\"(z\";\n",
                          "", {}, INGOT_SOURCE_CUDA_CPP)
                      .reason);
    EXPECT_EQ("", resolve("char *s = \"\xc2\xa0#include x\"; // \xc2\xa0#include\n").reason);
}

/* clang treats some non-ASCII characters as white space, so it would read a different name or directive than Ingot
 * does. */
TEST_F(Hermetic, RefusesNamesOfOtherCharactersThanAscii)
{
    const std::string blank = "\xc2\xa0";
    write("x.h", "x");
    for (const std::string &source :
         {"int t = __TIME__" + blank + ";", "#define H" + blank + "\"x.h\"\n", "#undef H" + blank + "\n",
          "#undef" + blank + "H\n", "#" + blank + "define H \"x.h\"\n", blank + "#define H \"x.h\"\n",
          "#define F(a" + blank + ") a\n", "#pragma " + blank + "once\n", "#pragma" + blank + "once\n",
          "#ifndef G" + blank + "\n#endif\n", "#include " + blank + "\"x.h\"\n", blank + "#line 3\n",
          "#if 1\n#endif" + blank + "\n"})
        EXPECT_TRUE(has(resolve(source).reason, "a name with characters other than ASCII")) << source;
    EXPECT_NE("", resolve("int x;", "-DNOW=__TIME__" + blank).reason);
    EXPECT_EQ("", resolve("// gr\xc3\xbc\xc3\x9f\n#define S \"gr\xc3\xbc\xc3\x9f\" /* \xe3\x80\x80 */\n").reason);
}

TEST_F(Hermetic, RefusesWhatAnIdCannotStandFor)
{
    for (const char *source :
         {"#define H __has_include", "#if __has_include_next(<x.h>)\n#endif", "asm(\".incbin \\\"x.h\\\"\");",
          "__asm__(\".include \\\"x.h\\\"\");", "int i = __INCLUDE_LEVEL__;", "#if __has_embed(\"x\")\n#endif",
          "#pragma GCC dependency \"x.h\"", "#pragma include_alias(\"a\", \"b\")", "_Pragma(\"once\")", "#endif",
          "#if 1\n", "#else\n", "/* open", "int x; \\\n"})
        EXPECT_NE("", resolve(source).reason) << source;
}

/* In an included file, constructs like those of the previous test only leave a gap, which does not matter if the
 * compiler does not reach the include. */
TEST_F(Hermetic, LeavesAGapForAFileThatAnIdCannotStandFor)
{
    write("x.h", "int t = __DATE__;\n");
    expect_gap("./x.h line 1 has __DATE__, which differs from build to build", resolve("#include \"x.h\""));
    write("y.h", "#if 1\n");
    expect_gap("./y.h has an #if, without its #endif", resolve("#include \"y.h\""));
    write("z.h", "/* open");
    expect_gap("./z.h has a comment, that is not closed", resolve("#include \"z.h\""));
    std::filesystem::create_directory("folder");
    expect_gap("./folder has content, which could not be read", resolve("#include \"folder\""));
}

/* NVRTC does not accept a byte order mark, so it does not build a program that has one. */
TEST_F(Hermetic, LeavesAGapForAMarkThatTheCompilerMayNotTake)
{
    write("bom.h", "\xef\xbb\xbfint x;\n");
    expect_gap("./bom.h has a byte order mark, which the compiler may not accept",
               resolve(nvrtc_rules(), "#include <bom.h>\n", "-I."));
    EXPECT_EQ("", resolve(pocl_rules(), "#include <bom.h>\n").gap);
}

TEST_F(Hermetic, RefusesTimes)
{
    EXPECT_EQ("k.cl line 2 has __DATE__, which differs from build to build", resolve("\nchar *d = __DATE__;").reason);
    EXPECT_NE("", resolve("#define T __TI\\\nME__").reason);
    EXPECT_NE("", resolve("x = __TIMESTAMP__;").reason);
    EXPECT_EQ("the options have __TIME__, which no id can cover", resolve("int x;", "-DNOW=__TIME__").reason);
    for (const char *options :
         {"-D \"NOW(a)=a __DATE__\"", "-DNOW=\"__DATE__\"", "-DNOW=__DA\"\"TE__", "-D\"NOW\"=_\"_DATE__\""})
        EXPECT_EQ("the options have __DATE__, which no id can cover", resolve(intel_rules(), "int x;", options).reason)
            << options;
    EXPECT_EQ("", resolve(nvrtc_rules(), "int x;", "-DNOW='\"__DATE__\"'").reason);
    EXPECT_EQ("", resolve("// __DATE__\n/* __TIME__ */ \"__TIMESTAMP__\" __DATE__X").reason);
}

TEST_F(Hermetic, RefusesAWarningOnTwoLines)
{
    EXPECT_EQ("", resolve("# warning x\n").reason);
    for (const char *text : {"#warn\\\ning x\n", "#/*\n*/warning x\n", "# \\\nwarning x\n", "#warning/*\n*/x\n"})
        EXPECT_NE("", resolve(text).reason) << text;
}

TEST_F(Hermetic, TakesPathsInWhereATextAsksForItsName)
{
    write("one/x.h", "x");
    write("two/x.h", "x");
    EXPECT_EQ(resolve("#include <x.h>", "-I one").digests, resolve("#include <x.h>", "-I two").digests);
    EXPECT_NE(resolve("#include <x.h>\n__FILE__", "-I one").digests,
              resolve("#include <x.h>\n__FILE__", "-I two").digests);
    EXPECT_NE(resolve("#include <x.h>", "-g -I one").digests, resolve("#include <x.h>", "-g -I two").digests);
    write("elsewhere/x.h", "x");
    const std::filesystem::path here = std::filesystem::current_path();
    const std::string before = resolve("int x;", "-g").digests;
    const std::string plain = resolve("int x;").digests;
    std::filesystem::current_path("elsewhere");
    EXPECT_NE(before, resolve("int x;", "-g").digests) << "debug information names the current directory";
    EXPECT_EQ(plain, resolve("int x;").digests);
    std::filesystem::current_path(here);
    const auto named = [this](const char *name) { return resolve(Input{{{name, "__FILE__"}}}).digests; };
    EXPECT_NE(named("a.cl"), named("b.cl"));
}

/* With -I one, clang calls x.h "one/x.h"; without it, "./one/x.h". The current directory may have two names, too. */
TEST_F(Hermetic, RefusesADirectoryWithTwoNamesWhereATextAsksForItsName)
{
    write("one/a.h", "#include \"x.h\"\n");
    write("one/x.h", "__FILE__\n");
    write("one/y.h", "int y;\n");
    const std::string source = "#include \"one/a.h\"\n";
    EXPECT_EQ("", resolve(source).reason);
    const std::string current = "-I " + std::filesystem::current_path().string() + "/.";
    EXPECT_EQ("", resolve(source, "-I .").reason);
    for (const std::string &options : {std::string("-I one"), current})
        EXPECT_TRUE(has(resolve(source, options).reason, "a directory is found by two names")) << options;
    write("one/x.h", "int x;\n");
    for (const std::string &options : {std::string("-I one"), current})
        EXPECT_EQ("", resolve(source, options).reason) << "no text asks";
}

TEST_F(Hermetic, TakesNamesInForAnAssertThatTheCompilerBrings)
{
    const auto with_name = [this](const char *name, ingot_source_kind_t kind) {
        return resolve(Input{{{name, "assert(0);"}}, "", {}, kind}).digests;
    };
    EXPECT_NE(with_name("a.cu", INGOT_SOURCE_CUDA_CPP), with_name("b.cu", INGOT_SOURCE_CUDA_CPP));
    EXPECT_EQ(with_name("a.cl", INGOT_SOURCE_OPENCL_C), with_name("b.cl", INGOT_SOURCE_OPENCL_C));
    const auto by_option = [this](const char *name, ingot_source_kind_t kind) {
        return resolve(Input{{{name, "CHECK(0);"}}, "-DCHECK=assert", {}, kind}).digests;
    };
    EXPECT_NE(by_option("a.cu", INGOT_SOURCE_CUDA_CPP), by_option("b.cu", INGOT_SOURCE_CUDA_CPP));
    EXPECT_EQ(by_option("a.cl", INGOT_SOURCE_OPENCL_C), by_option("b.cl", INGOT_SOURCE_OPENCL_C));
}

TEST_F(Hermetic, AnswersHasInclude)
{
    const std::string source = "#if defined(__has_include) && __has_include(<x.h>)\n#endif";
    EXPECT_EQ("k.cl line 1 has __has_include, whose answer only the compiler knows", resolve(source).reason);
    const auto absent = resolve(nvrtc_rules(), source);
    EXPECT_EQ(Strings{"#if defined(__has_include) &&  0 \n#endif"}, absent.texts);
    std::filesystem::create_directory("inc");
    write("inc/x.h", "x");
    const auto present = resolve(nvrtc_rules(), source, "-I inc");
    EXPECT_EQ(Strings{"#if defined(__has_include) &&  1 \n#endif"}, present.texts);
    EXPECT_EQ("", present.reason);
    EXPECT_NE(absent.digests, present.digests);
    EXPECT_EQ(present.texts, resolve(source, "-I inc").texts);
}

TEST_F(Hermetic, TellsGraphsOverEqualContentsApart)
{
    const std::string source = "#include \"p/i.h\"\n#include \"q/i.h\"\n#include \"r/i.h\"\n";
    write("p/i.h", "A");
    write("q/i.h", "B");
    write("r/i.h", "A");
    const auto aba = resolve(source);
    write("r/i.h", "B");
    EXPECT_NE(aba.digests, resolve(source).digests);
}

TEST_F(Hermetic, TellsAFileReadTwiceFromTwoEqualFiles)
{
    write("a/x.h", "#pragma once\nint x;\n");
    write("b/x.h", "#pragma once\nint x;\n");
    const std::string source = "#include \"a/x.h\"\n#include \"b/x.h\"\n";
    const auto copies = resolve(source);
    std::filesystem::remove("b/x.h");
    std::filesystem::create_hard_link("a/x.h", "b/x.h");
    const auto linked = resolve(source);
    EXPECT_NE(copies.digests, linked.digests);
    EXPECT_NE(copies.texts, linked.texts);
    std::filesystem::remove("b/x.h");
    std::filesystem::create_symlink("../a/x.h", "b/x.h");
    EXPECT_EQ(linked.digests, resolve(source).digests);
}

TEST_F(Hermetic, BoundsWhatIsIncluded)
{
    std::string all;
    for (int i = 0; i < 10001; ++i) {
        write("f" + std::to_string(i), "");
        all += "#include \"f" + std::to_string(i) + "\"\n";
    }
    EXPECT_EQ("more than 10000 files are included", resolve(all).reason);
    write("a.h", "#include \"b.h\"\n");
    write("b.h", "#include \"a.h\"\n#include \"b.h\"\n");
    EXPECT_EQ("more than 200000 directives are replaced", resolve("#include \"a.h\"\n").reason);
    write("large.h", std::string(1 << 20, ' '));
    std::string many;
    for (int i = 0; i < 257; ++i)
        many += "#include \"large.h\"\n";
    EXPECT_EQ("with all that they include, the sources have more than 256 MiB", resolve(many).reason);
}

/* Ingot reads nothing of a file that is too large. */
TEST_F(Hermetic, LooksAtTheSizeOfAFileFirst)
{
    write("huge.h", "");
    std::filesystem::resize_file("huge.h", uintmax_t{60} << 30);
    EXPECT_EQ("more than 256 MiB are included", resolve("#include \"huge.h\"\n").reason);
}

TEST_F(Hermetic, ReadsCudaLiterals)
{
    write("x.h", "x");
    const std::string source = "auto s = R\"q(\n#include \"no.h\" )\" )q\"; int n = 1'000'0; // '\n#include \"x.h\"\n";
    expect_reached(resolve(source, "", {}, INGOT_SOURCE_CUDA_CPP), {"x"});
    EXPECT_NE("", resolve(source, "-std=c++03", {}, INGOT_SOURCE_CUDA_CPP).reason);
}

TEST_F(Hermetic, PassesOverBinaries)
{
    for (const ingot_source_kind_t kind : {INGOT_SOURCE_SPIRV, INGOT_SOURCE_OWN_BINARY}) {
        const Result result = resolve("#include \"no.h\"", "", {}, kind);
        EXPECT_EQ("", result.reason);
        EXPECT_EQ("", result.gap);
        EXPECT_EQ(Strings{""}, result.texts);
    }
}

TEST_F(Hermetic, FailsCleanlyAtEveryAllocation)
{
    write("inc/x.h", "#pragma once\n#include \"y.h\"\n#define a \\\n b\n");
    write("inc/y.h", "y");
    for (const char *source : {"#include S(x.h)\n#define T(x) #x\n#define S(x) T(x)\n#include \"e.h\"",
                               "#include \"no.h\"", "#include __X", "__DATE__"}) {
        for (size_t n = 0;; ++n) {
            ASSERT_LT(n, 2000u);
            FailingAllocator allocator(n);
            const Input input{{{"", source}}, "-Iinc -DX=1", {{"e.h", "int e;"}}};
            const Result result = resolve_with(allocator.table(), input);
            ASSERT_EQ(0u, allocator.live_count());
            if (result.status == INGOT_SUCCESS)
                break;
            ASSERT_EQ(INGOT_OUT_OF_MEMORY, result.status);
        }
    }
}

TEST(HermeticConcerns, MissesNothingThatMatters)
{
    const auto concerns = [](const std::string &text) { return hermetic_concerns(text.size(), text.c_str()); };
    for (const char *text :
         {"#include", "%:include", "?\?=include", "__DATE__", "__TIME__", "__TIMESTAMP__", "__FILE__", "__DA\\\nTE__",
          "__BASE_FILE__", "asm(\".incbin\");", "__INCLUDE_LEVEL__", "__builtin_FILE()", "__builtin_source_location()",
          "import <x>;", "assert(1)", "_Pragma(\"once\")"})
        EXPECT_TRUE(concerns(text)) << text;
    EXPECT_FALSE(concerns("kernel void k(global int *p) { *p = 1; }"));
    EXPECT_FALSE(concerns(""));
}

} // namespace
