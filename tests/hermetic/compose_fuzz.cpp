/*
 * compose_fuzz.cpp - spells special names at random, so that only the preprocessor sees them, and checks that Ingot
 * does not miss one.
 *
 * Each program uses one name, such as __has_include, __FILE__, _Pragma, __TIME__ or asm (on PoCL). It is built by its
 * compiler alone and through Ingot. The results must be equal. If a file or a folder's name changes what the name
 * stands for, the program is built again after that change. There are three kinds of failures:
 *
 * - wrong: the build through Ingot differs from the compiler's.
 * - stale: the id is still the same after the change, but the result is not.
 * - kept: the program builds and differs from build to build, or reads a file through an assembler, but has an id.
 *
 * A program that Ingot builds natively is neither stale nor kept. With --plant 1, Ingot's results are those of a cache
 * that misses everything, and the test succeeds only if it finds failures. CONTRIBUTING.md has the commands.
 */
#include "hermetic/arguments.h"
#include "hermetic/child_items.h"
#include "hermetic/project.h"
#include "hermetic/random.h"
#include "support/scratch_directory.h"
#include "support/whole_file.h"

namespace
{

using namespace hermetic;

/* ---- spelling names in ways that only the preprocessor sees through ---- */

enum Place { kSource, kHeader, kOptions, kPlaces };

/* What the spelled names need. */
struct Spelled {
    std::string source;  /* definitions at the beginning of the source */
    std::string header;  /* definitions in a header that the source includes first */
    std::string options; /* definitions in options, each preceded by a blank */
};

class Speller
{
public:
    Speller(Random *random, Spelled *spelled) : random_(*random), spelled_(*spelled) {}

    /* Returns an expression that the preprocessor replaces with the name. */
    std::string name(const std::string &text);
    /* Returns an expression for a literal with these words. */
    std::string literal(const std::string &text);
    /* Returns the text with a backslash and a newline somewhere in it, or as it is. */
    std::string splice(std::string text);

private:
    std::string define(const std::string &body);
    std::string paste(const std::string &left, const std::string &right);
    std::string paste_operator(bool in_option);
    void put(const std::string &name, const std::string &parameters, const std::string &body, size_t place);
    std::string fresh() { return "m" + std::to_string(count_++) + "_x"; }

    Random &random_;
    Spelled &spelled_;
    size_t count_ = 0;
};

/* Adds a definition. Definitions in options have no blanks, because not all compilers accept quotes there. */
void Speller::put(const std::string &name, const std::string &parameters, const std::string &body, size_t place)
{
    if (place == kOptions)
        spelled_.options += " -D" + name + parameters + "=" + body;
    else
        (place == kHeader ? spelled_.header : spelled_.source) +=
            (random_.percent(10) ? "%:define " : "#define ") + name + parameters + " " + body + "\n";
}

std::string Speller::splice(std::string text)
{
    if (text.size() > 1 && random_.percent(15))
        text.insert(1 + random_.below(text.size() - 1), "\\\n");
    return text;
}

std::string Speller::paste_operator(bool in_option)
{
    static const std::vector<std::string> in_options = {"##", "%:%:"};
    static const std::vector<std::string> in_texts = {"##", " ## ", "%:%:", "#\\\n#", "/**/##/**/", "%:\\\n%:"};
    return random_.of(in_option ? in_options : in_texts);
}

/* Returns a macro for a part of a name, or the part itself. */
std::string Speller::define(const std::string &body)
{
    if (random_.percent(50))
        return splice(body);
    const std::string name = fresh();
    const size_t place = random_.below(kPlaces);
    put(name, "", place == kOptions ? body : splice(body), place);
    return name;
}

/* Returns an expression for the pasted parts. The outer macro expands its arguments before the inner one pastes. */
std::string Speller::paste(const std::string &left, const std::string &right)
{
    const std::string inner = fresh();
    const std::string outer = fresh();
    const size_t place = random_.below(kPlaces);
    put(inner, "(a,b)", "a" + paste_operator(place == kOptions) + "b", place);
    put(outer, "(a,b)", inner + "(a,b)", random_.below(kPlaces));
    return outer + "(" + left + "," + right + ")";
}

std::string Speller::name(const std::string &text)
{
    const size_t cut = 1 + random_.below(text.size() - 1);
    const std::string left = text.substr(0, cut);
    const std::string right = text.substr(cut);
    const size_t place = random_.below(kPlaces);
    std::string spelled;
    switch (random_.below(6)) {
    case 0: spelled = splice(text); break;
    case 1: return define(text);
    case 2:
        spelled = fresh();
        put(spelled, "", left + paste_operator(place == kOptions) + right, place);
        break;
    case 3:
        if (right.size() > 1) {
            const size_t second = 1 + random_.below(right.size() - 1);
            spelled = paste(define(left), paste(define(right.substr(0, second)), define(right.substr(second))));
            break;
        }
        spelled = paste(define(left), define(right));
        break;
    default: spelled = paste(define(left), define(right)); break;
    }
    if (random_.percent(20)) {
        const std::string wrapper = fresh();
        put(wrapper, "", spelled, kSource);
        return wrapper;
    }
    return spelled;
}

std::string Speller::literal(const std::string &text)
{
    if (random_.percent(25))
        return "\"" + splice(text) + "\"";
    const std::string inner = fresh();
    const std::string outer = fresh();
    const size_t place = random_.below(kPlaces);
    put(inner, "(a)", "#a", place);
    put(outer, "(a)", inner + "(a)", random_.below(kPlaces));
    return outer + "(" + name(text) + ")";
}

/* ---- the programs ---- */

enum class Kind { file_exists, file_name, pragma, level, time, assembler };

/* A program, and the options with which it is built after the change, which are the same unless the kind is file_name.
 */
struct Case {
    Kind kind;
    Program program;
    std::string other_options;
};

using whole_file::write;

class Generator
{
public:
    Generator(Random *random, bool is_cuda, bool assembles)
        : random_(*random), is_cuda_(is_cuda), assembles_(assembles), speller_(random, &spelled_)
    {
    }

    /* Writes the headers and returns the program. */
    Case make()
    {
        Case made{static_cast<Kind>(random_.below(assembles_ ? 6 : 5)), {}, ""};
        const std::string body = body_of(made.kind);
        write("inc/defs.h", spelled_.header);
        made.program.source = "#include <defs.h>\n" + spelled_.source + body;
        made.program.options = "-Iinc" + spelled_.options;
        made.other_options = made.program.options;
        if (made.kind == Kind::file_name) {
            made.program.options += " -Ia";
            made.other_options += " -Ilonger";
        }
        return made;
    }

private:
    std::string kernel(const std::string &value)
    {
        if (is_cuda_)
            return "extern \"C\" __global__ void k(int *p) { *p = " + value + "; }\n";
        return "kernel __attribute__((reqd_work_group_size(" + value + ", 1, 1))) void k(global int *p) { *p = 1; }\n";
    }

    std::string body_of(Kind kind)
    {
        switch (kind) {
        case Kind::file_exists:
            return "#if " + speller_.name("__has_include") + "(" + random_.of(quoted_) + ")\n#define V 1\n#else\n" +
                   "#define V 2\n#endif\n" + kernel("V");
        case Kind::file_name: {
            const std::string text = "#define SIZE sizeof(" + speller_.name(random_.of(file_names_)) + ")\n";
            write("a/named.h", text);
            write("longer/named.h", text);
            return "#include <named.h>\n" + kernel("SIZE");
        }
        case Kind::pragma:
            write("inc/once.h", speller_.name("_Pragma") + "(" + speller_.literal("once") + ")\n" +
                                    "#ifdef FIRST\n#define SECOND\n#endif\n#define FIRST\n");
            return "#include <once.h>\n#include <once.h>\n#ifdef SECOND\n#define V 2\n#else\n#define V 1\n#endif\n" +
                   kernel("V");
        case Kind::level:
            write("inc/level.h", kernel("1 + " + speller_.name("__INCLUDE_LEVEL__")));
            return "#include <level.h>\n";
        case Kind::time: return kernel("sizeof(" + speller_.name(random_.of(times_)) + " \"\")");
        default:
            write("x", "12345678"); /* as many bytes as instructions may have */
            return (is_cuda_ ? "extern \"C\" __global__ void k(int *p)\n{\n" : "kernel void k(global int *p)\n{\n") +
                   speller_.name("__asm__") + "(\".\" " + speller_.literal("incbin") + " \"\\\"x\\\"\");\n*p = 1; }\n";
        }
    }

    Random &random_;
    bool is_cuda_;
    bool assembles_;
    Spelled spelled_;
    Speller speller_;
    const std::vector<std::string> quoted_ = {"\"there.h\"", "<there.h>"};
    const std::vector<std::string> file_names_ = {"__FILE__", "__FILE__", "__FILE_NAME__", "__BASE_FILE__"};
    const std::vector<std::string> times_ = {"__TIME__", "__DATE__", "__TIMESTAMP__"};
};

class Fuzz
{
public:
    explicit Fuzz(const Arguments &arguments) : arguments_(arguments), is_planted_(arguments.number("plant") != 0) {}

    bool run()
    {
        const size_t first = arguments_.number("first");
        const size_t end = first + arguments_.number("count");
        const size_t done = work_in_children(
            {first, end, 400, deadline_of(arguments_)}, [&](size_t index, ItemWriter &writer) { work(index, &writer); },
            [&](size_t index, const Findings &findings) { take(index, findings); });
        print_counts(stdout, done, end - first);
        return is_planted_ ? failures_ != 0 : failures_ == 0;
    }

private:
    void work(size_t index, ItemWriter *writer)
    {
        static const std::unique_ptr<Compiler> compiler = make_compiler(arguments_); /* these two: one per child */
        static const ScratchDirectory scratch;
        Random random(arguments_.number("seed"), index);
        std::filesystem::current_path(scratch.path());
        for (const char *folder : {"inc", "a", "longer"})
            std::filesystem::create_directories(folder);
        std::filesystem::remove("inc/there.h");
        writer->say("platform", compiler->name());
        const Case made = Generator(&random, compiler->is_cuda(), compiler->assembles()).make();
        writer->say("options", made.program.options);
        writer->say("source", made.program.source);
        check(compiler.get(), made, writer);
        std::filesystem::current_path("/");
    }

    void check(Compiler *compiler, const Case &made, ItemWriter *writer)
    {
        const Want want = compiler->is_cuda() ? Want::code : Want::kernels;
        writer->phase("native");
        const std::string native = result_of(compiler->build(made.program, want));
        writer->say("result", native);
        writer->phase("ingot");
        const Description before = compiler->describe(made.program);
        const IngotBuild other = compiler->build_with_ingot(made.program, want);
        const bool is_kept = is_planted_ || !other.is_native;
        writer->say(is_kept ? "hermetic" : "native", other.reason);
        /* Intel's compiler names each source by a number, so that __BASE_FILE__ grows by a digit at the tenth build. */
        const std::string later =
            result_of(other.build) != native ? result_of(compiler->build(made.program, want)) : "";
        if (result_of(other.build) != native && result_of(other.build) != later)
            writer->say("wrong", result_of(other.build));
        const bool must_be_native = made.kind == Kind::time || made.kind == Kind::assembler;
        if (must_be_native && native != "failed" && is_kept)
            writer->say("kept", "");
        if (made.kind != Kind::file_exists && made.kind != Kind::file_name)
            return;
        writer->phase("change");
        if (made.kind == Kind::file_exists)
            write("inc/there.h", "\n");
        const Program changed{made.program.source, made.other_options};
        const std::string fresh = result_of(compiler->build(changed, want));
        const bool has_same_id = is_planted_ || (before.is_cacheable && compiler->describe(changed).id == before.id);
        writer->say(fresh != native ? "differs" : "same", "");
        if (is_kept && has_same_id && fresh != native)
            writer->say("stale", fresh);
    }

    void take(size_t index, const Findings &findings)
    {
        const auto has = [&](const char *key) { return findings.count(key) != 0; };
        platform_ = has("platform") ? findings.at("platform") : platform_;
        ++taken_;
        if (has("crash") && has("phase") && findings.at("phase") == "native") {
            ++crashes_;
            return;
        }
        built_ += has("result") && findings.at("result") != "failed";
        native_ += has("native");
        differs_ += has("differs");
        wrong_ += has("wrong");
        stale_ += has("stale");
        kept_ += has("kept");
        if (has("wrong") || has("stale") || has("kept") || has("crash") || has("problem"))
            report(index, findings);
        if (taken_ % 250 == 0)
            print_counts(stderr, taken_, arguments_.number("count"));
    }

    void report(size_t index, const Findings &findings)
    {
        if (++failures_ > 20)
            return;
        std::printf("FAILURE: --device %s --seed %s --first %zu --count 1\n", arguments_.text("device").c_str(),
                    arguments_.text("seed").c_str(), index);
        for (const auto &[key, value] : findings)
            std::printf("  %s: %s\n", key.c_str(), describe_text(value.substr(0, 1000)).c_str());
        (void)std::fflush(stdout);
    }

    void print_counts(std::FILE *out, size_t done, size_t wanted) const
    {
        std::fprintf(out,
                     "%s, seed %s: %zu of %zu programs: %zu built, %zu native with Ingot, %zu changed by a file; %zu "
                     "ended the compiler; %zu wrong, %zu stale, %zu kept, %zu failures%s\n",
                     platform_.c_str(), arguments_.text("seed").c_str(), done, wanted, built_, native_, differs_,
                     crashes_, wrong_, stale_, kept_, failures_, is_planted_ ? " (planted)" : "");
        (void)std::fflush(out);
    }

    const Arguments &arguments_;
    bool is_planted_;
    std::string platform_ = "no platform";
    size_t taken_ = 0, built_ = 0, native_ = 0, differs_ = 0, crashes_ = 0;
    size_t wrong_ = 0, stale_ = 0, kept_ = 0, failures_ = 0;
};

} // namespace

int main(int argc, char **argv)
{
    return run_with_arguments(argc, argv, "compose_fuzz", {{"plant", "0"}},
                              [](const Arguments &arguments) { return Fuzz(arguments).run(); });
}
