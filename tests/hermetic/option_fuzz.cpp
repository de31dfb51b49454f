/*
 * option_fuzz.cpp - tries random option strings, and checks that a program's id identifies what its compiler makes.
 *
 * Several folders have headers of the same names. The name of a compiled kernel shows which header was included, and
 * other kernels show what the options define. For each option string, the test describes the program, builds it
 * natively while inotify reports which files are opened, edits all these files, and describes the program again. There
 * are three kinds of failures:
 *
 * - stale: the id is still the same, but the native result has changed.
 * - collision: an earlier string has the same id, but a different native result.
 * - wrong: the build through Ingot has a different result than the native one.
 *
 * A program that is not cacheable, or that Ingot builds natively, is not stored, so it cannot be stale or collide.
 * CONTRIBUTING.md has the commands.
 */
#include "hermetic/arguments.h"
#include "hermetic/child_items.h"
#include "hermetic/open_watch.h"
#include "hermetic/project.h"
#include "hermetic/random.h"
#include "support/scratch_directory.h"
#include "support/whole_file.h"

namespace
{

using namespace hermetic;

/* The folders of the tree, relative to its root. Many names are difficult in options. */
const std::vector<std::string> &option_folders()
{
    static const std::vector<std::string> folders = {
        "inc",   "inc2", "inc/sub", "include", "a b",     "it's",  "q\"d",   "b\\s",     "e=q",   "=inc",     "-I",
        "=inc2", "inc ", "d,c",     "s;c",     "\"inc\"", "'inc'", "\"inc2", "inc\\sub", "in\tc", "\xc2\xa0z"};
    return folders;
}

/* Writes a random option string. About half of the strings are plain, so that many programs can be cached. The others
 * are odd in one place or in several. `root` is the path of the tree, which is the current folder. */
class OptionWriter
{
public:
    OptionWriter(Random *random, const std::string &root, ingot_source_kind_t kind)
        : random_(*random), root_(root), kind_(kind)
    {
    }

    std::string string()
    {
        is_odd_ = random_.percent(50);
        std::string text;
        const size_t count = random_.below(4) + (random_.percent(90) ? 1 : 0);
        for (size_t i = 0; i < count; ++i) {
            const std::string more = i == 0 && random_.percent(60) ? directory() : piece();
            text += more + separator();
            if (random_.percent(6))
                text += more + separator();
        }
        while (is_odd_ && random_.percent(25))
            mutate(&text);
        if (random_.percent(50) && !text.empty() && text.back() == ' ')
            text.pop_back();
        return text;
    }

private:
    std::string of(const std::vector<std::string> &values) { return random_.of(values); }
    bool odd(size_t chance) { return is_odd_ && random_.percent(chance); }

    std::string separator()
    {
        if (!odd(20))
            return " ";
        return of({"  ", "\t", "\n", "\v", "\f", "\r", "\xc2\xa0", "", " \t ", "\r\n", "\x01", ";", ","});
    }

    std::string folder()
    {
        const std::vector<std::string> plain = {"inc", "inc2", "inc/sub", "include", "e=q"};
        const std::string name = odd(50) ? random_.of(option_folders()) : random_.of(plain);
        switch (random_.below(12)) {
        case 0: return "./" + name;
        case 1: return name + "/";
        case 2: return root_ + "/" + name;
        case 3: return name + "/../inc2";
        case 4: return "missing";
        case 5: return "inc/..//" + name;
        case 6: return ".";
        default: return name;
        }
    }

    std::string quoted(const std::string &text)
    {
        if (!odd(45))
            return text;
        const size_t half = text.size() / 2;
        std::string escaped;
        for (const char c : text)
            escaped += std::string(c == ' ' || c == '"' || c == '\'' || c == '\\' ? "\\" : "") + c;
        switch (random_.below(10)) {
        case 0: return "'" + text + "'";
        case 1: return escaped;
        case 2: return "\"" + text;
        case 3: return text + "\"";
        case 4: return text.substr(0, half) + "\"" + text.substr(half) + "\"";
        case 5: return "\"" + escaped + "\"";
        case 6: return "\"" + text + "'";
        case 7: return "\\" + text;
        default: return "\"" + text + "\"";
        }
    }

    std::string directory()
    {
        const std::string value = folder();
        if (!is_odd_ || random_.percent(40))
            return (random_.percent(50) ? "-I" : "-I ") + quoted(value);
        switch (random_.below(16)) {
        case 0: return "-I=" + quoted(value);
        case 1: return "\"-I" + value + "\"";
        case 2: return "-I\t" + quoted(value);
        case 3: return "-I\n" + quoted(value);
        case 4: return "-I \"\"";
        case 5: return "-I ''";
        case 6: return "-I";
        case 7: return "--include-path=" + quoted(value);
        case 8: return "--include-path " + quoted(value);
        case 9: return of({"-isystem ", "-idirafter ", "-iquote ", "-I- -I", "-F"}) + quoted(value);
        case 10: return "\"-I\" " + quoted(value);
        case 11: return "-I " + quoted(value) + of({";", ",", ":", "="}) + folder();
        case 12: return "-\"I\"" + value;
        case 13: return "-I  " + quoted(value);
        case 14: return "-I\v" + quoted(value);
        default: return "'-I" + value + "'";
        }
    }

    std::string definition()
    {
        const std::string name = of({"X", "X", "Y"});
        const std::vector<std::string> plain = {name, name + "=1", name + "=abc", name + "=", name + "=inc/t.h"};
        if (!is_odd_ || random_.percent(40))
            return (random_.percent(70) ? "-D" : "-D ") + of(plain);
        return of({"-D" + name + "=\"a b\"",
                   "-D\"" + name + "=a b\"",
                   "-D'" + name + "=a b'",
                   "-D" + name + "=a\\ b",
                   "-D" + name + "\\ -DY=3",
                   "-D" + name + "=\"q\\\"\"",
                   "-D\t" + name + "=5",
                   "-D",
                   "-D \"" + name + " y\"",
                   "-D" + name + "=$HOME",
                   "-D" + name + "=#",
                   "-D" + name + "=\\\"s\\\"",
                   "-D " + name + " =2",
                   "-D" + name + "= 2",
                   "-D" + name + "(a)=a",
                   "-D=",
                   "-D -I inc",
                   "-D" + name + "=\"\"",
                   "-D" + name + "='c'",
                   "\"-D" + name + "=a b\"",
                   "-D\"\" " + name,
                   "-D" + name + "=\xc2\xa0z",
                   "-DNAME=other",
                   "-DSPELLING=\"u.h\"",
                   "-DSPELLING=<u.h>",
                   "-DSPELLING=\\\"u.h\\\"",
                   "-D" + name + "=\\",
                   "-U" + name,
                   "-D" + name + "=a;b"});
    }

    std::string known()
    {
        if (kind_ == INGOT_SOURCE_HIP_CPP)
            return of({"-std=c++17", "-w", "-ffast-math", "--std=c++14", "-O1", "--offload-arch=gfx1030", "-Wall"});
        return kind_ == INGOT_SOURCE_CUDA_CPP
                   ? of({"-std=c++17", "-w", "--use_fast_math", "--std=c++14", "-std c++17", "-lineinfo"})
                   : of({"-cl-std=CL1.2", "-w", "-cl-fast-relaxed-math", "-cl-mad-enable", "-cl-std=CL2.0"});
    }

    std::string unknown()
    {
        return of({"-Wall",
                   "-fno-inline",
                   "@t.h",
                   "-foo",
                   "--",
                   "-x cl",
                   "-include inc/t.h",
                   "-include \"inc2/t.h\"",
                   "t.h",
                   "-I",
                   "-include-pch t.h",
                   "-imacros inc/t.h",
                   "--pre-include=inc/t.h",
                   "-include=inc/t.h",
                   "-Xclang -include -Xclang inc/t.h",
                   "-includeinc/t.h",
                   "--options-file=inc/t.h",
                   "-optf inc/t.h",
                   "-nocudainc",
                   "\"\"",
                   "''",
                   "\\",
                   "-cl-unknown",
                   "-U X",
                   "-Werror",
                   "-g",
                   "-cl-std=CL9"});
    }

    std::string piece()
    {
        const size_t kind = random_.below(100);
        if (kind < 55)
            return directory();
        if (kind < 80)
            return definition();
        return is_odd_ && kind < 92 ? unknown() : known();
    }

    void mutate(std::string *text)
    {
        const std::string odd = "\"'\\= \t\n\v\f\r-I@#$;,DX";
        const size_t at = random_.below(text->size() + 1);
        if (random_.percent(30) && at < text->size())
            text->erase(at, 1);
        else
            text->insert(at, 1, odd[random_.below(odd.size())]);
    }

    Random &random_;
    const std::string &root_;
    ingot_source_kind_t kind_;
    bool is_odd_ = false;
};

/* The folders with their headers. A macro in each header contains its folder's number and its version. */
class Tree
{
public:
    Tree() : root_(scratch_.path() / "tree")
    {
        std::filesystem::create_directory(root_);
        folders_ = option_folders();
        folders_.push_back(".");
        for (const std::string &folder : folders_)
            std::filesystem::create_directories(root_ / folder);
        std::filesystem::current_path(root_);
        watch_ = std::make_unique<OpenWatch>(root_);
    }
    ~Tree() { std::filesystem::current_path("/"); }

    std::string root() const { return root_.string(); }

    /* Puts headers into randomly chosen folders. */
    void arrange(Random *random)
    {
        for (size_t i = 0; i < folders_.size(); ++i) {
            const bool is_current = folders_[i] == ".";
            put(i, "t.h", random->percent(is_current ? 15 : 75));
            put(i, "u.h", random->percent(is_current ? 10 : 30));
        }
    }

    /* Returns what was opened, without files that the compiler creates and removes (hipRTC 5.7: CompileSourceXXXXXX).
     */
    std::set<std::string> take_opened()
    {
        std::set<std::string> opened = watch_->take();
        for (auto at = opened.begin(); at != opened.end();)
            at = std::filesystem::exists(*at) ? std::next(at) : opened.erase(at);
        return opened;
    }

    void edit(const std::set<std::string> &paths)
    {
        for (const std::string &path : paths) {
            const std::string text = read_file(path);
            const size_t version = text.find("_v1");
            if (version != std::string::npos)
                whole_file::write(path, std::string(text).replace(version, 3, "_v2"));
        }
    }

    /* Adds a header to a random folder. Returns false if the folder has it already. */
    bool add_one(Random *random, std::string *path)
    {
        const size_t folder = random->below(folders_.size());
        *path = (root_ / folders_[folder] / "t.h").lexically_normal().string();
        if (std::filesystem::exists(*path))
            return false;
        put(folder, "t.h", true);
        return true;
    }

private:
    void put(size_t folder, const std::string &name, bool is_there)
    {
        const std::filesystem::path path = root_ / folders_[folder] / name;
        if (!is_there) {
            std::filesystem::remove(path);
            return;
        }
        const std::string number = std::to_string(folder);
        whole_file::write(path, name == "t.h" ? "#undef NAME\n#define NAME t" + number + "_v1\n"
                                              : "#define U u" + number + "_v1\n#include \"t.h\"\n");
    }

    ScratchDirectory scratch_;
    std::filesystem::path root_;
    std::vector<std::string> folders_;
    std::unique_ptr<OpenWatch> watch_;
};

std::string source_of(Random *random, bool is_cuda)
{
    const std::vector<std::string> includes = {
        "#include \"t.h\"\n",
        "#include <t.h>\n",
        "#include <u.h>\n",
        "#include \"u.h\"\n#include <t.h>\n",
        "#ifdef X\n#include <u.h>\n#else\n#include <t.h>\n#endif\n",
        "#ifdef SPELLING\n#include SPELLING\n#else\n#include <t.h>\n#endif\n",
        "#ifdef X\n#include \"t.h\"\n#endif\n",
        "",
    };
    std::string text = random->of(includes) +
                       "#define STR_(x) #x\n#define STR(x) STR_(x)\n#define PASTE_(a, b) a##b\n"
                       "#define PASTE(a, b) PASTE_(a, b)\n#ifndef NAME\n#define NAME none\n#endif\n"
                       "#ifndef U\n#define U none\n#endif\n";
    if (is_cuda)
        return text + "extern \"C\" __global__ void PASTE(k_, NAME)(int *p) { *p = 1; }\n"
                      "extern \"C\" __global__ void PASTE(l_, U)(int *p) { *p = 2; }\n"
                      "#ifdef X\n__device__ char x[] = STR(X);\n#endif\n"
                      "#ifdef Y\n__device__ char y[] = STR(Y);\n#endif\n";
    return text + "#define SIZED(x) __attribute__((reqd_work_group_size(sizeof(STR(x)), 1, 1)))\n"
                  "kernel void PASTE(k_, NAME)(global int *p) { *p = 1; }\n"
                  "kernel void PASTE(l_, U)(global int *p) { *p = 2; }\n"
                  "#ifdef X\nkernel SIZED(X) void x(global int *p) { *p = 3; }\n#endif\n"
                  "#ifdef Y\nkernel SIZED(Y) void y(global int *p) { *p = 4; }\n#endif\n";
}

class Fuzz
{
public:
    explicit Fuzz(const Arguments &arguments) : arguments_(arguments) {}

    bool run()
    {
        const size_t first = arguments_.number("first");
        const size_t end = first + arguments_.number("count");
        const size_t done = work_in_children(
            {first, end, 400, deadline_of(arguments_)}, [&](size_t index, ItemWriter &writer) { work(index, &writer); },
            [&](size_t index, const Findings &findings) { take(index, findings); });
        print_counts(stdout, done, end - first);
        for (const auto &[reason, count] : reasons_)
            std::printf("    not cacheable: %zu: %s\n", count, reason.c_str());
        return failures_ == 0;
    }

private:
    /* Returns what to compare. On PoCL, this is only the kernels, whose names show enough: to compare the code, PoCL
     * would have to generate it for each kernel. */
    static Want want_of(const Compiler &compiler)
    {
        return compiler.name() == "Portable Computing Language" ? Want::kernels : Want::code;
    }

    void work(size_t index, ItemWriter *writer)
    {
        static const std::unique_ptr<Compiler> compiler = make_compiler(arguments_); /* these three: one per child */
        static Tree tree;
        static std::map<std::string, std::string> built; /* results of hermetic builds by id */
        Random random(arguments_.number("seed"), index);

        writer->say("platform", compiler->name());
        tree.arrange(&random);
        const Program program{source_of(&random, compiler->is_cuda()),
                              OptionWriter(&random, tree.root(), compiler->kind()).string()};
        writer->say("options", program.options);
        writer->say("source", program.source);
        const Description before = compiler->describe(program);
        writer->say(before.is_cacheable ? "id" : "reason", before.is_cacheable ? before.id : before.reason);
        if (!before.is_cacheable)
            return;
        const Want want = want_of(*compiler);
        writer->phase("native");
        (void)tree.take_opened();
        const std::string native = result_of(compiler->build(program, want));
        const std::set<std::string> opened = tree.take_opened();
        writer->say("result", native);
        std::string list;
        for (const std::string &path : opened)
            list += path + "\n";
        writer->say("opened", list);
        writer->phase("ingot");
        const auto known = built.find(before.id);
        if (known != built.end() && known->second == native) {
            writer->say("hermetic", "known");
        } else {
            const IngotBuild other = compiler->build_with_ingot(program, want);
            writer->say(other.is_native ? "fallback" : "hermetic", other.reason);
            if (result_of(other.build) != native && is_steady(compiler.get(), program, native))
                writer->say("wrong", result_of(other.build));
            if (other.is_native)
                return;
            built[before.id] = native;
        }
        writer->phase("edit");
        check_edit(compiler.get(), &tree, program, before, native, opened, writer);
        writer->phase("add");
        if (random.percent(10))
            check_addition(compiler.get(), &tree, &random, program, writer);
    }

    /* True if a second native build has the same result. With -g, the results differ, because Intel's compiler writes a
     * running number into the code. */
    static bool is_steady(Compiler *compiler, const Program &program, const std::string &native)
    {
        return result_of(compiler->build(program, want_of(*compiler))) == native;
    }

    bool is_stale(Compiler *compiler, const Program &program, const Description &before,
                  const std::string &native) const
    {
        const Description after = compiler->describe(program);
        if (!after.is_cacheable || after.id != before.id)
            return false;
        const std::string now = result_of(compiler->build(program, want_of(*compiler)));
        if (now == native)
            return false;
        if (native != "failed")
            return true;
        /* Of a program that failed, nothing is stored. It may get a file that no id covers, in a native build, which is
         * not stored either. The context above remembers that the hermetic texts did not build. */
        const IngotBuild fresh = make_compiler(arguments_)->build_with_ingot(program, want_of(*compiler));
        return !fresh.is_native || result_of(fresh.build) != now;
    }

    void check_edit(Compiler *compiler, Tree *tree, const Program &program, const Description &before,
                    const std::string &native, const std::set<std::string> &opened, ItemWriter *writer) const
    {
        if (opened.empty())
            return;
        tree->edit(opened);
        if (is_stale(compiler, program, before, native))
            writer->say("stale", "after the files that the compiler opened were edited");
    }

    /* Adds a header to a folder, after the edits, and checks again for a stale id. */
    void check_addition(Compiler *compiler, Tree *tree, Random *random, const Program &program,
                        ItemWriter *writer) const
    {
        std::string path;
        const Description before = compiler->describe(program);
        const std::string native = result_of(compiler->build(program, want_of(*compiler)));
        if (before.is_cacheable && tree->add_one(random, &path) && is_stale(compiler, program, before, native))
            writer->say("stale", "after a file was added: " + path);
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
        cacheable_ += has("id");
        built_ += has("result") && findings.at("result") != "failed";
        hermetic_ += has("hermetic");
        with_files_ += has("opened") && !findings.at("opened").empty();
        if (has("reason"))
            ++reasons_[kind_of(findings.at("reason"))];
        stale_ += has("stale");
        wrong_ += has("wrong");
        const bool is_failure = has("stale") || has("wrong") || has("crash") || has("problem");
        if (is_failure || collides(index, findings))
            report(index, findings);
        if (taken_ % 250 == 0)
            print_counts(stderr, taken_, arguments_.number("count"));
    }

    static std::string kind_of(const std::string &reason)
    {
        const size_t comma = reason.rfind(", ");
        return comma == std::string::npos ? reason.substr(0, reason.find('"')) : reason.substr(comma + 2);
    }

    bool collides(size_t index, const Findings &findings)
    {
        if (findings.count("hermetic") == 0)
            return false;
        const auto [known, is_new] = results_.insert({findings.at("id"), {index, findings.at("result")}});
        if (is_new || known->second.second == findings.at("result"))
            return false;
        std::printf("COLLISION with item %zu\n", known->second.first);
        ++collisions_;
        return true;
    }

    void report(size_t index, const Findings &findings)
    {
        ++failures_;
        std::printf("FAILURE: --device %s --seed %s --first %zu --count 1\n", arguments_.text("device").c_str(),
                    arguments_.text("seed").c_str(), index);
        for (const auto &[key, value] : findings) {
            const size_t most = key == "source" ? 2000 : key == "id" ? 0 : 300;
            std::printf("  %s: %s\n", key.c_str(), describe_text(value.substr(0, most)).c_str());
        }
        (void)std::fflush(stdout);
    }

    void print_counts(std::FILE *out, size_t done, size_t wanted) const
    {
        std::fprintf(out,
                     "%s, seed %s: %zu of %zu option strings: %zu cacheable (%zu of them built, %zu hermetic, %zu with "
                     "files opened), %zu ids; %zu ended the compiler; %zu stale, %zu collisions, %zu wrong, %zu "
                     "failures\n",
                     platform_.c_str(), arguments_.text("seed").c_str(), done, wanted, cacheable_, built_, hermetic_,
                     with_files_, results_.size(), crashes_, stale_, collisions_, wrong_, failures_);
        (void)std::fflush(out);
    }

    const Arguments &arguments_;
    std::string platform_ = "no platform";
    std::map<std::string, std::pair<size_t, std::string>> results_; /* native results by id */
    std::map<std::string, size_t> reasons_;
    size_t taken_ = 0, cacheable_ = 0, built_ = 0, hermetic_ = 0, with_files_ = 0, crashes_ = 0;
    size_t stale_ = 0, collisions_ = 0, wrong_ = 0, failures_ = 0;
};

} // namespace

int main(int argc, char **argv)
{
    return run_with_arguments(argc, argv, "option_fuzz", {},
                              [](const Arguments &arguments) { return Fuzz(arguments).run(); });
}
