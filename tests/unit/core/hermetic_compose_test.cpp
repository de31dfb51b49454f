/*
 * hermetic_compose_test.cpp - tests that no spelling of a special name, of _Pragma or of asm is missed, and that
 * scanning any text takes a number of steps that is proportional to its size.
 */
#include "unit/core/hermetic_fixture.h"

using namespace hermetic_fixture;

namespace
{

using HermeticCompose = HermeticTest;

const char kPaste[] = "#define CAT(a, b) a##b\n";

std::string reason_of(const std::string &name)
{
    return "macros may compose a name from parts: " + name;
}

TEST_F(HermeticCompose, RefusesNamesThatMacrosMayPutTogether)
{
    const std::string paste = kPaste;
    EXPECT_EQ(reason_of("__has_include"), resolve(paste + "#if CAT(__has_, include)(\"x.h\")\n#endif").reason);
    EXPECT_EQ(reason_of("__has_include_next"), resolve(paste + "CAT(__has_in, clude_next)").reason);
    EXPECT_EQ(reason_of("__has_embed"), resolve(paste + "CAT(__has, _embed)").reason);
    EXPECT_EQ(reason_of("__TIME__"), resolve(paste + "int t = CAT(__TI, ME__);").reason);
    EXPECT_EQ(reason_of("__DATE__"), resolve(paste + "#define __D x\nint t = CAT(CAT(__, DATE), __);").reason);
    EXPECT_EQ(reason_of("__TIMESTAMP__"), resolve(paste + "int t = CAT(_, CAT(_TIMESTAMP, __));").reason);
    EXPECT_EQ(reason_of("__INCLUDE_LEVEL__"), resolve(paste + "CAT(__INCLUDE_LEV, EL__)").reason);
    EXPECT_EQ(reason_of("__INCLUDE_LEVEL__"), resolve(paste + "CAT(__INC, CAT(SUFFIX, UDE_LEVEL__))").reason);
    EXPECT_EQ(reason_of("_Pragma"), resolve(paste + "CAT(_P, ragma)(\"once\")").reason);
    EXPECT_EQ(reason_of("_Pragma"), resolve(paste + "CAT(_, Pragma)(\"once\")").reason);
}

/* The parts and the ## may be in different texts and options, and be spelled in any way. */
TEST_F(HermeticCompose, FindsThePartsWhereverTheyAre)
{
    const std::string time = reason_of("__TIME__");
    write("paste.h", kPaste);
    write("part.h", "#define PART __TI\n");
    EXPECT_EQ(time, resolve("#include \"paste.h\"\nint t = CAT(__TI, ME__);").reason);
    EXPECT_EQ(time, resolve("#include \"paste.h\"\n#include \"part.h\"\nint t = CAT(PART, ME__);").reason);
    EXPECT_EQ(time, resolve("int t = CAT(__TI, ME__);", "-DCAT(a,b)=a##b").reason);
    EXPECT_EQ(time, resolve("int t = CAT(__TI, ME__);", "-DCAT(a,b)=a%:%:b").reason);
    EXPECT_EQ(time, resolve("int t = T;", "-DT=__TI##ME__").reason);
    EXPECT_EQ(time, resolve("#define T(a) a##ME__\nint t = T(A);", "-DA=__TI").reason);
    EXPECT_EQ(time, resolve("#define T(a) __TI##a\nint t = T(A);", "-D A=ME__").reason);
    EXPECT_EQ(time, resolve(intel_rules(), "#define T(a) __TI##a\nint t = T(A);", "-DA=\"M\"E__").reason);
    EXPECT_EQ(time, resolve("#define CAT(a, b) a#\\\n#b\nint t = CAT(__TI, ME__);").reason);
    EXPECT_EQ(time, resolve("#define CAT(a, b) a%:%:b\nint t = CAT(__T\\\nI, ME__);").reason);
    EXPECT_EQ(time, resolve("%:define CAT(a, b) a/**/##/**/b\nint t = CAT(__TI/**/,/**/ME__);").reason);
    EXPECT_NE("", resolve("int t = CAT(__TI, ME__);", "-DCAT(a,b)=a?\?=?\?=b").reason);
}

TEST_F(HermeticCompose, AcceptsTextsThatLackAPart)
{
    for (const char *text :
         {"CAT(__, x)", "CAT(a, _)", "CAT(__TI, NE__)", "CAT(__has_, included)", "// CAT(__TI, ME__)\n", "__TI ME_",
          "CAT(\"__TI\", \"ME__\")", "CAT(FI, LE__)", "CAT(_Pra, GMA)"})
        EXPECT_EQ("", resolve(std::string(kPaste) + text + "\n").reason) << text;
    EXPECT_EQ("", resolve("__TI ME__ __has_ include").reason) << "without ##";
}

/* A name outside definitions and outside the arguments of macros with ## cannot become a part. CUDA's own headers have
 * all letters of __has_include as names of parameters and variables. */
TEST_F(HermeticCompose, AcceptsPartsThatCannotReachAPaste)
{
    const std::string paste = kPaste;
    for (const char *text : {"int __TI, ME__; CAT(a, b)", "f(__TI, ME__) CAT(a, (b))", "CAT(a,\nb) __TI ME__",
                             "#ifdef CAT\n__TI ME__\n#endif", "#if defined(CAT) || defined CAT\n__TI ME__\n#endif",
                             "#undef CAT\n__TI ME__", "#define GLOBAL CAT(a, b)\nGLOBAL __TI(ME__);"})
        EXPECT_EQ("", resolve(paste + text + "\n").reason) << text;
}

TEST_F(HermeticCompose, FollowsCallsByOtherNamesAndWithHiddenParentheses)
{
    const std::string time = reason_of("__TIME__");
    const std::string paste = kPaste;
    for (const char *text : {"#define JOIN(a, b) CAT(a, b)\nJOIN(__TI, ME__)", "#define ALIAS CAT\nALIAS(__TI, ME__)",
                             "#define APPLY(f, a, b) f(a, b)\nAPPLY(CAT, __TI, ME__)",
                             "#define APPLY(f, a, b) f(a, b)\n#define ALIAS CAT\nAPPLY(ALIAS, __TI, ME__)",
                             "#define OPEN (\n#define EXPAND(x) x\nEXPAND(CAT OPEN __TI, ME__))",
                             "#define EMPTY\n#define EXPAND(x) x\nEXPAND(CAT EMPTY (__TI, ME__))",
                             "CAT(__TI,\n#if 1\nME__)\n#endif", "CAT\n\n(__TI, ME__)", "CAT((x), CAT(__TI, ME__))",
                             "#define LATE(a) EARLY(a)\n#define EARLY(a) a##ME__\nLATE(__TI)"})
        EXPECT_EQ(time, resolve(paste + text + "\n").reason) << text;
    write("first.h", "CAT(__TI,");
    EXPECT_EQ(time, resolve(paste + "#include \"first.h\"\nME__)\n").reason);
    EXPECT_EQ(time, resolve("ALIAS(__TI, ME__)", "-DALIAS=CAT -DCAT(a,b)=a##b").reason);
    EXPECT_EQ(time, resolve(paste + "#define EXPAND(x) x\nEXPAND(CAT OPEN __TI, ME__))", "-DOPEN=(").reason);
}

/* A composed __FILE__ is treated like one that is written as such. */
TEST_F(HermeticCompose, TakesPathsInForAComposedFileName)
{
    write("a/x.h", "char *f = CAT(__FI, LE__);\n");
    write("b/x.h", "char *f = CAT(__FI, LE__);\n");
    const std::string source = std::string(kPaste) + "#include <x.h>\n";
    EXPECT_NE(resolve(source, "-Ia").digests, resolve(source, "-Ib").digests);
    write("a/y.h", "int y;\n");
    write("b/y.h", "int y;\n");
    const std::string other = std::string(kPaste) + "#include <y.h>\n";
    EXPECT_EQ(resolve(other, "-Ia").digests, resolve(other, "-Ib").digests);
    for (const char *name : {"CAT(__BASE, _FILE__)", "CAT(__FILE, _NAME__)", "CAT(__builtin_, FILE)()",
                             "CAT(__builtin, _source_location)()"})
        EXPECT_NE(resolve(other + name, "-Ia").digests, resolve(other + name, "-Ib").digests) << name;
    const auto cuda = [&](const std::string &text, const char *options) {
        return resolve(other + text, options, {}, INGOT_SOURCE_CUDA_CPP).digests;
    };
    EXPECT_NE(cuda("CAT(as, sert)(1);", "-Ia"), cuda("CAT(as, sert)(1);", "-Ib"));
    EXPECT_NE(cuda("as\\\nsert(1);", "-Ia"), cuda("as\\\nsert(1);", "-Ib"));
}

TEST_F(HermeticCompose, RefusesPragmaOperatorsWithoutAPlainLiteral)
{
    for (const char *text :
         {"_Pragma(\"once\")", "#define P(x) _Pragma(#x)\nP(unroll)", "_Pragma(ONCE)", "_Pragma(L\"once\")",
          "_Pragma(\"un\" \"roll\")", "_Pragma(\"\\x6fnce\")", "#define O (\"once\")\n_Pragma O", "_Pragma\n",
          "_Pragma(\"unroll\"", "_Pragma(\"push_macro(\\\"x\\\")\")", "__pragma(once)", "_Pr\\\nagma(ONCE)",
          "#define P _Pragma\nP(\"once\")"})
        EXPECT_TRUE(has(resolve(text).reason, "which may include a file or hide a macro")) << text;
    EXPECT_NE("", resolve("_Pragma(R\"(once)\")", "", {}, INGOT_SOURCE_CUDA_CPP).reason);
    EXPECT_EQ(
        "",
        resolve("_Pragma(\"unroll\") _Pragma(\"message \\\"a\\\\b\\\"\")\n#define U _Pragma ( \"unroll\" )").reason);
    EXPECT_EQ("", resolve("#pragma once\n_Pragma(\"unroll\")\n").reason);
    EXPECT_NE("", resolve("P(\"once\")", "-DP=_Pragma").reason);
    EXPECT_NE("", resolve(nvrtc_rules(), "int x;", "'-DP=_Pragma(\"once\")'").reason);
    EXPECT_EQ("", resolve(nvrtc_rules(), "int x;", "'-DP=_Pragma(\"unroll\")'").reason);
}

/* On PoCL, an assembler reads files that no text names in full. */
TEST_F(HermeticCompose, LetsTheCompilerRefuseAsm)
{
    const std::string first_line =
        "# 1 \"INGOT_NO_ASM\" 1\n#define INGOT_NO_ASM()\n#define asm INGOT_NO_ASM(,)\n"
        "#define __asm INGOT_NO_ASM(,)\n#define __asm__ INGOT_NO_ASM(,)\n# 1 \"\" 2\n#line 1\n";
    for (const char *text :
         {"__asm__(\".\\151ncbin \\\"x\\\"\");", "asm(\"\");", "#define A(a, b) a##b\nA(as, m)(\"\");",
          "#define A a%:%:m\n", "__a\\\nsm__(\"\");", "// asm\n", "#define A(asm) asm\n", "#error no asm here\n",
          "#define D(x) (defined(x) && defined X)\nasm(\"\");"}) {
        const Result result = resolve(pocl_rules(), text);
        ASSERT_EQ("", result.reason) << text;
        EXPECT_EQ(first_line + text, result.texts[0]);
        EXPECT_NE("", result.digests) << "the build would not be checked";
        EXPECT_EQ(text, resolve(intel_rules(), text).texts[0]);
    }
    write("x.h", "asm(\"\");\n");
    EXPECT_EQ(0u, resolve(pocl_rules(), "#include \"x.h\"\n").texts[0].find(first_line));
    EXPECT_EQ(0u, resolve(pocl_rules(), "Q(\"\")", "-DQ=as##m").texts[0].find(first_line));
    for (const char *options :
         {"-DQ=__asm__", "-DQ=asm", "-DQ=__asm", "-Dasm=x", "-D Q=asm", "-DQ=\"__a\"\"sm\"", "-DQ=a\\sm"})
        EXPECT_EQ("the options have asm, which no id can cover", resolve(pocl_rules(), "Q(\"\")", options).reason)
            << options;
    EXPECT_EQ("", resolve(pocl_rules(), "int x;", "-DQ=plasma").reason);
    EXPECT_NE("", resolve(pocl_rules(), "Q(\".inc\\\nbin\")").reason);
}

TEST_F(HermeticCompose, AcceptsTheNameThatItGaveToASourceBeforeAsm)
{
    ingot_text_rules_t rules = pocl_rules();
    rules.unnamed_source = "default_program";
    for (const char *text : {"asm(\"\");\n", "asm(\"\");\n__FILE__\n"}) {
        const Input input{{{"k.cu", text}}, "", {}, INGOT_SOURCE_CUDA_CPP, rules};
        const Result result = resolve(input);
        ASSERT_EQ("", result.reason) << text;
        EXPECT_EQ("", refusal_of(input, result)) << result.texts[0];
    }
}

/* Where a text could see the macro that refuses asm, the name is poisoned. */
TEST_F(HermeticCompose, PoisonsAsmInTextsThatAskForIt)
{
    const std::string paste = kPaste;
    const std::string first_line =
        "# 1 \"INGOT_NO_ASM\" 1\n#pragma GCC poison asm __asm __asm__\n# 1 \"\" 2\n#line 1\n";
    for (const char *text : {"#ifdef asm\n#endif\n", "#ifndef __asm\n#endif\n", "#if defined(__asm__)\n#endif\n",
                             "#undef asm\n", "#define asm x\n", "#if a\\\nsm\n#endif\n", "%:ifdef asm\n#endif\n",
                             "#pragma weak asm\n", "#define D defined\nasm(\"\");\n", "#define D defined(asm)\n",
                             "#define D(x) defined x##m\n#if D(as)\n#endif\n", "#define D defined a##sm\n",
                             "CAT(de, fined) asm(\"\");\n", "int INGOT_NO_ASM; asm(\"\");\n"}) {
        const Result result = resolve(pocl_rules(), paste + text);
        ASSERT_EQ("", result.reason) << text;
        EXPECT_EQ(first_line + paste + text, result.texts[0]) << text;
    }
    EXPECT_EQ(first_line + "asm(\"\");", resolve(pocl_rules(), "asm(\"\");", "-DD=defined").texts[0]);
    EXPECT_TRUE(has(resolve(pocl_rules(), "#define D defined\n#define CAT(a, b) a##b\n").texts[0], "#define asm"));
    write("x.h", "#ifdef asm\n#endif\n");
    EXPECT_EQ(0u, resolve(pocl_rules(), "#include \"x.h\"\n").texts[0].find(first_line));
}

/* ---- steps ---- */

std::string repeated(const std::string &part, size_t size)
{
    std::string text;
    while (text.size() < size)
        text += part;
    return text;
}

size_t steps_of(const std::string &source, ingot_source_kind_t kind)
{
    ingot_allocator_t allocator;
    EXPECT_EQ(INGOT_SUCCESS, memory_init(&allocator, nullptr));
    const Input input{{{"k.cl", source}}, "", {}, kind, nvrtc_rules()};
    struct hermetic hermetic;
    hermetic_init(&hermetic, &allocator);
    EXPECT_EQ(INGOT_SUCCESS, Views(input).resolve(&hermetic));
    const size_t steps = hermetic.scan_steps;
    hermetic_fini(&hermetic);
    return steps;
}

/* Each of these texts, or one like it, is a case for a loop over the rest of the text at each of its parts. */
TEST_F(HermeticCompose, ScansAnyTextInProportionToItsSize)
{
    const Strings parts = {"#",
                           "# ",
                           "#\n",
                           "%:",
                           "#/*",
                           "#/**/",
                           "#*/",
                           "/*#*/",
                           "#\"",
                           "#\\\"",
                           "#'",
                           "#\\'",
                           "/**/",
                           "#/",
                           "\\\n",
                           "#\\\n",
                           "#warning x\n",
                           "#line 1\n",
                           "#pragma x\n",
                           "\"\\\"",
                           "import ",
                           "R\"(",
                           "R\"(x)",
                           "#include/**/x ",
                           "##",
                           "__has_include",
                           "_Pragma",
                           "*/#/*",
                           "#if 1\n",
                           "x\\\n",
                           "R\"x()x\" \\\n",
                           "_ ",
                           "#/*/",
                           "include#",
                           "defined("};
    constexpr size_t kSize = 64 * 1024;
    for (const std::string &part : parts) {
        const std::string run = repeated(part, kSize);
        for (const std::string &text :
             {run, "/*" + run + "*/", "// " + run, "\"" + run, "#define A " + run, "#if " + run,
              "/*" + run + "*/ # /* */ include", run + "/*x*/ include", "#" + run + "\n#x"})
            for (const auto kind : {INGOT_SOURCE_OPENCL_C, INGOT_SOURCE_CUDA_CPP})
                EXPECT_GE(24 * text.size(), steps_of(text, kind)) << text.substr(0, 20) << " of " << part;
    }
}

/* A comment of 64 KiB of # is an ordinary banner, so its text must be accepted. */
TEST_F(HermeticCompose, AcceptsBanners)
{
    for (const std::string &text :
         {"/*" + repeated("#", 65536) + "*/\n", "/* # /" + repeated(" #", 65536) + " /* */ x\n",
          repeated("// ####\n", 65536), repeated("/* #### */ ", 65536), repeated("#warning x\n", 65536)})
        EXPECT_EQ("", resolve(text).reason) << text.substr(0, 40);
}

} // namespace
