/* Tests includes that macros compute. Ingot replaces an include that can mean only one file, and lets the compiler
 * check the assumptions that Ingot made. */
#include "unit/core/hermetic_fixture.h"

using namespace hermetic_fixture;

namespace
{

using HermeticMacro = HermeticTest;

TEST_F(HermeticMacro, ExpandsAsCompilersDo)
{
    write("inc/x.h", "int x;");
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"#include M2S(P/x.h)", "-D XM2S(x)=#x -D M2S(x)=XM2S(x) -D P=inc"},
        {"#include M2S( P/x.h )", "-D XM2S(x)=#x -D M2S(x)=XM2S(x) -DP=inc"},
        {"#include Q", "-DQ=<inc/x.h>"},
        {"#define S(d, f) <d/f.h>\n#include S(inc, x)", ""},
        {"#define C(a, b) a ## b\n#define T(x) U(x)\n#define U(x) #x\n#include T(C(in, c)/x.h)", ""},
        {"#define V(...) W(__VA_ARGS__)\n#define W(a, b) <a/b.h>\n#include V(inc, x)", ""},
        {"#define A B\n#define B A\n#define Z <inc/x.h>\n#include Z", ""},
        {"#include F()\n#define F() <inc/x.h>", ""},
        {"#define A(x) B x\n#define B(y) <y/x.h>\n#include A((inc))", ""},
    };
    for (const auto &[source, options] : cases)
        expect_reached(resolve(source, options), {"int x;"});
    expect_reached(resolve(nvrtc_rules(), "#include Q", "-I. -DQ='\"inc/x.h\"'"), {"int x;"});
    EXPECT_NE("", resolve(intel_rules(), "#include Q", "-DQ=\"inc/x.h\"").gap);
}

TEST_F(HermeticMacro, KeepsSpacesAsCompilersDo)
{
    const std::string options = "-D XM2S(x)=#x -D M2S(x)=XM2S(x) -D P=inc";
    write("inc/x.h", "joined");
    write("inc / x.h", "spaced");
    expect_reached(resolve("#include M2S(P/x.h)", options), {"joined"});
    expect_reached(resolve("#include M2S( P  /  x.h )", options), {"spaced"});
}

TEST_F(HermeticMacro, ChecksNamesBeforeTheInclude)
{
    write("x.h", "int x;\n");
    const Result result = resolve("#define S(x) #x\n#define T(x) S(x)\n#include T(x.h)\n");
    expect_reached(result, {"int x;\n"});
    EXPECT_EQ("#define S(x) #x\n#define T(x) S(x)\n"
              "\n#ifdef x\n#error Ingot took this include for another\n#endif"
              "\n#ifdef h\n#error Ingot took this include for another\n#endif"
              "\n#ifndef T\n#error Ingot took this include for another\n#endif"
              "\n#ifndef S\n#error Ingot took this include for another\n#endif"
              "\n#line 3\n# 1 \"x.h\" 1\nint x;\n\n# 4 \"\" 2\n#line 4\n",
              result.texts[0]);
}

TEST_F(HermeticMacro, LeavesAGapWhereSeveralDefinitionsArePossible)
{
    write("a.h", "a");
    write("b.h", "b");
    EXPECT_EQ("the #include H in k.cl line 6 cannot be computed: several definitions are possible of the macro H",
              resolve("#ifdef X\n#define H \"a.h\"\n#else\n#define H \"b.h\"\n#endif\n#include H").gap);
    EXPECT_NE("", resolve("#define N(x) #x\n#define I(x) N(x)\n#undef A\n#include I(A.h)", "-DA=b -DA=c").gap);
    EXPECT_NE("", resolve("#define H \"a.h\"\n#include H\n#undef H\n#define H \"b.h\"\n#include H\n").gap);
    EXPECT_NE("", resolve("#pragma push_macro(\"H\")\n#define H \"a.h\"\n#include H\n").gap);
}

TEST_F(HermeticMacro, LeavesAGapWhereACompilerMayDefineTheName)
{
    write("ops/max.h", "max");
    write("ops/__OP.h", "op");
    const std::string source = "#define XS(x) #x\n#define S(x) XS(x)\n#define max _cl_max\n#include S(ops/max.h)\n";
    EXPECT_EQ("the #include S(ops/max.h) in k.cl line 4 cannot be computed: "
              "a compiler may have another definition of the macro max",
              resolve(source).gap);
    for (const char *name : {"__HEADER", "_Header", "CL_VERSION_1_2", "cl_khr_fp64", "linux", "NULL"})
        EXPECT_EQ(std::string("the #include ") + name +
                      " in k.cl line 1 cannot be computed: a compiler may define "
                      "the macro " +
                      name,
                  resolve(std::string("#include ") + name).gap);
}

/* PoCL defines max as _cl_max, so the text asks the compiler whether the name is a macro. */
TEST_F(HermeticMacro, AsksTheCompilerAboutNamesThatItMayRename)
{
    write("ops/max.h", "int max;");
    const Result result = resolve("#define XS(x) #x\n#define S(x) XS(x)\n#include S(ops/OP.h)\n", "-DOP=max");
    expect_reached(result, {"int max;"});
    EXPECT_TRUE(has(result.texts[0], "#ifdef max\n#error Ingot took this include for another\n#endif"))
        << result.texts[0];
}

TEST_F(HermeticMacro, TakesDefinitionsFromTextsFoundLater)
{
    write("names.h", "#define FIRST \"first.h\"\n");
    write("first.h", "#define SECOND \"second.h\"\n");
    write("second.h", "second");
    expect_reached(resolve("#include \"names.h\"\n#include FIRST\n#include SECOND\n"),
                   {"#define FIRST \"first.h\"\n", "#define SECOND \"second.h\"\n", "second"});
}

/* If a later text makes an earlier use ambiguous, the earlier include is not replaced either. */
TEST_F(HermeticMacro, LeavesAGapWhereALaterTextMakesAnotherDefinition)
{
    write("a.h", "#include \"b.h\"\n");
    write("b.h", "#define H \"b.h\"\n");
    EXPECT_EQ("the #include H in k.cl line 2 cannot be computed: several definitions are possible of the macro H",
              resolve("#define H \"a.h\"\n#include H\n").gap);
}

TEST_F(HermeticMacro, LeavesAGapForWhatIsNotAFileName)
{
    EXPECT_EQ("the #include NOWHERE in k.cl line 1 cannot be computed: no file name comes out of NOWHERE",
              resolve("#include NOWHERE").gap);
    write("x.h", "x");
    for (const char *source :
         {"#define F(x) <x\n#include F(a", "#define S(x) #x\n#define T(x) S(x)\n#include T(/usr/linux/x.h)",
          "#define F(x...) <x>\n#include F(x.h)", "#define H \"x.h\" y\n#include H",
          "#define H \"a\\\\x.h\"\n#include H", "#define H L\"x.h\"\n#include H", "#define F(a) <a\n#include F(x.h,y)>",
          "#include\n", "#include <x.h\n", "#define P(a, b) <a ## b>\n#include P(., /x.h)"}) {
        const Result result = resolve(source);
        EXPECT_EQ("", result.reason) << source;
        EXPECT_NE("", result.gap) << source;
    }
}

/* Defines macros. The last one, M39, expands to 2^40 tokens. */
std::string growing_macros()
{
    std::string source = "#define M0 a a\n";
    for (int i = 1; i < 40; ++i)
        source += "#define M" + std::to_string(i) + " M" + std::to_string(i - 1) + " M" + std::to_string(i - 1) + "\n";
    return source;
}

TEST_F(HermeticMacro, EndsWithMacrosThatGrow)
{
    EXPECT_TRUE(has(resolve(growing_macros() + "#include M39\n").gap, "it grows too long"));
}

const char too_many_steps[] = "the computed includes take more than 50000000 steps to expand";

/* Each file is found only after the one before it was read. */
TEST_F(HermeticMacro, BoundsTheNestingOfComputedIncludes)
{
    const auto include = [](int i) {
        const std::string number = std::to_string(i);
        return "#define N" + number + " \"" + number + ".h\"\n#include N" + number + "\n";
    };
    for (int i = 1; i < 200; ++i)
        write(std::to_string(i) + ".h", include(i + 1));
    write("200.h", "");
    EXPECT_EQ("", resolve(include(1)).reason);
    write("200.h", include(201));
    write("201.h", "");
    EXPECT_EQ("computed includes are nested too deeply", resolve(include(1)).reason);
}

/* One limit holds for the whole program, so that many includes cannot exceed it, even if each stays within its own
 * limits. */
TEST_F(HermeticMacro, BoundsTheWorkOfAllExpansions)
{
    std::string few = growing_macros();
    for (int i = 0; i < 5; ++i)
        few += "#include M39\n";
    EXPECT_EQ("", resolve(few).reason);
    EXPECT_TRUE(has(resolve(few).gap, "it grows too long"));
    std::string many = growing_macros();
    for (int i = 0; i < 1000; ++i)
        many += "#include M39\n";
    EXPECT_EQ(too_many_steps, resolve(many).reason);
}

/* A call without arguments has few tokens, but takes an entry for each parameter of its macro. */
TEST_F(HermeticMacro, BoundsTheArgumentsOfCalls)
{
    const auto calls = [](int include_count) {
        std::string source = "#define F(p0";
        for (int i = 1; i < 128; ++i)
            source += ",p" + std::to_string(i);
        source += ")\n#define M";
        for (int i = 0; i < 4000; ++i)
            source += " F()";
        source += "\n";
        for (int i = 0; i < include_count; ++i)
            source += "#include M\n";
        return source;
    };
    EXPECT_EQ("", resolve(calls(2)).reason);
    EXPECT_EQ(too_many_steps, resolve(calls(200)).reason);
}

/* Each macro here expands to a single token, but during its expansion, the names of all macros before it must be
 * hidden. */
TEST_F(HermeticMacro, BoundsAChainOfNames)
{
    write("x.h", "x");
    const auto chain = [](int length) {
        std::string source = "#define M0 \"x.h\"\n";
        for (int i = 1; i < length; ++i)
            source += "#define M" + std::to_string(i) + " M" + std::to_string(i - 1) + "\n";
        return source + "#include M" + std::to_string(length - 1) + "\n";
    };
    EXPECT_EQ("", resolve(chain(1000)).reason);
    EXPECT_EQ("", resolve(chain(1000)).gap);
    EXPECT_EQ(too_many_steps, resolve(chain(20000)).reason);
}

/* Each call doubles the length of a single token (##) or a single string (#). */
TEST_F(HermeticMacro, BoundsTheLengthOfANameAndOfAString)
{
    const auto nested = [](const std::string &macro, int depth, const std::string &inner) {
        std::string text = inner;
        for (int i = 0; i < depth; ++i)
            text = macro + "(" + text + ")";
        return "#define P(x) x ## x\n#define Q(x) P(x)\n#define S(x) #x\n#define T(x) S(x)\n#include " + text + "\n";
    };
    EXPECT_EQ("", resolve(nested("Q", 5, "A")).reason);
    EXPECT_EQ(too_many_steps, resolve(nested("Q", 30, "A")).reason);
    EXPECT_EQ(too_many_steps, resolve(nested("T", 30, "A")).reason);
}

} // namespace
