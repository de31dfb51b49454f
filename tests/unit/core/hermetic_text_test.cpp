/* Tests the text that the compiler gets: its exact bytes, and that clang makes the same tokens from it as from the
 * original. */
#include "unit/core/hermetic_fixture.h"

#include "support/preprocess.h"

using namespace hermetic_fixture;

namespace
{

class HermeticText : public HermeticTest
{
protected:
    std::string text_of(const std::string &source, const ingot_text_rules_t &rules = pocl_rules())
    {
        const Result result = resolve(rules, source);
        EXPECT_EQ("", result.reason);
        return result.texts.empty() ? "" : result.texts[0];
    }

    /* Expects that clang sees the same tokens in the source and in Ingot's text, and reports no errors. */
    void expect_same_tokens(const std::string &source)
    {
        write("native.cl", source); /* written first, because it may include itself */
        const Result result = resolve(pocl_rules(), source);
        ASSERT_EQ("", result.reason) << source;
        write("hermetic.cl", result.texts[0]);
        const Preprocessed native = preprocess("native.cl", {"-I."});
        const Preprocessed hermetic = preprocess("hermetic.cl", {});
        EXPECT_EQ(0, native.exit_status) << native.text;
        EXPECT_EQ(0, hermetic.exit_status) << hermetic.text << result.texts[0];
        EXPECT_EQ(native.text, hermetic.text) << result.texts[0];
    }

    /* Expects that Ingot's text does not compile, so that Ingot passes the source to the compiler unchanged. */
    void expect_refused(const std::string &source)
    {
        write("hermetic.cl", text_of(source));
        const Preprocessed hermetic = preprocess("hermetic.cl", {});
        EXPECT_NE(0, hermetic.exit_status) << hermetic.text;
        EXPECT_TRUE(has(hermetic.text, "error: Ingot ")) << hermetic.text;
    }
};

TEST_F(HermeticText, HasIncludesBetweenLineMarkers)
{
    write("x.h", "int x;\n");
    EXPECT_EQ("int a;\n\n#line 2\n# 1 \"x.h\" 1\nint x;\n\n# 3 \"\" 2\n#line 3\nint b;\n",
              text_of("int a;\n#include \"x.h\"\nint b;\n"));
}

TEST_F(HermeticText, NamesASourceWhereTheCompilerTakesNames)
{
    write("x.h", "int x;\n");
    const Result unnamed =
        resolve(Input{{{"", "#include \"x.h\"\n"}}, "-I.", {}, INGOT_SOURCE_CUDA_CPP, nvrtc_rules()});
    ASSERT_EQ(1u, unnamed.texts.size());
    EXPECT_TRUE(has(unnamed.texts[0], "\n# 2 \"default_program\" 2\n")) << unnamed.texts[0];
    const Result named =
        resolve(Input{{{"k.cu", "#include \"x.h\"\n"}}, "-I.", {}, INGOT_SOURCE_CUDA_CPP, nvrtc_rules()});
    ASSERT_EQ(1u, named.texts.size());
    EXPECT_TRUE(has(named.texts[0], "\n# 2 \"default_program\" 2\n")) << "the name does not matter";
    const Result asking =
        resolve(Input{{{"k.cu", "#include \"x.h\"\n__FILE__\n"}}, "-I.", {}, INGOT_SOURCE_CUDA_CPP, nvrtc_rules()});
    ASSERT_EQ(1u, asking.texts.size());
    EXPECT_TRUE(has(asking.texts[0], "\n# 2 \"k.cu\" 2\n")) << asking.texts[0];
}

TEST_F(HermeticText, QuotesNamesOfFiles)
{
    write("a dir/x.h", "int x;\n");
    const std::string path = "a dir/x.h";
    EXPECT_TRUE(has(text_of("#include \"" + path + "\"\n"), "# 1 \"a dir/x.h\" 1\n"));
    expect_same_tokens("#include \"" + path + "\"\nint y;\n");
}

TEST_F(HermeticText, ChecksWhatItAssumesOfAGuard)
{
    write("g.h", "#ifndef G\n#define G\nint g;\n#endif\n");
    const std::string text = text_of("#include \"g.h\"\n#include \"g.h\"\n");
    EXPECT_EQ(text.find("int g;"), text.rfind("int g;"));
    EXPECT_TRUE(has(text, "\n#ifndef G\n#error Ingot took this file for already included\n#endif\n")) << text;
}

TEST_F(HermeticText, WritesAGuardedFileAgainBehindABranch)
{
    write("g.h", "#ifndef G\n#define G\nint g;\n#endif\n");
    const std::string source = "#ifdef A\n#include \"g.h\"\n#endif\n#include \"g.h\"\n";
    const std::string text = text_of(source);
    EXPECT_NE(text.find("int g;"), text.rfind("int g;"));
    expect_same_tokens(source);
    expect_same_tokens("#define A\n" + source);
}

TEST_F(HermeticText, IsTheSameForGuardsOfEveryForm)
{
    write("a.h", "// text\n#ifndef A_H\n#define A_H\nint a;\n#endif // A_H\n");
    write("b.h", "#if !defined(B_H)\n#define B_H 1\nint b;\n#include \"a.h\"\n#endif\n");
    write("c.h", "#if !defined C_H\n#define C_H\n#if 1\nint c;\n#endif\n#include \"b.h\"\n#endif\n\n/* end */\n");
    expect_same_tokens("#include \"c.h\"\n#include \"b.h\"\n#include \"a.h\"\n#include \"c.h\"\nint last;\n");
    expect_same_tokens("#include \"a.h\"\n#include \"b.h\"\n#include \"c.h\"\n");
}

TEST_F(HermeticText, IsTheSameForWhatOnlyLooksLikeAGuard)
{
    write("else.h", "#ifndef E\n#define E\nint first;\n#else\nint again;\n#endif\n");
    write("behind.h", "#ifndef B\n#define B\nint once;\n#endif\nint behind;\n");
    write("before.h", "int before;\n#ifndef B2\n#define B2\nint once2;\n#endif\n");
    write("late.h", "#ifndef L\nint late;\n#define L\n#endif\n");
    write("other.h", "#ifndef O\n#define P\nint other;\n#endif\n");
    write("two.h", "#ifndef T\n#define T\nint two;\n#endif\n#ifndef T\nint three;\n#endif\n");
    for (const char *name : {"else.h", "behind.h", "before.h", "late.h", "other.h", "two.h"}) {
        const std::string line = "#include \"" + std::string(name) + "\"\n";
        expect_same_tokens(line + line + "int last;\n");
    }
}

TEST_F(HermeticText, IsTheSameForAGuardThatIsUndefinedAgain)
{
    write("g.h", "#ifndef G\n#define G\nint g;\n#endif\n");
    expect_same_tokens("#include \"g.h\"\n#undef G\n#include \"g.h\"\nint last;\n");
    write("u.h", "#ifndef U\n#define U\nint u;\n#undef U\n#endif\n");
    expect_same_tokens("#include \"u.h\"\n#include \"u.h\"\nint last;\n");
    write("undef.h", "#undef G\n");
    expect_same_tokens("#include \"g.h\"\n#include \"undef.h\"\n#include \"g.h\"\nint last;\n");
}

TEST_F(HermeticText, IsTheSameForPragmaOnce)
{
    write("d/x.h", "#pragma once\nint x;\n");
    write("e/y.h", "#include \"../d/x.h\"\nint y;\n");
    expect_same_tokens("#include \"d/x.h\"\n#include \"d/x.h\"\n#include \"./d/../d/x.h\"\n#include \"e/y.h\"\n");
    expect_same_tokens("#ifdef A\n#include \"d/x.h\"\n#endif\n#include \"e/y.h\"\n#include \"d/x.h\"\n");
    write("late.h", "int late;\n#ifdef STOP\n#pragma once\n#endif\n#define STOP\n");
    expect_refused("#include \"late.h\"\n#include \"late.h\"\n#include \"late.h\"\nint last;\n");
    write("both.h", "#pragma once\n#ifndef B\n#define B\nint b;\n#endif\n");
    expect_same_tokens("#include \"both.h\"\n#undef B\n#include \"both.h\"\nint last;\n");
}

TEST_F(HermeticText, IsTheSameForLinksAndCopiesOfPragmaOnce)
{
    write("x.h", "#pragma once\nint x;\n");
    std::filesystem::create_hard_link("x.h", "hard.h");
    std::filesystem::create_symlink("x.h", "soft.h");
    write("copy.h", "#pragma once\nint x;\n");
    for (const char *name : {"x.h", "hard.h", "soft.h", "copy.h"}) {
        const std::string other = "#include \"" + std::string(name) + "\"\n";
        expect_same_tokens("#include \"x.h\"\n" + other + "int last;\n");
        expect_same_tokens(other + "#include \"x.h\"\n" + other + "int last;\n");
    }
}

TEST_F(HermeticText, IsTheSameForSelfInclusion)
{
    write("count.h", "#if N < 3\n#if N == 0\n#undef N\n#define N 1\n#elif N == 1\n#undef N\n#define N 2\n#else\n"
                     "#undef N\n#define N 3\n#endif\nint again;\n#include \"count.h\"\n#endif\n");
    const Result result = resolve(pocl_rules(), "#define N 0\n#include \"count.h\"\nint last;\n");
    EXPECT_EQ("", result.reason);
    EXPECT_EQ("the #include \"count.h\" in ./count.h line 13 is nested too deeply", result.gap);
    expect_same_tokens("#define N 0\n#include \"count.h\"\nint last;\n");
    expect_same_tokens("#ifndef SELF\n#define SELF\n#include \"native.cl\"\n#else\nint inner;\n#endif\nint last;\n");
}

TEST_F(HermeticText, IsTheSameForIncludesInTheMiddleOfThings)
{
    write("list.h", "1, 2,\n3\n");
    write("deep/a.h", "#include \"b.h\"\nint a;\n");
    write("deep/b.h", "#include \"../top.h\"\nint b;\n");
    write("top.h", "int top;\n");
    expect_same_tokens("int t[] = {\n#include \"list.h\"\n, 4 };\n#include <deep/a.h>\n#include \"deep/b.h\"\n");
    expect_same_tokens("#if 0\n#include \"list.h\"\n#include <nowhere.h>\n#else\nint e;\n#endif\n");
    expect_same_tokens("#ifndef __OPENCL_C_VERSION__\n#include <stdint.h>\n#endif\nint e;\n");
}

TEST_F(HermeticText, IsTheSameForLinesAndNames)
{
    write("x.h",
          "int a = __LINE__; char f[] = __FILE__;\n\n\\\nint b = __LINE__;\n#line 70 \"named\"\nint c = __LINE__;\n");
    write("dir/y.h", "char y[] = __FILE__;\nint d = __LINE__;");
    expect_same_tokens("int a = __LINE__;\n#include \"x.h\"\nint b = __LINE__;\n#include \"dir/y.h\" /* comment\n */\n"
                       "int c = __LINE__;\n#if 1\n\n#include <dir/y.h>\n#else\n#endif\nint d = __LINE__;\n");
    expect_same_tokens("int a;\\\n\n#include \\\n \"x.h\"\nint b = __LINE__;\n/* 1\n2 */ #include \"x.h\"\n"
                       "int b = __LINE__;\n#pragma once\nint c = __LINE__;\n");
}

TEST_F(HermeticText, FailsWhereAGapIsReached)
{
    write("x.h", "int x;\n");
    for (const char *source : {"#include <nowhere.h>\n", "#import \"x.h\"\n", "#include_next <x.h>\n",
                               "#embed \"x.h\"\n", "#include \"x.h\" more\n"}) {
        expect_refused(source);
        expect_same_tokens("#if 0\n" + std::string(source) + "#endif\nint e;\n");
    }
    expect_refused("#line 3\n#include \"x.h\"\n");
    /* Ingot does not know which lines this #line renumbers. */
    expect_refused("#if 0\n#line 3\n#include \"x.h\"\n#endif\nint e;\n");
}

TEST_F(HermeticText, FailsWhereWhatItAssumedIsWrong)
{
    write("x.h", "int x;\n");
    const std::string computed = "#define S(x) #x\n#define T(x) S(x)\n#include T(x.h)\n";
    expect_same_tokens(computed);
    expect_refused("#ifdef NEVER\n#define UNSEEN\n#endif\n#undef S\n" + computed + "#undef S\n#include T(x.h)\n");
}

TEST_F(HermeticText, ConsistsOfOneTextASource)
{
    write("g.h", "#ifndef G\n#define G\nint g;\n#endif\n");
    const Result result = resolve(Input{{{"a", "#include \"g.h\"\n"}, {"b", "int b;"}, {"c", "#include \"g.h\"\n"}}});
    ASSERT_EQ(3u, result.texts.size());
    EXPECT_TRUE(has(result.texts[0], "int g;"));
    EXPECT_EQ("int b;", result.texts[1]);
    EXPECT_EQ(result.texts[0], result.texts[2]); /* each source is compiled by itself */
}

} // namespace
