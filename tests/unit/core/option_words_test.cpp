/* Tests reading option strings: which options are known, which are removed, and that the rest stays byte for byte. */
#include <string>

extern "C" {
#include "core/hermetic/option_words.h"
}
#include "support/failing_allocator.h"
#include "support/not_copied.h"

namespace
{

constexpr const char *kOptions[] = {"-w", "-g", "-G", "-cl-*", "-O2", "--std=*", nullptr};

/* Shell quotes are NVRTC's, which also has long names. */
ingot_text_rules_t rules_with(ingot_option_quotes_t quotes)
{
    static const char *const long_names[] = {
        "-w", "-g", "-G", "-cl-*", "-O2", "--std=*", "--include-path", "--define-macro", nullptr};
    static const char *const with_value[] = {"-x", "--std", nullptr};
    ingot_text_rules_t rules{};
    rules.struct_size = sizeof(rules);
    rules.option_quotes = quotes;
    rules.options = quotes == INGOT_QUOTES_SHELL ? long_names : kOptions;
    rules.options_with_value = with_value;
    return rules;
}

constexpr ingot_option_quotes_t kAllQuotes[] = {INGOT_QUOTES_UNKNOWN, INGOT_QUOTES_DOUBLE, INGOT_QUOTES_SHELL};

struct Words : NotCopied {
    explicit Words(ingot_option_quotes_t quotes, const char *const *options = nullptr) : rules(rules_with(quotes))
    {
        EXPECT_EQ(INGOT_SUCCESS, memory_init(&allocator, nullptr));
        arena_init(&pieces, &allocator);
        rules.options = options != nullptr ? options : rules.options;
    }
    ~Words() { arena_fini(&pieces); }

    ingot_text_rules_t rules;
    ingot_allocator_t allocator;
    arena pieces;
};

/* Returns "kind:value;" for each option. The text of an unknown option ends with "!". */
std::string parsed(const std::string &options, ingot_option_quotes_t quotes = INGOT_QUOTES_UNKNOWN,
                   const char *const *known = nullptr)
{
    Words words(quotes, known);
    option_reader reader = {&words.rules, &words.pieces, options.c_str()};
    option option;
    std::string text;
    while (option_next(&reader, &option)) {
        const bool has_value =
            option.kind == OPTION_DIRECTORY || option.kind == OPTION_DEFINE || option.kind == OPTION_UNDEFINE;
        text += std::string(1, "oIDU!"[option.kind]) + ":";
        text += has_value ? std::string(option.value, option.value_size) : std::string(option.start, option.size);
        text += ";";
    }
    return text;
}

bool is_known(const std::string &options, ingot_option_quotes_t quotes)
{
    return parsed(options, quotes).find("!:") == std::string::npos;
}

std::string kept(const std::string &options, ingot_option_quotes_t quotes = INGOT_QUOTES_UNKNOWN)
{
    Words words(quotes);
    bytes_writer writer;
    bytes_writer_init(&writer, &words.allocator);
    options_keep(&writer, &words.rules, &words.pieces, options.c_str());
    const std::string text(reinterpret_cast<const char *>(writer.bytes), writer.size);
    bytes_writer_fini(&writer);
    return text;
}

/* A tab separates words for compilers that read options as a shell does. Other compilers disagree: a tab separates
 * words for PoCL and Intel, and is part of a word for NVIDIA's OpenCL. */
TEST(OptionWords, TakesATabOnlyWhereTheWordsAreItsOwn)
{
    EXPECT_EQ("I:a;D:X;", parsed("-Ia\t-DX", INGOT_QUOTES_SHELL));
    for (const ingot_option_quotes_t quotes : {INGOT_QUOTES_UNKNOWN, INGOT_QUOTES_DOUBLE})
        EXPECT_EQ('!', parsed("-Ia\t-DX", quotes)[0]);
}

TEST(OptionWords, ReadsValuesJoinedAndApart)
{
    for (const ingot_option_quotes_t quotes : kAllQuotes) {
        EXPECT_EQ("I:a;I:b;D:X=1;D:Y;U:Z;o:-w;", parsed("-Ia -I b -DX=1 -D Y -UZ  -w ", quotes));
        EXPECT_EQ("o:-x cl;o:-cl-std=CL1.2;o:--std=c++17;o:--std c++17;",
                  parsed("-x cl -cl-std=CL1.2 --std=c++17 --std c++17", quotes));
        EXPECT_EQ("", parsed("  ", quotes));
    }
}

TEST(OptionWords, KnowsLongNamesOnlyWhereCompilersHaveThem)
{
    EXPECT_EQ("I:a;I:b;D:X;U:Y;",
              parsed("--include-path=a --include-path b --define-macro=X -U Y", INGOT_QUOTES_SHELL));
    for (const ingot_option_quotes_t quotes : {INGOT_QUOTES_UNKNOWN, INGOT_QUOTES_DOUBLE}) {
        for (const char *option : {"--include-path=a", "--include-path a", "--define-macro=X", "--undefine-macro X"})
            EXPECT_FALSE(is_known(option, quotes)) << option;
    }
    /* hipRTC is clang, which reads the first as -include "-path=a". */
    EXPECT_EQ("!:--include-path=a;!:--define-macro=X;",
              parsed("--include-path=a --define-macro=X", INGOT_QUOTES_SHELL, kOptions));
}

TEST(OptionWords, KnowsOnlyWhatIsListed)
{
    for (const ingot_option_quotes_t quotes : kAllQuotes) {
        for (const char *options : {"-include f",
                                    "-include=f",
                                    "--pre-include=f",
                                    "-include-pch f",
                                    "-isystem d",
                                    "-imacros m",
                                    "@file",
                                    "-idirafter d",
                                    "-iquote d",
                                    "-F d",
                                    "-fmodules",
                                    "-Xclang -include",
                                    "-W",
                                    "word",
                                    "-",
                                    "-wx",
                                    "-x",
                                    "-O3",
                                    "--std",
                                    "-D",
                                    "-U",
                                    "-I",
                                    "-I -DX",
                                    "-D -Ia",
                                    "-x -w",
                                    "-I=dir",
                                    "-I =dir",
                                    "--include-path="})
            EXPECT_FALSE(is_known(options, quotes)) << options;
    }
}

/* Compilers disagree about where these words end, or about their text. */
TEST(OptionWords, RefusesOddCharactersWhereReadingsDiffer)
{
    for (const char *options : {"-DX=\"a b\"", "-DX=\"", "-DX='a b'", "-DX=a\\ b", "-DX='", "-w\v-DX", "-w\n-DX",
                                "-DX\f", "-D\rX", "-I\"a b\"", "-I \"\"", "-I ''", "\"-I\" a", "-I\\a", "-I'a'",
                                "-DX\\ -DG=1", "-cl-\"x\"", "\"\" -w", "-I a\x01"})
        EXPECT_FALSE(is_known(options, INGOT_QUOTES_UNKNOWN)) << options;
    for (const char *options :
         {"-DX=\"", "-DX='a b'", "-DX='", "-w\v-DX", "-w\n-DX", "-I \"\"", "-I\"\"", "-I\"a\"b", "-I'a'", "-I\"a\\b\"",
          "-I\"a'b'\"", "\"-I\" a", "\"-Ia\"", "-DX\\ -DG=1", "\"\" -w", "-I\"a \""})
        EXPECT_FALSE(is_known(options, INGOT_QUOTES_DOUBLE)) << options;
    for (const char *options : {"-DX=\"", "-DX='a", "-I \"\"", "-I ''", "\"\" -w", "'-Ia '", "-I\" a\"", "-I 'a '",
                                "-Ix,--offload-arch=gfx1030"})
        EXPECT_FALSE(is_known(options, INGOT_QUOTES_SHELL)) << options;
}

TEST(OptionWords, ReadsDoubleQuotesInTheOneFormThatIsCertain)
{
    EXPECT_EQ("I:a b;I:c;D:X=\"p q\";", parsed("-I\"a b\" -I \"c\" -DX=\"p q\"", INGOT_QUOTES_DOUBLE));
    EXPECT_EQ("D:X=\"p\";", parsed("-DX=\"p\"", INGOT_QUOTES_UNKNOWN));
}

TEST(OptionWords, ReadsWordsAsAShellDoes)
{
    EXPECT_EQ("I:a b;D:X=\"q\";I:c d;D:Y=p q;I:e f;",
              parsed("-I\"a b\" -DX=\\\"q\\\"\n\"-Ic d\"\v-D'Y=p q'\f-I e\\ f", INGOT_QUOTES_SHELL));
    EXPECT_FALSE(is_known("-I'a\\b'", INGOT_QUOTES_SHELL)); /* not every compiler takes a backslash in a name */
}

TEST(OptionWords, SurveysWhatMattersBeforeTheSources)
{
    const auto survey_of = [](const char *options) {
        Words words(INGOT_QUOTES_SHELL);
        option_survey survey = {};
        option_survey_add(&survey, &words.rules, &words.pieces, options);
        survey.unknown.start = nullptr; /* its text is freed with `words` */
        return survey;
    };
    EXPECT_TRUE(survey_of("-w -I a").has_directory);
    EXPECT_FALSE(survey_of("-w -DI=-Ia").has_directory);
    EXPECT_TRUE(survey_of("-DX=__TIME__").defines_special_name);
    EXPECT_TRUE(survey_of("-D 'X(a)=__FILE__'").defines_special_name);
    EXPECT_TRUE(survey_of("-DX=assert").defines_special_name);
    EXPECT_FALSE(survey_of("-DX=_TIME_").defines_special_name);
    EXPECT_TRUE(survey_of("-DX=_\"_\"TIME__").defines_special_name); /* because a compiler may remove the quotes */
    EXPECT_TRUE(survey_of("-DX=_\"\"_TIME_\"\"_").defines_special_name);
    EXPECT_TRUE(survey_of("-g").keeps_names);
    EXPECT_TRUE(survey_of("-G").keeps_names);
    EXPECT_FALSE(survey_of("-w -cl-mad-enable").keeps_names);
    EXPECT_EQ(OPTION_UNKNOWN, survey_of("-w -include f").unknown.kind);
    EXPECT_NE(OPTION_UNKNOWN, survey_of("-w -I a -DX").unknown.kind);
}

TEST(OptionsKeep, RemovesDirectoriesOnly)
{
    for (const ingot_option_quotes_t quotes : kAllQuotes) {
        EXPECT_EQ("-DX -w", kept("-Ia -DX -I b -w -I c", quotes));
        EXPECT_EQ("-DX  -w", kept("-DX  -w", quotes));
        EXPECT_EQ("-DX=-Ia", kept("-DX=-Ia", quotes));
        EXPECT_EQ("", kept("-Ia -I b", quotes));
        EXPECT_EQ("", kept("", quotes));
    }
    EXPECT_EQ("", kept("-Ia -I'b' \"-Ic\" --include-path=d", INGOT_QUOTES_SHELL));
    EXPECT_EQ("-DA=\"x -Iy\" -DB", kept("-DA=\"x -Iy\" -I z -DB", INGOT_QUOTES_SHELL));
    EXPECT_EQ("-DA=\"x -Iy\" -DB", kept("-DA=\"x -Iy\" -I z -DB", INGOT_QUOTES_DOUBLE));
}

TEST(OptionsKeep, IsTheSameForEveryPlaceOfDirectories)
{
    EXPECT_EQ(kept("-DA -I x -DB"), kept("-I y/z -DA -DB -I w"));
}

TEST(OptionsKeep, FailsCleanlyAtEveryAllocation)
{
    for (size_t n = 0;; ++n) {
        ASSERT_LT(n, 1000u);
        FailingAllocator failing(n);
        ingot_allocator_t allocator;
        ASSERT_EQ(INGOT_SUCCESS, memory_init(&allocator, failing.table()));
        const ingot_text_rules_t rules = rules_with(INGOT_QUOTES_SHELL);
        arena pieces;
        bytes_writer writer;
        arena_init(&pieces, &allocator);
        bytes_writer_init(&writer, &allocator);
        options_keep(&writer, &rules, &pieces, "-I a -DX=\"y z\" -I'b c'");
        const bool failed = pieces.failed || writer.failed;
        arena_fini(&pieces);
        bytes_writer_fini(&writer);
        ASSERT_EQ(0u, failing.live_count());
        if (!failed)
            return;
    }
}

} // namespace
